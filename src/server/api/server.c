/* Routes of the server itself: health, metrics, OpenAPI document, users, queue, live stream. */
#include "server/api/api.h"

#include "base/clock.h"
#include "bus/bus.h"
#include "runs/runs.h"
#include "runs/tidy.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define TOPICS_MAX 64

static const char *const no_params[] = {NULL};

static const char *const openapi_lines[] = {
#include "openapi.inc"
};

const struct http_route *const api_tables[] = {
	session_routes, run_routes,    export_routes, query_routes, machine_routes,
	server_routes,  import_routes, page_routes,   NULL,
};

void api_routes_list(struct buf *out)
{
	for (size_t t = 0; api_tables[t]; t++)
		for (const struct http_route *r = api_tables[t]; r->path; r++)
			buf_addf(out, "%s %s %s\n", r->method, r->path,
				 r->open ? "open" : role_name(r->role));
}

/* ---- how the server is ---- */

/* Needs no token, so it reveals only whether the store works, and no path. */
static int healthz(void *worker, const struct http_request *r, struct http_reply *reply,
		   struct err *e)
{
	struct api *a = worker;
	struct json j = jw_to(&reply->body);
	const char *reason = NULL;
	uint64_t bytes, unused;

	(void)r;
	(void)e;
	if (a->store && store_check(a->store, NULL) < 0)
		reason = "The database was deleted or replaced while the server uses it.";
	else if (!a->store || store_size(a->store, &bytes, &unused, NULL) < 0)
		reason = "The database cannot be read.";
	if (reason)
		reply->status = 503;
	jw_open(&j, '{');
	jw_kv_str(&j, "status", reason ? "failing" : "ok");
	if (reason)
		jw_kv_str(&j, "reason", reason);
	jw_close(&j, '}');
	return 0;
}

/* What a person should know: sentences, the gravest first. */
static void add_warnings(struct json *j, struct api *a)
{
	CLEANUP(free_ptr) char *retention = tidy_warning(a->server->host.tidy);
	struct err lost = {};

	jw_key(j, "warnings");
	jw_open(j, '[');
	if (store_check(a->store, &lost) < 0)
		jw_str(j, lost.text);
	vec_each(&a->server->host.notices, notice)
		jw_str(j, *notice);
	if (retention)
		jw_str(j, retention);
	jw_close(j, ']');
}

static int openapi(void *worker, const struct http_request *r, struct http_reply *reply,
		   struct err *e)
{
	int rc = api_params_known(r, no_params, e);

	(void)worker;
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < ARRAY_LEN(openapi_lines); i++)
		buf_add(&reply->body, openapi_lines[i]);
	reply->immutable = true;
	return 0;
}

static int me(void *worker, const struct http_request *r, struct http_reply *reply, struct err *e)
{
	struct api *a = worker;
	CLEANUP(buf_release) struct buf rights = {};
	struct json j = jw_to(&reply->body);
	char host[256] = "";
	int rc = api_params_known(r, no_params, e);

	if (rc < 0)
		return rc;
	gethostname(host, sizeof(host) - 1);
	jw_open(&j, '{');
	jw_kv_str(&j, "name", r->user->name);
	jw_kv_str(&j, "role", role_name(r->user->role));
	jw_key(&j, "server");
	jw_open(&j, '{');
	jw_kv_str(&j, "version", TACHO_VERSION);
	jw_kv_str(&j, "host", host);
	jw_kv_double(&j, "uptime_s",
		     (double)(clock_monotonic_ns(a->server->host.clock) - a->server->started_ns) /
			     1e9);
	add_warnings(&j, a);
	jw_key(&j, "runs");
	jw_open(&j, '{');
	jw_kv_str(&j, "user", a->server->run_as.user);
	jw_kv_bool(&j, "apart", a->server->run_as.kind == RUN_AS_OTHER);
	run_as_describe(&a->server->run_as, &rights);
	jw_kv_str(&j, "rights", buf_str(&rights));
	jw_close(&j, '}');
	jw_key(&j, "demo");
	jw_open(&j, '[');
	jw_str(&j, runs_program(a->server->host.runs));
	jw_str(&j, "demo");
	jw_close(&j, ']');
	jw_close(&j, '}');
	jw_close(&j, '}');
	return 0;
}

