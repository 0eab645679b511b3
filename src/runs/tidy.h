/*
 * The thread that tidies up: small chunks become large ones with summaries, dictionaries of ended runs
 * become few pieces, what was deleted is taken away and its room given back, old runs go.
 *
 * It has its own connection to the store, works in small steps with pauses in which others can write,
 * at a lower priority than they, at most once a second, and not at all when there is nothing to do.
 */
#ifndef TACHO_RUNS_TIDY_H
#define TACHO_RUNS_TIDY_H

#include "runs/host.h"
#include "store/store.h"

/* Begins, with what the last server has left to do; sets host->tidy. */
int tidy_start(struct run_host *host, struct err *e);
/*
 * The thread ends, when the step that it does is done: before runs_stop(), because it deletes old runs by
 * runs_delete(). Others may go on calling tidy_kick() until tidy_free(). Both do nothing if it was not
 * started.
 */
void tidy_stop(struct run_host *host);
void tidy_free(struct run_host *host);

/* A run has got data or has ended; 0: something was deleted. Any thread; @t may be NULL. */
void tidy_kick(struct tidy *t, int64_t run);

/* For /metrics. */
struct tidy_counts {
	uint64_t passes, merges, merged_chunks, expired_runs, failures;
};

void tidy_counts(struct tidy *t, struct tidy_counts *ret);

#endif
