/*
 * What is live: topics that are published to and watched. A message is encoded once and shared by all
 * who watch; each has a number that grows over all topics, so that a client that comes back says which
 * was its last. Any thread may call any of this. Redis will be a second way to carry the same.
 *
 * Topics: "queue", "sessions", "session/UUID", "run/UUID". A topic keeps its last messages, within a limit of
 * bytes. Who is new, too slow, or comes back too late, does not get them one by one: the topic's
 * snapshot (all that was published, in short) is sent instead, and then what came after it. It begins
 * with the message `snapshot` {"topic"}: forget what you know of this topic, and ends with `current`
 * {"topic"}: that was all of it. A topic without a snapshot says `missed` {"topic"} when some are gone: ask anew.
 *
 * Messages are delivered in the order of their numbers, over all topics of a client. Numbers begin
 * with the time of day, so that one from before a restart is known to be too old.
 */
#ifndef TACHO_BUS_BUS_H
#define TACHO_BUS_BUS_H

#include "base/buf.h"
#include "base/clock.h"
#include "base/fs.h"

#include <stdbool.h>
#include <stdint.h>

#define BUS_TOPIC_BYTES_MAX   ((size_t)1 << 20)   /* kept for those who are behind */
#define BUS_BACKLOG_BYTES_MAX ((size_t)256 << 10) /* of one client, before it gets a snapshot */
#define BUS_INTERVAL_MS       50u                 /* between two deliveries to one client */
#define BUS_FOREVER           UINT32_MAX

struct bus;
struct bus_watch; /* one client: several topics */

/* @clock: how old messages are, and when a client may get the next delivery. */
struct bus *bus_new(const struct clock *clock);
void bus_free(struct bus *b); /* nobody watches any more */

/* @event: the name of the kind of message; @json: one line. Nobody watches: kept all the same. */
void bus_publish(struct bus *b, const char *topic, const char *event, const char *json, size_t len);
bool bus_is_watched(struct bus *b, const char *topic);
/* Somebody publishes to it or watches it, or did so a short while ago. */
bool bus_is_known(struct bus *b, const char *topic);

/* What is done between these is one step for snapshots: they see all of it, with its messages, or
 * nothing. May be nested; other topics may not be touched meanwhile. */
struct bus_topic;
struct bus_topic *bus_topic_lock(struct bus *b, const char *topic);
void bus_topic_unlock(struct bus *b, struct bus_topic *topic);

/* @make gives messages that together say all that was published; called when a client needs it, by any
 * thread, with the topic locked. NULL: the topic has none. */
typedef void (*bus_snapshot)(void *ctx,
			     void (*message)(void *to, const char *event, const char *json,
					     size_t len),
			     void *to);
void bus_topic_snapshot(struct bus *b, const char *topic, bus_snapshot make, void *ctx);
/* Something has changed that was not published, because nobody watched: who comes back gets a snapshot. */
void bus_topic_gap(struct bus *b, const char *topic);
/* Nothing will come any more: watchers get `end` {"topic"}. Who comes later gets the last message and
 * the end, until the topic is forgotten, a minute later or when there are too many. */
void bus_topic_end(struct bus *b, const char *topic);

/* @last_id: what the client has seen; 0: nothing. @fresh: those of the topics that it did not watch
 * when it saw that, and that begin as if it had seen nothing; NULL: none. @wake is called by any thread when there is news and
 * bus_read() has said that there is none; it must not call the bus. */
struct bus_watch *bus_watch(struct bus *b, const strvec *topics, const strvec *fresh,
			    uint64_t last_id, void (*wake)(void *ctx), void *ctx);
void bus_unwatch(struct bus_watch *w);
/* Adds what is new as text/event-stream to @out, at most @max bytes; false: nothing is, or not yet. At
 * most 20 times a second for each watch. *ret_wait_ms: when to come again, 0: at once, there is more;
 * BUS_FOREVER: when woken. */
bool bus_read(struct bus_watch *w, struct buf *out, size_t max, uint32_t *ret_wait_ms);
/* All topics have ended, and all of it was read. */
bool bus_is_over(struct bus_watch *w);

#endif
