/*
 * The encoded form of a chunk: a head and a sequence of columns. Shared by chunk.c (samples and counts)
 * and chunk_table.c (any table).
 */
#ifndef TACHO_PROFILE_CHUNK_BYTES_H
#define TACHO_PROFILE_CHUNK_BYTES_H

#include "profile/chunk.h"
#include "profile/packed.h"

/* ---- writing ---- */

struct column_writer {
	struct buf body;   /* columns written so far */
	struct buf column; /* the column being written */
	uint32_t count;
	bool spans;   /* the rows are spans */
	size_t bytes; /* of all columns, set by chunk_seal() */
};

/* Adds a column. A column of zeros is left out where its absence means the same. */
void column_write(struct column_writer *w, uint32_t tag, const uint64_t *values, size_t rows);
/* Adds the column TAG_DURATION: each interval is stored as the distance of its start from the end of the
 * previous interval, mostly 0. Overwrites @values. */
void column_write_durations(struct column_writer *w, const uint64_t *time_ns, uint64_t *values,
			    size_t rows);
/* Appends the head and all columns to @out and releases the writer. */
void chunk_seal(struct column_writer *w, const struct chunk_info *info, struct buf *out);

/* ---- reading ---- */

struct column_reader {
	struct chunk_info info;
	struct packed packed;
	struct cursor column;
	const uint8_t *fixed; /* version 1: tags of the columns in their order, ended by 0 */
	uint64_t left;        /* columns not read yet; unused if `fixed` is set */
	bool begun;           /* `column` is in use */
};

/* The caller must call column_reader_close(), also after a failure. */
int column_reader_open(const void *bytes, size_t size, struct column_reader *ret, struct err *e);
void column_reader_close(struct column_reader *r);
/*
 * Moves to the next column. The caller reads its values from *ret; to skip the column, which is possible
 * unless r->fixed is set, leave *ret alone. Returns false at the end and if the bytes are damaged: call
 * column_reader_ended() to tell these apart.
 */
bool column_reader_next(struct column_reader *r, uint32_t *ret_tag, struct cursor **ret);
/* Returns whether all columns were read and no bytes are left. */
bool column_reader_ended(const struct column_reader *r);

/* Decodes a column of TAG_DURATION: see column_write_durations(). */
bool column_read_durations(struct cursor *c, const uint64_t *time_ns, size_t rows, uint64_t *ret);

#endif
