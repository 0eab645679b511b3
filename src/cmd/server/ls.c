/* tacho ls: tables of runs and of sessions. */
#include "base/term.h"
#include "base/text.h"
#include "cmd/server/client.h"
#include "cmd/server/commands.h"

#include <string.h>
#include <unistd.h>

#define DEFAULT_LIMIT 50
#define COLUMNS       7

/* Rows of cells; a column is as wide as its widest cell, the last is cut at the terminal's edge. */
struct table {
	strvec cells;
	strvec colours; /* of each row */
	size_t columns;
};

static void add_cell(struct table *t, struct buf *text)
{
	vec_push(&t->cells, xstrdup(buf_str(text)));
	buf_clear(text);
}

static void add_cut(struct buf *out, const char *text, size_t columns)
{
	for (; *text && columns; columns--) {
		size_t len = text_utf8_len((const unsigned char *)text);

		len = len ? len : 1;
		/* The text is longer: end it with an ellipsis. */
		if (columns == 1 && text[len])
			buf_add(out, "…");
		else
			buf_add_mem(out, text, len);
		text += len;
	}
}

static void print_table(const struct table *t, const struct term *term, size_t coloured)
{
	CLEANUP(buf_release) struct buf out = {};
	size_t width[COLUMNS] = {}, rows = t->cells.len / t->columns, used = 0;

	for (size_t i = 0; i < t->cells.len; i++) {
		size_t w = text_columns(t->cells.items[i]), c = i % t->columns;

		width[c] = w > width[c] ? w : width[c];
	}
	for (size_t c = 0; c + 1 < t->columns; c++)
		used += width[c] + 2;
	for (size_t r = 0; r < rows; r++) {
		for (size_t c = 0; c < t->columns; c++) {
			const char *cell = t->cells.items[r * t->columns + c];
			const char *colour = r == 0          ? term->bold
					     : c == coloured ? t->colours.items[r]
							     : "";

			buf_add(&out, colour);
			if (c + 1 < t->columns)
				buf_add(&out, cell);
			else
				add_cut(&out, cell,
					term->tty && term->width > used + 20 ? term->width - used
									     : SIZE_MAX);
			buf_add(&out, *colour ? term->reset : "");
			if (c + 1 < t->columns)
				buf_pad(&out, width[c] + 2 - text_columns(cell), ' ');
		}
		buf_add_char(&out, '\n');
	}
	command_flush(&out, STDOUT_FILENO);
}

static void table_release(struct table *t)
{
	strvec_release(&t->cells);
	vec_release(&t->colours);
}

static void add_heads(struct table *t, const char *const *heads)
{
	vec_push(&t->colours, NULL);
	for (t->columns = 0; heads[t->columns]; t->columns++)
		vec_push(&t->cells, xstrdup(heads[t->columns]));
}

/* Adds the beginning of the id, usually enough to name the run or session. */
static void add_id(struct table *t, const json_t *object)
{
	CLEANUP(buf_release) struct buf text = {}, cut = {};

	buf_addf(&cut, "%.8s", member_text(object, "uuid"));
	add_text(&text, buf_str(&cut));
	add_cell(t, &text);
}

/* If the measurement succeeded but the program failed, shows how the program ended. */
static void add_state(struct table *t, const struct term *term, const json_t *run)
{
	CLEANUP(buf_release) struct buf text = {};
	const char *state = member_text(run, "state");
	double status = member_number(run, "exit_status", 0);
	double number = member_number(run, "signal", 0);
	bool done = !strcmp(state, "done"), bad = done && (status > 0 || number > 0);

	vec_push(&t->colours, (char *)state_colour(term, bad ? "failed" : state));
	add_id(t, run);
	if (!bad)
		add_text(&text, state);
	else if (number > 0)
		buf_addf(&text, "signal %.0f", number);
	else
		buf_addf(&text, "exit %.0f", status);
	add_cell(t, &text);
}

