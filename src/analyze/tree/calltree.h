/*
 * A call tree out of a profile: stacks merged by function, with what each node has by itself and in
 * all below it. Flame graphs, reports and differences are walks over it.
 *
 * Nodes are in one array, a parent always before its children; node 0 is the root, all of it. One
 * function may stand for several in a node's way down: inlined ones are nodes of their own. Reading
 * is for any number of threads.
 */
#ifndef TACHO_ANALYZE_TREE_CALLTREE_H
#define TACHO_ANALYZE_TREE_CALLTREE_H

#include "profile/profile.h"

struct call_node {
	uint32_t parent;
	uint32_t first_child, next_sibling; /* 0: none; siblings in no order until sorted */
	function_id function;
	uint32_t key; /* what merges: number of the function or its label, or the caller's own */
	bool inlined;
	uint64_t self, total; /* weight */
	uint64_t self_samples, total_samples;
};

struct calltree {
	const struct profile *profile;
	VEC(struct call_node) nodes;
	struct slots slots;
};

struct calltree_options {
	bool reverse;          /* from the leaf to the root */
	bool by_name;          /* functions of the same label are one, wherever they lie */
	bool no_inlines;       /* inlined functions count as the one that they are inlined in */
	bool join_inlined;     /* a function is one node, whether it was inlined there or not */
	const function_id *as; /* by function: the one that stands for it; NULL: itself */
	const bool *skip;      /* by function: true for those that get no node; NULL: none */
	/* What merges instead of the function, for each of profile.names; NULL: the function. */
	const uint32_t *keys;
	/* A first level above the stacks: the name of the thread, say. NULL: none. */
	function_id (*root)(void *ctx, const struct profile_row *row);
	/* Which rows; NULL: all. */
	bool (*want)(void *ctx, const struct profile_row *row);
	void *ctx;
};

void calltree_build(struct calltree *t, const struct profile *p, const struct calltree_options *o);
void calltree_release(struct calltree *t);

/* Siblings by name, or by weight with the largest first. */
enum calltree_sort { CALLTREE_BY_NAME, CALLTREE_BY_TOTAL };
void calltree_sort(struct calltree *t, enum calltree_sort order);

#endif
