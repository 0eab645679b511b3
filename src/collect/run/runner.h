/*
 * The collector of a run as the server starts it (`tacho collect`): speaks run_messages.h on a
 * socket, starts the ring collector with the workload below it, resolves its records while they
 * come, and sends dictionary pieces and chunks. For an import it reads a recording instead and
 * sends the same.
 *
 * Two threads: one waits for the server, the ring collector and the workload's output; the other,
 * the feed, reads records, resolves and names them. When the feed is behind, records wait on the
 * disk, but the workload does not wait. Both threads send; the lock is for that.
 */
#ifndef TACHO_COLLECT_RUN_RUNNER_H
#define TACHO_COLLECT_RUN_RUNNER_H

#include "collect/live.h"
#include "wire/run_messages.h"
#include "collect/run/plan.h"
#include "event/parse/parse.h"
#include "perf/topology.h"

#include <pthread.h>

/* The contents of RUN_PLAN. */
struct runner_order {
	struct run_plan plan;
	char *raw;    /* where to keep perf.data; NULL: nowhere */
	char *spill;  /* directory for the spill file; NULL: none */
	char *import; /* a recording to read instead of running anything; NULL: none */
	char *run_as; /* see rights.h; NULL: as the server */
	bool restricted;
	char *import_name; /* the recording's name as the user knows it */
	bool private;      /* only the user who has started the server sees the run */
	uint64_t output_bytes, spill_bytes;
};

/* The plan as it applies to this machine. */
struct runner_setup {
	struct catalog catalog;
	struct topology topology;
	struct event_list sampled, counted;
	VEC(const char *) filters; /* by index of `sampled`; empty without a filter */
	struct target target;
	VEC(char *) argv, env, whole_argv; /* ended by NULL; strings belong to the plan */
	strvec notes;
	bool ready; /* the catalog is initialised */
};

/* The workload's output, on its way to the server. */
struct runner_output {
	int fds[2]; /* stdout, stderr; -1: closed */
	uint64_t room, dropped_bytes;
};

struct runner {
	struct runner_order order;
	struct runner_setup setup;
	struct live live;
	struct recording *recording;
	struct runner_output output;
	struct record_counts counts; /* the last figures from the ring collector */
	struct record_summary summary;
	struct err error;
	uint64_t end_ns, next_ledger_ns;
	bool stopped;  /* the server has asked to stop */
	unsigned held; /* checks in a row at which a debugger held the ring collector */

	/* ---- shared by both threads ---- */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct channel channel;
	int wake_fd; /* wakes the first thread: there is something to send, or the feed has ended */
	bool opened; /* RUN_OPENED was sent: chunks may follow */
	bool gone;   /* the server is gone */
	bool fed;    /* the feed has sent all */
	bool over;   /* the ring collector has ended, and written whatever it keeps */
	bool never_opened;
	bool feed_stops; /* the feed must end; atomic */
	struct err feed_error;
	struct runner_figures {
		uint64_t samples, lost, throttled, behind_ns, cut_stacks;
		double done_part; /* of an import */
		VEC(struct multiplexed {
			char *event;
			uint64_t enabled_ns, running_ns;
		})
		counters;
	} figures;
	pthread_t feed;
};

/* Runs `tacho collect` to its end. Returns its exit status, 0: RUN_ENDED says how it ended. */
int runner_main(int channel_fd);

/* ---- send.c ---- */

void runner_channel_init(struct runner *r, int fd);
void runner_channel_release(struct runner *r);
/* Sends or queues a message, and never waits; for the first thread. */
void runner_send(struct runner *r, uint16_t type, const struct buf *body);
/* Queues a message; waits while the server is behind. Returns false if the server is gone. For the
 * feed, which calls runner_send_queued() when it has no more for now. */
bool runner_send_patiently(struct runner *r, uint16_t type, const struct buf *body);
void runner_send_queued(struct runner *r);
/* Sends RUN_OPENED, after which chunks may be sent. */
void runner_send_first(struct runner *r, const struct buf *body);
/* Wakes the first thread. */
void runner_wake(struct runner *r);
/* Sends what is queued, and wakes the feed if it waits for that. */
void runner_flush(struct runner *r);
void runner_note(struct runner *r, const char *text);

/* ---- order.c, setup.c ---- */

int runner_order_parse(const void *bytes, size_t size, struct runner_order *ret, struct err *e);
void runner_order_release(struct runner_order *o);

/* Finds events and target of the plan. Fills @ret, which refers to r->setup and r->order. */
int runner_setup_make(struct runner *r, struct recording_plan *ret, struct err *e);
void runner_setup_release(struct runner_setup *s);

/* ---- output.c ---- */

int runner_output_open(struct runner *r, struct workload_options *ret, struct err *e);
/* Reads what is there; closes the descriptor when nothing more will come. */
void runner_output_read(struct runner *r, unsigned stream);
void runner_output_close(struct runner *r);

/* ---- report.c: JSON messages ---- */

void runner_send_opened(struct runner *r, const struct recording_opened *opened);
/* Sends nothing before RUN_OPENED. */
void runner_send_ledger(struct runner *r, bool last);
void runner_send_ended(struct runner *r);

/* ---- feed.c ---- */

/* Starts the feed, which takes ownership of @data_fd and reads perf.data from it, or reads the
 * recording to be imported. */
int runner_feed_start(struct runner *r, int data_fd, struct err *e);
void runner_feed_join(struct runner *r);

#endif
