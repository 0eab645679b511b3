/*
 * The message bus of live data: publishers send messages to topics, clients watch topics. A message is
 * encoded once and shared by all watchers. Message numbers ascend over all topics, and a client that
 * reconnects sends the last number that it has seen. All functions are thread-safe. Redis will be a second
 * transport for the same messages.
 *
 * Topics: "queue", "sessions", "session/UUID", "run/UUID". A topic keeps its latest messages, up to a limit
 * of bytes. A client that is new, too slow, or reconnects too late is not sent the missing messages but a
 * snapshot (the state that they have led to), followed by later messages. A snapshot begins with the message
 * `snapshot` {"topic"} (forget all data of this topic) and ends with `current` {"topic"} (the snapshot is
 * complete). A topic without snapshots sends `missed` {"topic"} instead: the client must query the data anew.
 *
 * A client receives messages in the order of their numbers, over all its topics. Numbers start at the time
 * of day, so a number from before a restart is recognised as too old.
 */
#ifndef TACHO_BUS_BUS_H
#define TACHO_BUS_BUS_H

#include "base/buf.h"
#include "base/clock.h"
#include "base/fs.h"

#include <stdbool.h>
#include <stdint.h>

#define BUS_TOPIC_BYTES_MAX   ((size_t)1 << 20)   /* messages kept by a topic */
#define BUS_BACKLOG_BYTES_MAX ((size_t)256 << 10) /* unsent to one client: then a snapshot */
#define BUS_INTERVAL_MS       50u                 /* between two deliveries to one client */
#define BUS_FOREVER           UINT32_MAX

struct bus;
struct bus_watch; /* one client, which watches several topics */

/* @clock decides how old messages are and when a client may get its next delivery. */
struct bus *bus_new(const struct clock *clock);
void bus_free(struct bus *b); /* all clients must have called bus_unwatch() */

/* Publishes a message of the kind @event; @json must be one line. It is kept even if nobody watches. */
void bus_publish(struct bus *b, const char *topic, const char *event, const char *json, size_t len);
bool bus_is_watched(struct bus *b, const char *topic);
/* Whether a topic exists: it is published to or watched, or was until recently. */
bool bus_is_known(struct bus *b, const char *topic);

/* Changes and messages between lock and unlock are one step: a snapshot contains all of them or none. Calls
 * may be nested. The caller must not use other topics meanwhile. */
struct bus_topic;
struct bus_topic *bus_topic_lock(struct bus *b, const char *topic);
void bus_topic_unlock(struct bus *b, struct bus_topic *topic);

/* Makes a snapshot: passes messages to @message that together describe the current state. Called by any thread
 * when a client needs it, with the topic locked. bus_topic_snapshot() sets it; NULL: no snapshots. */
typedef void (*bus_snapshot)(void *ctx,
			     void (*message)(void *to, const char *event, const char *json,
					     size_t len),
			     void *to);
void bus_topic_snapshot(struct bus *b, const char *topic, bus_snapshot make, void *ctx);
/* Notes an unpublished change, made while nobody watched: clients that reconnect get a snapshot. */
void bus_topic_gap(struct bus *b, const char *topic);
/* Ends a topic: watchers get `end` {"topic"}. Later clients get the last message and the end, until the topic is
 * forgotten: after a minute, or when there are too many topics. */
void bus_topic_end(struct bus *b, const char *topic);

/*
 * Begins to watch @topics. @last_id is the last message that the client has seen, or 0. @fresh lists those
 * of the topics that the client did not watch then: they begin as if @last_id were 0. May be NULL. @wake is
 * called by any thread when messages arrive after bus_read() has returned BUS_FOREVER; it must not call the bus.
 */
struct bus_watch *bus_watch(struct bus *b, const strvec *topics, const strvec *fresh,
			    uint64_t last_id, void (*wake)(void *ctx), void *ctx);
void bus_unwatch(struct bus_watch *w);
/*
 * Appends new messages as text/event-stream to @out, at most @max bytes. Returns false if there are none, or
 * if the last delivery was less than BUS_INTERVAL_MS ago. *ret_wait_ms is when to call again: 0: at once,
 * there are more; BUS_FOREVER: when woken.
 */
bool bus_read(struct bus_watch *w, struct buf *out, size_t max, uint32_t *ret_wait_ms);
/* Whether all topics of the client have ended and all messages were read. */
bool bus_is_over(struct bus_watch *w);

#endif
