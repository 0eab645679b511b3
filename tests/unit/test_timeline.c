/* Values over time: pixels of a counter, heat maps, how values are spread, points. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/plot/heat.h"
#include "analyze/plot/points.h"
#include "analyze/plot/timeline.h"
#include "analyze/plot/value_histogram.h"

#include <math.h>

#define MS 1000000ull

/* Intervals of 1 ms in which 10 are counted, but for one with a spike; from 1 s on. */
struct counted {
	struct count_columns c;
	uint64_t time[1000], duration[1000], value[1000];
	uint32_t ppm[1000];
};

static void count_up(struct counted *k, size_t rows)
{
	for (size_t i = 0; i < rows; i++) {
		k->time[i] = 1000 * MS + (i + 1) * MS;
		k->duration[i] = MS;
		k->value[i] = i == 333 ? 500 : 10;
		k->ppm[i] = i == 700 ? 250000 : 1000000;
	}
	k->c = (struct count_columns){rows, k->time, k->duration, k->value, k->ppm, NULL};
}

/* What summaries are: blocks of 64 rows. */
static struct count_block block(const struct counted *k, size_t from, size_t to)
{
	struct count_block b = {.first_ns = k->time[from] - k->duration[from],
				.last_ns = k->time[to - 1],
				.min = UINT64_MAX,
				.min_rate = INFINITY,
				.least_ppm = 1000000,
				.rows = (uint32_t)(to - from)};

	for (size_t i = from; i < to; i++) {
		double rate = (double)k->value[i] / (double)k->duration[i] * 1e9;

		b.sum += k->value[i];
		b.duration_ns += k->duration[i];
		b.min_rate = fmin(b.min_rate, rate);
		b.max_rate = fmax(b.max_rate, rate);
		b.least_ppm = k->ppm[i] < b.least_ppm ? k->ppm[i] : b.least_ppm;
	}
	return b;
}

static double sum_of(const struct timeline *t)
{
	double sum = 0;

	for (uint32_t i = 0; i < t->pixels; i++)
		sum += t->sum[i];
	return sum;
}

static void spikes_survive(void **state)
{
	static struct counted k;
	struct timeline t;

	(void)state;
	count_up(&k, 1000);
	timeline_init(&t, 1000 * MS, 2000 * MS, 10);
	timeline_add_rows(&t, &k.c, 0, 1000);
	timeline_finish(&t);
	assert_true(fabs(t.mean[0] - 10000) < 1e-6);
	assert_true(fabs(t.max[3] - 500000) < 1e-6);
	assert_true(fabs(t.min[3] - 10000) < 1e-6);
	assert_true(fabs(t.mean[3] - 14900) < 1e-6);
	assert_int_equal(t.running_ppm[6], 1000000);
	assert_int_equal(t.running_ppm[7], 250000);
	assert_true(fabs(sum_of(&t) - 10490) < 1e-6);
	timeline_release(&t);
}

/* By blocks where they are fine enough, by rows elsewhere: the sum is the same, spikes are there. */
static void blocks_say_the_same(void **state)
{
	static struct counted k;

	(void)state;
	count_up(&k, 1000);
	for (uint32_t pixels = 1; pixels <= 200; pixels = pixels * 2 + 1) {
		struct timeline t;
		unsigned taken = 0;
		double spike = 0;

		timeline_init(&t, 1000 * MS, 2000 * MS, pixels);
		for (size_t from = 0; from < 1000; from += 64) {
			size_t to = from + 64 < 1000 ? from + 64 : 1000;
			struct count_block b = block(&k, from, to);

			if (timeline_takes_block(&t, &b)) {
				timeline_add_block(&t, &b);
				taken++;
			} else {
				timeline_add_rows(&t, &k.c, from, to);
			}
		}
		timeline_finish(&t);
		for (uint32_t i = 0; i < pixels; i++)
			spike = fmax(spike, t.max[i]);
		assert_true(pixels > 7 ? taken <= 1 : taken == 16);
		assert_true(fabs(sum_of(&t) - 10490) < 1e-6);
		assert_true(fabs(spike - 500000) < 1e-6);
		timeline_release(&t);
	}
}

static void gaps_stay_gaps(void **state)
{
	static struct counted k;
	struct count_block b;
	struct timeline t;

	(void)state;
	count_up(&k, 64);
	for (size_t i = 32; i < 64; i++)
		k.time[i] += 500 * MS; /* nothing for half a second */
	timeline_init(&t, 1000 * MS, 1600 * MS, 60);
	b = block(&k, 0, 64);
	assert_false(timeline_takes_block(&t, &b));
	timeline_add_rows(&t, &k.c, 0, 64);
	timeline_finish(&t);
	assert_true(fabs(t.mean[0] - 10000) < 1e-6);
	assert_true(fabs(t.mean[3] - 10000) < 1e-6); /* 2 ms of it are counted */
	for (uint32_t i = 4; i < 53; i++) {
		assert_true(isnan(t.mean[i]) && isnan(t.min[i]) && isnan(t.max[i]));
		assert_int_equal(t.running_ppm[i], 0);
	}
	assert_true(fabs(t.mean[54] - 10000) < 1e-6);
	assert_true(isnan(t.mean[58]));
	timeline_release(&t);
	/* Zoomed out it is one pixel, whose mean is that of what was counted. */
	timeline_init(&t, 1000 * MS, 4000 * MS, 1);
	assert_true(timeline_takes_block(&t, &b));
	timeline_add_block(&t, &b);
	timeline_finish(&t);
	assert_true(fabs(t.mean[0] - 10000) < 1e-6);
	timeline_release(&t);
}

