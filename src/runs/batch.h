/*
 * Merges chunks before they are stored. A collector sends a chunk for each counter in every round,
 * about fifty times a second, with one or two rows. The chunks that arrive between two commits are
 * merged into one for each table and counter: a tenth of the database rows and of the disk writes.
 * One thread.
 */
#ifndef TACHO_RUNS_BATCH_H
#define TACHO_RUNS_BATCH_H

#include "profile/summary.h"
#include "store/store.h"

/* Maximum rows of a merged chunk. A larger chunk is stored as it is: decoding it would take
 * longer than merging saves. */
#define BATCH_ROWS_MAX 8192u

struct batch_chunk {
	struct chunk_info info;
	const void *bytes;
	size_t size;
	void *own; /* the bytes, if batch_join() has made them; else NULL */
};

typedef VEC(struct batch_chunk) batch;

/* The caller must keep @bytes until batch_release(). Returns -EBADMSG if they are not a chunk. */
int batch_add(batch *b, const void *bytes, size_t size, struct err *e);
/* Sorts the chunks and merges those of one table and counter. Call it before the transaction:
 * decoding and compressing take milliseconds, in which nobody else could write. */
void batch_join(batch *b);
/* Stores the chunks as they are. */
int batch_store(const batch *b, struct store *s, int64_t run, uint32_t source, struct err *e);
void batch_release(batch *b);

#endif
