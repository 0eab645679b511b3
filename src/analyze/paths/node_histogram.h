/*
 * The histogram of a chunk by nodes of call paths instead of stacks: samples and weight of each
 * node, for each event and thread. Many stacks share one node, so this form is kept in memory, and
 * queries add it up. Pure.
 */
#ifndef TACHO_ANALYZE_PATHS_NODE_HISTOGRAM_H
#define TACHO_ANALYZE_PATHS_NODE_HISTOGRAM_H

#include "analyze/paths/call_paths.h"
#include "profile/summary.h"

/* One event of one thread: `len` entries from `start` on. */
struct node_segment {
	uint32_t event, thread;
	uint32_t start, len;
	uint64_t samples, weight; /* of all its entries */
};

struct node_entry {
	uint32_t node, samples;
	uint64_t weight;
};

struct node_histogram {
	VEC(struct node_segment) segments;
	VEC(struct node_entry) entries;
};

/* Scratch table by node, all 0 between calls. Keep it to make several histograms. */
struct node_scratch {
	uint32_t *place;
	size_t len;
};

void node_histogram_make(struct node_histogram *ret, const struct histogram *h,
			 const struct call_paths *c, struct node_scratch *scratch);
void node_histogram_release(struct node_histogram *h);
void node_scratch_release(struct node_scratch *s);

/* Returns the bytes of memory that a histogram takes. */
size_t node_histogram_bytes(const struct node_histogram *h);

#endif
