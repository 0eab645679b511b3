#include "analyze/plot/value_histogram.h"
#include "base/bits.h"

#include <math.h>

#define BUCKETS     4096u
#define SORTED_MAX  4096u /* up to this many values are simply sorted */
#define PERCENTILES 4u

static uint64_t count_of(const struct value_list *l, size_t i)
{
	return l->counts.len ? l->counts.items[i] : 1;
}

/* ---- percentiles ---- */

/*
 * Finds the values at some places of the sorted order without sorting: values are counted in
 * buckets of equal width, and only buckets that contain such a place are examined further.
 */
struct places {
	uint64_t at[PERCENTILES]; /* ascending */
	double *to[PERCENTILES];
	size_t len;
};

struct spread {
	double min, max, buckets_a_unit;
};

static size_t bucket_of(const struct spread *s, double value)
{
	return (size_t)((value - s->min) * s->buckets_a_unit);
}

static struct spread spread_of(const struct value_list *l)
{
	struct spread s = {.min = l->values.items[0], .max = l->values.items[0]};

	for (size_t i = 1; i < l->values.len; i++) {
		double v = l->values.items[i];

		s.min = v < s.min ? v : s.min;
		s.max = v > s.max ? v : s.max;
	}
	return s;
}

struct counted {
	double value;
	uint64_t count;
};

static int by_value(const void *a, const void *b)
{
	const struct counted *x = a, *y = b;

	return x->value < y->value ? -1 : x->value > y->value;
}

static void sort_for(const struct value_list *l, const struct places *p)
{
	struct counted *sorted = xcalloc(l->values.len, sizeof(*sorted));
	uint64_t before = 0;
	size_t at = 0;

	for (size_t i = 0; i < l->values.len; i++)
		sorted[i] = (struct counted){l->values.items[i], count_of(l, i)};
	qsort(sorted, l->values.len, sizeof(*sorted), by_value);
	for (size_t i = 0; i < p->len; i++) {
		while (at + 1 < l->values.len && before + sorted[at].count <= p->at[i])
			before += sorted[at++].count;
		*p->to[i] = sorted[at].value;
	}
	free(sorted);
}

/* The values of each bucket that contains a wanted place, and those places. */
struct parts {
	struct value_list lists[PERCENTILES];
	struct places places[PERCENTILES];
	uint8_t of_bucket[BUCKETS]; /* part + 1 */
	size_t len;
};

static void find_parts(struct parts *k, const uint64_t *buckets, const struct places *p)
{
	uint64_t before = 0;
	size_t bucket = 0;

	for (size_t i = 0; i < p->len; i++) {
		struct places *to;

		while (bucket + 1 < BUCKETS && before + buckets[bucket] <= p->at[i])
			before += buckets[bucket++];
		if (!k->of_bucket[bucket])
			k->of_bucket[bucket] = (uint8_t)++k->len;
		to = &k->places[k->of_bucket[bucket] - 1];
		to->at[to->len] = p->at[i] - before;
		to->to[to->len++] = p->to[i];
	}
}

static void find_places(const struct value_list *l, struct spread s, const struct places *p);

static void find_in_buckets(const struct value_list *l, const struct spread *s,
			    const struct places *p)
{
	uint64_t *buckets = xcalloc(BUCKETS, sizeof(*buckets));
	struct parts *k = xcalloc(1, sizeof(*k));

	for (size_t i = 0; i < l->values.len; i++)
		buckets[bucket_of(s, l->values.items[i])] += count_of(l, i);
	find_parts(k, buckets, p);
	for (size_t i = 0; i < l->values.len; i++) {
		uint8_t part = k->of_bucket[bucket_of(s, l->values.items[i])];

		if (!part)
			continue;
		vec_push(&k->lists[part - 1].values, l->values.items[i]);
		if (l->counts.len)
			vec_push(&k->lists[part - 1].counts, l->counts.items[i]);
	}
	for (size_t i = 0; i < k->len; i++) {
		find_places(&k->lists[i], spread_of(&k->lists[i]), &k->places[i]);
		value_list_release(&k->lists[i]);
	}
	free(buckets);
	free(k);
}

static void find_places(const struct value_list *l, struct spread s, const struct places *p)
{
	s.buckets_a_unit = (BUCKETS - 1) / (s.max - s.min);
	if (s.min == s.max)
		for (size_t i = 0; i < p->len; i++)
			*p->to[i] = s.min;
	/* The smallest and the largest are in different buckets, so recursion has fewer values. */
	else if (l->values.len > SORTED_MAX && isfinite(s.buckets_a_unit) && s.buckets_a_unit > 0)
		find_in_buckets(l, &s, p);
	else
		sort_for(l, p);
}

