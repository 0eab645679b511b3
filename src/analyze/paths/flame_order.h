/*
 * A flame graph in the order of time: what one thread did from left to right, as boxes. Time is cut
 * into columns, each of which shows its heaviest sample; a call that spans several columns is one
 * box. Where nothing was sampled for much longer than usual there is no box: the thread did not
 * run, for long enough to be seen.
 *
 * Samples are added one by one, in any order; only columns are kept, not samples. Pure; the call
 * paths must not change meanwhile. One thread.
 */
#ifndef TACHO_ANALYZE_PATHS_FLAME_ORDER_H
#define TACHO_ANALYZE_PATHS_FLAME_ORDER_H

#include "analyze/paths/call_paths.h"

/* Number of spaces between samples that are kept to find the usual one. */
#define FLAME_ORDER_SPACES 4096u

struct order_box {
	uint64_t from_ns, to_ns;
	uint32_t depth; /* 0: the outermost function */
	uint32_t name;  /* of the call paths */
};

struct order_column {
	bool seen;                  /* it has samples */
	uint64_t first_ns, last_ns; /* of its samples */
	uint64_t best_ns, weight;   /* of the heaviest sample, the first if several */
	uint32_t node;
};

struct flame_order {
	uint64_t from_ns, to_ns;
	size_t pixels;
	struct order_column *columns;
	uint64_t samples, weight, last_ns;
	uint64_t *spaces;
	size_t space_count;          /* all so far; only the last ones are kept */
	VEC(struct order_box) boxes; /* set by flame_order_finish(); callers before callees */
};

/* Samples must be in [@from_ns, @to_ns). @pixels: number of columns, at least 1. */
void flame_order_init(struct flame_order *f, uint64_t from_ns, uint64_t to_ns, size_t pixels);
void flame_order_add(struct flame_order *f, uint64_t time_ns, uint64_t weight, uint32_t node);
void flame_order_finish(struct flame_order *f, const struct call_paths *c);
void flame_order_release(struct flame_order *f);

#endif
