/*
 * The collector of a run as the server starts it (`tacho collect`): speaks run_messages.h on a socket,
 * starts the ring collector with the workload below it, resolves what that records while it happens,
 * and sends dictionary pieces and chunks. Or it reads a recording and sends the same.
 *
 * Two threads: one waits for the server, the ring collector and what the workload prints; the other,
 * the feed, reads records, resolves and names them. It may be behind: then records wait on the disk,
 * and the workload does not. Both send; the lock is for that.
 */
#ifndef TACHO_COLLECT_RUN_RUNNER_H
#define TACHO_COLLECT_RUN_RUNNER_H

#include "collect/live.h"
#include "wire/run_messages.h"
#include "collect/run/plan.h"
#include "event/parse/parse.h"
#include "perf/topology.h"

#include <pthread.h>

/* What the server says besides the plan. */
struct runner_order {
	struct run_plan plan;
	char *raw;         /* where to keep perf.data; NULL: nowhere */
	char *spill;       /* directory for what waits; NULL: none */
	char *import;      /* a recording to be read instead of running anything */
	char *import_name; /* what people know it by */
	uint64_t output_bytes, spill_bytes;
};

/* What becomes of a plan on this machine. */
struct runner_setup {
	struct catalog catalog;
	struct topology topology;
	struct event_list sampled, counted;
	struct target target;
	VEC(char *) argv, env, whole_argv; /* ended by NULL; strings are the plan's */
	strvec notes;
	bool ready; /* the catalogue is there */
};

/* What the workload prints, on its way to the server. */
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
	struct record_counts counts; /* the last that the ring collector has told */
	struct record_summary summary;
	struct err error;
	uint64_t end_ns, next_ledger_ns;
	bool stopped;  /* the server wants an end */
	unsigned held; /* so many looks in a row, a debugger has held the ring collector */

	/* ---- of both threads ---- */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct channel channel;
	int wake_fd; /* tells the first thread that there is something to send, or an end */
	bool opened; /* chunks may be sent */
	bool gone;   /* nobody is there any more to send them to */
	bool fed;    /* the feed has sent all */
	bool over;   /* the ring collector has ended, and written whatever it keeps */
	bool never_opened;
	bool feed_stops; /* the feed is to end; atomic */
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

/* The whole life of `tacho collect`: exit status 0 if the server was told how it ended. */
int runner_main(int channel_fd);

/* ---- send.c ---- */

void runner_channel_init(struct runner *r, int fd);
void runner_channel_release(struct runner *r);
/* Never waits; for the first thread. */
void runner_send(struct runner *r, uint16_t type, const struct buf *body);
/* Waits while the server is behind; false: it is gone. For the feed, which has them sent when there are
 * no more for now. */
bool runner_send_patiently(struct runner *r, uint16_t type, const struct buf *body);
void runner_send_queued(struct runner *r);
/* RUN_OPENED: behind it chunks may come. */
void runner_send_first(struct runner *r, const struct buf *body);
/* The first thread is to look. */
void runner_wake(struct runner *r);
/* Sends what waits, and lets the feed go on. */
void runner_flush(struct runner *r);
void runner_note(struct runner *r, const char *text);

/* ---- order.c, setup.c ---- */

int runner_order_parse(const void *bytes, size_t size, struct runner_order *ret, struct err *e);
void runner_order_release(struct runner_order *o);

/* Events and target of the plan; fills @ret, which refers to @setup and the order. */
int runner_setup_make(struct runner *r, struct recording_plan *ret, struct err *e);
void runner_setup_release(struct runner_setup *s);

/* ---- output.c ---- */

int runner_output_open(struct runner *r, struct workload_options *ret, struct err *e);
/* Reads what is there; false: nothing more will come from that descriptor. */
void runner_output_read(struct runner *r, unsigned stream);
void runner_output_close(struct runner *r);

/* ---- report.c: what is told in JSON ---- */

void runner_send_opened(struct runner *r, const struct recording_opened *opened);
/* Nothing before RUN_OPENED. */
void runner_send_ledger(struct runner *r, bool last);
void runner_send_ended(struct runner *r);

/* ---- feed.c ---- */

/* Reads perf.data from @data_fd, which belongs to it; or the recording that is to be imported. */
int runner_feed_start(struct runner *r, int data_fd, struct err *e);
void runner_feed_join(struct runner *r);

#endif
