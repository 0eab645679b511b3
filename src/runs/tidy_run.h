/* What the tidy thread does to one run, step by step. One thread at a time, with its own store. */
#ifndef TACHO_RUNS_TIDY_RUN_H
#define TACHO_RUNS_TIDY_RUN_H

#include "base/clock.h"
#include "store/store.h"

/* This many small chunks of a kind are merged even if they do not fill a whole chunk. */
#define TIDY_CHUNKS_MAX 256u
/* A dictionary of an ended run is rewritten if it has more pieces than this. */
#define TIDY_PIECES_MAX 4u

/* Lives as long as the tidy thread. */
struct tidy_run {
	const struct clock *clock;
	int64_t run;          /* whose chunks are being merged; 0: none */
	stored_chunks todo;   /* chunks of the run that wait to be merged */
	size_t at;            /* index in `todo` of the next chunk */
	VEC(int64_t) damaged; /* chunks that cannot be decoded: left as they are */
	uint64_t scan_ns;     /* time that reading `todo` took */
	uint64_t merges, merged_chunks;
	uint64_t merges_before; /* value of `merges` when `todo` was read */
};

void tidy_run_release(struct tidy_run *t);

/*
 * Does one merge step, which makes at most one chunk. Returns 1 if something was done and there may
 * be more, 0 if there is nothing to do. If @ended, merges all chunks, else only those that fill a
 * whole chunk or are very many. The list of chunks is kept between steps, until one returns 0 or an
 * error.
 */
int tidy_run_merge(struct tidy_run *t, struct store *s, int64_t run, bool ended, struct err *e);

/* Rewrites dictionaries of an ended run into fewer pieces. Returns 1 if something was done. */
int tidy_run_dictionaries(struct store *s, int64_t run, struct err *e);

#endif
