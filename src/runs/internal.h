/*
 * What the files of the supervisor share. Everything here belongs to the supervisor's thread, except
 * for what is marked as shared: that is looked at under the lock.
 *
 *	runs.c          what other threads call: asking, and waiting for the answer
 *	loop.c     the thread: waits for collectors, requests and times
 *	collector.c  starting, stopping and burying a collector process
 *	ingest.c   what it sends: to watchers at once, to the writer after a moment
 *	writer.c   a thread of its own, which alone waits for the disk
 *	queue.c    who is next, when, and who has met whom
 *	files.c    the data directory: recordings, leftovers, how much room is taken
 */
#ifndef TACHO_RUNS_INTERNAL_H
#define TACHO_RUNS_INTERNAL_H

#include "wire/channel.h"
#include "wire/run_messages.h"
#include "runs/live/live.h"
#include "runs/runs.h"

#include <pthread.h>
#include <sys/types.h>

/* What has arrived is stored together once the first of it is so old. */
#define FLUSH_AFTER_MS    200
#define FLUSH_AFTER_BYTES ((size_t)16 << 20)
/* A collector that was told to end: its workload gets two seconds, it has to name and send the rest. */
#define STOP_PATIENCE_MS 15000
/* One that has said that it is done, or has closed its channel. */
#define EXIT_PATIENCE_MS 5000
/* The store could not take something: when to try again. */
#define RETRY_MS 1000
/* Somebody else holds the store: for so long what arrives is kept in memory, or left to the collector. */
#define BUSY_STORE_MS    1000
#define BUSY_PATIENCE_MS 20000
/* Before the bytes of RUN_OUTPUT: u64 time, u32 stream. */
#define OUTPUT_HEADER 12
/* A workload can stop or trace its collector: how often that is looked at, and how many looks that
 * found it held by a debugger are its end. */
#define LOOK_MS  3000
#define HELD_MAX 5
/* How often the room that is taken is looked at while something runs. */
#define ROOM_CHECK_MS 2000

enum request_kind {
	REQUEST_ADDED,   /* a run was put into the queue; nobody waits for an answer */
	REQUEST_CANCEL,  /* answered when it is cancelled, or its collector was told */
	REQUEST_RELEASE, /* answered when it neither waits nor runs: it is going to be deleted */
	REQUEST_MOVE,
	REQUEST_CHANGED, /* somebody has changed its note: watchers are told; nobody waits */
};

struct request {
	enum request_kind kind;
	char uuid[UUID_BYTES], before[UUID_BYTES]; /* before: "" is last */
	double position, expected_s;
	bool exclusive;
	bool answered;
	int result;
	struct err err;
	struct request *next;
};

/* A run that waits. */
struct waiting {
	char uuid[UUID_BYTES];
	double position;
	double expected_s; /* 0: unknown */
	bool exclusive;
};

struct overlap {
	char uuid[UUID_BYTES];
	char *command;
	uint64_t from_ns, to_ns; /* of the clock; to 0: still */
};

/* One message that is to be stored: its bytes lie in the buffer beside it. */
struct arrived {
	uint16_t type;
	size_t at, size;
};

typedef VEC(struct arrived) arrivals;

/* What is to be in the store after the next commit. The writer's while it is on its way. */
struct deposit {
	struct active *active;
	struct stored_run
		run; /* what changes of the row, and then what people have written there */
	struct buf bytes;
	arrivals arrived;
	uint64_t first_arrived_ns;
	bool over;     /* the run will not change after this */
	bool unstored; /* the store has failed before: only the row matters */
	int result;
	struct err err;
	struct deposit *next;
};

struct deposits {
	struct deposit *first, **last;
};

/* A run whose collector is there. */
struct active {
	struct runs *runs;
	struct stored_run run; /* as the store has it, or will soon */
	struct channel channel;
	pid_t pid;
	int pid_fd;
	bool channel_watched;
	bool paused;  /* not watched now: the store is behind */
	bool exiting; /* the process has ended: what it has sent is the last */
	bool import;
	bool streaming; /* samples and counters reach watchers while it runs */
	bool opened;    /* RUN_OPENED has come */
	bool over;      /* its end is known: state and error are those that last */
	bool saved;     /* and stored */
	bool said_end;  /* RUN_ENDED has come */
	bool exited;    /* the process is gone */
	bool cancelled; /* somebody wanted it */
	bool cut;       /* the server ends */
	bool unstored;  /* the store has failed: nothing more is taken in */
	double expected_s, done_part;
	uint64_t begun_ns, over_ns;
	uint64_t look_ns;  /* when it was looked at last */
	unsigned held;     /* looks in a row that found it in the hands of a debugger */
	uint64_t kill_ns;  /* when to kill the collector; 0: not at all */
	uint64_t retry_ns; /* when to try to store again; 0: as always */
	uint64_t busy_ns;  /* since when somebody else holds the store; 0: nobody does */

	struct buf bytes;
	arrivals arrived;
	uint64_t first_arrived_ns; /* 0: nothing waits */
	struct deposit deposit;
	bool depositing; /* it is on its way */
	bool changed;    /* the row, too */
	char *ledger;    /* the collector's own words */
	uint64_t output_bytes;
	int64_t counted; /* samples that the counts know of */
	VEC(struct overlap) overlaps;
	struct live_run *live;
	VEC(struct request *) releasers;
};

