/* The table of `tacho top` as text, for pipes and files, and the text of the header. */
#include "cmd/top/top.h"
#include "base/clock.h"
#include "base/text.h"

#include <string.h>
#include <time.h>

#define PROCESS_COLUMNS 16
#define LIBRARY_COLUMNS 24
#define CHAIN_MAX       1024

double top_share_pct(const struct top_session *s, uint64_t weight)
{
	uint64_t all = s->view.shown.weight;

	return all ? 100.0 * (double)weight / (double)all : 0;
}

const char *top_sort_name(enum top_sort sort)
{
	static const char *const names[] = {
		[TOP_SELF] = "self",   [TOP_TOTAL] = "total",  [TOP_COMM] = "process",
		[TOP_DSO] = "library", [TOP_SYM] = "function",
	};

	return names[sort];
}

/* ---- the header ---- */

static void add_rate(const struct top_session *s, struct buf *out)
{
	const struct sampling_options *o = &s->record.plan.sampling;

	if (o->period) {
		buf_add(out, ", every ");
		buf_add_grouped(out, o->period, 0);
	} else {
		buf_addf(out, ", %llu Hz", (unsigned long long)o->freq_hz);
	}
}

static void add_target(const struct top_session *s, struct buf *out)
{
	const struct target_options *o = &s->record.o.where;

	buf_add(out, ", ");
	if (s->record.plan.argv && !target_is_cpu_wide(o))
		text_add_printable(out, s->record.plan.argv[0]);
	else if (o->pids)
		buf_addf(out, "process %s", o->pids);
	else if (o->tids)
		buf_addf(out, "thread %s", o->tids);
	else if (o->user)
		buf_addf(out, "user %s", o->user);
	else if (o->cgroups)
		buf_addf(out, "cgroup %s", o->cgroups);
	else if (o->cpus)
		buf_addf(out, "CPU %s", o->cpus);
	else
		buf_add(out, "whole system");
}

void top_describe(const struct top_session *s, struct buf *out)
{
	const strvec *events = &s->feed.events;

	if (s->question.event < events->len)
		text_add_printable(out, events->items[s->question.event]);
	else
		buf_add(out, "waiting");
	add_rate(s, out);
	add_target(s, out);
}

void top_status(const struct top_session *s, struct buf *out)
{
	const struct top_figures *f = &s->figures;

	buf_add_grouped(out, (uint64_t)(f->samples_per_s + 0.5), 0);
	buf_add(out, " samples/s, ");
	if (s->question.all)
		buf_addf(out, "all %.0f s", f->window_s);
	else
		buf_addf(out, "last %.0f s", f->window_s);
	buf_add(out, ", ");
	buf_add_grouped(out, f->lost, 0);
	buf_addf(out, " lost, tacho %.1f %% of a CPU", f->own_cpu_pct);
}

/* ---- rows ---- */

void top_row_process(const struct top_table *t, const struct top_row *row, struct buf *out)
{
	text_add_printable(out, top_text(t, row->comm));
	if (row->pid)
		buf_addf(out, ":%u", row->pid);
}

static void add_column(struct buf *out, const struct buf *text, size_t columns)
{
	size_t used = text_columns(buf_str(text));

	buf_add(out, buf_str(text));
	buf_pad(out, used < columns ? columns - used : 0, ' ');
	buf_add(out, "  ");
}

static void add_printable_column(struct buf *out, const char *text, size_t columns)
{
	CLEANUP(buf_release) struct buf column = {};

	text_add_printable(&column, text);
	add_column(out, &column, columns);
}

static void trim_end(struct buf *out)
{
	while (out->len && out->s[out->len - 1] == ' ')
		out->s[--out->len] = '\0';
	buf_add_char(out, '\n');
}

static void add_titles(const struct top_session *s, struct buf *out)
{
	unsigned by = s->question.by;

	buf_add(out, "   Self  ");
	if (s->question.chains)
		buf_add(out, "  Total  ");
	if (by & (TOP_BY_COMM | TOP_BY_PID))
		add_printable_column(out, "Process", PROCESS_COLUMNS);
	if (by & TOP_BY_DSO)
		add_printable_column(out, "Library", LIBRARY_COLUMNS);
	if (by & TOP_BY_SYM)
		buf_add(out, "Function");
	trim_end(out);
}

static void add_row(const struct top_session *s, const struct top_row *row, struct buf *out)
{
	const struct top_table *t = &s->feed.table;

	buf_addf(out, "%6.2f%%  ", top_share_pct(s, row->self.weight));
	if (s->question.chains)
		buf_addf(out, "%6.2f%%  ", top_share_pct(s, row->total.weight));
	if (row->comm) {
		CLEANUP(buf_release) struct buf process = {};

		top_row_process(t, row, &process);
		add_column(out, &process, PROCESS_COLUMNS);
	}
	if (row->dso)
		add_printable_column(out, top_text(t, row->dso), LIBRARY_COLUMNS);
	if (row->name)
		text_add_printable(out, top_text(t, row->name));
	trim_end(out);
}

void top_print(const struct top_session *s, size_t max, struct buf *out)
{
	time_t now = time(NULL);
	size_t printed = 0;
	struct tm local;
	char clock[16];

	localtime_r(&now, &local);
	strftime(clock, sizeof(clock), "%H:%M:%S", &local);
	buf_addf(out, "%s  ", clock);
	top_describe(s, out);
	buf_add(out, ": ");
	top_status(s, out);
	buf_add_char(out, '\n');
	add_titles(s, out);
	vec_each(&s->view.rows, row) {
		uint64_t weight = s->question.chains ? row->total.weight : row->self.weight;

		if (max && printed >= max)
			break;
		if (top_share_pct(s, weight) < s->least_pct)
			continue;
		add_row(s, row, out);
		printed++;
	}
}

/* ---- folded ---- */

/* ';' separates frames and a newline ends the stack, so both are replaced in names. */
static void add_frame(struct buf *out, const char *name)
{
	for (; *name; name++)
		buf_add_char(out, *name == ';' ? ':' : *name == '\n' ? ' ' : *name);
}

void top_print_folded(const struct top_session *s, struct buf *out)
{
	const struct top_table *t = &s->feed.table;

	vec_each(&t->cells, cell) {
		uint64_t weight = s->question.all ? cell->all.weight : cell->window.weight;
		uint32_t way[CHAIN_MAX];
		size_t depth = 0;

		if (!cell->node || !weight || cell->event != s->question.event)
			continue;
		for (uint32_t n = cell->node; n && depth < CHAIN_MAX; n = t->nodes.items[n].parent)
			way[depth++] = t->nodes.items[n].function;
		add_frame(out, top_text(t, t->processes.items[cell->process].comm));
		while (depth) {
			buf_add_char(out, ';');
			add_frame(out, top_text(t, t->functions.items[way[--depth]].name));
		}
		buf_addf(out, " %llu\n", (unsigned long long)weight);
	}
}
