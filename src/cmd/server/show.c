/* tacho show: what a run was, what it counted, where its time went, and what was lost. */
#include "base/term.h"
#include "cmd/server/client.h"
#include "cmd/server/commands.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_FUNCTIONS 10

struct showing {
	struct term term;
	struct buf out;
	const json_t *run;
};

static void add_head(struct showing *s, const char *what)
{
	buf_addf(&s->out, "\n%s%s%s\n", s->term.bold, what, s->term.reset);
}

static void add_line(struct showing *s, const char *label, const char *text)
{
	if (!*text)
		return;
	buf_addf(&s->out, "%-12s", label);
	add_text(&s->out, text);
	buf_add_char(&s->out, '\n');
}

static void add_words(struct buf *out, const json_t *list)
{
	const json_t *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		buf_add(out, i ? ", " : "");
		add_text(out,
			 json_is_string(one) ? json_string_value(one) : member_text(one, "name"));
	}
}

static void add_end(struct showing *s)
{
	const char *state = member_text(s->run, "state");
	double status = member_number(s->run, "exit_status", NAN);
	double number = member_number(s->run, "signal", NAN);

	buf_addf(&s->out, "%-12s%s", "state", state_colour(&s->term, state));
	add_text(&s->out, state);
	buf_add(&s->out, s->term.reset);
	if (!isnan(number) && number > 0)
		buf_addf(&s->out, ", ended by signal %.0f", number);
	else if (!isnan(status))
		buf_addf(&s->out, ", exit status %.0f", status);
	buf_add_char(&s->out, '\n');
	add_line(s, "error", member_text(s->run, "error"));
}

static void add_times(struct showing *s)
{
	CLEANUP(buf_release) struct buf text = {};
	const char *started = member_text(s->run, "started_at");

	add_when(&text, *started ? started : member_text(s->run, "created_at"));
	if (*started) {
		buf_add(&text, ", took ");
		add_duration(&text, seconds_between(started, member_text(s->run, "ended_at")));
	}
	if (*member_text(s->run, "user"))
		buf_addf(&text, ", by %s", member_text(s->run, "user"));
	add_line(s, "when", buf_str(&text));
}

static void add_details(struct showing *s)
{
	const json_t *machine = json_object_get(s->run, "environment");
	CLEANUP(buf_release) struct buf text = {};

	add_line(s, "run", member_text(s->run, "uuid"));
	add_line(s, "session", member_text(s->run, "session"));
	add_line(s, "command", member_text(s->run, "workload"));
	if (strcmp(member_text(s->run, "description"), member_text(s->run, "workload")))
		add_line(s, "description", member_text(s->run, "description"));
	add_end(s);
	add_times(s);
	add_words(&text, json_object_get(s->run, "opened_events"));
	add_line(s, "events", buf_str(&text));
	buf_clear(&text);
	add_words(&text, json_object_get(s->run, "tags"));
	add_line(s, "tags", buf_str(&text));
	add_line(s, "note", member_text(s->run, "note"));
	buf_clear(&text);
	if (*member_text(machine, "host"))
		buf_addf(&text, "%s, Linux %s, %s", member_text(machine, "host"),
			 member_text(machine, "kernel"), member_text(machine, "cpu"));
	add_line(s, "machine", buf_str(&text));
}

/* ---- the ledger ---- */

/* Adds the sentences of the server, the same as on the page. */
static void add_ledger(struct showing *s, const json_t *answer)
{
	const json_t *entries = json_object_get(answer, "entries"), *one;
	size_t i;

	if (!json_array_size(entries))
		return;
	add_head(s, "Ledger");
	json_array_foreach(entries, i, one)
	{
		const char *sentence = member_text(one, "sentence");

		if (!*sentence)
			continue;
		buf_add(&s->out, "  ");
		add_text(&s->out, sentence);
		buf_add_char(&s->out, '\n');
	}
}

/* ---- counters and functions ---- */

static double first_of(const json_t *object, const char *name)
{
	const json_t *value = json_array_get(json_object_get(object, name), 0);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

static void add_figure(struct buf *out, double value, unsigned width)
{
	CLEANUP(buf_release) struct buf text = {};

	if (isnan(value))
		buf_add_char(&text, '-');
	else if (value >= 100)
		buf_add_grouped(&text, (uint64_t)(value + 0.5), 0);
	else
		buf_addf(&text, "%.3g", value);
	if (text.len < width)
		buf_pad(out, width - text.len, ' ');
	buf_add(out, buf_str(&text));
}

/* Lists the events that could not be counted: left out, they could be taken for 0. */
static void add_unsupported(struct showing *s)
{
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(s->run, "opened_events"), i, one)
	{
		if (!json_is_true(json_object_get(one, "counted")) ||
		    !json_is_false(json_object_get(one, "supported")))
			continue;
		buf_addf(&s->out, "%18s %52s", "<not supported>", "");
		add_text(&s->out, member_text(one, "name"));
		if (*member_text(one, "problem")) {
			buf_add(&s->out, ": ");
			add_text(&s->out, member_text(one, "problem"));
		}
		buf_add_char(&s->out, '\n');
	}
}

