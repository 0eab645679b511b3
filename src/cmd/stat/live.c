/* -I on a terminal: every event keeps its line, with its last value and a sparkline of the recent
 * past, redrawn in place at most twenty times a second. */
#include "cmd/stat/stat.h"
#include "base/clock.h"
#include "base/text.h"
#include "cmd/command.h"

#include <math.h>
#include <string.h>
#include <sys/param.h>

#define HISTORY       200
#define REDRAW_NS     (50 * NS_PER_MSEC)
#define NAME_COLUMNS  26
#define VALUE_COLUMNS 16

struct stat_live {
	size_t line_count; /* rows × aggregates */
	float *history;    /* line × HISTORY, a ring */
	size_t ticks;
	uint64_t drawn_ns;
	size_t drawn_lines;
};

struct stat_live *live_new(void)
{
	return xcalloc(1, sizeof(struct stat_live));
}

/* Adds the newest @columns ticks as low to high blocks, with a gap where nothing was counted. */
static void add_sparkline(const struct stat_live *live, size_t line, size_t columns, bool utf8,
			  struct buf *out)
{
	static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char ascii[] = "_.-=+*%#";
	const float *ring = live->history + line * HISTORY;
	size_t count = live->ticks < columns ? live->ticks : columns;
	float low = INFINITY, high = -INFINITY;

	for (size_t i = 0; i < count; i++) {
		float v = ring[(live->ticks - count + i) % HISTORY];

		low = v < low ? v : low;
		high = v > high ? v : high;
	}
	for (size_t i = 0; i < count; i++) {
		float v = ring[(live->ticks - count + i) % HISTORY];
		int level = high > low ? (int)((v - low) / (high - low) * 7.99f) : 0;

		if (isnan(v))
			buf_add_char(out, ' ');
		else if (utf8)
			buf_add(out, blocks[level]);
		else
			buf_add_char(out, ascii[level]);
	}
}

static void draw_line(struct stat_live *live, struct stat_session *s, const struct counter_table *t,
		      size_t row, size_t aggregate)
{
	const struct table_row *r = &t->rows[row];
	const struct cell *cell = table_cell(t, row, aggregate);
	size_t line = row * t->aggregate_count + aggregate, start = s->out.len, used;
	size_t others = VALUE_COLUMNS + 8 + (t->aggregates[aggregate].label[0] ? 13 : 0);
	int name_columns = (int)MIN(NAME_COLUMNS, MAX(s->term.width, others + 8) - others);
	CLEANUP(buf_release) struct buf value = {};

	if (cell->counted)
		stat_value_text(r, cell, s->plain_numbers, &value);
	else if (!cell->enabled_ns)
		buf_add(&value, "idle"); /* what is counted did not run */
	else
		buf_add(&value, stat_missing_text(r));
	if (t->aggregates[aggregate].label[0])
		buf_addf(&s->out, "%-12.12s ", t->aggregates[aggregate].label);
	buf_addf(&s->out, "%-*.*s %*s %-4.4s ", name_columns, name_columns, r->name, VALUE_COLUMNS,
		 buf_str(&value), r->unit);
	/* A line that wraps could not be drawn over. */
	while ((used = text_columns(s->out.s + start)) >= s->term.width)
		s->out.s[--s->out.len] = '\0';
	buf_add(&s->out, s->term.blue);
	if (used + 2 < s->term.width) {
		size_t columns = s->term.width - used - 2;

		add_sparkline(live, line, columns < HISTORY ? columns : HISTORY, s->term.utf8,
			      &s->out);
	}
	buf_addf(&s->out, "%s\033[K\n", s->term.reset);
	live->drawn_lines++;
}

/* Goes back to the first line. Old lines are overwritten: some terminals keep cleared text. */
static void go_back(struct stat_live *live, struct stat_session *s)
{
	if (live->drawn_lines)
		buf_addf(&s->out, "\033[%zuA\r", live->drawn_lines);
	live->drawn_lines = 0;
}

static void draw(struct stat_live *live, struct stat_session *s, const struct counter_table *t)
{
	s->term = term_of(s->out_fd); /* the terminal may have been resized */
	go_back(live, s);
	buf_addf(&s->out, "%s%.3f s  every %u ms%s\033[K\n", s->term.bold, t->time_s,
		 s->o.interval_ms, s->term.reset);
	live->drawn_lines++;
	for (size_t i = 0; i < t->row_count; i++)
		for (size_t a = 0; a < t->aggregate_count; a++)
			if (t->rows[i].state == ROW_COUNTED &&
			    live->drawn_lines + 1 < s->term.height)
				draw_line(live, s, t, i, a);
	buf_add(&s->out, "\033[J");
}

void live_tick(struct stat_live *live, struct stat_session *s, const struct counter_table *t)
{
	uint64_t now = clock_now_ns();

	if (!live->history) {
		live->line_count = t->row_count * t->aggregate_count;
		live->history = xcalloc(live->line_count * HISTORY, sizeof(*live->history));
	}
	for (size_t i = 0; i < live->line_count; i++) {
		const struct cell *cell = &t->cells[i];

		live->history[i * HISTORY + live->ticks % HISTORY] =
			cell->counted ? (float)(cell->value / t->duration_s) : NAN;
	}
	live->ticks++;
	if (now - live->drawn_ns < REDRAW_NS)
		return;
	live->drawn_ns = now;
	draw(live, s, t);
	command_flush_on(&s->out, s->out_fd);
}

void live_free(struct stat_live *live, struct stat_session *s)
{
	go_back(live, s);
	if (live->drawn_ns)
		buf_add(&s->out, "\033[J");
	free(live->history);
	free(live);
}
