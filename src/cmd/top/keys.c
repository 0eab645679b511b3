/* Handles the keys of `tacho top`. */
#include "base/clock.h"
#include "base/io.h"
#include "cmd/terminal/screen.h"
#include "cmd/top/top.h"
#include "collect/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#define DELAY_NS_MIN (125 * NS_PER_MSEC)
#define DELAY_NS_MAX (64 * NS_PER_SEC)

void top_say(struct top_session *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(s->message, sizeof(s->message), fmt, ap);
	va_end(ap);
}

/* ---- moving ---- */

static bool is_below_row(const struct top_line *line)
{
	return line->function || line->callers_end;
}

/* Makes the selection follow its row when rows move; on the first line it stays at the top. */
static void follow_selected(struct top_session *s)
{
	CLEANUP(buf_release) struct buf text = {};

	free(s->selected_text);
	s->selected_text = NULL;
	s->selected_below = 0;
	if (!s->selected || s->selected >= s->lines.len)
		return;
	pthread_mutex_lock(&s->feed.lock);
	if (s->generation == s->feed.table.generation) {
		const struct top_line *line = &s->lines.items[s->selected];

		top_row_text(&s->feed.table, &s->view.rows.items[line->row], &text);
		s->selected_text = xstrdup(buf_str(&text));
		while (is_below_row(&s->lines.items[s->selected - s->selected_below]))
			s->selected_below++;
	}
	pthread_mutex_unlock(&s->feed.lock);
}

static void move_to(struct top_session *s, size_t line)
{
	s->selected = s->lines.len ? MIN(line, s->lines.len - 1) : 0;
	follow_selected(s);
}

static void move_up(struct top_session *s, size_t lines)
{
	move_to(s, s->selected > lines ? s->selected - lines : 0);
}

/* ---- what is shown ---- */

static void look_anew(struct top_session *s)
{
	top_look(s);
	s->next_ns = clock_now_ns() + s->delay_ns;
}

static void next_sort(struct top_session *s)
{
	do
		s->question.sort = (s->question.sort + 1) % TOP_SORTS;
	while ((s->question.sort == TOP_TOTAL && !s->question.chains) ||
	       (s->question.sort == TOP_COMM && !(s->question.by & (TOP_BY_COMM | TOP_BY_PID))) ||
	       (s->question.sort == TOP_DSO && !(s->question.by & TOP_BY_DSO)) ||
	       (s->question.sort == TOP_SYM && !(s->question.by & TOP_BY_SYM)));
	top_say(s, "sorted by %s", top_sort_name(s->question.sort));
}

static void next_rows(struct top_session *s)
{
	static const struct {
		unsigned by;
		const char *name;
	} kinds[] = {
		{TOP_BY_COMM | TOP_BY_DSO | TOP_BY_SYM, "functions of each program"},
		{TOP_BY_DSO | TOP_BY_SYM, "functions"},
		{TOP_BY_PID, "processes"},
		{TOP_BY_DSO, "libraries"},
	};
	size_t next = 0;

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (kinds[i].by == s->question.by)
			next = (i + 1) % ARRAY_LEN(kinds);
	s->question.by = kinds[next].by;
	if (s->question.sort > TOP_TOTAL)
		s->question.sort = TOP_SELF;
	strvec_release(&s->expanded);
	move_to(s, 0);
	top_say(s, "rows are %s", kinds[next].name);
}

static void next_window(struct top_session *s)
{
	static const unsigned seconds[] = {2, 5, 10, 30, 60};
	size_t next = 0;

	if (!s->question.all) {
		while (next < ARRAY_LEN(seconds) && s->window_ns >= seconds[next] * NS_PER_SEC)
			next++;
	}
	s->question.all = next == ARRAY_LEN(seconds);
	if (s->question.all) {
		top_say(s, "all samples since the start");
		return;
	}
	s->window_ns = seconds[next] * NS_PER_SEC;
	pthread_mutex_lock(&s->feed.lock);
	top_set_window(&s->feed.table, s->window_ns);
	pthread_mutex_unlock(&s->feed.lock);
	top_say(s, "samples of the last %u s", seconds[next]);
}

