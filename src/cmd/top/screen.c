/* Draws the screen of `tacho top`. */
#include "cmd/terminal/screen.h"
#include "base/text.h"
#include "cmd/top/top.h"

#include <string.h>
#include <sys/param.h>

#define HEAD_LINES    3 /* description, figures, column titles */
#define SHARE_COLUMNS 8
#define HOT_PCT       5.0
#define WARM_PCT      0.5

/* Callers with less than this share of their row are left out, and those beyond CALLERS_MAX. */
#define CALLER_SHARE_MIN 0.005
#define CALLERS_MAX      500

/* ---- lines ---- */

size_t top_page(void)
{
	size_t height = screen_height();

	return height > HEAD_LINES + 2 ? height - HEAD_LINES - 1 : 1;
}

static bool is_expanded(const struct top_session *s, const char *text)
{
	vec_each(&s->expanded, name)
		if (!strcmp(*name, text))
			return true;
	return false;
}

static void add_callers(struct top_session *s, uint32_t row)
{
	top_caller_list callers = {};

	top_callers(&s->feed.table, &s->question, &s->view.rows.items[row], CALLER_SHARE_MIN,
		    CALLERS_MAX, &callers);
	if (!callers.len)
		vec_push(&s->lines, (struct top_line){.row = row, .callers_end = true});
	vec_each(&callers, caller)
		vec_push(&s->lines, (struct top_line){.row = row,
						      .depth = caller->depth,
						      .function = caller->function,
						      .weight = caller->weight});
	vec_release(&callers);
}

/* Rows below least_pct are left out, unless the user has set a filter. */
static bool is_shown(const struct top_session *s, const struct top_row *row)
{
	uint64_t weight = s->question.chains ? row->total.weight : row->self.weight;

	return s->has_filter || top_share_pct(s, weight) >= s->least_pct;
}

void top_make_lines(struct top_session *s)
{
	CLEANUP(buf_release) struct buf text = {};
	size_t found = SIZE_MAX;

	s->lines.len = 0;
	for (uint32_t i = 0; i < s->view.rows.len; i++) {
		const struct top_row *row = &s->view.rows.items[i];

		if (!is_shown(s, row))
			continue;
		if (s->selected_text || s->expanded.len) {
			buf_clear(&text);
			top_row_text(&s->feed.table, row, &text);
			if (s->selected_text && !strcmp(buf_str(&text), s->selected_text))
				found = s->lines.len;
		}
		vec_push(&s->lines, (struct top_line){.row = i});
		if (s->expanded.len && is_expanded(s, buf_str(&text)))
			add_callers(s, i);
	}
	if (found != SIZE_MAX) {
		uint32_t row = s->lines.items[found].row;

		s->selected = found + s->selected_below;
		if (s->selected >= s->lines.len || s->lines.items[s->selected].row != row)
			s->selected = found;
	} else if (!s->selected_text) {
		s->selected = 0;
	}
}

static void keep_in_sight(struct top_session *s)
{
	size_t page = top_page();

	if (s->selected >= s->lines.len)
		s->selected = s->lines.len ? s->lines.len - 1 : 0;
	if (s->selected < s->first_line)
		s->first_line = s->selected;
	if (s->selected >= s->first_line + page)
		s->first_line = s->selected - page + 1;
	if (s->lines.len <= page)
		s->first_line = 0;
}

/* ---- columns ---- */

/* Where each column begins; SIZE_MAX if it has no room or nothing to show. */
struct columns {
	size_t total, process, library, function;
};

static struct columns place_columns(const struct top_session *s)
{
	struct columns c = {SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX};
	size_t width = screen_width(), at = SHARE_COLUMNS;
	unsigned by = s->question.by;
	bool alone = !(by & TOP_BY_SYM);

	if (s->question.chains && width >= 50) {
		c.total = at;
		at += SHARE_COLUMNS;
	}
	if (by & (TOP_BY_COMM | TOP_BY_PID)) {
		size_t room = MAX(8, MIN(width / 6, 15));

		c.process = at;
		at += room + 1 + (by & TOP_BY_PID ? 8 : 0);
	}
	if ((by & TOP_BY_DSO) && (width >= 60 || alone)) {
		c.library = at;
		at += MAX(12, MIN(width / 4, 26)) + 1;
	}
	if (!alone)
		c.function = at;
	return c;
}

/* Puts text at @from, cut before the next column at @to. */
static void put_in_column(size_t row, size_t from, size_t to, unsigned style, const char *text)
{
	size_t room = to > from + 1 ? to - from - 1 : 0, bytes = 0;
	CLEANUP(free_ptr) char *cut = NULL;

	if (from == SIZE_MAX)
		return;
	for (size_t columns = 0; text[bytes] && columns < room; columns++) {
		size_t len = text_utf8_len((const unsigned char *)text + bytes);

		bytes += len ? len : 1;
	}
	cut = xstrndup(text, bytes);
	screen_put(row, from, style, cut);
}