/* ---- the queue ---- */

static void runs_json(struct json *j, const char *key, const struct stored_run *runs, size_t count,
		      struct server *server)
{
	jw_key(j, key);
	jw_open(j, '[');
	for (size_t i = 0; i < count; i++)
		run_json(j, &runs[i], server->host.runs);
	jw_close(j, ']');
}

/*
 * Replies with all running runs and a page of the queued ones. The cursor is the number of queued
 * runs before the page.
 */
static int reply_queue(struct api *a, const struct page *page, struct http_reply *reply,
		       struct err *e)
{
	struct json j = jw_to(&reply->body);
	stored_runs running = {}, queued = {};
	int rc = store_runs_in_state(a->store, STATE_RUNNING, &running, e);

	if (rc == 0)
		rc = store_runs_in_state(a->store, STATE_QUEUED, &queued, e);
	if (rc == 0) {
		size_t from = (size_t)page->before < queued.len ? (size_t)page->before : queued.len;
		size_t count = queued.len - from < page->limit ? queued.len - from : page->limit;

		jw_open(&j, '{');
		runs_json(&j, "running", running.items, running.len, a->server);
		runs_json(&j, "queued", queued.items ? queued.items + from : NULL, count,
			  a->server);
		api_json_next(&j, from + count < queued.len ? (int64_t)(from + count) : 0);
		jw_close(&j, '}');
	}
	stored_runs_release(&running);
	stored_runs_release(&queued);
	return rc;
}

static int get_queue(void *worker, const struct http_request *r, struct http_reply *reply,
		     struct err *e)
{
	static const char *const params[] = {"limit", "before", NULL};
	struct page page = {};
	int rc = api_page_known(r, params, &page, e);

	return rc < 0 ? rc : reply_queue(worker, &page, reply, e);
}

static int move_in_queue(struct api *a, const struct http_request *r, const json_t *body,
			 struct err *e)
{
	static const char *const fields[] = {"run", "before", NULL};
	CLEANUP(stored_run_release) struct stored_run run = {}, before = {};
	const char *uuid = NULL, *before_uuid = NULL;
	int rc = api_fields_known(body, fields, e);

	if (rc == 0)
		rc = api_field_str(body, "run", UUID_BYTES, &uuid, e);
	if (rc == 0)
		rc = api_field_str(body, "before", UUID_BYTES, &before_uuid, e);
	if (rc == 0 && (!uuid || !json_object_get(body, "before")))
		return err_set(e, EINVAL,
			       "Moving needs {\"run\": UUID, \"before\": UUID of a queued run, or "
			       "null for the end}.");
	if (rc == 0)
		rc = api_run_to_change(a, r, uuid, &run, e);
	if (rc == 0 && before_uuid)
		rc = api_run_find(a, before_uuid, &before, e);
	if (rc == 0 && before_uuid && !strcmp(run.uuid, before.uuid))
		return err_set(e, EINVAL, "A run cannot be moved in front of itself.");
	if (rc == 0 && (run.state != STATE_QUEUED || (before_uuid && before.state != STATE_QUEUED)))
		return err_set(e, EBUSY,
			       "Run '%s' is not in the queue; only queued runs can be moved.",
			       run.state != STATE_QUEUED ? run.uuid : before.uuid);
	if (rc == 0)
		rc = runs_move(a->server->host.runs, a->store, run.uuid,
			       before_uuid ? before.uuid : NULL, e);
	return rc;
}

static int patch_queue(void *worker, const struct http_request *r, struct http_reply *reply,
		       struct err *e)
{
	const struct page page = {.limit = API_LIMIT};
	json_t *body = NULL;
	int rc = api_params_known(r, no_params, e);

	if (rc == 0)
		rc = api_body(r, &body, e);
	if (rc == 0)
		rc = move_in_queue(worker, r, body, e);
	json_decref(body);
	return rc < 0 ? rc : reply_queue(worker, &page, reply, e);
}

/* ---- the stream ---- */

