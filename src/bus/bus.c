/*
 * Locks: a topic's own (whoever publishes or makes a snapshot), then the bus's, which everything else
 * is under and which is held for moments only.
 */
#include "bus/bus.h"

#include "base/clock.h"
#include "base/json.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define PLAIN_TOPIC_BYTES_MAX ((size_t)64 << 10) /* of topics without a snapshot */
#define PLAIN_TOPIC_AGE_NS    (10 * NS_PER_SEC)  /* what who is new gets of them */
#define TOPICS_KEPT           64                 /* unused ones; more are looked through */

/* Complete text of an event stream. Shared, never changed. */
struct message {
	atomic_uint refs;
	uint64_t id;
	uint64_t time_ns;
	uint64_t start; /* bytes of the topic before it */
	size_t len;
	char text[];
};

struct bus_topic {
	char *name;
	unsigned refs; /* watches, those who have it in hand, and the bus while it is listed */
	bool listed;
	pthread_mutex_t lock; /* recursive */

	struct message *
		*messages; /* a ring of `room`, a power of two; first … next - 1 are there */
	size_t room;
	uint64_t first, next; /* counted from the topic's beginning */
	uint64_t bytes;       /* ever published */
	uint64_t dropped_id;  /* the last that is gone; 0: none */

	bus_snapshot make;
	void *ctx;
	struct message *snapshot; /* the last one made */
	uint64_t snapshot_next;   /* what comes after it */
	unsigned watchers;
};

/* A topic of a watch. */
struct link {
	struct bus_topic *topic;
	uint64_t next;
	bool lacks; /* messages are gone: a snapshot is needed, or a word of warning */
	struct message *snapshot; /* to be sent first */
};

struct bus_watch {
	struct bus *bus;
	struct bus_watch *next_watch, *previous_watch;
	VEC(struct link) links;
	struct message *current; /* sent in part */
	size_t sent;
	uint64_t last_id; /* delivered */
	uint64_t next_ns; /* not before that */
	bool asleep;
	void (*wake)(void *ctx);
	void *ctx;
};

struct bus {
	pthread_mutex_t lock;
	VEC(struct bus_topic *) topics;
	struct bus_watch *watches;
	uint64_t first_id, last_id;
};

struct bus *bus_new(void)
{
	struct bus *b = xcalloc(1, sizeof(*b));

	pthread_mutex_init(&b->lock, NULL);
	b->first_id = b->last_id = clock_ns_of(CLOCK_REALTIME) / 1000;
	return b;
}

static struct message *message_new(uint64_t id, const char *text, size_t len)
{
	struct message *m = xcalloc(1, sizeof(*m) + len);

	m->refs = 1;
	m->id = id;
	m->time_ns = clock_now_ns();
	m->len = len;
	memcpy(m->text, text, len);
	return m;
}

static struct message *message_ref(struct message *m)
{
	m->refs++;
	return m;
}

static void message_unref(struct message *m)
{
	if (m && --m->refs == 0)
		free(m);
}

static struct message *message_at(const struct bus_topic *t, uint64_t number)
{
	return t->messages[number & (t->room - 1)];
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

static void topic_unref(struct bus_topic *t)
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

/* Topics that nobody has anything to do with, and whose news are old. */
static void forget_old(struct bus *b)
{
	uint64_t now_ns = clock_now_ns();

	for (size_t i = b->topics.len; i-- > 0;) {
		struct bus_topic *t = b->topics.items[i];

		if (t->refs == 1 && !t->make &&
		    (t->first == t->next ||
		     message_at(t, t->next - 1)->time_ns + 6 * PLAIN_TOPIC_AGE_NS < now_ns))
			topic_unlist(b, t);
	}
}

/* With a reference for the caller. */
static struct bus_topic *topic_get(struct bus *b, const char *name)
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

/* {"topic": "…"} */
static void add_about(struct buf *out, uint64_t id, const char *event, const char *topic)
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

/* The number is given and the message is put into its place in one step. */
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
	topic_append(t, message_new(b->last_id, text.s, text.len));
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

struct bus_topic *bus_topic_lock(struct bus *b, const char *topic)
{
	struct bus_topic *t = topic_take(b, topic);

