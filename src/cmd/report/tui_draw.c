/* Draws the browser. */
#include "base/text.h"
#include "cmd/report/tui.h"
#include "cmd/terminal/screen.h"

#include <string.h>

#define HEAD_ROWS 2 /* title and column names; the last row of the screen is for messages */

static unsigned heat(double percent)
{
	if (percent >= 5)
		return SCREEN_RED;
	return percent >= 0.5 ? SCREEN_GREEN : SCREEN_PLAIN;
}

static void draw_title(const struct tui *t)
{
	const struct report_view *v = t->view;
	const struct report_section *s = tui_section(t);
	const struct profile *p = &v->in.profile;
	CLEANUP(buf_release) struct buf b = {};

	buf_add(&b, "Samples: ");
	buf_add_grouped(&b, s->samples, 0);
	if (!v->ro.one_section && p->events.len) {
		buf_add(&b, " of event '");
		report_add_name(&b, profile_text(p, p->events.items[s->event.n].name));
		buf_add(&b, "', count ");
		buf_add_grouped(&b, s->weight, 0);
		if (v->report.sections.len > 1)
			buf_addf(&b, " (%zu of %zu, Tab)", t->section + 1, v->report.sections.len);
	}
	if (t->zoom_comm)
		buf_addf(&b, ", thread: %s", t->zoom_comm);
	if (t->zoom_dso)
		buf_addf(&b, ", library: %s", t->zoom_dso);
	if (t->find)
		buf_addf(&b, ", names with '%s'", t->find);
	screen_put(0, 0, SCREEN_BOLD, buf_str(&b));
}

static void draw_columns(const struct tui *t)
{
	const struct report_view *v = t->view;
	size_t at = 2;

	screen_fill(1, 0, SCREEN_REVERSE);
	vec_each(&v->columns, c) {
		size_t pad = column_is_number(c) ? c->width - strlen(c->title) : 0;

		screen_put(1, at + pad, SCREEN_REVERSE, c->title);
		at += c->width + 2;
	}
}

static double share_in(const struct report_view *v, const struct column *c,
		       const struct report_entry *e)
{
	return report_share(c->kind == COLUMN_CHILDREN ? e->total : e->self,
			    report_whole(&v->report, e));
}

/* Cuts a cell to its column width, so that it does not run into the next column. */
static void cut(struct buf *b, size_t columns)
{
	size_t seen = 0;

	for (size_t i = 0; i < b->len; i++) {
		if (((unsigned char)b->s[i] & 0xc0) == 0x80)
			continue;
		if (seen++ == columns) {
			b->len = i;
			b->s[i] = '\0';
			return;
		}
	}
}

static void draw_entry(struct tui *t, const struct tui_line *line, size_t row, unsigned selected)
{
	const struct report_view *v = t->view;
	const struct report_entry *e = &v->report.entries.items[line->entry];
	const struct column *last = v->columns.items + v->columns.len - 1;
	CLEANUP(buf_release) struct buf text = {};
	size_t at = 2;

	vec_each(&v->columns, c) {
		bool share = c->kind == COLUMN_CHILDREN || c->kind == COLUMN_SELF;
		size_t width, pad;

		buf_clear(&text);
		column_text(v, c, e, &text);
		if (c != last)
			cut(&text, c->width);
		width = text_columns(buf_str(&text));
		pad = column_is_number(c) && width < c->width ? c->width - width : 0;
		screen_put(row, at + pad, selected | (share ? heat(share_in(v, c, e)) : 0),
			   buf_str(&text));
		at += c->width + 2;
	}
}

