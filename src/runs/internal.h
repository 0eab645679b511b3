/*
 * Shared by the files of the supervisor. Everything here belongs to the supervisor thread, except
 * for members marked as shared, which need the lock.
 *
 *	runs.c       called by other threads: sends requests and waits for the answers
 *	loop.c       the supervisor thread: waits for collectors, requests and timers
 *	collector.c  starts, stops and reaps a collector process
 *	ingest.c     messages of a collector: to subscribers at once, to the writer in batches
 *	writer.c     the writer thread, the only one that waits for the disk
 *	queue.c      which run starts next, its expected times, and which runs overlap
 *	files.c      the data directory: recordings, leftovers, disk usage
 *	lost.c       recordings that the database does not know
 */
#ifndef TACHO_RUNS_INTERNAL_H
#define TACHO_RUNS_INTERNAL_H

#include "wire/channel.h"
#include "wire/run_messages.h"
#include "runs/live/live.h"
#include "runs/runs.h"

#include <pthread.h>
#include <sys/types.h>

/* Messages are stored together once the oldest is this old, or they have this many bytes. */
#define FLUSH_AFTER_MS    200
#define FLUSH_AFTER_BYTES ((size_t)16 << 20)
/* Time for a collector to end after RUN_STOP: two seconds for the workload, the rest to resolve
 * symbols and send the remaining data. */
#define STOP_PATIENCE_MS 15000
/* Time for a collector to exit after it has sent RUN_ENDED or closed its channel. */
#define EXIT_PATIENCE_MS 5000
/* Delay before the next attempt after the store has failed. */
#define RETRY_MS 1000
/* How long one store call waits for another writer, and how long arriving data is kept in memory
 * or left to the collector until the run fails. */
#define BUSY_STORE_MS    1000
#define BUSY_PATIENCE_MS 20000
/* RUN_OUTPUT begins with u64 time, u32 stream. */
#define OUTPUT_HEADER 12
/* A workload can stop or trace its collector. How often to check, and after how many consecutive
 * checks that find it traced the collector is killed. */
#define LOOK_MS  3000
#define HELD_MAX 5
/* How often the database and the quota are checked while something runs. */
#define PLACE_CHECK_MS 2000

enum request_kind {
	REQUEST_ADDED,   /* a run was put into the queue; nobody waits for an answer */
	REQUEST_CANCEL,  /* answered when the run is cancelled or its collector told to stop */
	REQUEST_RELEASE, /* before deleting: answered when the run is neither queued nor running */
	REQUEST_MOVE,
	REQUEST_CHANGED, /* note, tags or description changed: tell subscribers; nobody waits */
};

struct request {
	enum request_kind kind;
	char uuid[UUID_BYTES], before[UUID_BYTES]; /* before "": move to the end */
	double position, expected_s;
	bool exclusive;
	bool answered;
	int result;
	struct err err;
	struct request *next;
};

/* A queued run. */
struct waiting {
	char uuid[UUID_BYTES];
	double position;
	double expected_s; /* 0: unknown */
	bool exclusive;
};

struct overlap {
	char uuid[UUID_BYTES];
	char *command;
	uint64_t from_ns, to_ns; /* monotonic clock; to_ns 0: not over yet */
};

/* A message to be stored: @size bytes at offset @at of the `bytes` member next to the list. */
struct arrived {
	uint16_t type;
	size_t at, size;
};

typedef VEC(struct arrived) arrivals;

/* Data of a run to be stored in one transaction. The writer's while active->depositing is set. */
struct deposit {
	struct active *active;
	struct stored_run run; /* columns to update; the writer adds note, tags and description */
	struct buf bytes;
	arrivals arrived;
	uint64_t first_arrived_ns;
	bool over;     /* the run will not change after this */
	bool unstored; /* the store has failed before: only the row is stored */
	int result;
	struct err err;
	struct deposit *next;
};

struct deposits {
	struct deposit *first, **last;
};