	pthread_mutex_lock(&t->lock);
	return t;
}

void bus_topic_unlock(struct bus *b, struct bus_topic *t)
{
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

/* Whether the last one, with what came after it, is as good as a new one; the bus is locked. */
static bool snapshot_usable(const struct bus_topic *t, uint64_t last_id)
{
	size_t limit;

	if (!t->snapshot || t->snapshot->id <= last_id || t->snapshot_next < t->first)
		return false;
	if (t->snapshot_next == t->next)
		return true;
	limit = t->snapshot->len > BUS_BACKLOG_BYTES_MAX ? t->snapshot->len : BUS_BACKLOG_BYTES_MAX;
	return t->bytes - message_at(t, t->snapshot_next)->start < limit / 2;
}

/* The topic is locked, the bus is not. Who loses the connection in the middle begins anew: number 0. */
static void snapshot_make(struct bus *b, struct bus_topic *t)
{
	CLEANUP(buf_release) struct buf text = {};

	buf_add(&text, "id: 0\n");
	add_about(&text, 0, "snapshot", t->name);
	t->make(t->ctx, snapshot_message, &text);
	pthread_mutex_lock(&b->lock);
	buf_add(&text, "id: ");
	buf_add_u64(&text, ++b->last_id);
	buf_add(&text, "\n\n");
	message_unref(t->snapshot);
	t->snapshot = message_new(b->last_id, text.s, text.len);
	t->snapshot_next = t->next;
	pthread_mutex_unlock(&b->lock);
}

void bus_topic_end(struct bus *b, const char *topic)
{
	struct bus_topic *t = topic_take(b, topic);
	bool needed;

	pthread_mutex_lock(&t->lock);
	pthread_mutex_lock(&b->lock);
	/* For those who are still behind; later nobody can make one. */
	needed = t->make && t->watchers && !snapshot_usable(t, 0);
	pthread_mutex_unlock(&b->lock);
	if (needed)
		snapshot_make(b, t);
	publish(b, t, "end", NULL, 0);
	pthread_mutex_lock(&b->lock);
	t->make = NULL;
	topic_unlist(b, t);
	topic_unref(t);
	pthread_mutex_unlock(&b->lock);
	pthread_mutex_unlock(&t->lock);
}

/* ---- watching ---- */

/* Where a watch begins in a topic; the bus is locked. */
static void link_begin(struct link *link, uint64_t last_id)
{
	const struct bus_topic *t = link->topic;
	uint64_t now_ns = clock_now_ns();

	link->next = t->first;
	if (!last_id && t->make) {
		link->lacks = true;
		link->next = t->next;
		return;
	}
	link->lacks = last_id && t->dropped_id > last_id;
	while (link->next < t->next) {
		const struct message *m = message_at(t, link->next);

		if (last_id ? m->id > last_id : m->time_ns + PLAIN_TOPIC_AGE_NS > now_ns)
			break;
		link->next++;
	}
}

struct bus_watch *bus_watch(struct bus *b, const strvec *topics, uint64_t last_id,
			    void (*wake)(void *ctx), void *ctx)
{
	struct bus_watch *w = xcalloc(1, sizeof(*w));

	w->bus = b;
	w->wake = wake;
	w->ctx = ctx;
	pthread_mutex_lock(&b->lock);
	if (last_id < b->first_id || last_id > b->last_id)
		last_id = 0;
	w->last_id = last_id;
	for (size_t i = 0; i < topics->len; i++) {
		struct link link = {.topic = topic_get(b, topics->items[i])};
		bool twice = false;

		vec_each(&w->links, other)
			twice |= other->topic == link.topic;
		if (twice) {
			topic_unref(link.topic);
			continue;
		}
		link_begin(&link, last_id);
		link.topic->watchers++;
		vec_push(&w->links, link);
	}
	w->next_watch = b->watches;
	if (b->watches)
		b->watches->previous_watch = w;
	b->watches = w;
	pthread_mutex_unlock(&b->lock);
	return w;
}

void bus_unwatch(struct bus_watch *w)
{
	struct bus *b = w->bus;

	pthread_mutex_lock(&b->lock);
	*(w->previous_watch ? &w->previous_watch->next_watch : &b->watches) = w->next_watch;
	if (w->next_watch)
		w->next_watch->previous_watch = w->previous_watch;
	vec_each(&w->links, link) {
		link->topic->watchers--;
		message_unref(link->snapshot);
		topic_unref(link->topic);
	}
	message_unref(w->current);
	pthread_mutex_unlock(&b->lock);
	vec_release(&w->links);
	free(w);
}

/* Whether a link can only go on from a snapshot; the bus is locked. */
static bool needs_snapshot(struct link *link)
{
	struct bus_topic *t = link->topic;
	size_t limit = BUS_BACKLOG_BYTES_MAX;

	if (link->snapshot)
		return false;
	if (link->next < t->first) {
		link->lacks = true;
		link->next = t->first;
	}
	if (!t->make && !t->snapshot)
		return false;
	if (t->snapshot && t->snapshot->len > limit)
		limit = t->snapshot->len;
	return link->lacks ||
	       (link->next < t->next && t->bytes - message_at(t, link->next)->start > limit);
}

static void take_snapshot(struct bus_watch *w, struct link *link)
{
	struct bus *b = w->bus;
	struct bus_topic *t = link->topic;
	bool make;

	pthread_mutex_lock(&t->lock);
	pthread_mutex_lock(&b->lock);
	make = t->make && !snapshot_usable(t, w->last_id);
	pthread_mutex_unlock(&b->lock);
	if (make)
		snapshot_make(b, t);
	pthread_mutex_lock(&b->lock);
	/* The last of a topic that has ended may be older than what was sent of others: all the same. */
	if (t->snapshot && t->snapshot_next >= t->first) {
		link->snapshot = message_ref(t->snapshot);
		link->next = t->snapshot_next;
		link->lacks = false;
	}
	pthread_mutex_unlock(&b->lock);
	pthread_mutex_unlock(&t->lock);
}

static void take_snapshots(struct bus_watch *w)
{
	vec_each(&w->links, link) {
		bool needed;

		pthread_mutex_lock(&w->bus->lock);
		needed = needs_snapshot(link);
		pthread_mutex_unlock(&w->bus->lock);
		if (needed)
			take_snapshot(w, link);
	}
}

/* What comes next of one topic, not taken yet. */
static struct message *link_peek(const struct link *link)
{
	if (link->snapshot)
		return link->snapshot;
	return link->next < link->topic->next ? message_at(link->topic, link->next) : NULL;
}

static struct message *link_pop(struct link *link)
{
	struct message *m = link->snapshot;

	if (m) {
		link->snapshot = NULL;
		return m;
	}
	return message_ref(message_at(link->topic, link->next++));
}

/* The one with the smallest number of all topics, with a reference. The bus is locked. */
static struct message *watch_next(struct bus_watch *w, struct buf *out)
{
	struct link *best = NULL;

	vec_each(&w->links, link) {
		const struct message *m;

		if (link->lacks) {
			link->lacks = false;
			add_about(out, 0, "missed", link->topic->name);
		}
		if (link->next < link->topic->first)
			link->next = link->topic->first; /* between two looks; said the next time */
		m = link_peek(link);
		if (m && (!best || m->id < link_peek(best)->id))
			best = link;
	}
	return best ? link_pop(best) : NULL;
}

static void fill(struct bus_watch *w, struct buf *out, size_t max)
{
	while (out->len < max) {
		size_t part;

		if (!w->current) {
			w->current = watch_next(w, out);
			w->sent = 0;
		}
		if (!w->current)
			return;
		part = w->current->len - w->sent;
		if (part > max - out->len)
			part = max - out->len;
		buf_add_mem(out, w->current->text + w->sent, part);
		w->sent += part;
		if (w->sent < w->current->len)
			return;
		w->last_id = w->current->id;
		message_unref(w->current);
		w->current = NULL;
	}
}

static bool has_news(const struct bus_watch *w)
{
	if (w->current)
		return true;
	vec_each(&w->links, link)
		if (link->lacks || link_peek(link))
			return true;
	return false;
}

/* Counted from when it was due, not from when it was done: else news that come just as often as they
 * may be delivered would wait longer and longer. */
static void deliver_next(struct bus_watch *w, uint64_t now_ns)
{
	uint64_t interval_ns = BUS_INTERVAL_MS * NS_PER_MSEC;

	if (w->next_ns + interval_ns / 2 < now_ns)
		w->next_ns = now_ns - interval_ns / 2;
	w->next_ns += interval_ns;
}

bool bus_read(struct bus_watch *w, struct buf *out, size_t max, uint32_t *ret_wait_ms)
{
	struct bus *b = w->bus;
	uint64_t now_ns = clock_now_ns();
	size_t before = out->len;
	bool any;

	if (!w->current && now_ns < w->next_ns) {
		*ret_wait_ms = (uint32_t)((w->next_ns - now_ns) / NS_PER_MSEC) + 1;
		return false;
	}
	if (!w->current)
		take_snapshots(w);
	pthread_mutex_lock(&b->lock);
	fill(w, out, before + max);
	any = out->len > before;
	w->asleep = !has_news(w);
	if (w->asleep)
		*ret_wait_ms = BUS_FOREVER;
	else
		*ret_wait_ms = w->current ? 0 : BUS_INTERVAL_MS;
	pthread_mutex_unlock(&b->lock);
	if (any)
		deliver_next(w, now_ns);
	return any;
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