/* All but the thread and its store is shared. */
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
	char *program; /* tacho, beside our own program */
	int epoll_fd, wake_fd;
	pthread_t thread;
	bool begun;
	VEC(struct active *) active;
	uint64_t retry_ns;      /* starting has failed because of the store; 0: not */
	uint64_t room_check_ns; /* when the room is looked at next */
	VEC(pid_t) left_alone;  /* what workloads have left behind when they ended by themselves */

	/* Shared. */
	pthread_mutex_t lock;
	pthread_cond_t answered;
	struct request *first, **last;
	bool stopping;
	double last_position;
	VEC(struct waiting) queue;    /* in its order */
	struct waiting starting;      /* neither waits any more nor runs yet; uuid "": none */
	VEC(struct active *) visible; /* the same as active */
	struct runs_counts counts;
	unsigned burials; /* threads that end what was left behind */
	struct writer writer;
};

/* The monotonic time of the server's clock. */
uint64_t runs_now_ns(const struct runs *r);

/* ---- collector.c ---- */

/* Starts the collector of @run, which is taken over. On failure the run is left to the caller. */
int collector_start(struct runs *r, struct stored_run *run, struct active **ret, struct err *e);
/* @now: by SIGKILL, else the workload gets SIGTERM first. */
void collector_stop(struct active *a, bool now);
/* Now and then: one that was stopped goes on, one that is held by a debugger is killed. */
void collector_look(struct active *a, uint64_t now);
/* When its process has ended: takes the status; if it had not said that the run is over, why. */
void collector_bury(struct active *a);
/* Ends what a collector that has crashed has left: its workload, or processes of its own. */
void collector_end_orphans(struct runs *r);
/* What a workload that has ended by itself has left behind is left alone, but not as zombies. */
void collector_adopt_orphans(struct runs *r);
void active_free(struct active *a);

/* ---- ingest.c ---- */

/* Takes in what the collector has sent, within a budget. */
void ingest_channel(struct active *a);
/* Has what has arrived stored, unless something of the run is on its way already. */
void ingest_flush(struct active *a);
/* The deposit is back: it is stored, or the store does not take it. */
void ingest_stored(struct active *a);
/* The run ends, or has ended, in this way; @error NULL: none. Stored by the next flush. */
void ingest_over(struct active *a, enum run_state state, const char *error);

/* ---- writer.c ---- */

int writer_begin(struct runs *r, struct err *e);
/* What is being written is finished; what waits behind it is not begun. */
void writer_stop(struct runs *r);
/* Makes a deposit of what has arrived, behind what a deposit that failed still has, and sends it off. */
void writer_take(struct active *a);
/* Calls ingest_stored() for those that are back. */
void writer_collect(struct runs *r);
/* Its data: they are in the store, or never will be. */
void deposit_clear(struct deposit *d);
void deposit_release(struct deposit *d);

/* ---- queue.c ---- */

/* Starts whatever may start. */
void queue_start(struct runs *r);
/* Cancels one that waits. -ENOENT: it does not wait. */
int queue_cancel(struct runs *r, const char *uuid, struct err *e);
int queue_move(struct runs *r, const char *uuid, const char *before, struct err *e);
/* Under the lock, by any thread. */
void queue_add(struct runs *r, const struct request *q);
/* Queued ones of the store, at the start. */
int queue_load(struct runs *r, struct err *e);
/* Of earlier runs of the command; 0: unknown. */
double queue_expected_s(struct store *store, const char *command, const char *plan);
/* Two runs meet, one has ended. */
void overlap_begin(struct runs *r, struct active *a);
void overlap_end(struct runs *r, struct active *a);
/* The ledger as it is stored: the collector's, and whom it has met. */
char *overlap_ledger(const struct active *a);

/* ---- loop.c ---- */

void *runs_loop(void *runs);
/* By any thread: there is something to do. */
void loop_wake(struct runs *r);
int loop_watch(struct runs *r, int fd, void *what);
struct active *find_active(struct runs *r, const char *uuid);

/* ---- files.c ---- */

/* "raw/UUID.data" */
char *raw_name(const char *uuid);
/* Removes the file that a run has, if any. */
void raw_remove(const struct run_host *host, const char *uuid);
/* The run has ended: its recording is noted if it is to be kept, else removed. */
void raw_settle(const struct run_host *host, struct stored_run *run);
/* Gives @fd a name: raw/UUID.data. */
int raw_keep(const struct run_host *host, const char *uuid, int fd, struct err *e);
/* What a server that was killed has left behind. */
void files_clean(const struct run_host *host, struct store *store);
/* Bytes on the disk that all of it takes. */
uint64_t files_room(const struct run_host *host, struct store *store);
/* -EDQUOT with a sentence if there is no room for so many bytes more within the quota. */
int files_check_room(const struct run_host *host, struct store *store, uint64_t more,
		     struct err *e);
/* Marks as interrupted what was running when the last server ended. */
int files_recover(const struct run_host *host, struct store *store, struct err *e);

#endif
