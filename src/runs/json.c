#include "runs/json.h"
#include "base/clock.h"
#include "collect/run/plan.h"
#include "runs/ledger_words.h"
#include "runs/runs.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

void json_add_time(struct json *j, const char *key, int64_t ms)
{
	time_t seconds = (time_t)(ms / 1000);
	struct tm utc;
	char text[40];
	size_t len;

	jw_key(j, key);
	if (ms <= 0 || !gmtime_r(&seconds, &utc)) {
		jw_null(j);
		return;
	}
	len = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(text + len, sizeof(text) - len, ".%03dZ", (int)(ms % 1000));
	jw_str(j, text);
}

static int add_piece(const char *bytes, size_t size, void *out)
{
	buf_add_mem(out, bytes, size);
	return 0;
}

void json_add_value(struct json *j, const json_t *value)
{
	CLEANUP(buf_release) struct buf text = {};

	if (value)
		json_dump_callback(value, add_piece, &text, JSON_COMPACT | JSON_ENCODE_ANY);
	jw_raw(j, text.len ? buf_str(&text) : "null");
}

void session_json_head(struct json *j, const struct stored_session *s)
{
	jw_kv_str(j, "uuid", s->uuid);
	jw_kv_str(j, "title", s->title);
	json_add_time(j, "created_at", s->created_ms);
}

void session_json(struct json *j, const struct stored_session *s)
{
	jw_open(j, '{');
	session_json_head(j, s);
	jw_kv_u64(j, "runs", s->runs);
	jw_close(j, '}');
}

/* ---- a run ---- */

static const char *text_or_null(const char *text)
{
	return text && text[0] ? text : NULL;
}

static json_t *parsed(const char *text)
{
	return text ? json_loads(text, 0, NULL) : NULL;
}

static void member(struct json *j, const char *key, const json_t *object, const char *name)
{
	jw_key(j, key);
	json_add_value(j, json_object_get(object, name));
}

/*
 * Adds every field of the plan under its own name, except those that the run itself has, which may
 * have changed since. The plan's `user`, whose rights the workload has, becomes `run_as`, because
 * `user` is who started the run.
 */
static void add_plan(struct json *j, const json_t *plan)
{
	static const char *const of_the_run[] = {"description", "exclusive", "tags",    "note",
						 "workload",    "argv",      "session", "state"};
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)plan, name, value)
	{
		bool own = false;

		for (size_t i = 0; i < ARRAY_LEN(of_the_run); i++)
			own |= !strcmp(of_the_run[i], name);
		if (own)
			continue;
		jw_key(j, strcmp(name, "user") ? name : "run_as");
		json_add_value(j, value);
	}
}

/* The command as it was written, and the words that are executed. */
static void add_workload(struct json *j, const json_t *plan)
{
	const char *workload = json_string_value(json_object_get(plan, "workload"));
	CLEANUP(strvec_release) strvec words = {};

	jw_kv_str(j, "workload", workload);
	if (workload && json_is_true(json_object_get(plan, "shell"))) {
		vec_push(&words, xstrdup("/bin/sh"));
		vec_push(&words, xstrdup("-c"));
		vec_push(&words, xstrdup(workload));
	} else if (workload) {
		words_split(workload, &words, NULL);
	}
	jw_key(j, "argv");
	jw_open(j, '[');
	vec_each(&words, word)
		jw_str(j, *word);
	jw_close(j, ']');
}

static void add_progress(struct json *j, const struct stored_run *r, struct runs *runs)
{
	struct run_progress p;

	jw_key(j, "progress");
	if ((r->state != STATE_QUEUED && r->state != STATE_RUNNING) || !runs ||
	    !runs_progress(runs, r->uuid, &p)) {
		jw_null(j);
		return;
	}
	jw_open(j, '{');
	jw_kv_double(j, "elapsed_s", p.elapsed_s);
	jw_key(j, "expected_s");
	p.expected_s > 0 ? jw_double(j, p.expected_s) : jw_null(j);
	jw_key(j, "eta_s");
	p.eta_s >= 0 ? jw_double(j, p.eta_s) : jw_null(j);
	jw_key(j, "starts_in_s");
	p.starts_in_s >= 0 ? jw_double(j, p.starts_in_s) : jw_null(j);
	jw_kv_u64(j, "place", p.place);
	jw_kv_double(j, "done_part", p.done_part);
	jw_close(j, '}');
}

