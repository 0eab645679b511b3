/*
 * Follows a run. Events of the server tell its state. The workload's output is read from the run's
 * log, always from the last offset on: every byte once and unchanged, even if connections break.
 */
#include "cmd/server/run.h"
#include "base/clock.h"
#include "base/term.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define LOG_AFTER_NS  (2 * NS_PER_SEC) /* output is in the store within a second */
#define LOG_EVERY_NS  (NS_PER_SEC / 5)
#define DRAW_EVERY_NS (NS_PER_SEC / 5)
#define SHOWN_MAX     3u /* counters on the line */
#define SIGNALS_MAX   3u /* then we stop following */

struct follow_counter {
	double id, scale, rate;
	char *name, *unit;
};

struct following {
	struct connection *connection;
	const char *uuid;
	json_t *run;
	struct term term; /* of the progress line */
	bool quiet, drawn, line_open, ended, removed;
	uint64_t output[2];    /* bytes that were passed through, of stdout and stderr */
	bool output_failed[2]; /* it could not be written */
	uint64_t log_until_ns, log_next_ns, draw_next_ns;
	VEC(struct follow_counter) counters;
	double samples, lost;
	int cancels; /* signals handled so far */
	struct err err;
};

static volatile sig_atomic_t signals_seen, last_signal;

static void on_signal(int number)
{
	signals_seen++;
	last_signal = number;
}

/* ---- the line ---- */

static void clear_line(struct following *f)
{
	CLEANUP(buf_release) struct buf line = {};

	if (!f->drawn)
		return;
	buf_add(&line, "\r\033[K");
	command_flush(&line, STDERR_FILENO);
	f->drawn = false;
}

static void add_rate(struct buf *out, const struct follow_counter *c)
{
	static const char *const prefixes[] = {"", "k", "M", "G", "T"};
	double value = c->rate * c->scale;
	size_t p = 0;

	while (value >= 1000 && p + 1 < ARRAY_LEN(prefixes)) {
		value /= 1000;
		p++;
	}
	buf_addf(out, " · %.3g %s", value, prefixes[p]);
	if (*c->unit)
		add_text(out, c->unit);
	buf_add(out, "/s ");
	add_text(out, c->name);
}

static void add_running(struct buf *line, const struct following *f)
{
	const json_t *progress = json_object_get(f->run, "progress");
	double took = seconds_between(member_text(f->run, "started_at"), "");
	double expected = member_number(progress, "expected_s", 0);

	add_duration(line, took);
	if (expected > took && took >= 0) {
		buf_add(line, ", about ");
		add_duration(line, expected - took);
		buf_add(line, " to go");
	}
	if (f->samples > 0) {
		buf_add(line, " · ");
		buf_add_grouped(line, (uint64_t)f->samples, 0);
		buf_add(line, " samples");
	}
	if (f->lost > 0)
		buf_addf(line, ", %.0f lost", f->lost);
	for (size_t i = 0; i < f->counters.len && i < SHOWN_MAX; i++)
		add_rate(line, &f->counters.items[i]);
}

static void add_waiting(struct buf *line, const json_t *run)
{
	const json_t *progress = json_object_get(run, "progress");
	double place = member_number(progress, "place", 0);
	double starts = member_number(progress, "starts_in_s", -1);

	if (place > 1)
		buf_addf(line, ", %.0f in front of it", place - 1);
	if (starts > 0) {
		buf_add(line, ", starts in about ");
		add_duration(line, starts);
	}
}

/* Cuts the line at the terminal's width: a wrapped line could not be cleared. */
static void draw_line(struct following *f)
{
	CLEANUP(buf_release) struct buf line = {}, out = {};
	const char *state = member_text(f->run, "state");
	uint64_t now = clock_now_ns();
	size_t columns = f->term.width > 20 ? f->term.width - 1 : 20;

	if (f->quiet || !f->term.tty || f->line_open || now < f->draw_next_ns)
		return;
	f->draw_next_ns = now + DRAW_EVERY_NS;
	buf_addf(&line, "%s ", f->cancels ? "stopping" : state);
	if (!strcmp(state, "queued"))
		add_waiting(&line, f->run);
	else
		add_running(&line, f);
	buf_addf(&out, "\r\033[K%s", f->term.dim);
	for (const char *s = buf_str(&line); *s && columns; s++) {
		buf_add_char(&out, *s);
		columns -= ((unsigned char)s[1] & 0xc0) != 0x80;
	}
	buf_add(&out, f->term.reset);
	f->drawn = command_flush(&out, STDERR_FILENO);
}

