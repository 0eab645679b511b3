/*
 * What is live: topics that are published to and watched. A message is encoded once and shared by all
 * who watch; each has a number that grows over all topics, so that a client that comes back says which
 * was its last. Any thread may publish. Redis will be a second way to carry the same.
 *
 * Topics: "queue", "session/UUID", "run/UUID". A topic keeps its last messages, within a limit of
 * bytes. Who is too slow, or comes back too late, does not get them one by one: the topic's snapshot
 * (all that was published, in short) is sent instead, and then what came after it.
 */
#ifndef TACHO_BUS_BUS_H
#define TACHO_BUS_BUS_H

#include "base/buf.h"
#include "base/fs.h"

#include <stdbool.h>
#include <stdint.h>

#define BUS_TOPIC_BYTES_MAX ((size_t)1 << 20) /* kept for those who are behind */

struct bus;
struct bus_watch; /* one client: several topics */

struct bus *bus_new(void);
void bus_free(struct bus *b);

/* @event: the name of the kind of message; @json: one line. Nobody watches: kept all the same. */
void bus_publish(struct bus *b, const char *topic, const char *event, const char *json, size_t len);
bool bus_is_watched(struct bus *b, const char *topic);
/* Watchers of a topic have come since the last call (they need a snapshot if there is one). */

/* @make adds one or more complete JSON lines as messages that together say all; called when a client
 * needs it, by any thread, with the topic locked against publishing. NULL: the topic has none. */
typedef void (*bus_snapshot)(void *ctx,
			     void (*message)(void *to, const char *event, const char *json,
					     size_t len),
			     void *to);
void bus_topic_snapshot(struct bus *b, const char *topic, bus_snapshot make, void *ctx);
/* Nothing will come any more: watchers get "end" and the topic is forgotten. */
void bus_topic_end(struct bus *b, const char *topic);

/* @last_id: what the client has seen; 0: nothing. @wake is called from any thread when there is news
 * and the watch was empty. */
struct bus_watch *bus_watch(struct bus *b, const strvec *topics, uint64_t last_id,
			    void (*wake)(void *ctx), void *ctx);
void bus_unwatch(struct bus_watch *w);
/* Adds what is new as text/event-stream to @out, at most about @max bytes; false: nothing is. At most
 * 20 times a second for each watch; *ret_wait_ms: when to come again. */
bool bus_read(struct bus_watch *w, struct buf *out, size_t max, unsigned *ret_wait_ms);

#endif