/* Sends the state of the run first: a run that has ended will publish no other. */
static void add_state(struct api *a, const struct stored_run *run, struct buf *out)
{
	struct json j = jw_to(out);

	buf_add(out, "event: state\ndata: ");
	run_json(&j, run, a->server->host.runs);
	buf_add(out, "\n\n");
}

/*
 * Watches the topic of a run. If the run has ended and the bus no longer knows the topic, nothing
 * more will come: sends "end" instead.
 */
static void add_run(struct api *a, const struct stored_run *run, struct http_reply *reply)
{
	char *topic = xasprintf("run/%s", run->uuid);

	add_state(a, run, &reply->body);
	if (run->state == STATE_QUEUED || run->state == STATE_RUNNING ||
	    bus_is_known(a->server->host.bus, topic)) {
		vec_push(&reply->topics, topic);
		return;
	}
	buf_addf(&reply->body, "event: end\ndata: {\"topic\":\"%s\"}\n\n", topic);
	free(topic);
}

static int add_topic(struct api *a, const struct http_pair *pair, struct http_reply *reply,
		     struct err *e)
{
	strvec *topics = &reply->topics;
	CLEANUP(stored_run_release) struct stored_run run = {};
	CLEANUP(stored_session_release) struct stored_session session = {};
	int rc = 0;

	if (!strcmp(pair->name, "run")) {
		rc = api_run_find(a, pair->value, &run, e);
		if (rc == 0)
			add_run(a, &run, reply);
	} else if (!strcmp(pair->name, "session")) {
		rc = api_session_find(a, pair->value, &session, e);
		if (rc == 0)
			vec_push(topics, xasprintf("session/%s", session.uuid));
	} else if ((!strcmp(pair->name, "queue") || !strcmp(pair->name, "sessions")) &&
		   strcmp(pair->value, "0") && strcmp(pair->value, "false")) {
		vec_push(topics, xstrdup(pair->name));
	} else if (!strcmp(pair->name, "fresh")) {
		vec_push(&reply->fresh_topics, xstrdup(pair->value));
	}
	return rc;
}

static int live(void *worker, const struct http_request *r, struct http_reply *reply, struct err *e)
{
	static const char *const params[] = {"run",  "session", "sessions", "queue",
					     "last", "fresh",   NULL};
	struct api *a = worker;
	int rc = api_params_known(r, params, e);

	/* A topic takes up to two parameters: the topic itself, and fresh=TOPIC. */
	if (rc == 0 && r->query.len > 2 * TOPICS_MAX)
		return err_set(e, EINVAL, "One stream carries at most %d topics.", TOPICS_MAX);
	for (size_t i = 0; rc == 0 && i < r->query.len; i++)
		rc = add_topic(a, &r->query.items[i], reply, e);
	reply->type = "text/event-stream";
	if (rc == 0 && !reply->topics.len && !reply->body.len)
		rc = err_set(
			e, EINVAL,
			"Say what to watch: live?run=UUID, session=UUID, sessions=1 or queue=1, or "
			"several of them.");
	return rc;
}

#define GET_LOOK(p, h)                                                                             \
	{                                                                                          \
		.method = "GET", .path = (p), .role = ROLE_LOOK, .handle = (h)                     \
	}

const struct http_route server_routes[] = {
	{.method = "GET", .path = "/healthz", .open = true, .handle = healthz},
	{.method = "GET", .path = API_PREFIX "/healthz", .open = true, .handle = healthz},
	GET_LOOK("/metrics", api_metrics),
	GET_LOOK(API_PREFIX "/openapi.json", openapi),
	GET_LOOK(API_PREFIX "/me", me),
	GET_LOOK(API_PREFIX "/queue", get_queue),
	{.method = "PATCH", .path = API_PREFIX "/queue", .role = ROLE_RUN, .handle = patch_queue},
	GET_LOOK(API_PREFIX "/live", live),
	{.method = "GET",
	 .path = API_PREFIX "/users",
	 .role = ROLE_ADMIN,
	 .handle = api_users_list},
	{.method = "POST",
	 .path = API_PREFIX "/users",
	 .role = ROLE_ADMIN,
	 .handle = api_users_add},
	{.method = "DELETE",
	 .path = API_PREFIX "/users/{name}",
	 .role = ROLE_ADMIN,
	 .handle = api_users_revoke},
	{},
};
