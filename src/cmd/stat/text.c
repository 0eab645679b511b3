/* Output for people. */
#include "cmd/stat/stat.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define VALUE_COLUMNS 18
#define NAME_COLUMNS  26

const char *stat_missing_text(const struct table_row *row)
{
	return row->state == ROW_UNSUPPORTED ? "<not supported>" : "<not counted>";
}

/* 1234567 → 1,234,567 */
static void add_grouped(struct buf *out, const char *digits)
{
	size_t whole = strspn(digits, "0123456789");

	for (size_t i = 0; i < whole; i++) {
		if (i && (whole - i) % 3 == 0)
			buf_add_char(out, ',');
		buf_add_char(out, digits[i]);
	}
	buf_add(out, digits + whole);
}

void stat_value_text(const struct table_row *row, const struct cell *cell, bool plain,
		     struct buf *out)
{
	bool whole = floor(row->scale) == row->scale;
	CLEANUP(buf_release) struct buf digits = {};

	buf_add_fixed(plain ? out : &digits, cell->value, whole ? 0 : 2, 0);
	if (!plain)
		add_grouped(out, buf_str(&digits));
}

static void add_right(struct buf *out, const char *text, size_t columns)
{
	size_t len = text_columns(text);

	if (len < columns)
		buf_pad(out, columns - len, ' ');
	buf_add(out, text);
}

static int label_columns(const struct counter_table *t)
{
	return t->mode == AGGR_CPU ? 8 : 16;
}

static bool has_cpu_count(const struct counter_table *t)
{
	return t->by_aggregate && t->mode != AGGR_CGROUP;
}

static void add_prefix(struct stat_session *s, const struct counter_table *t, size_t aggregate)
{
	const struct aggregate *a = &t->aggregates[aggregate];

	if (!isnan(t->time_s))
		buf_addf(&s->out, "%16.9f ", t->time_s);
	if (!a->label[0])
		return;
	buf_addf(&s->out, "%-*s ", label_columns(t), a->label);
	if (has_cpu_count(t))
		buf_addf(&s->out, "%4u ", a->cpu_count);
}

static void add_figure(struct stat_session *s, const struct figure *f)
{
	const char *colour = f->heat == 2 ? s->term.red : f->heat == 1 ? s->term.yellow : "";

	if (f->known)
		buf_addf(&s->out, "# %s%8.*f%s %s%s", colour, f->decimals, f->value,
			 f->percent ? "%" : "", f->unit, *colour ? s->term.reset : "");
}

static size_t name_columns(const struct counter_table *t)
{
	size_t columns = NAME_COLUMNS;

	for (size_t i = 0; i < t->row_count; i++) {
		size_t len = text_columns(t->rows[i].name);

		if (len > columns && len < 60)
			columns = len;
	}
	return columns;
}

/* Cuts the spaces that padding left at the end of the line. */
static void end_line(struct buf *out)
{
	while (out->len && out->s[out->len - 1] == ' ')
		out->s[--out->len] = '\0';
	buf_add_char(out, '\n');
}

static const char *plus_minus(const struct stat_session *s)
{
	return s->term.utf8 ? "±" : "+-";
}

static void add_spread(struct stat_session *s, const struct counter_table *t,
		       const struct cell *cell, size_t start)
{
	double spread = stats_stderr_pct(&cell->stats);
	size_t used = text_columns(s->out.s + start);

	if (t->runs < 2 || isnan(spread) || cell->value == 0)
		return;
	buf_pad(&s->out, used < 84 ? 84 - used : 2, ' ');
	buf_addf(&s->out, "( %s %5.2f%% )", plus_minus(s), spread);
}

static void add_row(struct stat_session *s, const struct counter_table *t, size_t row,
		    size_t aggregate)
{
	const struct table_row *r = &t->rows[row];
	const struct cell *cell = table_cell(t, row, aggregate);
	CLEANUP(buf_release) struct buf value = {};
	struct figure f = figure_of(t, row, aggregate);
	size_t start = s->out.len, columns = name_columns(t), width;

	add_prefix(s, t, aggregate);
	if (cell->counted)
		stat_value_text(r, cell, s->plain_numbers, &value);
	else
		buf_add(&value, stat_missing_text(r));
	if (!cell->counted)
		buf_add(&s->out, s->term.dim);
	add_right(&s->out, buf_str(&value), VALUE_COLUMNS);
	buf_addf(&s->out, " %-4s ", r->unit);
	width = text_columns(r->name);
	buf_add(&s->out, r->name);
	if (!cell->counted)
		buf_add(&s->out, s->term.reset);
	buf_pad(&s->out, width < columns ? columns - width : 0, ' ');
	buf_add_char(&s->out, ' ');
	add_figure(s, &f);
	add_spread(s, t, cell, start);
	if (cell->counted && cell->running_ns < cell->enabled_ns)
		buf_addf(&s->out, "  (%.2f%%)",
			 100.0 * (double)cell->running_ns / (double)cell->enabled_ns);
	end_line(&s->out);
	f = figure_stalls_per_instruction(t, row, aggregate);
	if (f.known) {
		buf_pad(&s->out, VALUE_COLUMNS + 7 + columns, ' ');
		add_figure(s, &f);
		end_line(&s->out);
	}
}

