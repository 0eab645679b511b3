/*
 * The histogram of a chunk by nodes of call paths instead of stacks: what each node has, for each
 * event and thread. Many stacks are one node, so this is what questions add up, and what is kept. Pure.
 */
#ifndef TACHO_ANALYZE_PATHS_NODE_HISTOGRAM_H
#define TACHO_ANALYZE_PATHS_NODE_HISTOGRAM_H

#include "analyze/paths/call_paths.h"
#include "profile/summary.h"

/* One event of one thread: so many entries from `start` on. */
struct node_segment {
	uint32_t event, thread;
	uint32_t start, len;
	uint64_t samples, weight; /* of all of them */
};

struct node_entry {
	uint32_t node, samples;
	uint64_t weight;
};

struct node_histogram {
	VEC(struct node_segment) segments;
	VEC(struct node_entry) entries;
};

/* By node, all 0; whoever makes many keeps it. */
struct node_scratch {
	uint32_t *place;
	size_t len;
};

void node_histogram_make(struct node_histogram *ret, const struct histogram *h,
			 const struct call_paths *c, struct node_scratch *scratch);
void node_histogram_release(struct node_histogram *h);
void node_scratch_release(struct node_scratch *s);

/* Bytes of memory that it takes. */
size_t node_histogram_bytes(const struct node_histogram *h);

#endif