/* A run from the start of its collector until the process is gone and its end is stored. */
struct active {
	struct runs *runs;
	struct stored_run run; /* as the store has it, or will soon */
	struct channel channel;
	pid_t pid;
	int pid_fd;
	bool channel_watched;
	bool paused;  /* the channel is not polled: the store is behind */
	bool exiting; /* the process has ended: read the rest of the channel without pausing */
	bool import;
	bool streaming; /* samples and counters reach subscribers while it runs */
	bool opened;    /* RUN_OPENED has come */
	bool over;      /* the end of the run is known: state and error are set */
	bool saved;     /* the end of the run is stored */
	bool said_end;  /* RUN_ENDED has come */
	bool exited;    /* the process is gone */
	bool cancelled; /* cancelling or deleting was requested */
	bool cut;       /* the server is stopping */
	bool unstored;  /* the store has failed: arriving messages are discarded */
	double expected_s, done_part;
	uint64_t begun_ns, over_ns;
	uint64_t look_ns;  /* last check by collector_look() */
	unsigned held;     /* consecutive checks that found it held by a debugger */
	uint64_t kill_ns;  /* when to kill the collector; 0: not at all */
	uint64_t retry_ns; /* when to try to store again; 0: no failure */
	uint64_t busy_ns;  /* since when another writer has locked the store; 0: it is not locked */

	struct buf bytes;
	arrivals arrived;
	uint64_t first_arrived_ns; /* 0: nothing waits */
	struct deposit deposit;
	bool depositing; /* the writer has `deposit` */
	bool changed;    /* the stored row is out of date */
	char *ledger;    /* as the collector sent it, without overlaps */
	uint64_t output_bytes;
	int64_t counted; /* samples already added to runs->counts */
	VEC(struct overlap) overlaps;
	struct live_run *live;
	VEC(struct request *) releasers;
};

/* `work`, `waiting`, `done` and `stopping` are shared. */
struct writer {
	pthread_t thread;
	bool begun;
	struct store *store;
	pthread_cond_t work;
	struct deposits waiting, done;
	bool stopping;
};

struct runs {
	struct run_host *host;
	struct store *store;
	char *program; /* path of tacho, in the directory of our own program */
	int epoll_fd, wake_fd;
	pthread_t thread;
	bool begun;
	VEC(struct active *) active;
	uint64_t retry_ns;       /* when to start runs again after the store has failed; 0: now */
	uint64_t place_check_ns; /* next check of the database and the quota */
	VEC(pid_t) left_alone;   /* orphans of ended workloads: to be reaped, not killed */

	/* Shared. */
	pthread_mutex_t lock;
	pthread_cond_t answered;
	struct request *first, **last;
	bool stopping;
	double last_position;
	VEC(struct waiting) queue;    /* sorted by position */
	struct waiting starting;      /* not queued any more, not active yet; uuid "": none */
	VEC(struct active *) visible; /* a copy of active for other threads */
	struct runs_counts counts;
	unsigned burials; /* threads that are ending orphans */
	struct writer writer;
};

/* The monotonic time of the server's clock. */
uint64_t runs_now_ns(const struct runs *r);

/* ---- collector.c ---- */

/* The variable that all processes of the run have in their environment, unless they remove it. */
char *run_mark(const char *uuid);
/* Starts the collector of @run and takes ownership of @run; on failure the caller keeps it. */
int collector_start(struct runs *r, struct stored_run *run, struct active **ret, struct err *e);
/* Tells the collector to end the workload: with SIGKILL if @now, else with SIGTERM first. Kills the
 * collector if it does not end within STOP_PATIENCE_MS. */
void collector_stop(struct active *a, bool now);
/* Every LOOK_MS: continues a stopped collector, kills one that a debugger holds for too long. */
void collector_look(struct active *a, uint64_t now);
/* Reaps the ended process. If it did not end properly, ends the run with an error that says why. */
void collector_bury(struct active *a);
/* Ends the processes that a crashed collector has left: its workload, or processes of its own. */
void collector_end_orphans(struct runs *r);
/* Leaves processes alone that a workload left when it ended by itself, but reaps them later. */
void collector_adopt_orphans(struct runs *r);
void active_free(struct active *a);

