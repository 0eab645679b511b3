#include "bus/bus.h"

#include "base/json.h"
#include "bus/bus_internal.h"

#include <stdio.h>
#include <string.h>

#define TOPICS_KEPT 64 /* with more topics, unused ones are removed */

struct bus *bus_new(const struct clock *clock)
{
	struct bus *b = xcalloc(1, sizeof(*b));

	b->clock = clock;
	pthread_mutex_init(&b->lock, NULL);
	b->first_id = b->last_id = clock_read_ns(clock, CLOCK_REALTIME) / 1000;
	return b;
}

/* Makes a message with the number b->last_id. */
static struct message *message_new(const struct bus *b, const char *text, size_t len)
{
	struct message *m = xcalloc(1, sizeof(*m) + len);

	m->refs = 1;
	m->id = b->last_id;
	m->time_ns = clock_monotonic_ns(b->clock);
	m->len = len;
	memcpy(m->text, text, len);
	return m;
}

struct message *message_ref(struct message *m)
{
	m->refs++;
	return m;
}

void message_unref(struct message *m)
{
	if (m && --m->refs == 0)
		free(m);
}

/* ---- topics; the bus is locked ---- */

static struct bus_topic *topic_new(struct bus *b, const char *name)
{
	struct bus_topic *t = xcalloc(1, sizeof(*t));
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&t->lock, &attr);
	pthread_mutexattr_destroy(&attr);
	t->name = xstrdup(name);
	t->refs = 1;
	t->listed = true;
	vec_push(&b->topics, t);
	return t;
}

