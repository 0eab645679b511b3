/*
 * A call tree built from a profile: stacks merged by function, each node with its own weight and
 * that of its subtree. Flame graphs, reports and differences walk this tree.
 *
 * Nodes are in one array, a parent always before its children; node 0 is the root. A frame may be
 * several nodes, because inlined functions are nodes of their own. Walk the tree by its links: the array
 * may have nodes without samples, which nothing links to. Any number of threads may read.
 */
#ifndef TACHO_ANALYZE_TREE_CALLTREE_H
#define TACHO_ANALYZE_TREE_CALLTREE_H

#include "analyze/tree/children.h"
#include "profile/profile.h"

/* A tree may have millions: 32 bytes each. call_self() has what is not in the children's totals. */
struct call_node {
	uint32_t parent;
	uint32_t first_child, next_sibling; /* 0: none; siblings in no order until sorted */
	uint32_t key : 31; /* nodes are merged by it: number of the function, or from `keys` */
	uint32_t inlined : 1;
	uint64_t total, total_samples;
};

struct calltree {
	const struct profile *profile;
	VEC(struct call_node) nodes;
	size_t linked;            /* nodes that the root leads to, with itself */
	struct children children; /* while it is built */
};

struct call_self {
	uint64_t weight, samples;
};

struct calltree_options {
	bool reverse;          /* from the leaf to the root */
	bool no_inlines;       /* inlined functions count for the function that contains them */
	bool join_inlined;     /* calls of a function are one node, inlined or not */
	const function_id *as; /* by function: the one shown instead; NULL: itself */
	const bool *skip;      /* by function: true for those that get no node; NULL: none */
	/* Keys to merge by instead of the function, for each of profile.names; or NULL. */
	const uint32_t *keys;
	/* Returns the node above a row's stack, such as its thread's name. NULL: none. */
	function_id (*root)(void *ctx, const struct profile_row *row);
	/* Returns whether a row is included; NULL: all are. */
	bool (*want)(void *ctx, const struct profile_row *row);
	void *ctx;
};

void calltree_build(struct calltree *t, const struct profile *p, const struct calltree_options *o);
void calltree_release(struct calltree *t);

/* Returns what a node has by itself; looks at each of its children. */
static inline struct call_self call_self(const struct calltree *t, uint32_t node)
{
	const struct call_node *nodes = t->nodes.items;
	struct call_self self = {nodes[node].total, nodes[node].total_samples};

	for (uint32_t c = nodes[node].first_child; c; c = nodes[c].next_sibling) {
		self.weight -= nodes[c].total;
		self.samples -= nodes[c].total_samples;
	}
	return self;
}

/* Returns the function of a node in a tree without `keys`. */
static inline function_id call_function(const struct call_node *node)
{
	return (function_id){node->key};
}

/* Sorts siblings by name, or by weight with the largest first. */
enum calltree_sort { CALLTREE_BY_NAME, CALLTREE_BY_TOTAL };
void calltree_sort(struct calltree *t, enum calltree_sort order);

#endif