static void next_event(struct top_session *s)
{
	size_t count;

	pthread_mutex_lock(&s->feed.lock);
	count = s->feed.events.len;
	pthread_mutex_unlock(&s->feed.lock);
	if (count)
		s->question.event = (uint32_t)((s->question.event + 1) % count);
	s->event_chosen = true;
}

static void change_delay(struct top_session *s, bool longer)
{
	s->delay_ns =
		longer ? MIN(s->delay_ns * 2, DELAY_NS_MAX) : MAX(s->delay_ns / 2, DELAY_NS_MIN);
	top_say(s, "every %.3g s", (double)s->delay_ns / NS_PER_SEC);
}

static void freeze(struct top_session *s)
{
	bool frozen;

	pthread_mutex_lock(&s->feed.lock);
	frozen = s->feed.frozen = !s->feed.frozen;
	pthread_mutex_unlock(&s->feed.lock);
	/* Samples since the last look are in the table already: show them now. */
	look_anew(s);
	top_say(s, frozen ? "frozen: what happens now is not counted; f goes on" : "going on");
}

/* ---- the selected row ---- */

/* Gets the selected row with the feed locked, because its numbers are valid only then. Returns
 * false, with the feed unlocked, if no row is selected. */
static bool lock_row(struct top_session *s, const struct top_row **ret)
{
	pthread_mutex_lock(&s->feed.lock);
	if (s->selected < s->lines.len && s->generation == s->feed.table.generation) {
		*ret = &s->view.rows.items[s->lines.items[s->selected].row];
		return true;
	}
	pthread_mutex_unlock(&s->feed.lock);
	return false;
}

static void toggle_callers(struct top_session *s)
{
	CLEANUP(buf_release) struct buf text = {};
	const struct top_row *row;

	if (!s->question.chains) {
		top_say(s, "callers are not recorded: start tacho top with -g");
		return;
	}
	if (!lock_row(s, &row))
		return;
	top_row_text(&s->feed.table, row, &text);
	pthread_mutex_unlock(&s->feed.lock);
	free(s->selected_text);
	s->selected_text = xstrdup(buf_str(&text));
	s->selected_below = 0;
	for (size_t i = 0; i < s->expanded.len; i++)
		if (!strcmp(s->expanded.items[i], buf_str(&text))) {
			free(s->expanded.items[i]);
			s->expanded.items[i] = s->expanded.items[--s->expanded.len];
			return;
		}
	vec_push(&s->expanded, xstrdup(buf_str(&text)));
}

static void apply_zoom(struct top_session *s)
{
	s->question.zoom_comm = s->zoom_comm;
	s->question.zoom_dso = s->zoom_dso;
	if (!s->zoom_comm)
		s->question.zoom_pid = 0;
	move_to(s, 0);
}

static void forget_zoom(struct top_session *s, enum top_zoom kind)
{
	char **name = kind == ZOOM_PROCESS ? &s->zoom_comm : &s->zoom_dso;
	unsigned kept = 0;

	free(*name);
	*name = NULL;
	for (unsigned i = 0; i < s->zoom_count; i++)
		if (s->zooms[i] != kind)
			s->zooms[kept++] = s->zooms[i];
	s->zoom_count = kept;
}

static void zoom(struct top_session *s, enum top_zoom kind)
{
	const struct top_table *t = &s->feed.table;
	const struct top_row *row;
	char *name = NULL;
	uint32_t pid = 0;

	if (!lock_row(s, &row))
		return;
	if (kind == ZOOM_PROCESS && row->comm) {
		name = xstrdup(top_text(t, row->comm));
		pid = row->pid;
	} else if (kind == ZOOM_LIBRARY && row->dso) {
		name = xstrdup(top_text(t, row->dso));
	}
	pthread_mutex_unlock(&s->feed.lock);
	if (!name) {
		top_say(s, "this line covers more than one %s: press v to change the grouping",
			kind == ZOOM_PROCESS ? "process" : "library");
		return;
	}
	forget_zoom(s, kind);
	if (kind == ZOOM_PROCESS) {
		s->zoom_comm = name;
		s->question.zoom_pid = pid;
	} else {
		s->zoom_dso = name;
	}
	s->zooms[s->zoom_count++] = kind;
	apply_zoom(s);
}

