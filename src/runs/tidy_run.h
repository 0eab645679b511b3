/* What the tidy thread does to one run, step by step. One thread at a time, with its own store. */
#ifndef TACHO_RUNS_TIDY_RUN_H
#define TACHO_RUNS_TIDY_RUN_H

#include "base/clock.h"
#include "store/store.h"

/* So many small chunks of a kind are merged even if they are far from a whole one. */
#define TIDY_CHUNKS_MAX 256u
/* A dictionary of an ended run in more pieces than this becomes one. */
#define TIDY_PIECES_MAX 4u

/* Kept as long as the thread lives. */
struct tidy_run {
	const struct clock *clock;
	int64_t run;          /* whose chunks are being merged; 0: none */
	stored_chunks todo;   /* of it, */
	size_t at;            /* done up to here */
	VEC(int64_t) damaged; /* chunks that cannot be decoded: left as they are */
	uint64_t scan_ns;     /* that reading the list took */
	uint64_t merges, merged_chunks;
	uint64_t merges_before; /* those of the list */
};

void tidy_run_release(struct tidy_run *t);

/*
 * One step of merging: at most one chunk is made. 1: something was done, there may be more; 0: there is
 * nothing to do. @ended: everything is merged, else only what makes a whole chunk (or is in very many
 * pieces). The list of chunks is read once, by the first of the steps that end with 0 or an error.
 */
int tidy_run_merge(struct tidy_run *t, struct store *s, int64_t run, bool ended, struct err *e);

/* The dictionaries of an ended run. 1: something was done. */
int tidy_run_dictionaries(struct store *s, int64_t run, struct err *e);

#endif
