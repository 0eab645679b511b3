#include "runs/live/live.h"
#include "runs/live/internal.h"

#include "base/clock.h"
#include "runs/json.h"
#include "base/json.h"

#include <stdio.h>
#include <string.h>

/* Longer than every topic's name. */
#define TOPIC_BYTES 64

struct live *live_new(struct run_host *host)
{
	struct live *l = xcalloc(1, sizeof(*l));

	l->host = host;
	pthread_mutex_init(&l->lock, NULL);
	bus_topic_snapshot(host->bus, "queue", live_queue_snapshot, l);
	return l;
}

void live_free(struct live *l)
{
	if (!l)
		return;
	bus_topic_end(l->host->bus, "queue");
	bus_topic_end(l->host->bus, "sessions");
	if (l->store)
		store_close(l->store);
	vec_release(&l->runs);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

/* ---- states of runs ---- */

void live_changed(struct live *l, const struct stored_run *run)
{
	CLEANUP(buf_release) struct buf text = {};
	struct json j = jw_to(&text);
	struct live_run *at_work = NULL;
	char topic[TOPIC_BYTES];

	vec_each(&l->runs, r)
		if (!strcmp((*r)->uuid, run->uuid))
			at_work = *r;
	run_json(&j, run, l->host->runs);
	snprintf(topic, sizeof(topic), "run/%s", run->uuid);
	if (at_work)
		live_run_state(at_work, &text);
	else
		bus_publish(l->host->bus, topic, "state", text.s, text.len);
	/* An ended run without live data (never begun, or all published) has nothing to add. */
	if (!at_work && run->state != STATE_QUEUED && run->state != STATE_RUNNING)
		bus_topic_end(l->host->bus, topic);
	snprintf(topic, sizeof(topic), "session/%s", run->session_uuid);
	bus_publish(l->host->bus, topic, "state", text.s, text.len);
}

static void add_uuid(struct buf *out, const char *uuid)
{
	struct json j = jw_to(out);

	jw_open(&j, '{');
	jw_kv_str(&j, "uuid", uuid);
	jw_close(&j, '}');
}

static void say_removed(struct live *l, const char *kind, const char *topic_uuid, const char *uuid,
			bool end)
{
	CLEANUP(buf_release) struct buf text = {};
	char topic[TOPIC_BYTES];

	add_uuid(&text, uuid);
	snprintf(topic, sizeof(topic), "%s/%s", kind, topic_uuid);
	bus_publish(l->host->bus, topic, "removed", text.s, text.len);
	if (end)
		bus_topic_end(l->host->bus, topic);
}

void live_removed(struct live *l, const char *run_uuid, const char *session_uuid)
{
	say_removed(l, "run", run_uuid, run_uuid, true);
	say_removed(l, "session", session_uuid, run_uuid, false);
}

/* ---- sessions ---- */

/* Returns a separate connection, because the caller's may be in a transaction. The caller must hold the lock. */
static struct store *own_store(struct live *l)
{
	struct store_options o = {.directory = l->host->settings.data, .read_only = true};

	if (!l->store)
		store_open(&l->store, &o, NULL);
	return l->store;
}

/* Reads and publishes under the lock, so that the last message has the newest state. */
void live_session_changed(struct live *l, const char *uuid)
{
	CLEANUP(stored_session_release) struct stored_session session = {};
	CLEANUP(buf_release) struct buf text = {};
	struct json j = jw_to(&text);

	pthread_mutex_lock(&l->lock);
	if (own_store(l) && store_session_get(l->store, uuid, &session, NULL) == 0) {
		session_json(&j, &session);
		bus_publish(l->host->bus, "sessions", "session", text.s, text.len);
	}
	pthread_mutex_unlock(&l->lock);
}

void live_session_removed(struct live *l, const char *uuid)
{
	CLEANUP(buf_release) struct buf text = {};

	say_removed(l, "session", uuid, uuid, true);
	add_uuid(&text, uuid);
	pthread_mutex_lock(&l->lock);
	bus_publish(l->host->bus, "sessions", "session_removed", text.s, text.len);
	pthread_mutex_unlock(&l->lock);
}

/* ---- the queue ---- */

static void add_uuids(struct live *l, struct json *j, const char *key, enum run_state state)
{
	CLEANUP(stored_runs_release) stored_runs runs = {};

	jw_key(j, key);
	jw_open(j, '[');
	if (l->store && store_runs_in_state(l->store, state, &runs, NULL) == 0)
		vec_each(&runs, run)
			jw_str(j, run->uuid);
	jw_close(j, ']');
}

static void queue_json(struct live *l, struct buf *out)
{
	struct json j = jw_to(out);

	pthread_mutex_lock(&l->lock);
	own_store(l);
	jw_open(&j, '{');
	add_uuids(l, &j, "running", STATE_RUNNING);
	add_uuids(l, &j, "queued", STATE_QUEUED);
	jw_close(&j, '}');
	pthread_mutex_unlock(&l->lock);
}

void live_queue_snapshot(void *ctx,
			 void (*message)(void *to, const char *event, const char *json, size_t len),
			 void *to)
{
	CLEANUP(buf_release) struct buf text = {};

	queue_json(ctx, &text);
	message(to, "queue", text.s, text.len);
}

void live_queue_changed(struct live *l)
{
	CLEANUP(buf_release) struct buf text = {};

	queue_json(l, &text);
	bus_publish(l->host->bus, "queue", "queue", text.s, text.len);
}

/* ---- the clock ---- */

int live_wait_ms(struct live *l)
{
	uint64_t now = clock_monotonic_ns(l->host->clock), due = UINT64_MAX;

	vec_each(&l->runs, run)
		if (live_run_waits(*run) && (*run)->sent_ns + LIVE_UPDATE_NS < due)
			due = (*run)->sent_ns + LIVE_UPDATE_NS;
	if (due == UINT64_MAX)
		return -1;
	return due > now ? (int)((due - now + NS_PER_MSEC - 1) / NS_PER_MSEC) : 0;
}

void live_tick(struct live *l)
{
	uint64_t now = clock_monotonic_ns(l->host->clock);

	vec_each(&l->runs, run)
		if (live_run_waits(*run) && now >= (*run)->sent_ns + LIVE_UPDATE_NS)
			live_run_publish(*run, now);
}