static void add_counters(struct showing *s, const json_t *timeline)
{
	const json_t *counters = json_object_get(timeline, "counters"), *one;
	size_t i;

	if (!json_array_size(counters))
		return;
	add_head(s, "Counters");
	buf_addf(&s->out, "%s%18s %16s %16s %16s%s\n", s->term.dim, "total", "a second", "least",
		 "most", s->term.reset);
	json_array_foreach(counters, i, one)
	{
		const char *unit = member_text(one, "unit");
		/* The numbers of a timeline are not scaled to the unit yet. */
		double scale = member_number(one, "scale", 1);
		bool counted = !isnan(first_of(one, "mean"));

		add_figure(&s->out, counted ? first_of(one, "sum") * scale : NAN, 18);
		add_figure(&s->out, first_of(one, "mean") * scale, 17);
		add_figure(&s->out, first_of(one, "min") * scale, 17);
		add_figure(&s->out, first_of(one, "max") * scale, 17);
		buf_add(&s->out, "  ");
		add_text(&s->out, member_text(one, "name"));
		if (*unit) {
			buf_add(&s->out, ", ");
			add_text(&s->out, unit);
		}
		if (member_number(one, "cpu", -1) >= 0)
			buf_addf(&s->out, ", CPU %.0f", member_number(one, "cpu", 0));
		buf_add_char(&s->out, '\n');
	}
	add_unsupported(s);
}

static void add_functions(struct showing *s, const json_t *answer)
{
	const json_t *functions = json_object_get(answer, "functions"), *one;
	double all = member_number(answer, "total", 0);
	size_t i;

	if (!json_array_size(functions))
		return;
	add_head(s, "Hottest functions");
	buf_addf(&s->out, "%s%10s %10s  %s%s\n", s->term.dim, "self", "with calls", "function",
		 s->term.reset);
	json_array_foreach(functions, i, one)
	{
		double self = member_number(one, "self", 0), total = member_number(one, "total", 0);

		if (all > 0)
			buf_addf(&s->out, "%8.2f %% %8.2f %%  ", 100 * self / all,
				 100 * total / all);
		else
			buf_addf(&s->out, "%10.0f %10.0f  ", self, total);
		add_text(&s->out, member_text(one, "name"));
		if (*member_text(one, "module")) {
			buf_addf(&s->out, "  %s", s->term.dim);
			add_text(&s->out, member_text(one, "module"));
			buf_add(&s->out, s->term.reset);
		}
		buf_add_char(&s->out, '\n');
	}
}

static int show(struct connection *c, const struct client_show_options *o, const char *name,
		struct err *e)
{
	json_t *run = NULL, *timeline = NULL, *functions = NULL, *ledger = NULL;
	CLEANUP(free_ptr) char *text = NULL;
	struct showing s = {.term = term_of(STDOUT_FILENO)};
	int r = connection_find_run(c, name, &run, e);
	const char *uuid = member_text(run, "uuid");

	if (r < 0)
		return r;
	s.run = run;
	if (o->json) {
		text = json_dumps(run, JSON_INDENT(2));
		buf_addf(&s.out, "%s\n", text ? text : "null");
	} else {
		add_details(&s);
		r = connection_json(c, "GET", NULL, &timeline, e, "benchmark/%s/timeline?pixels=1",
				    uuid);
		if (r == 0)
			add_counters(&s, timeline);
		/* A run without samples has no functions to ask for. */
		if (r == 0 && member_number(run, "samples", 0) > 0) {
			r = connection_json(c, "GET", NULL, &functions, e,
					    "benchmark/%s/functions?limit=%u", uuid,
					    o->limit ? o->limit : DEFAULT_FUNCTIONS);
			add_functions(&s, functions);
		}
		if (r == 0)
			r = connection_json(c, "GET", NULL, &ledger, e, "benchmark/%s/ledger",
					    uuid);
		add_ledger(&s, ledger);
	}
	command_flush(&s.out, STDOUT_FILENO);
	buf_release(&s.out);
	json_decref(run);
	json_decref(timeline);
	json_decref(functions);
	json_decref(ledger);
	return r;
}

int server_show(const struct command *self, int argc, char **argv)
{
	struct client_show_options o = {};
	const char *run = NULL;
	struct connection c;
	struct err e = {};
	int status, r;

	if (!command_one_word(self, &o, argc, argv, &run, "run", &status))
		return status;
	if (!run)
		return command_fail(EXIT_USAGE,
				    "show: which run? (tacho ls lists them, last is the "
				    "newest)");
	if (connection_open(&c, &o.server, &e) < 0)
		return command_fail(connection_open_status(&e), "show: %s", e.text);
	r = show(&c, &o, run, &e);
	connection_close(&c);
	return r < 0 ? command_fail(EXIT_FAILED, "show: %s", e.text) : EXIT_DONE;
}
