/*
 * The tidy thread: merges small chunks into large ones with summaries, merges dictionary pieces of
 * ended runs, purges deleted data and returns its space to the disk, deletes old runs.
 *
 * It has its own connection to the store, works in small steps with pauses in which others can
 * write, runs at a lower priority, does at most one pass a second, and sleeps when there is nothing
 * to do.
 */
#ifndef TACHO_RUNS_TIDY_H
#define TACHO_RUNS_TIDY_H

#include "runs/host.h"
#include "store/store.h"

/* Starts the thread, first with the work that the last server has left; sets host->tidy. */
int tidy_start(struct run_host *host, struct err *e);
/*
 * tidy_stop() ends the thread after its current step. Call it before runs_stop(), because the
 * thread calls runs_delete(). tidy_kick() may be called until tidy_free(). Both do nothing if the
 * thread was not started.
 */
void tidy_stop(struct run_host *host);
void tidy_free(struct run_host *host);

/* Call it when @run has new data or has ended, or with 0 when something was deleted. Any thread;
 * @t may be NULL. */
void tidy_kick(struct tidy *t, int64_t run);

/* For /metrics. */
struct tidy_counts {
	uint64_t passes, merges, merged_chunks, expired_runs, failures;
};

void tidy_counts(struct tidy *t, struct tidy_counts *ret);

/* A sentence that says why no run is deleted because of its age, which the caller frees; or NULL, as for a
 * @t of NULL, which deletes none. */
char *tidy_warning(struct tidy *t);

#endif