static void windows_cut_intervals(void **state)
{
	static struct counted k;
	struct timeline t;

	(void)state;
	count_up(&k, 1000);
	/* Half of an interval of 10 at each end, and what lies far away. */
	timeline_init(&t, 1000 * MS + MS / 2, 1002 * MS + MS / 2, 2);
	timeline_add_rows(&t, &k.c, 0, 1000);
	timeline_finish(&t);
	assert_true(fabs(sum_of(&t) - 20) < 1e-6);
	assert_true(fabs(t.sum[0] - 10) < 1e-6);
	timeline_release(&t);
}

static void seconds_by_their_parts(void **state)
{
	struct heat h;

	(void)state;
	assert_true(heat_init(&h, 500, 500 + 1 * NS_PER_SEC, 500 + 3 * NS_PER_SEC, 10));
	assert_int_equal(h.first_s, 1);
	assert_int_equal(h.seconds, 2);
	heat_add(&h, 500 + 1 * NS_PER_SEC, 1);
	heat_add(&h, 500 + 1 * NS_PER_SEC + 999 * MS, 2);
	heat_add(&h, 500 + 2 * NS_PER_SEC + 250 * MS, 4);
	heat_add(&h, 500 + 3 * NS_PER_SEC, 8); /* behind it */
	heat_add(&h, 500, 16);                 /* in front of it */
	heat_add(&h, 3, 16);
	assert_true(h.cells[0] == 1 && h.cells[9] == 2 && h.cells[12] == 4);
	assert_true(heat_max(&h) == 4);
	heat_spread(&h, 500 + 2 * NS_PER_SEC + 850 * MS, 500 + 3 * NS_PER_SEC + 50 * MS, 40);
	assert_true(fabs(h.cells[18] - 10) < 1e-9);
	assert_true(fabs(h.cells[19] - 20) < 1e-9);
	heat_release(&h);
	assert_false(heat_init(&h, 0, 0, 1000000 * NS_PER_SEC, 1000));
}

static uint64_t counted_in(const struct value_histogram *h)
{
	uint64_t sum = 0;

	vec_each(&h->bins, b)
		sum += b->count;
	return sum;
}

static void values_are_spread(void **state)
{
	struct value_histogram h;
	struct value_list v = {};
	uint32_t seed = 3;

	(void)state;
	for (int i = 0; i < 10000; i++)
		vec_push(&v.values, i + 1);
	for (size_t i = v.values.len - 1; i > 0; i--) {
		size_t j = (seed = seed * 1664525u + 1013904223u) % (i + 1);
		double d = v.values.items[i];

		v.values.items[i] = v.values.items[j];
		v.values.items[j] = d;
	}
	value_histogram_make(&h, &v, 10, false);
	assert_true(h.min == 1 && h.max == 10000 && h.mean == 5000.5);
	assert_true(h.p50 == 5000 && h.p90 == 9000 && h.p99 == 9900 && h.p999 == 9990);
	assert_int_equal(h.bins.len, 10);
	assert_true(h.bins.items[9].to == 10000);
	assert_int_equal(h.bins.items[4].count, 1000);
	assert_int_equal(counted_in(&h), 10000);
	value_histogram_release(&h);
	value_histogram_make(&h, &v, 4, true);
	assert_true(fabs(h.bins.items[1].from - 10) < 1e-9);
	assert_int_equal(h.bins.items[0].count, 9);
	assert_int_equal(h.bins.items[3].count, 9001);
	assert_int_equal(counted_in(&h), 10000);
	value_histogram_release(&h);
	value_list_release(&v);
}

