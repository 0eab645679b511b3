/*
 * What the two parts of live share: live.c has states and the queue, live_run.c the data of a run.
 *
 * What a run's snapshot shows is exactly what was published: everything that has come since waits in
 * `pending` members and becomes part of it in the step that publishes it, under the topic's lock.
 */
#ifndef TACHO_SERVER_LIVE_INTERNAL_H
#define TACHO_SERVER_LIVE_INTERNAL_H

#include "analyze/call_paths.h"
#include "base/clock.h"
#include "bus/bus.h"
#include "server/live.h"

#include <pthread.h>

#define LIVE_UPDATE_NS (50 * NS_PER_MSEC)

struct live {
	struct server *server;
	VEC(struct live_run *) runs;
	pthread_mutex_t lock; /* of the connection */
	struct store *store;  /* for the queue; NULL until it is first asked for */
};

/* What a node of the tree has by itself. */
struct live_gain {
	uint64_t weight;
	uint32_t samples;
};

struct live_event {
	VEC(struct live_gain) total, pending; /* by node */
};

struct live_count {
	uint64_t time_ns, duration_ns, value;
	uint32_t counter, running_ppm;
};

struct live_run {
	struct live *live;
	char uuid[UUID_BYTES];
	char topic[64];
	uint64_t start_ns, sent_ns, to_ns;
	bool broken; /* a piece could not be understood: nothing that refers to it can be */
	struct profile profile;
	struct call_paths paths;
	VEC(struct live_event) events;
	VEC(struct live_dirty { uint32_t event, node; }) dirty;
	VEC(struct live_count) counts; /* pending */
	struct {
		struct live_count *items; /* a ring of the last that were published */
		size_t first, len;
	} last_counts;
	struct {
		uint32_t names, nodes, events, counters;
	} sent;
	struct live_output {
		struct buf pending, last;
		uint64_t left_out;
	} output[2];
	char *ledger;
	bool full; /* the tree takes no more nodes */
};

bool live_run_waits(const struct live_run *r);
void live_run_publish(struct live_run *r, uint64_t now_ns);

void live_queue_snapshot(void *ctx,
			 void (*message)(void *to, const char *event, const char *json, size_t len),
			 void *to);

#endif
