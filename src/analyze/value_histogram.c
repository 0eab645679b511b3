#include "analyze/value_histogram.h"

#include <math.h>

static void swap(double *a, double *b)
{
	double c = *a;

	*a = *b;
	*b = c;
}

/* Puts the value that sorting would bring to place @k there: smaller ones in front of it. */
static double select_kth(double *v, size_t len, size_t k)
{
	size_t low = 0, high = len - 1;

	while (low < high) {
		size_t i = low, j = high;
		double pivot;

		/* Middle of three, so that sorted values are no worst case. */
		if (v[low] > v[high])
			swap(&v[low], &v[high]);
		pivot = v[low + (high - low) / 2];
		if (pivot < v[low])
			pivot = v[low];
		else if (pivot > v[high])
			pivot = v[high];
		for (;;) {
			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i >= j)
				break;
			swap(&v[i++], &v[j--]);
		}
		if (k <= j)
			high = j;
		else
			low = j + 1;
	}
	return v[k];
}

static double percentile(value_list *values, double part)
{
	double place = ceil(part * (double)values->len) - 1;
	size_t k = place < 0 ? 0 : (size_t)place;

	return select_kth(values->items, values->len, k < values->len ? k : values->len - 1);
}

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

static void count_in(struct value_histogram *h, size_t first, bool log, double value)
{
	struct value_bin *bins = h->bins.items + first;
	size_t len = h->bins.len - first, at;
	double low = bins[0].from, width = h->max - low;

	if (width <= 0)
		at = 0;
	else if (log)
		at = (size_t)(log2(value / low) / log2(h->max / low) * (double)len);
	else
		at = (size_t)((value - low) / width * (double)len);
	if (at >= len)
		at = len - 1;
	/* What the two ways to compute it do not agree on by a last digit. */
	if (at && value < bins[at].from)
		at--;
	else if (at + 1 < len && value >= bins[at].to)
		at++;
	bins[at].count++;
}

static double least_positive(const value_list *values)
{
	double least = INFINITY;

	vec_each(values, v)
		if (*v > 0 && *v < least)
			least = *v;
	return least;
}

void value_histogram_make(struct value_histogram *h, value_list *values, uint32_t bins, bool log)
{
	double low, sum = 0;
	size_t first = 0;

	*h = (struct value_histogram){.count = values->len};
	if (!values->len)
		return;
	h->min = h->max = values->items[0];
	vec_each(values, v) {
		h->min = fmin(h->min, *v);
		h->max = fmax(h->max, *v);
		sum += *v;
	}
	h->mean = sum / (double)values->len;
	log = log && h->max > 0;
	low = log ? least_positive(values) : h->min;
	if (log && h->min <= 0) {
		vec_push(&h->bins, (struct value_bin){h->min, 0, 0});
		first = 1;
	}
	make_bins(h, bins, log, low);
	vec_each(values, v) {
		if (first && *v <= 0)
			h->bins.items[0].count++;
		else
			count_in(h, first, log, *v);
	}
	h->p50 = percentile(values, 0.5);
	h->p90 = percentile(values, 0.9);
	h->p99 = percentile(values, 0.99);
	h->p999 = percentile(values, 0.999);
}

void value_histogram_release(struct value_histogram *h)
{
	vec_release(&h->bins);
}