/* ---- output ---- */

/* Passes on the new bytes of one stream, through a file because client_download() needs one. */
static void pass_stream(struct following *f, int stream, int scratch)
{
	int to = stream == 1 ? STDOUT_FILENO : STDERR_FILENO;
	CLEANUP(free_ptr)
	char *path = xasprintf("benchmark/%s.log?stream=%s&offset=%llu", f->uuid,
			       stream == 1 ? "stdout" : "stderr",
			       (unsigned long long)f->output[stream - 1]);
	CLEANUP(buf_release) struct buf bytes = {};
	off_t size;

	if (f->output_failed[stream - 1] || ftruncate(scratch, 0) < 0 ||
	    lseek(scratch, 0, SEEK_SET) < 0)
		return;
	if (client_download(f->connection->client, path, scratch, NULL, NULL, NULL) < 0)
		return;
	size = lseek(scratch, 0, SEEK_END);
	if (size <= 0)
		return;
	clear_line(f);
	for (off_t at = 0; at < size;) {
		char block[65536];
		ssize_t n = pread(scratch, block, sizeof(block), at);

		if (n <= 0)
			break;
		at += n;
		buf_add_mem(&bytes, block, (size_t)n);
		f->line_open = block[n - 1] != '\n' && isatty(to);
		f->output_failed[stream - 1] |= !command_flush_on(&bytes, to);
	}
	f->output[stream - 1] += (uint64_t)size;
}

static void pass_output(struct following *f)
{
	FILE *scratch = tmpfile();

	if (!scratch)
		return;
	for (int stream = 1; stream <= 2; stream++)
		pass_stream(f, stream, fileno(scratch));
	fclose(scratch);
	f->log_next_ns = clock_now_ns() + LOG_EVERY_NS;
}

/* ---- events ---- */

static void take_run(struct following *f, json_t *run)
{
	if (*member_text(run, "state")) {
		json_decref(f->run);
		f->run = json_incref(run);
		f->ended = run_has_ended(run);
	}
}

/* Asks for the run's state, which may have changed while we were not connected. */
static void ask(struct following *f)
{
	json_t *run = NULL;
	int r = connection_json(f->connection, "GET", NULL, &run, &f->err, "benchmark/%s.json",
				f->uuid);

	if (r == 0)
		take_run(f, run);
	f->removed |= r == -ENOENT;
	json_decref(run);
}

static struct follow_counter *counter_of(struct following *f, double id)
{
	vec_each(&f->counters, c)
		if (c->id == id)
			return c;
	return NULL;
}

static void take_counts(struct following *f, const json_t *data)
{
	const json_t *ids = json_object_get(data, "id"), *values = json_object_get(data, "value");
	const json_t *durations = json_object_get(data, "duration"), *one;
	size_t i;

	json_array_foreach(json_object_get(data, "counters"), i, one)
	{
		double id = member_number(one, "id", -1);

		if (!counter_of(f, id))
			vec_push(&f->counters, (struct follow_counter){
						       .id = id,
						       .scale = member_number(one, "scale", 1),
						       .name = xstrdup(member_text(one, "name")),
						       .unit = xstrdup(member_text(one, "unit")),
					       });
	}
	json_array_foreach(ids, i, one)
	{
		struct follow_counter *c = counter_of(f, json_number_value(one));
		double ns = json_number_value(json_array_get(durations, i));

		if (c && ns > 0)
			c->rate = json_number_value(json_array_get(values, i)) / ns *
				  (double)NS_PER_SEC;
	}
}

static void take_samples(struct following *f, const json_t *data)
{
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(data, "gain"), i, one) f->samples +=
		json_number_value(json_array_get(one, 2));
}

