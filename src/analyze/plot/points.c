#include "analyze/plot/points.h"

#include <stdbool.h>

struct kind {
	uint32_t function;
	size_t count, quota, seen, kept;
	size_t first, last, lowest, highest; /* points */
};

static int by_count(const void *a, const void *b)
{
	const struct kind *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->function < y->function ? -1 : 1;
}

static int by_function(const void *a, const void *b)
{
	const struct kind *x = a, *y = b;

	return x->function < y->function ? -1 : x->function > y->function;
}

static void count_kinds(const point_list *points, struct kind *kinds, uint32_t functions)
{
	for (uint32_t i = 0; i < functions; i++)
		kinds[i].function = i;
	for (size_t i = 0; i < points->len; i++) {
		struct kind *k = &kinds[points->items[i].function];
		uint64_t address = points->items[i].address;

		if (!k->count)
			k->first = i;
		k->last = i;
		if (!k->count || address < points->items[k->lowest].address)
			k->lowest = i;
		if (!k->count || address > points->items[k->highest].address)
			k->highest = i;
		k->count++;
	}
}

/* One point for each function, the most frequent first if @max is too small; the rest by share. */
static void give_quotas(struct kind *kinds, uint32_t functions, size_t points, size_t max)
{
	size_t present = 0, rest;

	qsort(kinds, functions, sizeof(*kinds), by_count);
	while (present < functions && kinds[present].count && present < max)
		kinds[present++].quota = 1;
	rest = max - present;
	for (size_t i = 0; i < present; i++)
		kinds[i].quota +=
			(size_t)((double)rest * ((double)(kinds[i].count - 1) / (double)points));
	qsort(kinds, functions, sizeof(*kinds), by_function);
}

/* Points to keep if the quota allows: first, last, lowest and highest address. */
static bool certain(const struct kind *k, size_t at)
{
	return (k->quota && at == k->first) || (k->quota > 1 && at == k->last) ||
	       (k->quota > 3 && (at == k->lowest || at == k->highest));
}

static size_t certain_later(const struct kind *k, size_t at)
{
	return (k->quota > 1 && at < k->last) + (k->quota > 3 && at < k->lowest) +
	       (k->quota > 3 && at < k->highest);
}

/* Keeps a point whenever seen * quota / count reaches the next whole number. */
static bool keeps(struct kind *k, size_t at)
{
	size_t before = k->seen * k->quota / k->count, now = (k->seen + 1) * k->quota / k->count;

	k->seen++;
	/* Leave room for the certain points that are still to come. */
	if (!certain(k, at) && (now == before || k->kept + certain_later(k, at) >= k->quota))
		return false;
	k->kept++;
	return true;
}

void points_thin(point_list *points, size_t max, uint32_t functions)
{
	struct kind *kinds;
	size_t kept = 0, ends = max >= 2 ? 2 : 0; /* first and last of all points */

	if (points->len <= max || !functions)
		return;
	kinds = xcalloc(functions, sizeof(*kinds));
	count_kinds(points, kinds, functions);
	give_quotas(kinds, functions, points->len, max - ends);
	for (size_t i = 0; i < points->len; i++) {
		bool end = ends && (!i || i + 1 == points->len);

		if (keeps(&kinds[points->items[i].function], i) || end)
			points->items[kept++] = points->items[i];
	}
	points->len = kept;
	free(kinds);
}