static size_t end_of(const struct columns *c, size_t from)
{
	size_t end = screen_width() + 1;

	if (c->function != SIZE_MAX && c->function > from)
		end = c->function;
	if (c->library != SIZE_MAX && c->library > from)
		end = MIN(end, c->library);
	if (c->process != SIZE_MAX && c->process > from)
		end = MIN(end, c->process);
	return end;
}

/* ---- the head ---- */

static void draw_titles(const struct top_session *s, size_t row)
{
	struct columns c = place_columns(s);
	enum top_sort sort = s->question.sort;
	unsigned plain = SCREEN_REVERSE, chosen = SCREEN_REVERSE | SCREEN_BOLD | SCREEN_UNDERLINE;

	screen_fill(row, 0, plain);
	screen_put(row, 2, sort == TOP_SELF ? chosen : plain, "Self");
	if (c.total != SIZE_MAX)
		screen_put(row, c.total + 1, sort == TOP_TOTAL ? chosen : plain, "Total");
	put_in_column(row, c.process, end_of(&c, c.process), sort == TOP_COMM ? chosen : plain,
		      "Process");
	put_in_column(row, c.library, end_of(&c, c.library), sort == TOP_DSO ? chosen : plain,
		      "Library");
	put_in_column(row, c.function, SIZE_MAX, sort == TOP_SYM ? chosen : plain, "Function");
}

static void add_limits(const struct top_session *s, struct buf *out)
{
	if (s->question.zoom_comm)
		buf_addf(out, "  in %s", s->question.zoom_comm);
	if (s->question.zoom_dso)
		buf_addf(out, "  in %s", s->question.zoom_dso);
	if (s->zoom_count && s->view.all.weight)
		buf_addf(out, " (%.1f %% of all)",
			 100.0 * (double)s->view.shown.weight / (double)s->view.all.weight);
	if (s->has_filter)
		buf_addf(out, "  /%s/", buf_str(&s->filter_text));
	if (s->question.no_kernel)
		buf_add(out, "  without kernel");
	if (s->question.no_user)
		buf_add(out, "  only kernel");
}

static void draw_head(const struct top_session *s)
{
	CLEANUP(buf_release) struct buf what = {}, status = {}, limits = {};
	const char *state = s->feed.frozen ? "FROZEN " : s->recording ? "" : "ENDED ";
	size_t at = screen_put(0, 0, SCREEN_BOLD, "tacho top ");

	top_describe(s, &what);
	at = screen_put(0, at, SCREEN_PLAIN, buf_str(&what));
	add_limits(s, &limits);
	screen_put(0, at, SCREEN_CYAN | SCREEN_BOLD, buf_str(&limits));
	at = screen_put(1, 0, SCREEN_YELLOW | SCREEN_REVERSE, state);
	top_status(s, &status);
	screen_put(1, at, s->figures.lost ? SCREEN_RED : SCREEN_PLAIN, buf_str(&status));
	draw_titles(s, HEAD_LINES - 1);
}

/* ---- the body ---- */

static unsigned style_of_share(double pct)
{
	if (pct >= HOT_PCT)
		return SCREEN_RED;
	return pct >= WARM_PCT ? SCREEN_GREEN : SCREEN_PLAIN;
}

static unsigned style_of_kind(enum code_kind kind)
{
	switch (kind) {
	case CODE_KERNEL:
		return SCREEN_MAGENTA;
	case CODE_JIT:
		return SCREEN_BLUE;
	default:
		return SCREEN_PLAIN;
	}
}

static void draw_row(const struct top_session *s, size_t at, const struct top_row *row,
		     unsigned extra)
{
	const struct top_table *t = &s->feed.table;
	unsigned kind = style_of_kind(t->functions.items[row->function].kind) | extra;
	double self = top_share_pct(s, row->self.weight);
	double total = top_share_pct(s, row->total.weight);
	struct columns c = place_columns(s);
	CLEANUP(buf_release) struct buf text = {};

	if (extra)
		screen_fill(at, 0, extra);
	screen_putf(at, 0, style_of_share(self) | extra, "%6.2f%%", self);
	if (c.total != SIZE_MAX)
		screen_putf(at, c.total, style_of_share(total) | extra, "%6.2f%%", total);
	if (row->comm)
		top_row_process(t, row, &text);
	put_in_column(at, c.process, end_of(&c, c.process), extra, buf_str(&text));
	put_in_column(at, c.library, end_of(&c, c.library), kind, top_text(t, row->dso));
	if (c.function == SIZE_MAX)
		return;
	if (s->question.chains) {
		buf_clear(&text);
		top_row_text(t, row, &text);
		screen_put(at, c.function, extra, is_expanded(s, buf_str(&text)) ? "-" : "+");
		c.function += 2;
	}
	screen_put(at, c.function, kind, top_text(t, row->name));
}