static void add_link(struct json *j, const char *key, const char *fmt, const char *uuid)
{
	CLEANUP(free_ptr) char *path = xasprintf(fmt, uuid);

	jw_kv_str(j, key, path);
}

static void add_links(struct json *j, const struct stored_run *r)
{
	static const char *const formats[] = {"json",   "csv", "jsonl", "h5", "data",
					      "folded", "svg", "html",  "log"};

	jw_key(j, "links");
	jw_open(j, '{');
	add_link(j, "self", API_PREFIX "/benchmark/%s", r->uuid);
	for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
		CLEANUP(free_ptr)
		char *path = xasprintf(API_PREFIX "/benchmark/%s.%s", r->uuid, formats[i]);

		jw_kv_str(j, formats[i], path);
	}
	add_link(j, "live", API_PREFIX "/live?run=%s", r->uuid);
	add_link(j, "session", API_PREFIX "/session/%s", r->session_uuid);
	jw_close(j, '}');
}

/* Adds what the collector reported when it opened the events. */
static void add_opened(struct json *j, const struct stored_run *r)
{
	json_t *opened = parsed(r->opened);

	member(j, "environment", opened, "environment");
	member(j, "opened_events", opened, "events");
	member(j, "clock", opened, "clock");
	member(j, "workload_pid", opened, "pid");
	json_decref(opened);
}

/* Returns how long the workload ran or was watched; -1: unknown. The collector's times do not
 * include our own work before and after it. If they are missing, or of an import, whose clock is
 * that of another machine, uses the times at which the run was started and ended. */
static double seconds_of(const struct stored_run *r, json_t *plan, json_t *ended)
{
	int64_t end_ns = json_integer_value(json_object_get(ended, "end_ns"));

	if (!json_object_get(plan, "import") && r->start_ns && end_ns > r->start_ns)
		return (double)(end_ns - r->start_ns) / (double)NS_PER_SEC;
	return r->started_ms && r->ended_ms >= r->started_ms
		       ? (double)(r->ended_ms - r->started_ms) / 1000
		       : -1;
}

double run_seconds(const struct stored_run *r)
{
	json_t *plan = parsed(r->plan), *ended = parsed(r->ended);
	double seconds = seconds_of(r, plan, ended);

	json_decref(plan);
	json_decref(ended);
	return seconds;
}

static void add_end(struct json *j, const struct stored_run *r, json_t *plan)
{
	json_t *ended = parsed(r->ended);
	const char *error = json_string_value(json_object_get(ended, "error"));
	double seconds = seconds_of(r, plan, ended);

	member(j, "exit_status", ended, "status");
	member(j, "signal", ended, "signal");
	jw_kv_bool(j, "timed_out", json_is_true(json_object_get(ended, "timed_out")));
	jw_kv_str(j, "error", r->error ? r->error : error);
	jw_key(j, "duration_s");
	if (seconds >= 0)
		jw_double(j, seconds);
	else
		jw_null(j);
	json_decref(ended);
}

void run_json(struct json *j, const struct stored_run *r, struct runs *runs)
{
	json_t *plan = parsed(r->plan), *tags = parsed(r->tags), *ledger = parsed(r->ledger);

	jw_open(j, '{');
	jw_kv_str(j, "uuid", r->uuid);
	jw_kv_str(j, "session", r->session_uuid);
	jw_kv_str(j, "state", run_state_name(r->state));
	jw_kv_str(j, "description", text_or_null(r->description));
	jw_kv_bool(j, "exclusive", r->exclusive);
	add_workload(j, plan);
	add_plan(j, plan);
	jw_kv_str(j, "user", r->user);
	json_add_time(j, "created_at", r->created_ms);
	json_add_time(j, "started_at", r->started_ms);
	json_add_time(j, "ended_at", r->ended_ms);
	add_end(j, r, plan);
	jw_kv_str(j, "note", text_or_null(r->note));
	jw_key(j, "tags");
	json_is_array(tags) ? json_add_value(j, tags) : jw_raw(j, "[]");
	add_opened(j, r);
	jw_key(j, "ledger");
	ledger_json(j, ledger);
	jw_kv_u64(j, "samples", (uint64_t)r->samples);
	jw_kv_u64(j, "bytes", (uint64_t)r->bytes);
	jw_kv_bool(j, "raw", r->raw_path);
	add_progress(j, r, runs);
	add_links(j, r);
	jw_close(j, '}');
	json_decref(plan);
	json_decref(tags);
	json_decref(ledger);
}
