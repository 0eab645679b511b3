/*
 * Chunks on their way into the store. A collector sends one for each counter in every round, some fifty
 * times a second, with a row or two; those that arrive between two commits become one for each kind and
 * counter, which is a tenth of the rows in the database, and of what is written to the disk. One thread.
 */
#ifndef TACHO_RUNS_BATCH_H
#define TACHO_RUNS_BATCH_H

#include "profile/summary.h"
#include "store/store.h"

/* One that has so many rows goes as it is: decoding it would take longer than it saves. */
#define BATCH_ROWS_MAX 8192u

struct batch_chunk {
	struct chunk_info info;
	const void *bytes;
	size_t size;
};

typedef VEC(struct batch_chunk) batch;

/* @bytes stay the caller's, until batch_store(). -EBADMSG: not a chunk. */
int batch_add(batch *b, const void *bytes, size_t size, struct err *e);
/* Sorts it. */
int batch_store(batch *b, struct store *s, int64_t run, uint32_t source, struct err *e);
void batch_release(batch *b);

#endif
