/*
 * A recording as its starter sees it. recording_run() forks the collector, a process of its own
 * that opens the events, starts the workload and writes the file, and talks to it over a channel
 * until it is done. When the starter dies, the collector ends the workload with all that it has
 * started, completes the file and goes, too; when the collector dies, the starter does the same.
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
	uint64_t cpu_ns;    /* that the collector itself has used */
	struct live_counts live;
	struct tick_ledger ticks;
};

enum record_end {
	END_NATURAL,  /* the workload or what was watched has ended, or the user wished it */
	END_TIMEOUT,  /* --timeout */
	END_MAX_SIZE, /* the file is as large as it may get */
};

struct record_summary {
	struct record_counts counts;
	bool has_workload, exec_failed;
	int wait_status; /* of the workload, as wait(2) gives it */
	enum record_end end;
	uint64_t end_ns; /* monotonic: when the workload ended, or watching did; 0: unknown */
};

#define STARTER_FDS_MAX 4

/* What is known when all is open and the workload is about to run. */
struct recording_opened {
	uint64_t start_ns, wall_ns; /* the same moment */
	pid_t workload;             /* 0: none */
	const char *events;         /* JSON: the array of RUN_OPENED, see run_messages.h */
};

struct recording_plan {
	const struct event_list *events;  /* sampled; may be empty if others are */
	const struct event_list *counted; /* read at intervals; NULL: none */
	uint64_t interval_ns;             /* of these */
	struct target target; /* tasks are filled in from the workload, if there is one */
	char *const *argv;    /* the workload, or NULL */
	struct sampling_options sampling;
	struct sink_options output; /* kind, path, level, limits; the rest is filled in */
	uint64_t max_bytes;         /* 0: none */
	uint64_t delay_ns, timeout_ns, progress_ns;
	uint64_t round_ns; /* rounds are at most so far apart; 0: a second */
	bool no_terminal;  /* the workload gets /dev/null where it would get our terminal */
	bool stop_now;     /* a signal ends it at once, with all that the workload started */
	struct workload_options workload;
	int starter_fds[STARTER_FDS_MAX]; /* that the collector must not hold open */
	size_t starter_fd_count;
	unsigned threads;        /* that read the rings, 0: as it suits */
	bool no_jvm;             /* Java is neither told nor asked anything */
	bool no_keep;            /* nothing is copied into the cache */
	bool keep_all;           /* also programs that had no samples */
	char *const *whole_argv; /* command line, for the file; ended by NULL */
	struct catalog *catalog;
	/* Called by recording_run() in the starter's process. */
	void (*on_progress)(void *ctx, const struct record_counts *counts);
	void (*on_started)(void *ctx, unsigned events, unsigned rings, uint64_t ring_bytes);
	void (*on_opened)(void *ctx, const struct recording_opened *opened); /* may be NULL */
	void (*on_note)(void *ctx, const char *text);
	void (*on_switched)(void *ctx, const char *path);
	/* What recording_run() will fail with; the workload may go on for long. May be NULL. */
	void (*on_error)(void *ctx, const struct err *e);
	/* All is written and without an error; closing the events may still take a while. */
	void (*on_finished)(void *ctx, const struct record_summary *summary);
	void *ctx;
};

/* @ret is filled in as far as it is known even on failure. */
int recording_run(const struct recording_plan *plan, struct record_summary *ret, struct err *e);

/*
 * The same step by step, for a starter that waits for other things, too: poll() what
 * recording_fds() gives and call recording_turn() whenever it returns, until that is false.
 * @plan must stay until recording_finish(), which frees always.
 */
struct recording;
#define RECORDING_FDS 2

int recording_start(struct recording **ret, const struct recording_plan *plan, struct err *e);
void recording_fds(const struct recording *s, struct pollfd fds[RECORDING_FDS]);
bool recording_turn(struct recording *s);
/* As if the user had sent SIGTERM; @now: without waiting for the workload. */
void recording_stop(struct recording *s, bool now);
/* The same now, and whatever the workload has started gets SIGKILL at once. */
void recording_kill(struct recording *s);
/* What memory holds goes to a file; on_switched tells its name. */
void recording_snapshot(struct recording *s);
/* How often a signal has asked for an end. */
unsigned recording_stops(const struct recording *s);
pid_t recording_collector(const struct recording *s);
/* Waits until the collector has ended. */
int recording_finish(struct recording *s, struct record_summary *ret, struct err *e);

/* ---- the other side ---- */

/* Bodies of its messages may be longer than usual: there may be many events. */
#define RECORDING_BODY_MAX (16u << 20)

/* The collector's whole life; returns the exit status of its process. */
int collector_main(const struct recording_plan *plan, int channel_fd);

/* Bodies of messages. Getters are false if the body is not what it should be. */
void counts_put(struct buf *body, const struct record_counts *counts);
bool counts_get(struct cursor *body, struct record_counts *ret);
void summary_put(struct buf *body, const struct record_summary *summary);
bool summary_get(struct cursor *body, struct record_summary *ret);
/* Text that fills the rest of a body, made a string: the caller frees it. */
char *text_get(struct cursor *body);

#endif