/* ---- the filter ---- */

static void drop_filter(struct top_session *s)
{
	if (s->has_filter)
		regfree(&s->filter);
	s->has_filter = false;
	s->question.filter = NULL;
}

/* While being typed, the filter may be invalid: then the last valid one stays in effect. */
static void apply_filter(struct top_session *s)
{
	regex_t filter;
	int code;

	s->message[0] = '\0';
	if (!s->filter_text.len) {
		drop_filter(s);
		return;
	}
	code = regcomp(&filter, buf_str(&s->filter_text), REG_EXTENDED | REG_NOSUB | REG_ICASE);
	if (code) {
		char why[128];

		regerror(code, &filter, why, sizeof(why));
		top_say(s, "not a regular expression: %s", why);
		return;
	}
	drop_filter(s);
	s->filter = filter;
	s->has_filter = true;
	s->question.filter = &s->filter;
	move_to(s, 0);
}

static void go_back(struct top_session *s)
{
	if (s->has_filter) {
		buf_clear(&s->filter_text);
		drop_filter(s);
	} else if (s->zoom_count) {
		forget_zoom(s, s->zooms[s->zoom_count - 1]);
		apply_zoom(s);
	}
}

static void add_character(struct buf *text, int code)
{
	if (code < 0x80) {
		buf_add_char(text, (char)code);
		return;
	}
	if (code < 0x800) {
		buf_add_char(text, (char)(0xc0 | code >> 6));
	} else {
		if (code < 0x10000) {
			buf_add_char(text, (char)(0xe0 | code >> 12));
		} else {
			buf_add_char(text, (char)(0xf0 | code >> 18));
			buf_add_char(text, (char)(0x80 | (code >> 12 & 0x3f)));
		}
		buf_add_char(text, (char)(0x80 | (code >> 6 & 0x3f)));
	}
	buf_add_char(text, (char)(0x80 | (code & 0x3f)));
}

static void drop_character(struct buf *text)
{
	while (text->len && ((unsigned char)text->s[--text->len] & 0xc0) == 0x80)
		;
	if (text->s)
		text->s[text->len] = '\0';
}

static void key_of_filter(struct top_session *s, int key)
{
	if (key == KEY_ENTER || key == KEY_ESCAPE) {
		s->mode = TOP_NORMAL;
		if (key == KEY_ESCAPE)
			buf_clear(&s->filter_text);
	} else if (key == KEY_BACKSPACE || key == '\b') {
		drop_character(&s->filter_text);
	} else if (key == 'U' - '@') {
		buf_clear(&s->filter_text);
	} else if (key >= ' ' && key < KEY_UP) {
		add_character(&s->filter_text, key);
	}
	apply_filter(s);
	look_anew(s);
}

/* ---- saving ---- */

static void write_text(struct top_session *s, const char *name, struct buf *text)
{
	CLEANUP(free_ptr) char *path = output_stamped(name);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int code = fd < 0 ? errno : -io_write(fd, text->s, text->len);

	if (fd >= 0 && close(fd) && !code)
		code = errno;
	if (code)
		top_say(s, "cannot write '%s': %s", path, strerror(code));
	else
		top_say(s, "wrote '%s'", path);
}

