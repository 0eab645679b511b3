/* Mean, spread, confidence and robust measures, against values worked out by hand and tables. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "measure/statistics.h"
#include "base/alloc.h"

#include <math.h>

static void near(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("%.17g is not %.17g", got, want);
}

static struct stats stats_of(const double *values, size_t n)
{
	struct stats s = {};

	for (size_t i = 0; i < n; i++)
		stats_add(&s, values[i]);
	return s;
}

static void empty(void **state)
{
	struct stats s = {};

	(void)state;
	assert_true(isnan(stats_mean(&s)));
	assert_true(isnan(stats_stddev(&s)));
	assert_true(isnan(stats_stderr_pct(&s)));
	assert_true(isnan(stats_ci95(&s)));
}

static void one_value(void **state)
{
	struct stats s = stats_of((double[]){-3}, 1);

	(void)state;
	assert_true(stats_mean(&s) == -3 && s.min == -3 && s.max == -3 && s.n == 1);
	assert_true(isnan(stats_stddev(&s)));
	assert_true(isnan(stats_stderr_pct(&s)));
	assert_true(isnan(stats_ci95(&s)));
}

static void eight_values(void **state)
{
	struct stats s = stats_of((double[]){2, 4, 4, 4, 5, 5, 7, 9}, 8);

	(void)state;
	assert_int_equal(s.n, 8);
	assert_true(s.min == 2 && s.max == 9);
	near(stats_mean(&s), 5, 1e-15);
	near(stats_stddev(&s), sqrt(32.0 / 7), 1e-15);
	near(stats_stderr_pct(&s), 100 * sqrt(32.0 / 7 / 8) / 5, 1e-13);
	near(stats_ci95(&s), 2.3646242515927849 * sqrt(32.0 / 7 / 8), 1e-12);
}

static void two_values(void **state)
{
	struct stats s = stats_of((double[]){10, 20}, 2);

	(void)state;
	near(stats_stderr_pct(&s), 100.0 / 3, 1e-12);
	near(stats_ci95(&s), 12.706204736174698 * 5, 1e-9);
}

static void equal_values(void **state)
{
	struct stats s = stats_of((double[]){7, 7, 7}, 3), zero = stats_of((double[]){0, 0}, 2);

	(void)state;
	assert_true(stats_stddev(&s) == 0 && stats_stderr_pct(&s) == 0 && stats_ci95(&s) == 0);
	assert_true(stats_stddev(&zero) == 0 && stats_stderr_pct(&zero) == 0);
	assert_true(stats_ci95(&zero) == 0);
}

static void signs(void **state)
{
	struct stats s = stats_of((double[]){-10, -20}, 2), zero = stats_of((double[]){-1, 1}, 2);

	(void)state;
	near(stats_stderr_pct(&s), 100.0 / 3, 1e-12);
	assert_true(s.min == -20 && s.max == -10);
	assert_true(isnan(stats_stderr_pct(&zero)));
	near(stats_ci95(&zero), 12.706204736174698, 1e-9);
}

/* Sums of squares would give 0, or a negative variance, here. */
static void large_and_close(void **state)
{
	struct stats s = stats_of((double[]){1e15 + 4, 1e15 + 7, 1e15 + 13, 1e15 + 16}, 4);

	(void)state;
	near(stats_mean(&s), 1e15 + 10, 0);
	near(stats_stddev(&s), sqrt(30), 1e-12);
}

static void no_value_is_not_counted(void **state)
{
	struct stats s = stats_of((double[]){NAN, 1, INFINITY, 3, -INFINITY, NAN}, 6);

	(void)state;
	assert_int_equal(s.n, 2);
	assert_true(stats_mean(&s) == 2 && s.min == 1 && s.max == 3);
}

/* The two-sided 95 % column of the usual tables, for 2 to 30 repeats. */
static void t_table(void **state)
{
	static const double table[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
				       2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
				       2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
				       2.060,  2.056, 2.052, 2.048, 2.045};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		near(student_t_quantile(0.975, (double)i + 1), table[i], 0.0005);
	near(student_t_quantile(0.975, 999), 1.9623414611, 1e-10);
	near(student_t_quantile(0.995, 10), 3.1692726726, 1e-10);
	near(student_t_quantile(0.95, 4), 2.1318467863, 1e-10);
	near(student_t_quantile(0.9, 2.5), 1.7302509288, 1e-10);
}

static void t_closed_forms(void **state)
{
	(void)state;
	for (double p = 0.01; p < 1; p += 0.01) {
		near(student_t_quantile(p, 1), tan(M_PI * (p - 0.5)), 1e-11);
		near(student_t_quantile(p, 2), (2 * p - 1) / sqrt(2 * p * (1 - p)), 1e-12);
	}
	for (double t = -20; t <= 20; t += 0.25)
		near(student_t_tail(t, 1), 0.5 - atan(t) / M_PI, 1e-14);
}

static void t_inverse(void **state)
{
	static const double dfs[] = {0.5, 1, 3, 30, 1000, 99999, 100001, 1e9};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(dfs); i++)
		for (double p = 0.001; p < 1; p += 0.0125)
			near(student_t_tail(student_t_quantile(p, dfs[i]), dfs[i]), 1 - p, 1e-10);
	near(student_t_quantile(0.975, 1e12), 1.9599639845, 1e-9);
	near(student_t_quantile(0.975, INFINITY), 1.9599639845, 1e-9);
}

