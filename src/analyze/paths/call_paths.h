/*
 * Stacks as they are shown: a tree of functions by name, with inlined functions as nodes of their
 * own, shared by all samples of a run. Each stack of a profile leads to one node. Stacks and nodes
 * are only added, so an update of a live graph is the new nodes and the gain of each node. A flame
 * graph of a selection adds weights to the nodes of its stacks and sums them up towards the root.
 *
 * Node 0 is the root; a parent comes before its children. The frames of the profile must have their
 * names. One thread adds; any number may read meanwhile what is not being added.
 */
#ifndef TACHO_ANALYZE_PATHS_CALL_PATHS_H
#define TACHO_ANALYZE_PATHS_CALL_PATHS_H

#include "analyze/tree/children.h"
#include "analyze/tree/stack_nodes.h"
#include "profile/profile.h"

struct call_path {
	uint32_t parent;
	uint32_t name; /* in names; 0: the root */
	bool inlined;
};

/* A function as it is shown: functions of the same label, kind and module name are merged. */
struct path_name {
	string_id label;
	string_id module; /* the last part of its path */
	enum code_kind kind;
};

struct call_paths {
	VEC(struct call_path) nodes; /* a parent before its children */
	VEC(struct path_name) names; /* number 0: none */
	struct stack_nodes stacks;
	VEC(uint32_t) of_function; /* by function: name; 0: not asked for yet */
	struct children children;  /* by name and whether it is inlined */
	struct slots name_slots;
};

void call_paths_init(struct call_paths *c);
void call_paths_release(struct call_paths *c);
/* Returns the node of a stack, added if needed; the root if the profile has no such stack. */
uint32_t call_path_of(struct call_paths *c, const struct profile *p, uint32_t stack);
/* Descends from a node through all functions of a frame, the outermost first, for users that keep
 * the nodes of stacks themselves. Functions beyond @nodes_max nodes and unknown frames are left
 * out: their samples count for the calling function. */
uint32_t call_path_below(struct call_paths *c, const struct profile *p, uint32_t node,
			 uint32_t frame, size_t nodes_max);
/* Adds the nodes of all stacks that the profile has by now. */
void call_paths_all(struct call_paths *c, const struct profile *p);

/* Returns the node that call_path_of() gave before, else the root. For readers: adds nothing. */
static inline uint32_t call_path_known(const struct call_paths *c, uint64_t stack)
{
	uint32_t node = stack < c->stacks.of_stack.len ? c->stacks.of_stack.items[stack] : 0;

	return node ? node - 1 : 0;
}

#endif
