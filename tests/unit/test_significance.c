/* Welch's interval against published examples and values worked out apart from this program. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "measure/significance.h"

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

#define STATS(...)                                                                                 \
	stats_of((double[]){__VA_ARGS__}, sizeof((double[]){__VA_ARGS__}) / sizeof(double))

static struct significance compare(struct stats before, struct stats after)
{
	struct significance s;

	significance_compare(&before, &after, &s);
	return s;
}

/* Student's own data of 1908; R's t.test(extra ~ group, data = sleep) prints this interval. */
static void hours_of_sleep(void **state)
{
	struct significance s = compare(STATS(0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0),
					STATS(1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4));

	(void)state;
	near(s.difference, 1.58, 1e-12);
	near(s.low, -0.2054832, 1e-7);
	near(s.high, 3.3654832, 1e-7);
	assert_int_equal(s.verdict, SIGNIFICANCE_UNCLEAR);
}

/* t = 2.46 with 25.0 degrees of freedom, p = 0.021. */
static void equal_sizes(void **state)
{
	struct stats a = STATS(27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1,
			       19.6, 19.0, 21.7, 21.4);
	struct stats b = STATS(27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9,
			       22.1, 22.9, 20.5, 24.4);
	struct significance s = compare(a, b);

	(void)state;
	near(s.difference, 2.1666666666666665, 1e-12);
	near(s.low, 0.3492370661924, 1e-9);
	near(s.high, 3.9840962671410, 1e-9);
	assert_int_equal(s.verdict, SIGNIFICANCE_MORE);
	s = compare(b, a);
	near(s.low, -3.9840962671410, 1e-9);
	near(s.high, -0.3492370661924, 1e-9);
	assert_int_equal(s.verdict, SIGNIFICANCE_LESS);
}

/* The small side varies more: 3.0 degrees of freedom, where taking both as alike would give 11. */
static void unequal_sizes(void **state)
{
	struct significance s =
		compare(STATS(10, 30, 20, 41), STATS(50, 51, 52, 50.5, 49, 50, 51, 50, 49.5));

	(void)state;
	near(s.low, 3.9455582528856, 1e-9);
	near(s.high, 46.2211084137811, 1e-9);
	assert_int_equal(s.verdict, SIGNIFICANCE_MORE);
}

static void two_values_each(void **state)
{
	struct significance s = compare(STATS(10, 12), STATS(20, 22));

	(void)state;
	/* Both vary equally: 2 degrees of freedom, of which t is 4.3027. */
	near(s.low, 10 - 4.302652729911275 * sqrt(2), 1e-9);
	near(s.high, 10 + 4.302652729911275 * sqrt(2), 1e-9);
	assert_int_equal(s.verdict, SIGNIFICANCE_MORE);
	assert_int_equal(compare(STATS(10, 12), STATS(12, 15)).verdict, SIGNIFICANCE_UNCLEAR);
}

static void too_few_values(void **state)
{
	struct significance s = compare(STATS(1), STATS(2, 3, 4));

	(void)state;
	near(s.difference, 2, 0);
	assert_true(isnan(s.low) && isnan(s.high));
	assert_int_equal(s.verdict, SIGNIFICANCE_UNKNOWN);
	s = compare((struct stats){}, STATS(2, 3));
	assert_true(isnan(s.difference) && isnan(s.low) && isnan(s.high));
	assert_int_equal(s.verdict, SIGNIFICANCE_UNKNOWN);
}

static void without_variation(void **state)
{
	struct significance s = compare(STATS(5, 5, 5), STATS(4, 4));

	(void)state;
	assert_true(s.low == -1 && s.high == -1);
	assert_int_equal(s.verdict, SIGNIFICANCE_LESS);
	assert_int_equal(compare(STATS(0, 0), STATS(0, 0)).verdict, SIGNIFICANCE_UNCLEAR);
	/* Only one side varies: its degrees of freedom alone. */
	s = compare(STATS(5, 5, 5), STATS(6, 8));
	near(s.high, 2 + 12.706204736174698, 1e-9);
}

/* Squares of these variances would be 0 or infinite. */
static void any_scale(void **state)
{
	for (double scale = 1e-120; scale < 1e130; scale *= 1e40) {
		struct significance s =
			compare(STATS(10 * scale, 12 * scale), STATS(20 * scale, 22 * scale));

		near(s.low / scale, 10 - 4.302652729911275 * sqrt(2), 1e-9);
		assert_int_equal(s.verdict, SIGNIFICANCE_MORE);
	}
	(void)state;
}

static void names(void **state)
{
	(void)state;
	assert_string_equal(significance_name(SIGNIFICANCE_UNKNOWN), "unknown");
	assert_string_equal(significance_name(SIGNIFICANCE_UNCLEAR), "unclear");
	assert_string_equal(significance_name(SIGNIFICANCE_MORE), "more");
	assert_string_equal(significance_name(SIGNIFICANCE_LESS), "less");
}

static void slices(void **state)
{
	(void)state;
	assert_int_equal(significance_slices(0), 0);
	assert_int_equal(significance_slices(1), 1);
	assert_int_equal(significance_slices(2), 2);
	assert_int_equal(significance_slices(3), 2);
	assert_int_equal(significance_slices(5), 2);
	assert_int_equal(significance_slices(6), 3);
	assert_int_equal(significance_slices(39), 19);
	assert_int_equal(significance_slices(40), 20);
	assert_int_equal(significance_slices(UINT64_MAX), 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hours_of_sleep), cmocka_unit_test(equal_sizes),
		cmocka_unit_test(unequal_sizes),  cmocka_unit_test(two_values_each),
		cmocka_unit_test(too_few_values), cmocka_unit_test(without_variation),
		cmocka_unit_test(any_scale),      cmocka_unit_test(names),
		cmocka_unit_test(slices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