static void t_edges(void **state)
{
	(void)state;
	assert_true(student_t_quantile(0.5, 3) == 0);
	assert_true(isnan(student_t_quantile(0, 3)) && isnan(student_t_quantile(1, 3)));
	assert_true(isnan(student_t_quantile(-1, 3)) && isnan(student_t_quantile(NAN, 3)));
	assert_true(isnan(student_t_quantile(0.9, 0)) && isnan(student_t_quantile(0.9, NAN)));
	assert_true(isfinite(student_t_quantile(1 - 1e-15, 1e-3)));
	assert_true(student_t_tail(0, 5) == 0.5);
	assert_true(student_t_tail(INFINITY, 5) == 0 && student_t_tail(-INFINITY, 1e9) == 1);
	assert_true(student_t_tail(1e200, 5) == 0 && student_t_tail(-1e200, 1e9) == 1);
	assert_true(isnan(student_t_tail(1, -1)) && isnan(student_t_tail(NAN, 5)));
}

static void sorting(void **state)
{
	double v[] = {3, NAN, -1, INFINITY, 2, NAN, 0};
	static const double want[] = {-1, 0, 2, 3, INFINITY};

	(void)state;
	assert_int_equal(values_sort(v, ARRAY_LEN(v)), 5);
	for (size_t i = 0; i < ARRAY_LEN(want); i++)
		assert_true(v[i] == want[i]);
	assert_true(isnan(v[5]) && isnan(v[6]));
	assert_int_equal(values_sort(v + 5, 2), 0);
	assert_int_equal(values_sort(NULL, 0), 0);
}

static void percentiles(void **state)
{
	static const double v[] = {10, 20, 30, 40};

	(void)state;
	near(values_percentile(v, 4, 0), 10, 0);
	near(values_percentile(v, 4, 100), 40, 0);
	near(values_percentile(v, 4, 50), 25, 0);
	near(values_percentile(v, 4, 25), 17.5, 1e-12);
	near(values_percentile(v, 4, 90), 37, 1e-12);
	near(values_percentile(v, 4, -5), 10, 0);
	near(values_percentile(v, 4, 1000), 40, 0);
	near(values_percentile(v, 1, 99), 10, 0);
	assert_true(isnan(values_percentile(v, 0, 50)));
	assert_true(isnan(values_percentile(v, 4, NAN)));
	assert_true(isinf(values_percentile((double[]){1, INFINITY, INFINITY}, 3, 75)));
}

static void medians(void **state)
{
	(void)state;
	assert_true(isnan(values_median(NULL, 0)));
	near(values_median((double[]){4}, 1), 4, 0);
	near(values_median((double[]){1, 2, 9}, 3), 2, 0);
	near(values_median((double[]){1, 2, 4, 9}, 4), 3, 0);
	near(values_median((double[]){1e308, 1.5e308}, 2), 1.25e308, 1e294);
}

static void median_distances(void **state)
{
	(void)state;
	assert_true(isnan(values_mad(NULL, 0)));
	near(values_mad((double[]){4}, 1), 0, 0);
	near(values_mad((double[]){1, 2}, 2), 0.5, 0);
	near(values_mad((double[]){1, 1, 2, 2, 4, 6, 9}, 7), 1, 0);
	near(values_mad((double[]){1, 2, 3, 100}, 4), 1, 0);
	near(values_mad((double[]){-100, 1, 2, 3}, 4), 1, 0);
	near(values_mad((double[]){5, 5, 5, 5, 90}, 5), 0, 0);
	near(values_mad((double[]){0, 10, 11, 12, 13, 14}, 6), 1.5, 0);
}

/* The short way must agree with sorting the distances. */
static void median_distance_by_sorting(void **state)
{
	double v[40], distance[40];
	uint32_t seed = 1;

	(void)state;
	for (size_t n = 1; n <= ARRAY_LEN(v); n++) {
		for (size_t i = 0; i < n; i++) {
			seed = seed * 1664525u + 1013904223u;
			v[i] = (double)(seed >> 20);
		}
		values_sort(v, n);
		for (size_t i = 0; i < n; i++)
			distance[i] = fabs(v[i] - values_median(v, n));
		values_sort(distance, n);
		near(values_mad(v, n), values_median(distance, n), 1e-12);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty),
		cmocka_unit_test(one_value),
		cmocka_unit_test(eight_values),
		cmocka_unit_test(two_values),
		cmocka_unit_test(equal_values),
		cmocka_unit_test(signs),
		cmocka_unit_test(large_and_close),
		cmocka_unit_test(no_value_is_not_counted),
		cmocka_unit_test(t_table),
		cmocka_unit_test(t_closed_forms),
		cmocka_unit_test(t_inverse),
		cmocka_unit_test(t_edges),
		cmocka_unit_test(sorting),
		cmocka_unit_test(percentiles),
		cmocka_unit_test(medians),
		cmocka_unit_test(median_distances),
		cmocka_unit_test(median_distance_by_sorting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