static void add_run(struct table *t, const struct term *term, const json_t *run)
{
	CLEANUP(buf_release) struct buf text = {};
	const char *what = member_text(run, "description"), *command = member_text(run, "workload");

	add_state(t, term, run);
	add_when(&text,
		 member_text(run, *member_text(run, "started_at") ? "started_at" : "created_at"));
	add_cell(t, &text);
	add_text(&text, member_text(run, "user"));
	add_cell(t, &text);
	if (*member_text(run, "started_at"))
		add_duration(&text, seconds_between(member_text(run, "started_at"),
						    member_text(run, "ended_at")));
	add_cell(t, &text);
	add_text(&text, member_text(run, "tool"));
	add_cell(t, &text);
	add_text(&text, *command ? command : what);
	if (*command && *what && strcmp(command, what)) {
		buf_add(&text, "  # ");
		add_text(&text, what);
	}
	add_cell(t, &text);
}

static void print_runs(const json_t *runs)
{
	static const char *const heads[] = {"RUN",  "STATE", "WHEN",    "WHO",
					    "TOOK", "TOOL",  "COMMAND", NULL};
	struct term term = term_of(STDOUT_FILENO);
	CLEANUP(table_release) struct table t = {};
	const json_t *run;
	size_t i;

	add_heads(&t, heads);
	json_array_foreach(runs, i, run) add_run(&t, &term, run);
	print_table(&t, &term, 1);
}

static void print_sessions(const json_t *sessions)
{
	static const char *const heads[] = {"SESSION", "WHEN", "RUNS", "TITLE", NULL};
	struct term term = term_of(STDOUT_FILENO);
	CLEANUP(table_release) struct table t = {};
	CLEANUP(buf_release) struct buf text = {};
	const json_t *session;
	size_t i;

	add_heads(&t, heads);
	json_array_foreach(sessions, i, session)
	{
		vec_push(&t.colours, NULL);
		add_id(&t, session);
		add_when(&text, member_text(session, "created_at"));
		add_cell(&t, &text);
		buf_addf(&text, "%.0f", member_number(session, "runs", 0));
		add_cell(&t, &text);
		add_text(&text, member_text(session, "title"));
		add_cell(&t, &text);
	}
	print_table(&t, &term, COLUMNS);
}

static int print_json(const json_t *json)
{
	CLEANUP(buf_release) struct buf out = {};
	CLEANUP(free_ptr) char *text = json_dumps(json, JSON_INDENT(2));

	buf_addf(&out, "%s\n", text ? text : "null");
	return command_flush(&out, STDOUT_FILENO) ? EXIT_DONE : EXIT_FAILED;
}

static int list(struct connection *c, const struct client_ls_options *o, const char *session,
		struct err *e)
{
	CLEANUP(buf_release) struct buf search = {};
	unsigned limit = o->limit ? o->limit : DEFAULT_LIMIT;
	json_t *answer = NULL, *one = NULL;
	int r;

	if (o->search) {
		buf_add(&search, "&search=");
		client_escape(&search, o->search);
	}
	if (session) {
		r = connection_find_session(c, session, false, &one, e);
		if (r < 0)
			return r;
		r = connection_json(c, "GET", NULL, &answer, e, "session/%s?limit=%u%s",
				    member_text(one, "uuid"), limit, buf_str(&search));
	} else {
		r = connection_json(c, "GET", NULL, &answer, e, "%s?limit=%u%s",
				    o->sessions ? "sessions" : "benchmarks", limit,
				    buf_str(&search));
	}
	json_decref(one);
	if (r < 0)
		return r;
	if (o->json)
		print_json(answer);
	else if (o->sessions && !session)
		print_sessions(json_object_get(answer, "sessions"));
	else
		print_runs(json_object_get(answer, "runs"));
	json_decref(answer);
	return 0;
}

int server_ls(const struct command *self, int argc, char **argv)
{
	struct client_ls_options o = {};
	const char *session = NULL;
	struct connection c;
	struct err e = {};
	int status, r;

	if (!command_one_word(self, &o, argc, argv, &session, "session", &status))
		return status;
	if (connection_open(&c, &o.server, &e) < 0)
		return command_fail(connection_open_status(&e), "ls: %s", e.text);
	r = list(&c, &o, session, &e);
	connection_close(&c);
	return r < 0 ? command_fail(EXIT_FAILED, "ls: %s", e.text) : EXIT_DONE;
}
