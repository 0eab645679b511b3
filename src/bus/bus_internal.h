/*
 * Inside of the bus: bus.c has what is published, watch.c who reads it.
 *
 * Locks: a topic's own (whoever publishes or makes a snapshot), then the bus's, which everything else
 * is under and which is held for moments only.
 */
#ifndef TACHO_BUS_BUS_INTERNAL_H
#define TACHO_BUS_BUS_INTERNAL_H

#include "bus/bus.h"

#include <pthread.h>
#include <stdatomic.h>

#define PLAIN_TOPIC_BYTES_MAX ((size_t)64 << 10) /* of topics without a snapshot */
#define PLAIN_TOPIC_AGE_NS    (10 * NS_PER_SEC)  /* what who is new gets of them */

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
	unsigned steps;       /* bus_topic_lock() without its unlock; under the lock */
	bool unsaid;          /* published in a step that has not ended: nobody was woken yet */

	struct message *
		*messages; /* a ring of `room`, a power of two; first … next - 1 are there */
	size_t room;
	uint64_t first, next; /* counted from the topic's beginning */
	uint64_t bytes;       /* ever published */
	uint64_t dropped_id;  /* the last that is gone, or was never kept; 0: none */
	bool ended;
	uint64_t late; /* of a topic that has ended: where who comes later begins */

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
	const struct clock *clock;
	pthread_mutex_t lock;
	VEC(struct bus_topic *) topics;
	struct bus_watch *watches;
	uint64_t first_id, last_id;
};

struct message *message_ref(struct message *m);
void message_unref(struct message *m);

static inline struct message *message_at(const struct bus_topic *t, uint64_t number)
{
	return t->messages[number & (t->room - 1)];
}

/* With a reference for the caller. The bus is locked, as for those that follow. */
struct bus_topic *topic_get(struct bus *b, const char *name);
void topic_unref(struct bus_topic *t);
/* Of a topic that has ended and that nobody watches, only its end is kept. */
void topic_trim(struct bus_topic *t);
/* Whether the last snapshot, with what came after it, is as good as a new one. */
bool snapshot_usable(const struct bus_topic *t, uint64_t last_id);
/* The topic is locked, the bus is not. */
void snapshot_make(struct bus *b, struct bus_topic *t);
/* {"topic": "…"} */
void add_about(struct buf *out, uint64_t id, const char *event, const char *topic);

#endif
