/*
 * What the two parts of live share: live.c has states and the queue, run.c the data of a run.
 *
 * What a run's snapshot shows is exactly what was published: everything that has come since waits in
 * `pending` members and becomes part of it in the step that publishes it, under the topic's lock.
 */
#ifndef TACHO_RUNS_LIVE_INTERNAL_H
#define TACHO_RUNS_LIVE_INTERNAL_H

#include "analyze/paths/call_paths.h"
#include "base/clock.h"
#include "base/json.h"
#include "bus/bus.h"
#include "runs/live/live.h"

#include <pthread.h>

/* A little longer than what clients have to wait between two deliveries: else an update that had to wait
 * once, for another message, would have all behind it wait as long. */
#define LIVE_UPDATE_NS ((BUS_INTERVAL_MS + 5) * NS_PER_MSEC)

struct live {
	struct run_host *host;
	VEC(struct live_run *) runs;
	pthread_mutex_t lock; /* of the connection */
	struct store *store;  /* for the queue and sessions; NULL until it is first asked for */
};

/* What a node of the tree has by itself. */
struct live_gain {
	uint64_t weight;
	uint32_t samples;
};

struct live_event {
	VEC(struct live_gain) total, pending; /* by node */
	uint64_t samples;                     /* of `total` */
};

/* How many samples an event had in each of the newest pieces of time: a ring, like that of counters, for
 * who comes later. Of older ones the store knows. */
#define LIVE_RATE_NS    (50 * NS_PER_MSEC)
#define LIVE_RATE_SLOTS 2048u

struct live_burst {
	uint64_t piece;
	uint32_t event, samples;
};

struct live_rates {
	uint64_t end;            /* pieces since the run began; the ring has the last of them */
	VEC(uint32_t *) samples; /* by event: LIVE_RATE_SLOTS each */
	VEC(struct live_burst) pending;
};

struct live_count {
	uint64_t time_ns, duration_ns, value;
	uint32_t counter, running_ppm;
};

/* Nodes of the stacks that samples have had lately. */
struct live_stacks {
	struct live_stack {
		uint32_t stack; /* 0: free */
		uint32_t node;
	} * slots;
	size_t count, mask;
	size_t added; /* since some were forgotten */
};

struct live_run {
	struct live *live;
	char uuid[UUID_BYTES];
	char topic[64];
	uint64_t start_ns, sent_ns, to_ns;
	bool broken; /* a piece could not be understood: nothing that refers to it can be */
	struct profile profile; /* without stacks and threads */
	struct call_paths paths;
	struct live_stacks stacks;
	VEC(struct live_event) events;
	VEC(struct live_dirty { uint32_t event, node; }) dirty;
	VEC(struct live_count) counts; /* pending */
	struct live_rates rates;
	struct {
		struct live_count *items; /* a ring of the last that were published */
		size_t first, len;
	} last_counts;
	struct {
		uint32_t names, nodes, events, counters;
	} sent;
	uint32_t event; /* shown if nobody has named one, see choose_event() */
	struct live_output {
		struct buf pending, last;
		uint64_t left_out;
	} output[2];
	char *state; /* the run as it was last told, JSON */
	char *ledger;
	bool ledger_waits; /* to be told */
	struct buf notes;  /* each ended by NUL */
	bool full;         /* the tree takes no more nodes */
	bool closed;       /* nor do the tables: of pieces only stacks are looked at */
};

bool live_run_waits(const struct live_run *r);
void live_run_publish(struct live_run *r, uint64_t now_ns);
/* The run has changed its state: told behind all that has come before. */
void live_run_state(struct live_run *r, const struct buf *json);

/* stacks.c. False: it is not known any more; that is the root, then. */
void live_stacks_add(struct live_stacks *s, uint32_t stack, uint32_t node);
bool live_stacks_find(struct live_stacks *s, uint32_t stack, uint32_t *ret_node);
void live_stacks_release(struct live_stacks *s);

/* rates.c. @time_ns since the run began; what was added is shown once it was folded. */
void live_rates_add(struct live_rates *r, uint32_t event, uint64_t time_ns);
void live_rates_fold(struct live_rates *r);
void live_rates_text(const struct live_rates *r, struct json *j);
void live_rates_release(struct live_rates *r);

/* text.c: messages, or members of one. From @from up to, not including, @to. */
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