static void draw_chain(struct tui *t, const struct tui_line *line, size_t row, unsigned selected)
{
	const struct report_view *v = t->view;
	const struct chain_node *nodes = t->opened[line->entry]->chains.nodes.items;
	const struct chain_node *node = &nodes[line->node];
	uint64_t whole = report_whole(&v->report, &v->report.entries.items[line->entry]);
	CLEANUP(buf_release) struct buf text = {};
	size_t at = 4 + 2 * (size_t)line->indent;
	double percent;

	if (v->mode == CHAINS_FRACTAL)
		whole = nodes[node->parent].below;
	percent = report_share(node->weight, whole);
	if (!line->straight)
		screen_putf(row, at, selected | heat(percent), "%6.2f%%", percent);
	report_add_step(v, node, &text);
	screen_put(row, at + 8, selected, buf_str(&text));
}

static void draw_line(struct tui *t, size_t number, size_t row)
{
	const struct tui_line *line = &t->lines.items[number];
	unsigned selected = number == t->cursor ? SCREEN_REVERSE : 0;
	size_t mark = line->node ? 2 + 2 * (size_t)line->indent : 0;

	if (selected)
		screen_fill(row, 0, selected);
	if (tui_can_open(t, line))
		screen_put(row, mark, selected | SCREEN_BOLD, tui_is_open(t, line) ? "-" : "+");
	if (line->node)
		draw_chain(t, line, row, selected);
	else
		draw_entry(t, line, row, selected);
}

#define STATUS_COLUMNS 94 /* width of the key list plus the line number at its right */

static void draw_status(const struct tui *t)
{
	size_t row = screen_height() - 1;

	if (t->status.len)
		screen_put(row, 0, SCREEN_YELLOW, buf_str(&t->status));
	else
		screen_put(row, 0, SCREEN_DIM,
			   screen_width() < STATUS_COLUMNS
				   ? "h: keys  q: quit"
				   : "Enter: chains  d: library  t: thread  "
				     "/: find  s: sort  h: all keys  q: quit");
	if (t->lines.len)
		screen_putf(row, screen_width() > 16 ? screen_width() - 16 : 0, SCREEN_DIM,
			    "%7zu/%zu", t->cursor + 1, t->lines.len);
}

void tui_draw(struct tui *t)
{
	size_t rows = screen_height() > HEAD_ROWS + 1 ? screen_height() - HEAD_ROWS - 1 : 1;

	if (t->cursor < t->top)
		t->top = t->cursor;
	if (t->cursor >= t->top + rows)
		t->top = t->cursor - rows + 1;
	screen_clear();
	draw_title(t);
	draw_columns(t);
	for (size_t i = 0; i < rows && t->top + i < t->lines.len; i++)
		draw_line(t, t->top + i, HEAD_ROWS + i);
	if (!t->lines.len)
		screen_put(HEAD_ROWS + 1, 2, SCREEN_PLAIN, "Nothing matches; Escape goes back.");
	draw_status(t);
	screen_show();
}

void tui_help(void)
{
	static const char *const lines[] = {
		"Up Down PgUp PgDn Home End   move",
		"Enter  + -  Right Left       open and close the chains of a line",
		"e  E                         open everything below this entry; below all",
		"C                            close everything",
		"d                            only this library; Escape goes back",
		"t                            only this thread's name; Escape goes back",
		"/                            only functions with a text in their name",
		"Escape                       take back the last of these",
		"s                            sort by other keys (comm,pid,tid,dso,sym,...)",
		"S                            with what was called (Children), or without",
		"c                            chains from callers down, or from callees up",
		"F                            100 % is what is shown, or all that was recorded",
		"Tab                          next event",
		"a                            annotate the function",
		"h  ?                         this help",
		"q  Ctrl-C                    quit",
	};

	do {
		screen_clear();
		screen_put(0, 0, SCREEN_BOLD, "Keys");
		for (size_t i = 0; i < ARRAY_LEN(lines); i++)
			screen_put(i + 2, 2, SCREEN_PLAIN, lines[i]);
		screen_put(screen_height() - 1, 0, SCREEN_DIM, "any key goes back");
		screen_show();
	} while (screen_key(-1) == KEY_RESIZE);
}
