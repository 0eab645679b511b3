/*
 * Flame graphs of a selection: the weights of its samples at the nodes of call paths, as a tree
 * that is small enough to be sent and drawn. Nodes below a share of the whole are folded away and
 * counted in hidden_nodes and hidden_weight.
 *
 *	plain      from the root of stacks to the sampled function
 *	inverted   from the sampled function to its callers
 *	callers    inverted, of all samples through a function: where it is called from
 *	callees    of all samples through a function: what it calls
 *
 * A function that calls itself counts once: from its outermost call on. Pure functions; the call
 * paths must not change meanwhile.
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
	uint64_t hidden_nodes;        /* nodes folded away (inverted graphs: at least) */
	uint64_t hidden_weight;
};

struct flame_options {
	double min_share; /* of the root's total; 0: all with any weight */
	size_t limit;     /* most nodes, the heaviest are kept; 0: no limit */
};

/* @self: weight by node. */
void path_flame_plain(struct path_flame *f, const struct call_paths *c, const uint64_t *self,
		      const struct flame_options *o);
void path_flame_inverted(struct path_flame *f, const struct call_paths *c, const uint64_t *self,
			 const struct flame_options *o);
/* @wanted: by name, whether it is the function (or one of several of the same name). */
void path_flame_callers(struct path_flame *f, const struct call_paths *c, const uint64_t *self,
			const bool *wanted, const struct flame_options *o);
void path_flame_callees(struct path_flame *f, const struct call_paths *c, const uint64_t *self,
			const bool *wanted, const struct flame_options *o);
void path_flame_release(struct path_flame *f);

/* Stores the weight of each node's subtree in @ret. */
void path_totals(const struct call_paths *c, const uint64_t *self, uint64_t *ret);

#endif
