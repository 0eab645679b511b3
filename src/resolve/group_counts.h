/*
 * Samples that carry the values of a whole group stand for one sample of each member. Values are
 * totals: what counts is how much was added since the last sample, so they have to come in the order
 * of time. One thread.
 */
#ifndef TACHO_RESOLVE_GROUP_COUNTS_H
#define TACHO_RESOLVE_GROUP_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct group_counts {
	struct group_count {
		uint64_t id, value;
		bool used;
	} * slots;
	size_t count, slot_count;
	uint64_t seed;
};

/* What was counted since the last time. Only ids that an event has may come here, so that the
 * file's own limit holds. */
uint64_t group_count_since(struct group_counts *c, uint64_t id, uint64_t value);
void group_counts_release(struct group_counts *c);

#endif
