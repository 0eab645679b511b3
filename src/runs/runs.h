/*
 * The runs of this machine: the queue, and the collectors at work. All functions may be called by any
 * thread; what they ask for is done by the supervisor's thread, which alone touches collectors.
 *
 * A run is done when all of it was measured, whatever its program's exit status. It has failed when
 * something could not be measured: the program is not there, the time was over, the collector crashed.
 *
 * An exclusive run starts when nothing exclusive runs; then no other exclusive one starts. Shared runs
 * start at once. Whatever overlaps is written into the ledgers of both.
 */
#ifndef TACHO_RUNS_RUNS_H
#define TACHO_RUNS_RUNS_H

#include "collect/run/plan.h"
#include "runs/host.h"
#include "store/store.h"

/* Marks what a crash has cut off as interrupted, takes the queue up. */
int runs_prepare(struct runs **ret, struct run_host *host, struct err *e);
/* The thread begins, when all other parts of the server are there. */
int runs_begin(struct runs *r, struct err *e);
/* Collectors are told to stop and waited for; what is queued stays so. Frees it. */
void runs_stop(struct runs *r);

/* Adds a run to the queue. @store is the caller's. -EBUSY: the queue is full; -EDQUOT: no room. */
int runs_submit(struct runs *r, struct store *store, const struct stored_session *session,
		const struct run_plan *plan, const char *user, struct stored_run *ret,
		struct err *e);
/* A recording to be read instead: @fd is moved to the data directory. */
int runs_submit_import(struct runs *r, struct store *store, const struct stored_session *session,
		       int fd, const char *name, bool keep_raw, const char *user,
		       struct stored_run *ret, struct err *e);
/* Whether so many bytes of recordings can come within the quota; -EDQUOT if not. */
int runs_upload_room(struct runs *r, struct store *store, uint64_t bytes, struct err *e);
/* Queued: cancelled now. Running: TERM, then KILL. -EALREADY if it has ended. */
int runs_cancel(struct runs *r, struct store *store, const char *uuid, struct err *e);
/* Between two others in the queue: in front of @before, or last if NULL. */
int runs_move(struct runs *r, struct store *store, const char *uuid, const char *before,
	      struct err *e);
/* Cancelled first if it runs; then with its data and files. */
int runs_delete(struct runs *r, struct store *store, const char *uuid, struct err *e);
int runs_delete_session(struct runs *r, struct store *store, const char *uuid, struct err *e);

/* A person has changed its note, tags or description: whoever watches is told. */
void runs_changed(struct runs *r, const char *uuid);

/* What is known of a run that runs or waits; false: neither. */
struct run_progress {
	double elapsed_s;
	double expected_s;  /* by earlier runs of the same command; 0: unknown */
	double eta_s;       /* until it ends; < 0: unknown */
	double starts_in_s; /* of a queued one; < 0: unknown */
	unsigned place;     /* in the queue, 1: next; 0: runs */
	double done_part;   /* of an import, 0..1 */
};
bool runs_progress(struct runs *r, const char *uuid, struct run_progress *ret);

/* tacho, which carries out runs: its path. */
const char *runs_program(const struct runs *r);

/* For /metrics. */
struct runs_counts {
	unsigned queued, running;
	uint64_t started, finished[6]; /* by enum run_state */
	uint64_t samples, lost, chunks, bytes;
};
void runs_counts(struct runs *r, struct runs_counts *ret);

#endif
