/* Delivery of messages: one watch per client. */
#include "bus/bus_internal.h"

#include <string.h>

/* Finds the first message of a topic for a new watch. The caller must hold the bus's lock. */
static void link_begin(const struct bus *b, struct link *link, uint64_t last_id)
{
	const struct bus_topic *t = link->topic;
	uint64_t now_ns = clock_monotonic_ns(b->clock);

	link->next = t->first;
	if (!last_id && t->make) {
		link->lacks = true;
		link->next = t->next;
		return;
	}
	if (!last_id && t->ended && link->next < t->late) {
		link->next = t->late;
		return;
	}
	link->lacks = last_id && t->dropped_id > last_id;
	while (link->next < t->next) {
		const struct message *m = message_at(t, link->next);

		if (last_id ? m->id > last_id
			    : t->ended || m->time_ns + PLAIN_TOPIC_AGE_NS > now_ns)
			break;
		link->next++;
	}
}

static bool is_fresh(const strvec *fresh, const char *topic)
{
	for (size_t i = 0; fresh && i < fresh->len; i++)
		if (!strcmp(fresh->items[i], topic))
			return true;
	return false;
}

struct bus_watch *bus_watch(struct bus *b, const strvec *topics, const strvec *fresh,
			    uint64_t last_id, void (*wake)(void *ctx), void *ctx)
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
		link_begin(b, &link, is_fresh(fresh, topics->items[i]) ? 0 : last_id);
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
		topic_trim(link->topic);
		topic_unref(link->topic);
	}
	message_unref(w->current);
	pthread_mutex_unlock(&b->lock);
	vec_release(&w->links);
	free(w);
}

/* Whether a link needs a snapshot to continue. The caller must hold the bus's lock. */
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
	/* The snapshot of an ended topic is used even if newer messages of other topics were sent. */
	if (t->snapshot && t->snapshot_next >= t->first) {
		link->snapshot = message_ref(t->snapshot);
		link->next = t->snapshot_next;
		link->lacks = false;
	} else if (!t->make) {
		/* Messages after it are lost, so no client can use it. */
		message_unref(t->snapshot);
		t->snapshot = NULL;
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

/* Returns the next message of a link without taking it, or NULL. */
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

/* Whether a link waits for a snapshot, which the next bus_read() takes. Appends `missed` to @out if its topic
 * has no snapshots. */
static bool link_waits(struct link *link, struct buf *out)
{
	const struct bus_topic *t = link->topic;

	if (!link->snapshot && link->next < t->first) {
		link->lacks = true;
		link->next = t->first;
	}
	if (!link->lacks)
		return false;
	if (t->make || t->snapshot)
		return true;
	link->lacks = false;
	add_about(out, 0, "missed", t->name);
	return false;
}

/* Takes the message with the lowest number of all topics, with its reference. The caller must hold the bus's
 * lock. */
static struct message *watch_next(struct bus_watch *w, struct buf *out)
{
	struct link *best = NULL;

	vec_each(&w->links, link) {
		const struct message *m;

		if (link_waits(link, out))
			return NULL;
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

/* Schedules the next delivery relative to the time at which this one was due, not at which it happened:
 * otherwise delays would add up when messages come as often as they may be delivered. */
static void deliver_next(struct bus_watch *w, uint64_t now_ns)
{
	uint64_t interval_ns = BUS_INTERVAL_MS * NS_PER_MSEC, slack_ns = interval_ns / 10;

	if (w->next_ns + slack_ns < now_ns)
		w->next_ns = now_ns - slack_ns;
	w->next_ns += interval_ns;
}

bool bus_read(struct bus_watch *w, struct buf *out, size_t max, uint32_t *ret_wait_ms)
{
	struct bus *b = w->bus;
	uint64_t now_ns = clock_monotonic_ns(b->clock);
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

bool bus_is_over(struct bus_watch *w)
{
	bool over;

	pthread_mutex_lock(&w->bus->lock);
	over = !has_news(w);
	vec_each(&w->links, link)
		over &= link->topic->ended;
	pthread_mutex_unlock(&w->bus->lock);
	return over;
}