static bool on_event(void *ctx, const char *name, const json_t *data)
{
	struct following *f = ctx;

	if (!strcmp(name, "connected")) {
		/* The workload may have printed something already. */
		f->log_until_ns = clock_now_ns() + LOG_AFTER_NS;
		ask(f);
	} else if (!strcmp(name, "state"))
		take_run(f, (json_t *)data);
	else if (!strcmp(name, "removed"))
		f->removed = true;
	else if (!strcmp(name, "counts"))
		take_counts(f, data);
	else if (!strcmp(name, "samples"))
		take_samples(f, data);
	else if (!strcmp(name, "output"))
		f->log_until_ns = clock_now_ns() + LOG_AFTER_NS;
	else if (!strcmp(name, "ledger"))
		f->lost = member_number(data, "lost", 0) + member_number(data, "dropped", 0);
	else if (!strcmp(name, "end"))
		ask(f);
	else if (!strcmp(name, "note") && !f->quiet) {
		clear_line(f);
		command_fail(0, "run: %s", member_text(data, "text"));
	}
	return !f->ended && !f->removed;
}

/* The first signal cancels the run, the second has it killed, the third leaves it alone. */
static bool heed_signals(struct following *f)
{
	struct err e;

	if (f->cancels >= signals_seen)
		return true;
	f->cancels = signals_seen;
	clear_line(f);
	if (f->cancels >= (int)SIGNALS_MAX) {
		command_fail(0, "run: no longer followed; tacho show %.8s tells how it ends",
			     f->uuid);
		return false;
	}
	if (connection_json(f->connection, "POST", NULL, NULL, &e, "benchmark/%s/cancel", f->uuid) <
		    0 &&
	    e.code != EALREADY && e.code != EBUSY)
		command_fail(0, "run: %s", e.text);
	return true;
}

static bool on_tick(void *ctx)
{
	struct following *f = ctx;
	uint64_t now = clock_now_ns();

	if (now < f->log_until_ns && now >= f->log_next_ns)
		pass_output(f);
	draw_line(f);
	return heed_signals(f) && !f->ended && !f->removed;
}

/* ---- the end ---- */

static int exit_status(const struct following *f)
{
	double status = member_number(f->run, "exit_status", NAN);
	double number = member_number(f->run, "signal", NAN);
	const char *error = member_text(f->run, "error"), *state = member_text(f->run, "state");

	if (*error)
		command_fail(0, "run: %s", error);
	else if (!strcmp(state, "interrupted"))
		command_fail(
			0,
			"run: the server was stopped meanwhile; the data measured so far is kept");
	if (f->cancels)
		return 128 + last_signal;
	if (!isnan(number) && number > 0)
		return 128 + (int)number;
	if (!isnan(status))
		return (int)status;
	return strcmp(state, "done") ? EXIT_TACHO_FAILED : EXIT_DONE;
}

static int finish(struct following *f, int r)
{
	int status;

	pass_output(f);
	clear_line(f);
	if (f->removed)
		return command_fail(EXIT_TACHO_FAILED, "run: the run was deleted on the server");
	if (r < 0)
		return command_fail(EXIT_TACHO_FAILED, "run: %s", f->err.text);
	if (!f->ended)
		return 128 + last_signal;
	status = exit_status(f);
	if (f->cancels && !f->quiet)
		command_fail(0, "run: cancelled; what was measured until then is kept");
	return status;
}

int run_follow(struct connection *c, const json_t *run, bool quiet)
{
	struct sigaction action = {.sa_handler = on_signal};
	struct following f = {.connection = c,
			      .uuid = member_text(run, "uuid"),
			      .quiet = quiet,
			      .term = term_of(STDERR_FILENO)};
	CLEANUP(free_ptr) char *path = xasprintf("live?run=%s", f.uuid);
	int r;

	f.run = json_incref((json_t *)run);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	r = client_events(c->client, path,
			  &(struct client_watch){.event = on_event, .tick = on_tick, .ctx = &f},
			  &f.err);
	if (r < 0)
		connection_explain(c, &f.err);
	r = finish(&f, r);
	vec_each(&f.counters, counter) {
		free(counter->name);
		free(counter->unit);
	}
	vec_release(&f.counters);
	json_decref(f.run);
	return r;
}
