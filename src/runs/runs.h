/*
 * The runs of this machine: the queue and the active collectors. All functions may be called by any
 * thread; requests are carried out by the supervisor thread, which alone touches collectors.
 *
 * A run is done when everything was measured, whatever the exit status of its program. It has
 * failed when something could not be measured: the program does not exist, the timeout expired, the
 * collector crashed.
 *
 * An exclusive run starts when no other exclusive run is active. Shared runs start at once, up to
 * running_max of them. When two runs overlap, the ledgers of both say so.
 */
#ifndef TACHO_RUNS_RUNS_H
#define TACHO_RUNS_RUNS_H

#include "collect/run/plan.h"
#include "runs/host.h"
#include "store/store.h"

/* Opens the store, marks runs that a crash cut off as interrupted, and loads the queue. */
int runs_prepare(struct runs **ret, struct run_host *host, struct err *e);
/* Starts the supervisor and writer threads. Call it when all other parts of the server exist. */
int runs_begin(struct runs *r, struct err *e);
/* Stops the collectors and waits for them; queued runs stay queued. Frees @r. */
void runs_stop(struct runs *r);

/* Adds a run to the queue. @store is the caller's. Returns -EBUSY if the queue is full or the
 * server is stopping, -EDQUOT if the quota is exceeded. */
int runs_submit(struct runs *r, struct store *store, const struct stored_session *session,
		const struct run_plan *plan, const char *user, struct stored_run *ret,
		struct err *e);
/* Queues the import of the recording @fd, which is linked or copied into the data directory. */
int runs_submit_import(struct runs *r, struct store *store, const struct stored_session *session,
		       int fd, const char *name, bool keep_raw, const char *user,
		       struct stored_run *ret, struct err *e);
/* Returns -EDQUOT if @bytes more would exceed the quota. */
int runs_upload_room(struct runs *r, struct store *store, uint64_t bytes, struct err *e);
/* Cancels a queued run at once; a running one gets SIGTERM, then SIGKILL. Returns -EALREADY if
 * the run has ended. */
int runs_cancel(struct runs *r, struct store *store, const char *uuid, struct err *e);
/* Moves a queued run in front of @before, or to the end of the queue if @before is NULL. */
int runs_move(struct runs *r, struct store *store, const char *uuid, const char *before,
	      struct err *e);
/* Cancels the run if it is queued or running, then deletes it with its data and files. */
int runs_delete(struct runs *r, struct store *store, const char *uuid, struct err *e);
int runs_delete_session(struct runs *r, struct store *store, const char *uuid, struct err *e);

/* Tells subscribers that a person has changed the note, tags or description of the run. */
void runs_changed(struct runs *r, const char *uuid);

/* Progress of a queued or running run. runs_progress() returns false for any other run. */
struct run_progress {
	double elapsed_s;
	double expected_s;  /* from the plan, or earlier runs of the command; 0: unknown */
	double eta_s;       /* until it ends; < 0: unknown */
	double starts_in_s; /* for a queued run; < 0: unknown */
	unsigned place;     /* in the queue; 1: next; 0: already running */
	double done_part;   /* of an import, 0..1 */
};
bool runs_progress(struct runs *r, const char *uuid, struct run_progress *ret);

/* Path of the tacho program that carries out runs. */
const char *runs_program(const struct runs *r);

/* For /metrics. */
struct runs_counts {
	unsigned queued, running;
	uint64_t started, finished[6]; /* by enum run_state */
	uint64_t samples, lost, chunks, bytes;
};
void runs_counts(struct runs *r, struct runs_counts *ret);

#endif
