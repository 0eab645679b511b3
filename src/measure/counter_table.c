#include "measure/counter_table.h"

#include <math.h>
#include <stdlib.h>

static double timer_seconds(const struct counter_table *t, enum row_timer timer)
{
	switch (timer) {
	case ROW_DURATION:
		return t->duration_s;
	case ROW_USER_TIME:
		return t->user_s;
	case ROW_SYSTEM_TIME:
		return t->system_s;
	case ROW_NO_TIMER:
		break;
	}
	return NAN;
}

void counter_table_clear_row(struct counter_table *t, size_t row)
{
	double seconds = timer_seconds(t, t->rows[row].timer);

	for (size_t a = 0; a < t->aggregate_count; a++) {
		struct cell *cell = table_cell(t, row, a);

		cell->counted = !isnan(seconds);
		cell->value = cell->counted ? seconds * 1e9 : 0;
		cell->raw = 0;
		cell->enabled_ns = cell->running_ns =
			t->rows[row].timer ? (uint64_t)(t->duration_s * 1e9) : 0;
	}
}

void counter_table_finish_cell(const struct counter_table *t, size_t row, size_t aggregate,
			       bool as_counted)
{
	struct cell *cell = table_cell(t, row, aggregate);

	if (t->rows[row].timer)
		return;
	cell->counted = cell->running_ns > 0;
	if (cell->counted && cell->running_ns < cell->enabled_ns && !as_counted)
		cell->value *= (double)cell->enabled_ns / (double)cell->running_ns;
	cell->value *= t->rows[row].scale;
}

void counter_table_add_run(struct counter_table *t, double elapsed_s)
{
	t->runs++;
	stats_add(&t->elapsed, elapsed_s);
	stats_add(&t->user, t->user_s);
	stats_add(&t->system, t->system_s);
	for (size_t i = 0; i < t->row_count * t->aggregate_count; i++) {
		struct cell *cell = &t->cells[i];

		if (cell->counted)
			stats_add(&cell->stats, cell->value);
		cell->enabled_sum += (double)cell->enabled_ns;
		cell->running_sum += (double)cell->running_ns;
		if (cell->stats.n) {
			cell->counted = true;
			cell->value = stats_mean(&cell->stats);
		}
		cell->enabled_ns = (uint64_t)(cell->enabled_sum / t->runs);
		cell->running_ns = (uint64_t)(cell->running_sum / t->runs);
	}
	t->duration_s = stats_mean(&t->elapsed);
	t->user_s = stats_mean(&t->user);
	t->system_s = stats_mean(&t->system);
}

void counter_table_visit(const struct counter_table *t, cell_visitor visit, void *ctx)
{
	size_t outer = t->by_aggregate ? t->aggregate_count : t->row_count;
	size_t inner = t->by_aggregate ? t->row_count : t->aggregate_count;

	for (size_t i = 0; i < outer; i++)
		for (size_t k = 0; k < inner; k++) {
			size_t row = t->by_aggregate ? k : i, aggregate = t->by_aggregate ? i : k;

			/* Time passes for all aggregates alike: a timer is shown once. */
			if (!t->rows[row].timer || !aggregate)
				visit(ctx, t, row, aggregate);
		}
}

void counter_table_release(struct counter_table *t)
{
	for (size_t i = 0; i < t->row_count; i++) {
		free(t->rows[i].name);
		free(t->rows[i].unit);
		free(t->rows[i].reason);
	}
	for (size_t i = 0; i < t->aggregate_count; i++)
		free(t->aggregates[i].label);
	free(t->rows);
	free(t->aggregates);
	free(t->cells);
	*t = (struct counter_table){};
}