void topic_unref(struct bus_topic *t)
{
	if (--t->refs)
		return;
	for (uint64_t i = t->first; i < t->next; i++)
		message_unref(message_at(t, i));
	message_unref(t->snapshot);
	free(t->messages);
	free(t->name);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

static void topic_unlist(struct bus *b, struct bus_topic *t)
{
	if (!t->listed)
		return;
	for (size_t i = 0; i < b->topics.len; i++)
		if (b->topics.items[i] == t) {
			b->topics.items[i] = b->topics.items[--b->topics.len];
			break;
		}
	t->listed = false;
	topic_unref(t);
}

/* Removes topics that have no users and no recent messages. */
static void forget_old(struct bus *b)
{
	uint64_t now_ns = clock_monotonic_ns(b->clock);

	for (size_t i = b->topics.len; i-- > 0;) {
		struct bus_topic *t = b->topics.items[i];

		if (t->refs == 1 && !t->make &&
		    (t->first == t->next ||
		     message_at(t, t->next - 1)->time_ns + 6 * PLAIN_TOPIC_AGE_NS < now_ns))
			topic_unlist(b, t);
	}
}

struct bus_topic *topic_get(struct bus *b, const char *name)
{
	struct bus_topic *found = NULL;

	for (size_t i = 0; i < b->topics.len && !found; i++)
		if (!strcmp(b->topics.items[i]->name, name))
			found = b->topics.items[i];
	if (!found) {
		if (b->topics.len >= TOPICS_KEPT)
			forget_old(b);
		found = topic_new(b, name);
	}
	found->refs++;
	return found;
}

static void drop_oldest(struct bus_topic *t)
{
	struct message *m = message_at(t, t->first++);

	t->dropped_id = m->id;
	message_unref(m);
}

static void topic_append(struct bus_topic *t, struct message *m)
{
	size_t limit = t->make ? BUS_TOPIC_BYTES_MAX : PLAIN_TOPIC_BYTES_MAX;

	if (t->next - t->first == t->room) {
		size_t room = t->room ? 2 * t->room : 16;
		struct message **ring = xcalloc(room, sizeof(struct message *));

		for (uint64_t i = t->first; i < t->next; i++)
			ring[i & (room - 1)] = message_at(t, i);
		free(t->messages);
		t->messages = ring;
		t->room = room;
	}
	m->start = t->bytes;
	t->bytes += m->len;
	t->messages[t->next++ & (t->room - 1)] = m;
	while (t->next - t->first > 1 && t->bytes - message_at(t, t->first)->start > limit)
		drop_oldest(t);
}

/* ---- publishing ---- */

static void add_message(struct buf *out, uint64_t id, const char *event, const char *json,
			size_t len)
{
	if (id) {
		buf_add(out, "id: ");
		buf_add_u64(out, id);
		buf_add_char(out, '\n');
	}
	buf_add(out, "event: ");
	buf_add(out, event);
	buf_add(out, "\ndata: ");
	buf_add_mem(out, json, len);
	buf_add(out, "\n\n");
}

void add_about(struct buf *out, uint64_t id, const char *event, const char *topic)
{
	CLEANUP(buf_release) struct buf text = {};
	struct json j = jw_to(&text);

	jw_open(&j, '{');
	jw_kv_str(&j, "topic", topic);
	jw_close(&j, '}');
	add_message(out, id, event, text.s, text.len);
}

static void wake_watches(struct bus *b, const struct bus_topic *t)
{
	if (!t->watchers)
		return;
	for (struct bus_watch *w = b->watches; w; w = w->next_watch) {
		if (!w->asleep)
			continue;
		vec_each(&w->links, link)
			if (link->topic == t) {
				w->asleep = false;
				w->wake(w->ctx);
				break;
			}
	}
}

/* Assigns the number and appends the message under one lock, so that numbers ascend in every topic. */
static void publish(struct bus *b, struct bus_topic *t, const char *event, const char *json,
		    size_t len)
{
	CLEANUP(buf_release) struct buf text = {};

	pthread_mutex_lock(&t->lock);
	pthread_mutex_lock(&b->lock);
	if (json)
		add_message(&text, ++b->last_id, event, json, len);
	else
		add_about(&text, ++b->last_id, event, t->name);
	topic_append(t, message_new(b, text.s, text.len));
	/* Wake watchers only at the end of a step: later messages of it would miss the delivery. */
	if (t->steps)
		t->unsaid = true;
	else
		wake_watches(b, t);
	pthread_mutex_unlock(&b->lock);
	pthread_mutex_unlock(&t->lock);
}

static struct bus_topic *topic_take(struct bus *b, const char *name)
{
	struct bus_topic *t;

	pthread_mutex_lock(&b->lock);
	t = topic_get(b, name);
	pthread_mutex_unlock(&b->lock);
	return t;
}

static void topic_give_back(struct bus *b, struct bus_topic *t)
{
	pthread_mutex_lock(&b->lock);
	topic_unref(t);
	pthread_mutex_unlock(&b->lock);
}

void bus_publish(struct bus *b, const char *topic, const char *event, const char *json, size_t len)
{
	struct bus_topic *t = topic_take(b, topic);

	publish(b, t, event, json, len);
	topic_give_back(b, t);
}

bool bus_is_watched(struct bus *b, const char *topic)
{
	bool watched = false;

	pthread_mutex_lock(&b->lock);
	vec_each(&b->topics, t)
		watched |= (*t)->watchers && !strcmp((*t)->name, topic);
	pthread_mutex_unlock(&b->lock);
	return watched;
}

bool bus_is_known(struct bus *b, const char *topic)
{
	bool known = false;

	pthread_mutex_lock(&b->lock);
	vec_each(&b->topics, t)
		known |= !strcmp((*t)->name, topic);
	pthread_mutex_unlock(&b->lock);
	return known;
}

struct bus_topic *bus_topic_lock(struct bus *b, const char *topic)
{
	struct bus_topic *t = topic_take(b, topic);

	pthread_mutex_lock(&t->lock);
	t->steps++;
	return t;
}

void bus_topic_unlock(struct bus *b, struct bus_topic *t)
{
	if (!--t->steps && t->unsaid) {
		t->unsaid = false;
		pthread_mutex_lock(&b->lock);
		wake_watches(b, t);
		pthread_mutex_unlock(&b->lock);
	}
	pthread_mutex_unlock(&t->lock);
	topic_give_back(b, t);
}

void bus_topic_snapshot(struct bus *b, const char *topic, bus_snapshot make, void *ctx)
{
	struct bus_topic *t = topic_take(b, topic);

	pthread_mutex_lock(&t->lock);
	pthread_mutex_lock(&b->lock);
	t->make = make;
	t->ctx = ctx;
	pthread_mutex_unlock(&b->lock);
	pthread_mutex_unlock(&t->lock);
	topic_give_back(b, t);
}

/* ---- snapshots ---- */

static void snapshot_message(void *to, const char *event, const char *json, size_t len)
{
	add_message(to, 0, event, json, len);
}

bool snapshot_usable(const struct bus_topic *t, uint64_t last_id)
{
	size_t limit;

	if (!t->snapshot || t->snapshot->id <= last_id || t->snapshot_next < t->first)
		return false;
	if (t->snapshot_next == t->next)
		return true;
	limit = t->snapshot->len > BUS_BACKLOG_BYTES_MAX ? t->snapshot->len : BUS_BACKLOG_BYTES_MAX;
	return t->bytes - message_at(t, t->snapshot_next)->start < limit / 2;
}

/* A snapshot begins with id 0, so that a client that is disconnected within it starts anew. */
void snapshot_make(struct bus *b, struct bus_topic *t)
{
	CLEANUP(buf_release) struct buf text = {};

	buf_add(&text, "id: 0\n");
	add_about(&text, 0, "snapshot", t->name);
	t->make(t->ctx, snapshot_message, &text);
	pthread_mutex_lock(&b->lock);
	add_about(&text, ++b->last_id, "current", t->name);
	message_unref(t->snapshot);
	t->snapshot = message_new(b, text.s, text.len);
	t->snapshot_next = t->next;
	pthread_mutex_unlock(&b->lock);
}

void topic_trim(struct bus_topic *t)
{
	if (!t->ended || t->watchers)
		return;
	while (t->first < t->late)
		drop_oldest(t);
	message_unref(t->snapshot);
	t->snapshot = NULL;
}

void bus_topic_end(struct bus *b, const char *topic)
{
	struct bus_topic *t = topic_take(b, topic);
	bool needed;

	pthread_mutex_lock(&t->lock);
	pthread_mutex_lock(&b->lock);
	/* Make a last snapshot for watchers that are behind: t->make is not called any more after this. */
	needed = t->make && t->watchers && !snapshot_usable(t, 0);
	/* Later subscribers get the last message before `end`. */
	t->late = t->next > t->first ? t->next - 1 : t->next;
	pthread_mutex_unlock(&b->lock);
	if (needed)
		snapshot_make(b, t);
	publish(b, t, "end", NULL, 0);
	pthread_mutex_lock(&b->lock);
	t->make = NULL;
	t->ended = true;
	topic_trim(t);
	topic_unref(t);
	pthread_mutex_unlock(&b->lock);
	pthread_mutex_unlock(&t->lock);
}

void bus_topic_gap(struct bus *b, const char *topic)
{
	struct bus_topic *t = topic_take(b, topic);

	pthread_mutex_lock(&t->lock);
	pthread_mutex_lock(&b->lock);
	while (t->first < t->next)
		drop_oldest(t);
	/* Skip a number: clients that have read everything miss it, and therefore get a snapshot. */
	t->first = ++t->next;
	t->dropped_id = ++b->last_id;
	message_unref(t->snapshot);
	t->snapshot = NULL;
	pthread_mutex_unlock(&b->lock);
	pthread_mutex_unlock(&t->lock);
	topic_give_back(b, t);
}

void bus_free(struct bus *b)
{
	if (!b)
		return;
	while (b->topics.len)
		topic_unlist(b, b->topics.items[0]);
	vec_release(&b->topics);
	pthread_mutex_destroy(&b->lock);
	free(b);
}