static void save(struct top_session *s, int key)
{
	CLEANUP(buf_release) struct buf text = {};

	if (key == 'd' && !s->recording) {
		top_say(s, "the recording has ended; t and f still save what is shown");
	} else if (key == 'd') {
		top_say(s, "writing …");
		recording_snapshot(s->live.recording);
	} else if (key == 't' || key == 'f') {
		pthread_mutex_lock(&s->feed.lock);
		top_view_build(&s->view, &s->feed.table, &s->question);
		s->generation = s->feed.table.generation;
		top_make_lines(s);
		if (key == 't')
			top_print(s, 0, &text);
		else
			top_print_folded(s, &text);
		pthread_mutex_unlock(&s->feed.lock);
		write_text(s, key == 't' ? "tacho-top.txt" : "tacho-top.folded", &text);
	}
}

/* ---- all keys ---- */

static bool key_of_move(struct top_session *s, int key)
{
	switch (key) {
	case KEY_UP:
	case 'k':
		move_up(s, 1);
		return true;
	case KEY_DOWN:
	case 'j':
		move_to(s, s->selected + 1);
		return true;
	case KEY_PAGE_UP:
		move_up(s, top_page());
		return true;
	case KEY_PAGE_DOWN:
		move_to(s, s->selected + top_page());
		return true;
	case KEY_HOME:
		move_to(s, 0);
		return true;
	case KEY_END:
		move_to(s, s->lines.len);
		return true;
	default:
		return false;
	}
}

/* Returns true if the key changes what is shown. */
static bool key_of_view(struct top_session *s, int key)
{
	switch (key) {
	case 's':
		next_sort(s);
		return true;
	case 'v':
		next_rows(s);
		return true;
	case 'w':
		next_window(s);
		return true;
	case 'e':
		next_event(s);
		return true;
	case 'K':
		s->question.no_kernel = !s->question.no_kernel;
		s->question.no_user = false;
		return true;
	case 'i':
		s->question.idle = !s->question.idle;
		top_say(s, s->question.idle ? "with idle CPUs" : "without idle CPUs");
		return true;
	case 'U':
		s->question.no_user = !s->question.no_user;
		s->question.no_kernel = false;
		return true;
	case KEY_ENTER:
	case KEY_RIGHT:
	case KEY_LEFT:
		toggle_callers(s);
		return true;
	case KEY_ESCAPE:
		go_back(s);
		return true;
	default:
		return false;
	}
}

static void key_of_rest(struct top_session *s, int key)
{
	switch (key) {
	case 'q':
	case KEY_CTRL_C:
	case KEY_GONE:
		s->quit = true;
		break;
	case 'h':
	case '?':
		s->mode = TOP_HELP;
		break;
	case '/':
		s->mode = TOP_FILTERING;
		break;
	case 'z':
		s->mode = TOP_ZOOMING;
		break;
	case 'S':
		s->mode = TOP_SAVING;
		break;
	case 'f':
	case ' ':
		freeze(s);
		break;
	case '+':
	case '-':
		change_delay(s, key == '+');
		look_anew(s);
		break;
	default:
		break;
	}
}

static void handle_key(struct top_session *s, int key)
{
	enum top_mode mode = s->mode;

	if (key == KEY_RESIZE || key == KEY_UNKNOWN)
		return;
	if (key == KEY_CTRL_C || key == KEY_GONE)
		mode = TOP_NORMAL;
	if (mode == TOP_FILTERING) {
		key_of_filter(s, key);
		return;
	}
	s->message[0] = '\0';
	s->mode = TOP_NORMAL;
	if (mode == TOP_HELP)
		return;
	if (mode == TOP_SAVING) {
		save(s, key);
	} else if (mode == TOP_ZOOMING) {
		if (key == 'p' || key == 'z' || key == KEY_ENTER)
			zoom(s, ZOOM_PROCESS);
		else if (key == 'l')
			zoom(s, ZOOM_LIBRARY);
		look_anew(s);
	} else if (key_of_move(s, key)) {
		return;
	} else if (key_of_view(s, key)) {
		look_anew(s);
	} else {
		key_of_rest(s, key);
	}
}

void top_handle_keys(struct top_session *s)
{
	int key;

	while (!s->quit && (key = screen_key(0)) != KEY_NONE)
		handle_key(s, key);
	if (!s->quit)
		top_draw(s);
}
