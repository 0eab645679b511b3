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
	void *own; /* the bytes, if batch_join() has made them; else NULL */
};

typedef VEC(struct batch_chunk) batch;

/* @bytes stay the caller's, until batch_release(). -EBADMSG: not a chunk. */
int batch_add(batch *b, const void *bytes, size_t size, struct err *e);
/* Sorts it and makes one chunk of those of a kind and counter. Call it before the transaction: decoding and
 * compressing take milliseconds, in which nobody else could write. */
void batch_join(batch *b);
/* Stores the chunks as they are. */
int batch_store(const batch *b, struct store *s, int64_t run, uint32_t source, struct err *e);
void batch_release(batch *b);

#endif
