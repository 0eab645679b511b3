/* Samples of a selection in time cells. */
#include "query/selection_internal.h"

struct cells {
	const struct cell_visitor *v;
	struct kind_scratch scratch;
	uint32_t cell;
};

static void add_rows(void *ctx, struct sample_columns *c)
{
	struct cells *k = ctx;

	for (size_t i = 0; i < c->rows; i++) {
		uint64_t at = c->time_ns[i];

		k->v->add(k->v->ctx, &(struct cell_sum){k->v->cell_at(k->v->ctx, at), c->event[i],
							c->thread[i], 1, c->weight[i], at, at});
	}
}

static void add_kind(void *ctx, const struct kind_sum *sum)
{
	struct cells *k = ctx;
	const struct row_kind *kind = sum->kind;

	k->v->add(k->v->ctx, &(struct cell_sum){k->cell, kind->event, kind->thread, sum->samples,
						sum->weight, sum->first_ns, sum->last_ns});
}

/* Finds the first row after @from that is in another cell, by steps that double. */
static size_t end_of_cell(const struct cells *k, const struct run_rows *rows, size_t from,
			  size_t to)
{
	size_t low = from + 1, step = 1, high;

#define IN_CELL(row) (k->v->cell_at(k->v->ctx, run_rows_time(rows, (row))) == k->cell)
	while (low + step < to && IN_CELL(low + step - 1)) {
		low += step;
		step *= 2;
	}
	high = low + step < to ? low + step : to;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (IN_CELL(middle))
			low = middle + 1;
		else
			high = middle;
	}
#undef IN_CELL
	return low;
}

static bool add_kept(void *ctx, const struct run_rows *rows, size_t from, size_t to,
		     const bool *wanted)
{
	struct cells *k = ctx;

	while (from < to) {
		size_t end;

		k->cell = k->v->cell_at(k->v->ctx, run_rows_time(rows, from));
		end = end_of_cell(k, rows, from, to);
		run_rows_sum(rows, from, end, wanted, &k->scratch, add_kind, k);
		from = end;
	}
	return true;
}

int selection_each_cell(const struct selection *sel, struct run_data *d, struct store *s,
			const struct cell_visitor *visitor, struct err *e)
{
	struct cells k = {.v = visitor};
	const struct row_visitor rows = {add_rows, &k, visitor->event,
					 ROWS_TIME | ROWS_WEIGHT | ROWS_KIND};
	/* A kind has no stacks: a filter on functions needs single rows. */
	int rc = selection_rows(sel, d, s, false, &rows, sel->nodes ? NULL : add_kept, e);

	kind_scratch_release(&k.scratch);
	return rc;
}
