/*
 * Internal to the bus: bus.c publishes, watch.c delivers to clients.
 *
 * Lock order: a topic's lock, held while publishing and making snapshots, then the bus's lock, which protects
 * everything else and is held only briefly.
 */
#ifndef TACHO_BUS_BUS_INTERNAL_H
#define TACHO_BUS_BUS_INTERNAL_H

#include "bus/bus.h"

#include <pthread.h>
#include <stdatomic.h>

#define PLAIN_TOPIC_BYTES_MAX ((size_t)64 << 10) /* kept by a topic without snapshots */
#define PLAIN_TOPIC_AGE_NS    (10 * NS_PER_SEC)  /* older ones are not replayed */

/* A message as the text of an event stream. Shared and immutable. */
struct message {
	atomic_uint refs;
	uint64_t id;
	uint64_t time_ns;
	uint64_t start; /* offset in the bytes ever published to the topic */
	size_t len;
	char text[];
};

struct bus_topic {
	char *name;
	unsigned refs; /* held by watches, by running calls, and by the bus while listed */
	bool listed;
	pthread_mutex_t lock; /* recursive */
	unsigned steps;       /* nesting depth of bus_topic_lock(); protected by the lock */
	bool unsaid; /* a message was published in the current step: wake watchers at its end */

	struct message *
		*messages; /* ring of `room` (a power of two) with the messages first … next - 1 */
	size_t room;
	uint64_t first, next; /* numbers within the topic */
	uint64_t bytes;       /* ever published to the topic */
	uint64_t dropped_id;  /* latest message that is not kept any more; 0: none */
	bool ended;
	uint64_t late; /* of an ended topic: the number at which later subscribers start */

	bus_snapshot make;
	void *ctx;
	struct message *snapshot; /* the latest snapshot */
	uint64_t snapshot_next;   /* number of the first message after it */
	unsigned watchers;
};

/* A topic as watched by one client. */
struct link {
	struct bus_topic *topic;
	uint64_t next;
	bool lacks;               /* messages were lost: needs a snapshot or `missed` */
	struct message *snapshot; /* snapshot to send first */
};

struct bus_watch {
	struct bus *bus;
	struct bus_watch *next_watch, *previous_watch;
	VEC(struct link) links;
	struct message *current; /* message that is partly sent */
	size_t sent;
	uint64_t last_id; /* last message delivered */
	uint64_t next_ns; /* time of the next delivery */
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

/* Returns a topic, made if new, with a reference for the caller. Call this and the next three functions with the
 * bus's lock held. */
struct bus_topic *topic_get(struct bus *b, const char *name);
void topic_unref(struct bus_topic *t);
/* Drops all but the last messages of an ended topic that nobody watches. */
void topic_trim(struct bus_topic *t);
/* Whether the latest snapshot and the messages after it can be sent instead of a new snapshot. */
bool snapshot_usable(const struct bus_topic *t, uint64_t last_id);
/* Makes a new snapshot. The caller must hold the topic's lock but not the bus's. */
void snapshot_make(struct bus *b, struct bus_topic *t);
/* Appends a message of the kind @event with the data {"topic": "…"}. */
void add_about(struct buf *out, uint64_t id, const char *event, const char *topic);

#endif