/* Each level of callers is indented by one more column, as far as there is room. */
static void draw_caller(const struct top_session *s, size_t at, const struct top_line *line,
			unsigned extra)
{
	const struct top_table *t = &s->feed.table;
	const struct top_function *f = &t->functions.items[line->function];
	const struct top_row *row = &s->view.rows.items[line->row];
	struct columns c = place_columns(s);
	size_t from = c.function == SIZE_MAX ? SHARE_COLUMNS : c.function;
	size_t room = screen_width() > from + 30 ? screen_width() - from - 30 : 0;
	double pct =
		row->total.weight ? 100.0 * (double)line->weight / (double)row->total.weight : 0;

	if (extra)
		screen_fill(at, 0, extra);
	from = screen_putf(at, from + 2 + MIN(line->depth, room), style_of_share(pct) | extra,
			   "%5.1f%% ", pct);
	screen_put(at, from, style_of_kind(f->kind) | extra, top_text(t, f->name));
}

static void draw_no_callers(const struct top_session *s, size_t at, unsigned extra)
{
	struct columns c = place_columns(s);
	size_t from = c.function == SIZE_MAX ? SHARE_COLUMNS : c.function;

	if (extra)
		screen_fill(at, 0, extra);
	screen_put(at, from + 2, SCREEN_DIM | extra, "no callers known");
}

static void draw_body(const struct top_session *s)
{
	size_t page = top_page();

	if (!s->lines.len)
		screen_put(HEAD_LINES, 2, SCREEN_DIM,
			   s->has_filter || s->zoom_count ? "no samples match the filter or zoom"
							  : "no samples yet");
	for (size_t i = 0; i < page && s->first_line + i < s->lines.len; i++) {
		const struct top_line *line = &s->lines.items[s->first_line + i];
		unsigned extra = s->first_line + i == s->selected ? SCREEN_REVERSE : 0;

		if (line->callers_end)
			draw_no_callers(s, HEAD_LINES + i, extra);
		else if (line->function)
			draw_caller(s, HEAD_LINES + i, line, extra);
		else
			draw_row(s, HEAD_LINES + i, &s->view.rows.items[line->row], extra);
	}
}

/* ---- the foot, and help ---- */

static const char *const help_lines[] = {
	"Up Down PgUp PgDn Home End   move; the line is followed wherever it goes",
	"Enter    callers of the line, with -g; again to close them",
	"s        sort: self, total, process, library, function",
	"v        rows: functions of each process, functions, processes, libraries",
	"/        only lines that match a regular expression; Esc takes it away",
	"z        zoom into the process or library of the line; Esc goes back",
	"K U      without the kernel, only the kernel",
	"i        with idle CPUs: without it, a CPU that waits is not shown",
	"e        the next event",
	"w        samples of the last 2, 5, 10, 30, 60 seconds, or all",
	"+ -      look less often, more often",
	"f Space  freeze the screen, and go on",
	"S        save: perf.data of the last minute, the table, folded stacks",
	"q        quit; a command that was started is ended",
};

static void draw_help(void)
{
	screen_put(0, 0, SCREEN_BOLD, "Keys of tacho top");
	for (size_t i = 0; i < ARRAY_LEN(help_lines); i++)
		screen_put(2 + i, 2, SCREEN_PLAIN, help_lines[i]);
	screen_put(screen_height() - 1, 0, SCREEN_REVERSE, "any key goes back");
}

static void draw_foot(const struct top_session *s)
{
	size_t row = screen_height() - 1;
	const char *text = "h help  q quit  s sort  v rows  / filter  z zoom  f freeze  w window  "
			   "S save";

	if (s->mode == TOP_FILTERING) {
		size_t at = screen_put(row, 0, SCREEN_BOLD, "/");

		at = screen_put(row, at, SCREEN_PLAIN, buf_str(&s->filter_text));
		screen_put(row, at, SCREEN_REVERSE, " ");
		screen_put(row, at + 2, SCREEN_DIM, s->message);
		return;
	}
	if (s->mode == TOP_ZOOMING)
		text = "zoom into: p process  l library  (Esc: neither)";
	else if (s->mode == TOP_SAVING)
		text = "save: d perf.data  t table  f folded stacks  (Esc: nothing)";
	else if (s->message[0])
		text = s->message;
	screen_put(row, 0, s->mode != TOP_NORMAL || s->message[0] ? SCREEN_BOLD : SCREEN_DIM, text);
}

void top_draw(struct top_session *s)
{
	screen_clear();
	if (s->mode == TOP_HELP) {
		draw_help();
		screen_show();
		return;
	}
	pthread_mutex_lock(&s->feed.lock);
	/* The view holds numbers of the table: rebuild it if these are no longer valid. */
	if (s->generation != s->feed.table.generation) {
		top_view_build(&s->view, &s->feed.table, &s->question);
		s->generation = s->feed.table.generation;
		top_make_lines(s);
	}
	keep_in_sight(s);
	draw_head(s);
	draw_body(s);
	pthread_mutex_unlock(&s->feed.lock);
	draw_foot(s);
	screen_show();
}

void top_screen_release(struct top_session *s)
{
	vec_release(&s->lines);
	strvec_release(&s->expanded);
	buf_release(&s->filter_text);
	if (s->has_filter)
		regfree(&s->filter);
	free(s->selected_text);
	free(s->zoom_comm);
	free(s->zoom_dso);
	top_view_release(&s->view);
}
