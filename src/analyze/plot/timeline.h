/*
 * A counter's values at the resolution of a screen: each pixel has the smallest and largest rate of
 * the intervals that touch it, so that spikes survive, and the mean rate inside it. Where nothing
 * was counted there is a gap.
 *
 *	timeline_init(&t, from, to, pixels);
 *	… timeline_add_rows() and timeline_add_block(), in any order
 *	timeline_finish(&t);
 *
 * Pure; one thread at a time.
 */
#ifndef TACHO_ANALYZE_PLOT_TIMELINE_H
#define TACHO_ANALYZE_PLOT_TIMELINE_H

#include "profile/summary.h"

#include <stdbool.h>

#define TIMELINE_PIXELS_MAX 20000u

struct timeline {
	uint64_t from_ns, to_ns;
	uint32_t pixels;
	double pixel_ns;
	/* By pixel. Rates in values per second; NaN where duration_ns is 0: a gap. */
	double *min, *max, *mean;
	double *sum;           /* of values, by the part of their intervals in the pixel */
	double *duration_ns;   /* counted time in the pixel */
	uint32_t *running_ppm; /* the smallest of its intervals */
};

/* @to_ns must be larger than @from_ns, @pixels from 1 to TIMELINE_PIXELS_MAX. */
void timeline_init(struct timeline *t, uint64_t from_ns, uint64_t to_ns, uint32_t pixels);
void timeline_release(struct timeline *t);
/* Returns whether a block is short enough to be added as a whole; if not, add its rows. */
bool timeline_takes_block(const struct timeline *t, const struct count_block *b);
void timeline_add_block(struct timeline *t, const struct count_block *b);
void timeline_add_rows(struct timeline *t, const struct count_columns *c, size_t from, size_t to);
void timeline_finish(struct timeline *t);

#endif
