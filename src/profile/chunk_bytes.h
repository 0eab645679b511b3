/*
 * The bytes of a chunk: its head, and its columns one after the other. Shared by chunk.c, which
 * knows samples and counts, and chunk_table.c, which reads and writes any table.
 */
#ifndef TACHO_PROFILE_CHUNK_BYTES_H
#define TACHO_PROFILE_CHUNK_BYTES_H

#include "profile/chunk.h"
#include "profile/packed.h"

/* ---- writing ---- */

struct column_writer {
	struct buf body;   /* of the columns so far */
	struct buf column; /* that is being written */
	uint32_t count;
	bool spans;   /* the rows are spans */
	size_t bytes; /* of all columns, set by chunk_seal() */
};

/* Adds a column, unless it is 0 in all rows and so need not be there. */
void column_write(struct column_writer *w, uint32_t tag, const uint64_t *values, size_t rows);
/* The same for TAG_DURATION: what is kept is by how much an interval does not begin where the one before
 * it ended. @values is overwritten. */
void column_write_durations(struct column_writer *w, const uint64_t *time_ns, uint64_t *values,
			    size_t rows);
/* Adds head and columns to @out; releases the writer. */
void chunk_seal(struct column_writer *w, const struct chunk_info *info, struct buf *out);

/* ---- reading ---- */

struct column_reader {
	struct chunk_info info;
	struct packed packed;
	struct cursor column;
	const uint8_t
		*fixed; /* of version 1: the tags of its columns, in their order, ended by 0 */
	uint64_t left;  /* columns, unless they are fixed */
	bool begun;     /* `column` is in use */
};

/* The caller must call column_reader_close(), also after a failure. */
int column_reader_open(const void *bytes, size_t size, struct column_reader *ret, struct err *e);
void column_reader_close(struct column_reader *r);
/*
 * The next column: the caller reads it from *ret, or, unless r->fixed, passes it over by doing
 * nothing. False at the end, or if the bytes are damaged: see column_reader_ended().
 */
bool column_reader_next(struct column_reader *r, uint32_t *ret_tag, struct cursor **ret);
/* Whether all columns were there, and nothing else. */
bool column_reader_ended(const struct column_reader *r);

/* Decodes a column of TAG_DURATION: see column_write_durations(). */
bool column_read_durations(struct cursor *c, const uint64_t *time_ns, size_t rows, uint64_t *ret);

#endif
