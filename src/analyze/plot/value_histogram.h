/*
 * The distribution of values: bins of equal width, or of equal ratio, and percentiles. Percentiles
 * are exact: pN is the smallest occurring value such that N percent are not larger. Pure.
 */
#ifndef TACHO_ANALYZE_PLOT_VALUE_HISTOGRAM_H
#define TACHO_ANALYZE_PLOT_VALUE_HISTOGRAM_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

#define VALUE_BINS_MAX 1000u

/* Values in any order. */
struct value_list {
	VEC(double) values;
	VEC(uint64_t) counts; /* of each value; empty: each occurs once */
};

/* Adds a value that occurs @count times. Not for lists with values pushed without counts. */
static inline void value_list_add(struct value_list *l, double value, uint64_t count)
{
	if (l->values.len && l->values.items[l->values.len - 1] == value) {
		l->counts.items[l->counts.len - 1] += count;
		return;
	}
	vec_push(&l->values, value);
	vec_push(&l->counts, count);
}

static inline void value_list_release(struct value_list *l)
{
	vec_release(&l->values);
	vec_release(&l->counts);
}

struct value_bin {
	double from, to; /* `to` is part of the last bin only */
	uint64_t count;
};

struct value_histogram {
	VEC(struct value_bin) bins;
	uint64_t count;
	double min, max, mean, p50, p90, p99, p999;
};

/*
 * With @log, values up to 0 are in an extra bin before the other @bins. All numbers are 0 if there
 * are no values.
 */
void value_histogram_make(struct value_histogram *h, const struct value_list *values, uint32_t bins,
			  bool log);
void value_histogram_release(struct value_histogram *h);

#endif
