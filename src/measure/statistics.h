/*
 * Statistics of repeated measurements: running mean and spread, confidence interval, and robust
 * measures (median, percentiles) of an array. NaN always means "cannot be known from so little".
 *
 * Ownership: nothing here allocates. A zeroed struct stats is empty and ready for use.
 * Threads: pure functions; a struct stats belongs to one thread at a time.
 */
#ifndef TACHO_MEASURE_STATISTICS_H
#define TACHO_MEASURE_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

/* Read mean, min and max only if n is not 0; m2 is the sum of squared distances from the mean. */
struct stats {
	uint64_t n;
	double mean, m2, min, max;
};

/* A value that is not finite ("no value" of a metric) is not counted. */
void stats_add(struct stats *s, double value);

double stats_mean(const struct stats *s);   /* NaN if empty */
double stats_stddev(const struct stats *s); /* of a sample (n - 1); NaN below two values */

/*
 * The "+- 1.2 %" of perf stat: the standard error of the mean in percent of the mean. NaN below two
 * values, and where the mean is 0 although the values are not all 0.
 */
double stats_stderr_pct(const struct stats *s);

/*
 * With 95 % confidence, the true mean is not further than this from the measured one (Student's t,
 * so it holds for few repeats too). NaN below two values.
 */
double stats_ci95(const struct stats *s);

/*
 * Student's t with @df degrees of freedom, which need not be whole: the chance that it is above
 * @t, and the value that it stays below with probability @p. NaN outside df > 0, 0 < p < 1.
 */
double student_t_tail(double t, double df);
double student_t_quantile(double p, double df);

/* Sorts ascending, NaN at the end; returns how many there are before these. */
size_t values_sort(double *values, size_t n);

/*
 * Of an array that values_sort() has sorted; NaN if it is empty. Between two values a percentile is
 * interpolated linearly: 0 is the least value, 50 the median, 100 the greatest; what is outside
 * counts as 0 or 100.
 */
double values_percentile(const double *sorted, size_t n, double pct);
double values_median(const double *sorted, size_t n);

/* Median distance from the median, not scaled: times 1.4826 it estimates a standard deviation. */
double values_mad(const double *sorted, size_t n);

#endif
