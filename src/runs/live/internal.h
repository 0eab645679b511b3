/*
 * Shared by the files of live: live.c publishes states and the queue, run.c the data of a run.
 *
 * The snapshot of a run shows exactly what was published. Data that has arrived since waits in
 * `pending` members and joins the snapshot in the step that publishes it, under the topic's lock.
 */
#ifndef TACHO_RUNS_LIVE_INTERNAL_H
#define TACHO_RUNS_LIVE_INTERNAL_H

#include "analyze/paths/call_paths.h"
#include "base/clock.h"
#include "base/json.h"
#include "bus/bus.h"
#include "runs/live/live.h"

#include <pthread.h>

/* A little longer than the minimum time between two deliveries to a client. Otherwise an update
 * that was delayed once by another message would delay all later ones as much. */
#define LIVE_UPDATE_NS ((BUS_INTERVAL_MS + 5) * NS_PER_MSEC)

struct live {
	struct run_host *host;
	VEC(struct live_run *) runs;
	pthread_mutex_t lock; /* protects `store` */
	struct store *store;  /* for the queue and sessions; NULL until first used */
};

/* Samples and weight of a node itself, without the nodes below it. */
struct live_gain {
	uint64_t weight;
	uint32_t samples;
};

struct live_event {
	VEC(struct live_gain) total, pending; /* by node */
	uint64_t samples;                     /* sum over `total` */
};

/* Samples of each event in the newest time slots: a ring for new subscribers, as `last_counts`
 * is for counters. Older ones are in the store. */
#define LIVE_RATE_NS    (50 * NS_PER_MSEC)
#define LIVE_RATE_SLOTS 2048u

struct live_burst {
	uint64_t piece;
	uint32_t event, samples;
};

struct live_rates {
	uint64_t end;            /* time slots since the run began; the ring has the newest */
	VEC(uint32_t *) samples; /* by event: LIVE_RATE_SLOTS each */
	VEC(struct live_burst) pending;
};

struct live_count {
	uint64_t time_ns, duration_ns, value;
	uint32_t counter, running_ppm;
};

/* Maps the stacks of recent samples to nodes of the call tree. */
struct live_stacks {
	struct live_stack {
		uint32_t stack; /* 0: free */
		uint32_t node;
	} * slots;
	size_t count, mask;
	size_t added; /* entries added since stacks were last forgotten */
};

struct live_run {
	struct live *live;
	char uuid[UUID_BYTES];
	char topic[64];
	uint64_t start_ns, sent_ns, to_ns;
	bool broken;            /* a dictionary piece did not decode: later data may refer to it */
	struct profile profile; /* without stacks and threads */
	struct call_paths paths;
	struct live_stacks stacks;
	VEC(struct live_event) events;
	VEC(struct live_dirty { uint32_t event, node; }) dirty;
	VEC(struct live_count) counts; /* pending */
	struct live_rates rates;
	struct {
		struct live_count *items; /* ring of the values published last */
		size_t first, len;
	} last_counts;
	struct {
		uint32_t names, nodes, events, counters;
	} sent;
	uint32_t event; /* shown by default, see choose_event() */
	struct live_output {
		struct buf pending, last;
		uint64_t left_out;
	} output[2];
	char *state; /* the run as last published, JSON */
	char *ledger;
	bool ledger_waits; /* not published yet */
	struct buf notes;  /* each ended by NUL */
	bool full;         /* the tree takes no more nodes */
	bool closed; /* the profile takes no more entries: only stacks are read from dictionary pieces */
};

bool live_run_waits(const struct live_run *r);
void live_run_publish(struct live_run *r, uint64_t now_ns);
/* Publishes a new state of the run, after all data that came before it. */
void live_run_state(struct live_run *r, const struct buf *json);

/* stacks.c. For a forgotten stack, live_stacks_find() returns false and gives the root. */
void live_stacks_add(struct live_stacks *s, uint32_t stack, uint32_t node);
bool live_stacks_find(struct live_stacks *s, uint32_t stack, uint32_t *ret_node);
void live_stacks_release(struct live_stacks *s);

/* rates.c. @time_ns: since the start of the run. live_rates_text() shows only folded samples. */
void live_rates_add(struct live_rates *r, uint32_t event, uint64_t time_ns);
void live_rates_fold(struct live_rates *r);
void live_rates_text(const struct live_rates *r, struct json *j);
void live_rates_release(struct live_rates *r);

/* text.c: append messages or members of one, about the entries [@from, @to). */
void live_add_names(const struct live_run *r, struct json *j, uint32_t from, uint32_t to);
void live_add_nodes(const struct live_run *r, struct json *j, uint32_t from, uint32_t to);
void live_add_events(const struct live_run *r, struct json *j, uint32_t from, uint32_t to);
void live_add_gain(struct json *j, uint32_t event, uint32_t node, const struct live_gain *gain);
void live_add_counters(const struct live_run *r, struct json *j, uint32_t from, uint32_t to);
void live_add_counts(const struct live_run *r, struct json *j, const struct live_count *counts,
		     size_t first, size_t len, size_t room);
void live_add_output(const struct live_run *r, struct buf *out, int stream, const struct buf *bytes,
		     size_t len, uint64_t left_out);
struct json live_open_message(const struct live_run *r, struct buf *out);
uint64_t live_since_start(const struct live_run *r, uint64_t time_ns);

void live_queue_snapshot(void *ctx,
			 void (*message)(void *to, const char *event, const char *json, size_t len),
			 void *to);

#endif