/* ---- ingest.c ---- */

/* Reads messages of the collector, about ROUND_BYTES at most. */
void ingest_channel(struct active *a);
/* Sends what has arrived to the writer, unless the writer still has a deposit of the run. */
void ingest_flush(struct active *a);
/* Handles the result of a deposit that the writer has finished. */
void ingest_stored(struct active *a);
/* Sets the final state of the run; @error may be NULL. Stored by the next flush. */
void ingest_over(struct active *a, enum run_state state, const char *error);

/* ---- writer.c ---- */

int writer_begin(struct runs *r, struct err *e);
/* Finishes the deposit that is being written; those that wait are not written. */
void writer_stop(struct runs *r);
/* Moves what has arrived into the deposit, behind the data of a failed attempt, and gives it to the
 * writer thread. */
void writer_take(struct active *a);
/* Calls ingest_stored() for each deposit that the writer has finished. */
void writer_collect(struct runs *r);
/* Drops the data of a deposit that was stored or given up. */
void deposit_clear(struct deposit *d);
void deposit_release(struct deposit *d);

/* ---- queue.c ---- */

/* Starts all queued runs that may start now. */
void queue_start(struct runs *r);
/* Cancels a queued run. Returns -ENOENT if there is no such run, -EALREADY if it is not queued. */
int queue_cancel(struct runs *r, const char *uuid, struct err *e);
int queue_move(struct runs *r, const char *uuid, const char *before, struct err *e);
/* Any thread; the caller must hold the lock. */
void queue_add(struct runs *r, const struct request *q);
/* Loads the queued runs from the store at startup. */
int queue_load(struct runs *r, struct err *e);
/* The duration in the plan, else the median of earlier runs of the command; 0: unknown. */
double queue_expected_s(struct store *store, const char *command, const char *plan);
/* Notes that @a now overlaps with all active runs; that its overlaps have ended. */
void overlap_begin(struct runs *r, struct active *a);
void overlap_end(struct runs *r, struct active *a);
/* The ledger as it is stored: the collector's, with the overlaps added. */
char *overlap_ledger(const struct active *a);

/* ---- loop.c ---- */

void *runs_loop(void *runs);
/* Wakes the supervisor. Any thread. */
void loop_wake(struct runs *r);
int loop_watch(struct runs *r, int fd, void *what);
struct active *find_active(struct runs *r, const char *uuid);

/* ---- files.c ---- */

/* "raw/UUID.data" */
char *raw_name(const char *uuid);
/* Removes the recording of a run, if any. What fails is tried again: before a deleted run is forgotten (tidy.c), and
 * when the server starts (lost.c). */
int raw_remove(const struct run_host *host, const char *uuid);
/* Whether the plan of the run, if it can be read, says that no recording is kept. */
bool raw_unwanted(const struct stored_run *run);
/* At the end of a run: sets run->raw_path if its recording is to be kept, else removes the file. */
void raw_settle(const struct run_host *host, struct stored_run *run);
/* Links or copies @fd to raw/UUID.data. */
int raw_keep(const struct run_host *host, const char *uuid, int fd, struct err *e);
/* Removes temporary files that a killed server has left behind. */
void files_clean(const struct run_host *host);
/* Bytes on the disk of the store and the recordings. */
uint64_t files_room(const struct run_host *host, struct store *store);
/* Returns -EDQUOT, and a sentence in @e, if @more bytes would exceed the quota. */
int files_check_room(const struct run_host *host, struct store *store, uint64_t more,
		     struct err *e);
/* Marks runs as interrupted that were running when the last server ended. */
int files_recover(const struct run_host *host, struct store *store, struct err *e);

/* ---- lost.c ---- */

/* Moves recordings that the database does not know to lost/, and those back that it does. Adds
 * sentences about that to host->notices. */
void lost_settle(struct run_host *host, struct store *store);

#endif
