/* How the values of a column are spread, and how that changes over time. */
#include "query/table.h"

#include <errno.h>
#include <math.h>

#define VALUES_MAX (32u << 20)

struct gathering {
	const struct table_query *q;
	const struct table_column *column;
	struct value_list *values;
};

static int add_values(void *ctx, const struct table_rows *rows, struct err *e)
{
	struct gathering *g = ctx;

	if (g->values->values.len + rows->count > VALUES_MAX)
		return err_set(e, E2BIG,
			       "The selection has more than %u rows. Choose a smaller window, or a "
			       "condition on columns.",
			       VALUES_MAX);
	vec_reserve(&g->values->values, g->values->values.len + rows->count);
	for (size_t i = 0; i < rows->count; i++)
		g->values->values.items[g->values->values.len++] = table_number(
			g->column, table_value(g->q, g->column, rows->columns, rows->row[i]));
	return 0;
}

int table_values(const struct table_query *q, size_t column, struct value_list *ret, struct err *e)
{
	struct gathering g = {q, &q->columns.items[column], ret};
	const int wanted[] = {(int)column, -1};

	return table_each(q, wanted, add_values, &g, e);
}

/* ---- heat maps ---- */

struct heating {
	const struct table_query *q;
	const struct table_column *column;
	struct table_heat *h;
};

static int find_range(void *ctx, const struct table_rows *rows, struct err *e)
{
	struct heating *g = ctx;
	struct table_heat *h = g->h;

	(void)e;
	for (size_t i = 0; i < rows->count; i++) {
		double v = table_number(g->column,
					table_value(g->q, g->column, rows->columns, rows->row[i]));

		if (!isfinite(v))
			continue;
		h->min = !h->matched || v < h->min ? v : h->min;
		h->max = !h->matched || v > h->max ? v : h->max;
		h->matched++;
	}
	return 0;
}

/* Where a value lies between the least and the largest, 0 to 1. */
static double share_of(const struct table_heat *h, double v)
{
	if (h->max <= h->min || !isfinite(h->max - h->min))
		return 0;
	if (!h->log)
		return (v - h->min) / (h->max - h->min);
	/* Ratios begin at 1: what is smaller lies in the lowest row. */
	return v < 1 || h->max <= 1 ? 0 : log(v / fmax(h->min, 1)) / log(h->max / fmax(h->min, 1));
}

static int add_cells(void *ctx, const struct table_rows *rows, struct err *e)
{
	struct heating *g = ctx;
	struct table_heat *h = g->h;
	const uint64_t *time_ns = rows->columns->columns[0].values;
	double columns_a_ns = h->columns / (double)(h->to_ns - h->from_ns);

	(void)e;
	for (size_t i = 0; i < rows->count; i++) {
		uint32_t row = rows->row[i], x, y;
		double v =
			table_number(g->column, table_value(g->q, g->column, rows->columns, row));

		if (!isfinite(v) || time_ns[row] < h->from_ns || time_ns[row] >= h->to_ns)
			continue;
		x = (uint32_t)((double)(time_ns[row] - h->from_ns) * columns_a_ns);
		y = (uint32_t)(share_of(h, v) * h->rows);
		x = x < h->columns ? x : h->columns - 1;
		y = y < h->rows ? y : h->rows - 1;
		h->cells[(size_t)x * h->rows + y]++;
	}
	return 0;
}

int table_heat_make(const struct table_query *q, size_t column, struct table_heat *h, struct err *e)
{
	struct heating g = {q, &q->columns.items[column], h};
	const int wanted[] = {(int)column, -1};
	int rc;

	h->min = h->max = 0;
	h->matched = 0;
	h->cells = NULL;
	rc = table_each(q, wanted, find_range, &g, e);
	if (rc < 0)
		return rc;
	h->cells = xcalloc((size_t)h->columns * h->rows, sizeof(*h->cells));
	return table_each(q, wanted, add_cells, &g, e);
}
