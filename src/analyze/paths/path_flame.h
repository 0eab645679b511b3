/*
 * Flame graphs of a selection: what its samples weigh at the nodes of call paths, as a tree that is
 * small enough to be sent and drawn. What is narrower than a share of the whole is folded away, and
 * how much that is, is said.
 *
 *	plain      from the root of stacks to the sampled function
 *	inverted   from the sampled function to its callers
 *	callers    inverted, of all that passes through a function: where it is called from
 *	callees    of all that passes through a function: what it calls
 *
 * A function that calls itself counts once: from its outermost call on. Pure functions; they read the
 * call paths, which nobody may add to meanwhile.
 */
#ifndef TACHO_ANALYZE_PATHS_PATH_FLAME_H
#define TACHO_ANALYZE_PATHS_PATH_FLAME_H

#include "analyze/paths/call_paths.h"

struct flame_node {
	uint32_t parent;
	uint32_t name; /* of call_paths; 0: the root */
	bool inlined;
	uint64_t self, total;
};

struct path_flame {
	VEC(struct flame_node) nodes; /* node 0: the root; a parent before its children */
	uint64_t hidden_nodes;        /* that were folded away (in inverted ones: at least) */
	uint64_t hidden_weight;
};

struct flame_options {
	double min_share; /* of the root's total, 0: all that weigh anything */
	size_t limit;     /* of nodes, the heaviest stay; 0: none */
};

/* @self: by node. */
void path_flame_plain(struct path_flame *f, const struct call_paths *c, const uint64_t *self,
		      const struct flame_options *o);
void path_flame_inverted(struct path_flame *f, const struct call_paths *c, const uint64_t *self,
			 const struct flame_options *o);
/* @wanted: by name, the function (or several that are called the same). */
void path_flame_callers(struct path_flame *f, const struct call_paths *c, const uint64_t *self,
			const bool *wanted, const struct flame_options *o);
void path_flame_callees(struct path_flame *f, const struct call_paths *c, const uint64_t *self,
			const bool *wanted, const struct flame_options *o);
void path_flame_release(struct path_flame *f);

/* What each node has with all below it, in @ret. */
void path_totals(const struct call_paths *c, const uint64_t *self, uint64_t *ret);

#endif
