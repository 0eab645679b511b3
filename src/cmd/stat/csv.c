/* Columns exactly as those of `perf stat -x`, so that scripts need no change:
 * [time,][aggregate,[count,]]value,unit,event,[cgroup,][variance,]run time,share,figure,unit */
#include "cmd/stat/stat.h"

#include <math.h>

static void add_cell(struct stat_session *s, const char *text)
{
	buf_add(&s->out, text);
	buf_add(&s->out, s->o.separator);
}

static void add_empty_cells(struct stat_session *s, unsigned count)
{
	while (count--)
		buf_add(&s->out, s->o.separator);
}

static void add_prefix(struct stat_session *s, const struct counter_table *t, size_t aggregate)
{
	const struct aggregate *a = &t->aggregates[aggregate];

	if (!isnan(t->time_s)) {
		buf_add_fixed(&s->out, t->time_s, 9, 16);
		buf_add(&s->out, s->o.separator);
	}
	if (t->mode == AGGR_CGROUP || !a->label[0])
		return;
	add_cell(s, a->label);
	if (t->by_aggregate) {
		buf_add_u64(&s->out, a->cpu_count);
		buf_add(&s->out, s->o.separator);
	}
}

static void add_figure(struct stat_session *s, const struct figure *f)
{
	add_empty_cells(s, 1);
	if (f->known)
		buf_add_fixed(&s->out, f->value, (unsigned)f->decimals, 0);
	add_empty_cells(s, 1);
	if (f->known)
		buf_add(&s->out, f->unit);
}

/* The column that perf calls variance: the standard error of the mean in percent of the mean. */
static void add_spread(struct stat_session *s, const struct cell *cell)
{
	double spread = cell->counted ? stats_stderr_pct(&cell->stats) : 0;

	buf_add_fixed(&s->out, isnan(spread) ? 0 : spread, 2, 0);
	add_cell(s, "%");
}

static void add_row(void *session, const struct counter_table *t, size_t row, size_t aggregate)
{
	struct stat_session *s = session;
	const struct table_row *r = &t->rows[row];
	const struct cell *cell = table_cell(t, row, aggregate);
	double share = cell->enabled_ns
			       ? 100.0 * (double)cell->running_ns / (double)cell->enabled_ns
			       : 100;
	struct figure f = figure_of(t, row, aggregate);

	add_prefix(s, t, aggregate);
	if (cell->counted)
		stat_value_text(r, cell, true, &s->out);
	else
		buf_add(&s->out, stat_missing_text(r));
	add_empty_cells(s, 1);
	add_cell(s, r->unit);
	add_cell(s, r->name);
	if (t->mode == AGGR_CGROUP)
		add_cell(s, t->aggregates[aggregate].label);
	if (t->runs > 1)
		add_spread(s, cell);
	buf_add_u64(&s->out, cell->running_ns);
	add_empty_cells(s, 1);
	buf_add_fixed(&s->out, share, 2, 0);
	add_figure(s, &f);
	buf_add_char(&s->out, '\n');
	f = figure_stalls_per_instruction(t, row, aggregate);
	if (f.known) {
		add_prefix(s, t, aggregate);
		add_empty_cells(s, 4);
		add_figure(s, &f);
		buf_add_char(&s->out, '\n');
	}
}

static void add_metrics(struct stat_session *s, const struct counter_table *t, size_t aggregate)
{
	const char *sep = s->o.separator;

	vec_each(&s->metrics, m) {
		double value = stat_metric_value(s, t, m, aggregate);

		add_prefix(s, t, aggregate);
		buf_addf(&s->out, "%s%s%s%s%s", sep, sep, sep, sep, sep);
		if (!isnan(value))
			buf_addf(&s->out, "%.3f", value);
		buf_addf(&s->out, "%s%s%s\n", sep, m->unit[0] == '%' ? "%  " : "", m->name);
	}
}

static void csv_table(struct stat_session *s, const struct counter_table *t)
{
	counter_table_visit(t, add_row, s);
	for (size_t a = 0; a < t->aggregate_count; a++)
		add_metrics(s, t, a);
}

static void csv_summary(struct stat_session *s, const struct counter_table *t)
{
	if (!s->o.interval_ms)
		csv_table(s, t);
}

/* Readers of these columns skip comments, as perf writes one itself at the head of a file. */
static void csv_note(struct stat_session *s, const char *sentence)
{
	buf_addf(&s->out, "# %s\n", sentence);
}

const struct stat_format stat_csv = {csv_table, csv_summary, csv_note, csv_note};
