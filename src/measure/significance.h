/*
 * Whether two series of measurements differ by more than chance: the difference of their means with
 * a confidence interval (Welch's t, which does not assume that both sides vary equally).
 *
 * The test takes the values of a side as independent of each other. Readings of one run that follow
 * each other are not: a busy moment is followed by another. The caller therefore divides the time
 * of a side into significance_slices() equal parts and adds one mean a part. Such an interval says
 * how much the value varies within one run; how much whole runs vary is told only by repeating
 * them.
 *
 * Ownership: nothing here allocates. Threads: pure functions.
 */
#ifndef TACHO_MEASURE_SIGNIFICANCE_H
#define TACHO_MEASURE_SIGNIFICANCE_H

#include "measure/statistics.h"

#define SIGNIFICANCE_CONFIDENCE 0.95

enum significance_verdict {
	SIGNIFICANCE_UNKNOWN, /* a side has fewer than two values */
	SIGNIFICANCE_UNCLEAR, /* the interval has 0 in it: may be chance */
	SIGNIFICANCE_MORE,    /* the whole interval is above 0 */
	SIGNIFICANCE_LESS,    /* the whole interval is below 0 */
};

struct significance {
	double difference; /* mean of after − mean of before; NaN: a side is empty */
	double low, high;  /* confidence interval of the difference; NaN: unknown */
	enum significance_verdict verdict;
};

/* If the values of neither side vary, the interval has zero width. */
void significance_compare(const struct stats *before, const struct stats *after,
			  struct significance *ret);
/* "unknown", "unclear", "more", "less" */
const char *significance_name(enum significance_verdict verdict);

/* Number of equal parts into which to divide a time with this many readings; 0 for no readings. */
unsigned significance_slices(uint64_t readings);

#endif