static void add_metric(struct stat_session *s, const struct counter_table *t,
		       const struct metric *m, size_t aggregate)
{
	double value = stat_metric_value(s, t, m, aggregate);
	char text[64];

	add_prefix(s, t, aggregate);
	if (isnan(value))
		snprintf(text, sizeof(text), "<not counted>");
	else
		snprintf(text, sizeof(text), "%.3f", value);
	add_right(&s->out, text, VALUE_COLUMNS);
	buf_addf(&s->out, " %-4s %s%-*s%s # %s", strlen(m->unit) <= 4 ? m->unit : "", s->term.bold,
		 (int)name_columns(t), m->name, s->term.reset,
		 m->description[0] ? m->description : m->unit);
	end_line(&s->out);
}

/* Without a PMU, hides the unsupported default events: one note explains all of them. */
static bool is_hidden(const struct stat_session *s, const struct table_row *row)
{
	return s->default_events && s->no_pmu && row->state == ROW_UNSUPPORTED;
}

static void add_wanted_row(void *session, const struct counter_table *t, size_t row,
			   size_t aggregate)
{
	struct stat_session *s = session;
	const struct table_row *r = &t->rows[row];
	/* An event that is not counted at all is printed once, not for every CPU. */
	bool repeated = r->state != ROW_COUNTED && aggregate;

	if (!is_hidden(s, r) && !repeated)
		add_row(s, t, row, aggregate);
}

static void add_rows(struct stat_session *s, const struct counter_table *t)
{
	counter_table_visit(t, add_wanted_row, s);
	vec_each(&s->metrics, m)
		for (size_t a = 0; a < t->aggregate_count; a++)
			add_metric(s, t, m, a);
}

/* Names the columns of add_prefix() and add_row(), as perf does. */
static void add_heading(struct stat_session *s, const struct counter_table *t)
{
	static const char *const names[] = {
		[AGGR_ALL] = "",         [AGGR_CPU] = "CPU",       [AGGR_CORE] = "core",
		[AGGR_DIE] = "die",      [AGGR_SOCKET] = "socket", [AGGR_THREAD] = "comm-pid",
		[AGGR_CGROUP] = "cgroup"};

	buf_addf(&s->out, "%s#           time ", s->term.dim);
	if (t->mode != AGGR_ALL)
		buf_addf(&s->out, "%-*s ", label_columns(t), names[t->mode]);
	if (has_cpu_count(t))
		buf_addf(&s->out, "%4s ", "cpus");
	buf_addf(&s->out, "%*s unit event%s\n", VALUE_COLUMNS, "counts", s->term.reset);
}

static void text_interval(struct stat_session *s, const struct counter_table *t)
{
	if (!s->headed)
		add_heading(s, t);
	s->headed = true;
	add_rows(s, t);
}

static void add_elapsed(struct stat_session *s, const struct counter_table *t)
{
	double spread = stats_stderr_pct(&t->elapsed);

	buf_add_char(&s->out, '\n');
	if (t->runs > 1 && !isnan(spread))
		buf_addf(&s->out, "%s%16.7f %s %.7f seconds time elapsed  ( %s %.2f%% )%s\n",
			 s->term.bold, t->duration_s, plus_minus(s), spread / 100 * t->duration_s,
			 plus_minus(s), spread, s->term.reset);
	else
		buf_addf(&s->out, "%s%18.9f seconds time elapsed%s\n", s->term.bold, t->duration_s,
			 s->term.reset);
	if (!isnan(t->user_s))
		buf_addf(&s->out, "\n%18.9f seconds user\n%18.9f seconds sys\n", t->user_s,
			 t->system_s);
	if (t->runs > 1)
		buf_addf(&s->out,
			 "\n%s %s is the standard error of the mean of %u runs.\n The 95 %% "
			 "confidence interval of the elapsed time is %s %.7f s.%s\n",
			 s->term.dim, plus_minus(s), t->runs, plus_minus(s),
			 stats_ci95(&t->elapsed), s->term.reset);
}

static void text_summary(struct stat_session *s, const struct counter_table *t)
{
	if (s->o.interval_ms && !s->live)
		return;
	buf_addf(&s->out, "\n Performance counter stats for %s", s->title);
	if (t->runs > 1)
		buf_addf(&s->out, " (%u runs)", t->runs);
	buf_add(&s->out, ":\n\n");
	add_rows(s, t);
	add_elapsed(s, t);
	buf_add_char(&s->out, '\n');
}

static void text_note(struct stat_session *s, const char *sentence)
{
	buf_addf(&s->out, "%s ", s->term.yellow);
	buf_add_wrapped(&s->out, sentence, 1, s->term.width > 110 ? 110 : s->term.width);
	buf_addf(&s->out, "%s\n", s->term.reset);
}

static void text_detail(struct stat_session *s, const char *line)
{
	buf_addf(&s->out, "%s\n", line);
}

const struct stat_format stat_text = {text_interval, text_summary, text_note, text_detail};
