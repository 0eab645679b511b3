/*
 * A recording as its starter sees it. recording_run() forks the collector, a process of its own
 * that opens the events, starts the workload and writes the file, and talks to it over a channel
 * until it is done. If the starter dies, the collector ends the workload with its descendants,
 * completes the file and exits; if the collector dies, the starter ends the workload with its
 * descendants.
 */
#ifndef TACHO_COLLECT_RECORDING_H
#define TACHO_COLLECT_RECORDING_H

#include "wire/channel.h"
#include "collect/sink.h"
#include "collect/ticker.h"
#include "collect/workload.h"
#include "perf/sampling.h"

#include <poll.h>

struct record_counts {
	uint64_t samples, bytes;
	uint64_t lost;      /* records that found no room */
	uint64_t throttled; /* times that the kernel stopped an event for a while */
	uint64_t cpu_ns;    /* CPU time of the collector itself */
	struct live_counts live;
	struct tick_ledger ticks;
};

enum record_end {
	END_NATURAL,  /* the workload or the attached tasks ended, or the user stopped it */
	END_TIMEOUT,  /* --timeout */
	END_MAX_SIZE, /* the file has reached max_bytes */
};

struct record_summary {
	struct record_counts counts;
	bool has_workload, exec_failed;
	int wait_status; /* of the workload, as wait(2) gives it */
	enum record_end end;
	uint64_t end_ns; /* monotonic: when the workload or the recording ended; 0: unknown */
};

#define STARTER_FDS_MAX 4

/* What is known when all is open and the workload is about to run. */
struct recording_opened {
	uint64_t start_ns, wall_ns; /* the same moment on both clocks */
	pid_t workload;             /* 0: none */
	const char *events;         /* JSON: the array of RUN_OPENED, see run_messages.h */
};

struct recording_plan {
	const struct event_list *events;  /* sampled; may be empty if `counted` is not */
	const struct event_list *counted; /* read at intervals; NULL: none */
	uint64_t interval_ns;             /* between two readings of `counted` */
	struct target target; /* tasks are filled in from the workload, if there is one */
	char *const *argv;    /* the workload, or NULL */
	struct sampling_options sampling;
	struct sink_options output; /* kind, path, level, limits; the rest is filled in */
	uint64_t max_bytes;         /* 0: no limit */
	uint64_t delay_ns, timeout_ns, progress_ns;
	uint64_t round_ns; /* longest time between rounds; 0: a second */
	bool no_terminal;  /* the workload gets /dev/null where it would get our terminal */
	bool stop_now;     /* a signal ends it at once, with the workload and its descendants */
	struct workload_options workload;
	int starter_fds[STARTER_FDS_MAX]; /* descriptors that the collector closes */
	size_t starter_fd_count;
	unsigned threads;        /* threads that read the rings, 0: see drain_threads() */
	bool no_jvm;             /* JVMs get no options and are not asked for names */
	bool no_keep;            /* nothing is copied into the cache */
	bool keep_all;           /* programs without samples are copied, too */
	char *const *whole_argv; /* command line, for the file; ended by NULL */
	struct catalog *catalog;
	/* Called by recording_run() in the starter's process. */
	void (*on_progress)(void *ctx, const struct record_counts *counts);
	void (*on_started)(void *ctx, unsigned events, unsigned rings, uint64_t ring_bytes);
	void (*on_opened)(void *ctx, const struct recording_opened *opened); /* may be NULL */
	void (*on_note)(void *ctx, const char *text);
	void (*on_switched)(void *ctx, const char *path);
	/* Called with the error that recording_run() will return; the workload may go on for long.
	 * May be NULL. */
	void (*on_error)(void *ctx, const struct err *e);
	/* Called when all is written without error; closing the events may take a while. */
	void (*on_finished)(void *ctx, const struct record_summary *summary);
	void *ctx;
};

/* @ret is filled in as far as it is known even on failure. */
int recording_run(const struct recording_plan *plan, struct record_summary *ret, struct err *e);

/*
 * The same step by step, for a starter that waits for other things, too: poll() the descriptors of
 * recording_fds() and call recording_turn() after each poll() until it returns false. @plan must
 * stay until recording_finish(), which always frees the recording.
 */
struct recording;
#define RECORDING_FDS 2

int recording_start(struct recording **ret, const struct recording_plan *plan, struct err *e);
void recording_fds(const struct recording *s, struct pollfd fds[RECORDING_FDS]);
bool recording_turn(struct recording *s);
/* Stops as if the user had sent SIGTERM; @now: without waiting for the workload. */
void recording_stop(struct recording *s, bool now);
/* Like recording_stop() with @now, but the workload and its descendants get SIGKILL at once. */
void recording_kill(struct recording *s);
/* Asks for a file of what memory holds (sink_snapshot()); on_switched gets its name. */
void recording_snapshot(struct recording *s);
/* How often a signal has asked to stop. */
unsigned recording_stops(const struct recording *s);
pid_t recording_collector(const struct recording *s);
/* Waits until the collector has ended. */
int recording_finish(struct recording *s, struct record_summary *ret, struct err *e);

/* ---- the collector's side ---- */

/* Limit of message bodies, above the default because there may be many events. */
#define RECORDING_BODY_MAX (16u << 20)

/* Runs the collector to its end; returns the exit status of its process. */
int collector_main(const struct recording_plan *plan, int channel_fd);

/* Encode and decode bodies of messages. Getters return false if the body is malformed. */
void counts_put(struct buf *body, const struct record_counts *counts);
bool counts_get(struct cursor *body, struct record_counts *ret);
void summary_put(struct buf *body, const struct record_summary *summary);
bool summary_get(struct cursor *body, struct record_summary *ret);
/* Returns the rest of a body as a string, which the caller must free. */
char *text_get(struct cursor *body);

#endif
