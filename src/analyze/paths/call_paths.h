/*
 * Stacks as they are shown: a tree of functions by their names, inlined ones as nodes of their own,
 * shared by all samples of a run. Each stack of a profile leads to one node; both only grow, so a live
 * graph is the nodes that are new and what each has gained. Flame graphs of any selection add weights
 * to the nodes of its stacks and sum upwards, children after parents.
 *
 * Node 0 is the root. It reads the profile, whose frames must have their names. One thread adds; any
 * number may read meanwhile what is not being added.
 */
#ifndef TACHO_ANALYZE_PATHS_CALL_PATHS_H
#define TACHO_ANALYZE_PATHS_CALL_PATHS_H

#include "profile/profile.h"

struct call_path {
	uint32_t parent;
	uint32_t name; /* in names; 0: the root */
	bool inlined;
};

/* A function as it is shown: functions of the same label, kind and module name are one. */
struct path_name {
	string_id label;
	string_id module; /* the last part of its path */
	enum code_kind kind;
};

struct call_paths {
	VEC(struct call_path) nodes; /* a parent before its children */
	VEC(struct path_name) names; /* number 0: none */
	VEC(uint32_t) of_stack;      /* by stack: node + 1; 0: not asked for yet */
	VEC(uint32_t) of_function;   /* by function: name; 0: not asked for yet */
	/* The key lies beside the number, as with stacks: these are looked for most. */
	struct path_slots {
		struct path_slot {
			uint32_t parent;
			uint32_t key;  /* name and whether it is inlined */
			uint32_t node; /* 0: free */
		} * items;
		size_t mask;
	} children;
	struct slots name_slots;
	VEC(uint32_t) todo; /* stacks on the way to one that is known */
};

void call_paths_init(struct call_paths *c);
void call_paths_release(struct call_paths *c);
/* The node of a stack, made if need be. A number that the profile does not have is the root. */
uint32_t call_path_of(struct call_paths *c, const struct profile *p, uint32_t stack);
/* Down from a node through all that a frame stands for, from its outermost function on; for who keeps
 * nodes of stacks himself. What would be more than @nodes_max nodes, or is a frame that the profile does
 * not have, is left out: its samples are the caller's. */
uint32_t call_path_below(struct call_paths *c, const struct profile *p, uint32_t node,
			 uint32_t frame, size_t nodes_max);
/* The nodes of all stacks that the profile has by now. */
void call_paths_all(struct call_paths *c, const struct profile *p);

/* What call_path_of() gave or would give; for readers: adds nothing. Unknown ones are the root. */
static inline uint32_t call_path_known(const struct call_paths *c, uint32_t stack)
{
	uint32_t node = stack < c->of_stack.len ? c->of_stack.items[stack] : 0;

	return node ? node - 1 : 0;
}

#endif