static void odd_values(void **state)
{
	struct value_histogram h;
	struct value_list v = {};

	(void)state;
	value_histogram_make(&h, &v, 10, false);
	assert_int_equal(h.count, 0);
	assert_int_equal(h.bins.len, 0);
	value_histogram_release(&h);
	for (int i = 0; i < 1000; i++)
		vec_push(&v.values, 7);
	value_histogram_make(&h, &v, 10, false);
	assert_int_equal(h.bins.len, 1);
	assert_int_equal(h.bins.items[0].count, 1000);
	assert_true(h.p999 == 7);
	value_histogram_release(&h);
	v.values.items[5] = 0; /* has no logarithm */
	v.values.items[6] = 70;
	value_histogram_make(&h, &v, 3, true);
	assert_int_equal(h.bins.len, 4);
	assert_int_equal(h.bins.items[0].count, 1);
	assert_int_equal(h.bins.items[1].count, 998);
	assert_int_equal(h.bins.items[3].count, 1);
	value_histogram_release(&h);
	value_list_release(&v);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Whatever the values are like, percentiles are what sorting finds, also of values with counts. */
static void percentiles_are_exact(void **state)
{
	enum { VALUES = 50000 };
	double *sorted = calloc(VALUES, sizeof(*sorted));
	uint32_t seed = 9;

	(void)state;
	assert_non_null(sorted);
	for (int form = 0; form < 5; form++) {
		struct value_list once = {}, counted = {};
		struct value_histogram h, c;

		for (int i = 0; i < VALUES; i++) {
			double u = (seed = seed * 1664525u + 1013904223u) / 4294967296.0;
			double v = form == 0   ? u
				   : form == 1 ? exp(u * 600)
				   : form == 2 ? (u < 0.3 ? 5 : floor(u * 20))
				   : form == 3 ? (i ? 1 + u * 1e-9 : 1e300)
					       : -1000 + floor(u * 1e6);

			vec_push(&once.values, v);
			value_list_add(&counted, v, 1);
			sorted[i] = v;
		}
		qsort(sorted, VALUES, sizeof(*sorted), by_value);
		value_histogram_make(&h, &once, 30, form == 1);
		value_histogram_make(&c, &counted, 30, form == 1);
		assert_true(h.p50 == sorted[VALUES / 2 - 1] && c.p50 == h.p50);
		assert_true(h.p90 == sorted[VALUES / 10 * 9 - 1] && c.p90 == h.p90);
		assert_true(h.p99 == sorted[VALUES / 100 * 99 - 1] && c.p99 == h.p99);
		assert_true(h.p999 == sorted[VALUES / 1000 * 999 - 1] && c.p999 == h.p999);
		assert_true(h.min == sorted[0] && h.max == sorted[VALUES - 1]);
		assert_int_equal(c.count, VALUES);
		assert_int_equal(counted_in(&h), VALUES);
		assert_int_equal(counted_in(&c), VALUES);
		for (size_t i = 0; i < h.bins.len; i++)
			assert_int_equal(h.bins.items[i].count, c.bins.items[i].count);
		value_histogram_release(&h);
		value_histogram_release(&c);
		value_list_release(&once);
		value_list_release(&counted);
	}
	free(sorted);
}

static void points_keep_what_is_rare(void **state)
{
	point_list points = {};
	uint32_t frequent = 0, rare = 0, outliers = 0;

	(void)state;
	for (uint32_t i = 0; i < 100000; i++)
		vec_push(&points, (struct point){.time_ns = i,
						 .address = i == 5000    ? 1
							    : i == 90000 ? 999999
									 : 5000 + i % 100,
						 .function = i == 77777      ? 5
							     : i % 100 == 50 ? 2
									     : 1});
	points_thin(&points, 1000, 6);
	assert_in_range(points.len, 900, 1000);
	for (size_t i = 0; i < points.len; i++) {
		frequent += points.items[i].function == 1;
		rare += points.items[i].function == 5;
		outliers += points.items[i].address == 1 || points.items[i].address == 999999;
		assert_true(!i || points.items[i].time_ns > points.items[i - 1].time_ns);
	}
	assert_int_equal(rare, 1);
	assert_int_equal(outliers, 2);
	assert_in_range(frequent, 970, 990);
	/* All of them fit. */
	points_thin(&points, 100000, 6);
	assert_in_range(points.len, 900, 1000);
	vec_release(&points);
}

/* Also with more functions than there is room for. */
static void points_keep_their_ends(void **state)
{
	(void)state;
	for (size_t max = 2; max < 40; max++)
		for (uint32_t functions = 4; functions <= 100; functions += 96) {
			point_list points = {};

			for (uint32_t i = 0; i < 1000; i++)
				vec_push(&points,
					 (struct point){.time_ns = i,
							.function = (i * i % 7 + i) % functions});
			points_thin(&points, max, functions);
			assert_in_range(points.len, 2, max);
			assert_int_equal(points.items[0].time_ns, 0);
			assert_int_equal(points.items[points.len - 1].time_ns, 999);
			vec_release(&points);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spikes_survive),
		cmocka_unit_test(blocks_say_the_same),
		cmocka_unit_test(gaps_stay_gaps),
		cmocka_unit_test(windows_cut_intervals),
		cmocka_unit_test(seconds_by_their_parts),
		cmocka_unit_test(values_are_spread),
		cmocka_unit_test(odd_values),
		cmocka_unit_test(percentiles_are_exact),
		cmocka_unit_test(points_keep_what_is_rare),
		cmocka_unit_test(points_keep_their_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