static void find_percentiles(struct value_histogram *h, const struct value_list *l)
{
	static const double parts[PERCENTILES] = {0.5, 0.9, 0.99, 0.999};
	struct places p = {.to = {&h->p50, &h->p90, &h->p99, &h->p999}, .len = PERCENTILES};

	for (size_t i = 0; i < PERCENTILES; i++) {
		double place = ceil(parts[i] * (double)h->count) - 1;

		p.at[i] = place < 0 ? 0 : (uint64_t)place;
		if (p.at[i] >= h->count)
			p.at[i] = h->count - 1;
	}
	find_places(l, (struct spread){.min = h->min, .max = h->max}, &p);
}

/* ---- bins ---- */

static void make_bins(struct value_histogram *h, uint32_t count, bool log, double low)
{
	double step = log ? exp2((log2(h->max) - log2(low)) / count) : (h->max - low) / count;

	if (h->max == low)
		count = 1;
	for (uint32_t i = 0; i < count; i++) {
		double from = log ? low * pow(step, i) : low + step * i;
		double to = log ? low * pow(step, i + 1) : low + step * (i + 1);

		vec_push(&h->bins, (struct value_bin){from, i + 1 == count ? h->max : to, 0});
	}
}

/* Finds the bin of a value by its share of the width, or by that of its logarithm. */
struct bin_finder {
	struct value_bin *bins;
	size_t len;
	double low, bins_a_unit;
	bool log;
};

/*
 * The logarithm to about a thousandth, plus a constant (the exponent's bias): between two powers of
 * 2 it is nearly a parabola. Ten million exact ones would take longer than everything else.
 */
static double about_log2(double value)
{
	uint64_t bits = bits_of_double(value);
	double m = (double)(bits & ((1ull << 52) - 1)) * 0x1p-52;

	return (double)(int64_t)(bits >> 52) + m + m * (1 - m) * (0.423 - 0.16 * m);
}

static struct bin_finder finder_of(struct value_histogram *h, size_t first, bool log)
{
	struct bin_finder f = {.bins = h->bins.items + first, .len = h->bins.len - first};
	double width;

	f.low = log ? about_log2(f.bins[0].from) : f.bins[0].from;
	width = (log ? about_log2(h->max) : h->max) - f.low;
	f.bins_a_unit = width > 0 ? (double)f.len / width : 0;
	f.log = log;
	return f;
}

static void count_in(const struct bin_finder *f, double value, uint64_t count)
{
	double place = ((f->log ? about_log2(value) : value) - f->low) * f->bins_a_unit;
	size_t at = place > 0 ? (size_t)place : 0;

	if (at >= f->len)
		at = f->len - 1;
	/* Correct differences between this estimate and the bounds of the bins. */
	while (at && value < f->bins[at].from)
		at--;
	while (at + 1 < f->len && value >= f->bins[at].to)
		at++;
	f->bins[at].count += count;
}

static double least_positive(const struct value_list *l)
{
	double least = INFINITY;

	vec_each(&l->values, v)
		if (*v > 0 && *v < least)
			least = *v;
	return least;
}

static void take_sums(struct value_histogram *h, const struct value_list *l)
{
	double sum = 0, min = l->values.items[0], max = min;

	for (size_t i = 0; i < l->values.len; i++) {
		double v = l->values.items[i];

		min = v < min ? v : min;
		max = v > max ? v : max;
		sum += v * (double)count_of(l, i);
		h->count += count_of(l, i);
	}
	h->min = min;
	h->max = max;
	h->mean = sum / (double)h->count;
}

void value_histogram_make(struct value_histogram *h, const struct value_list *values, uint32_t bins,
			  bool log)
{
	struct bin_finder finder;
	size_t first = 0;

	*h = (struct value_histogram){};
	if (!values->values.len)
		return;
	take_sums(h, values);
	log = log && h->max > 0;
	if (log && h->min <= 0) {
		vec_push(&h->bins, (struct value_bin){h->min, 0, 0});
		first = 1;
	}
	make_bins(h, bins, log, log ? least_positive(values) : h->min);
	finder = finder_of(h, first, log);
	for (size_t i = 0; i < values->values.len; i++) {
		if (first && values->values.items[i] <= 0)
			h->bins.items[0].count += count_of(values, i);
		else
			count_in(&finder, values->values.items[i], count_of(values, i));
	}
	find_percentiles(h, values);
}

void value_histogram_release(struct value_histogram *h)
{
	vec_release(&h->bins);
}
