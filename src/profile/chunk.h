/*
 * A chunk: a run of rows of one table, in columns. It is the unit on the wire, in the store and in
 * memory. Its bytes are a head and columns (profile/columns.h) under zstd, with a hash
 * (docs/FORMATS.md). What the columns mean is in the table's schema (profile/schema.h), what the
 * numbers in them mean in the dictionary of the same (run, source): see profile/dictionary.h.
 *
 * Samples and counts, of which there are most, have types of their own, with a typed pointer to each
 * column. chunk_decode() reads the columns of any table.
 *
 * Encoding and decoding are pure functions. Bytes are not trusted: every length is checked, numbers
 * may be anything (whoever looks them up in a table checks them), rows are at most CHUNK_ROWS_MAX.
 * Chunks of version 1, which had samples and counts only, are read as such, and never written.
 */
#ifndef TACHO_PROFILE_CHUNK_H
#define TACHO_PROFILE_CHUNK_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define CHUNK_ROWS_MAX    65536u
#define CHUNK_BYTES_MAX   (16u << 20)
#define CHUNK_COLUMNS_MAX 160u /* SCHEMA_COLUMNS_MAX, and those that every table may have */

/* What the store keeps beside the bytes, and what can be read without decoding them. */
struct chunk_info {
	uint32_t schema; /* SCHEMA_SAMPLES, SCHEMA_COUNTS, or one of the run's */
	bool sampled;    /* its rows are samples: chunk_decode_samples() reads them */
	uint32_t rows;
	/* What all rows have in common: of counts the counter, of spans the duration class
	 * (profile/spans.h). 0 in other tables. */
	uint32_t partition;
	uint64_t first_ns, last_ns; /* of spans the least start and the greatest end */
};

/* A sample. Numbers are those of the dictionary's tables. */
struct sample_row {
	uint64_t time_ns; /* CLOCK_MONOTONIC of the run's machine, or what an imported file has */
	uint64_t weight;  /* its period */
	uint64_t address; /* of data, 0: none */
	uint32_t event, thread, stack, cpu;
	/* For who makes the row, chunks do not have them: the frame that was hit, and the event's own data
	 * (fields of a tracepoint), valid until the call returns. */
	uint32_t leaf, raw_size;
	const void *raw;
};

/* Decoded samples, column by column, times ascending. */
struct sample_columns {
	size_t rows;
	uint64_t *time_ns, *weight;
	uint64_t *address; /* NULL: no sample has one */
	uint32_t *event, *thread, *stack, *cpu;
	void *memory; /* that all of them lie in */
};

/* A value of a counter: how much it has grown in the interval that ends at time_ns. */
struct count_row {
	uint64_t time_ns, duration_ns;
	uint64_t value; /* already extrapolated, if the counter ran only a part of the time: */
	uint32_t running_ppm; /* what part of the interval it ran; 1,000,000: all of it */
};

struct count_columns {
	size_t rows;
	uint64_t *time_ns, *duration_ns, *value;
	uint32_t *running_ppm;
	void *memory;
};

/* A column of any table. */
struct chunk_column {
	uint32_t tag; /* enum column_tag, or one of the table's own */
	uint64_t *values;
};

/* Columns of any table; the first is TAG_TIME. Columns that are 0 in all rows may be missing. */
struct chunk_columns {
	struct chunk_info info;
	size_t rows, count;
	struct chunk_column columns[CHUNK_COLUMNS_MAX];
};

/*
 * Rows come in any order, and are put into that of time; those of the same time keep theirs. At least
 * one, at most CHUNK_ROWS_MAX. Adds to @out.
 */
void chunk_encode_samples(const struct sample_row *rows, size_t count, struct buf *out,
			  struct chunk_info *ret);
void chunk_encode_counts(uint32_t counter, const struct count_row *rows, size_t count,
			 struct buf *out, struct chunk_info *ret);
/*
 * Any table: schema, sampled and partition are those of c->info. False: what was added is larger than a chunk
 * may be, as many wide columns of noise are. Nobody will read it: take fewer rows.
 */
bool chunk_encode(const struct chunk_columns *c, struct buf *out, struct chunk_info *ret);

/* The header alone, checked against the size. */
int chunk_peek(const void *bytes, size_t size, struct chunk_info *ret, struct err *e);

/* With the hash checked. -EBADMSG: not a chunk of this kind, or damaged. */
int chunk_decode_samples(const void *bytes, size_t size, struct sample_columns *ret, struct err *e);
int chunk_decode_counts(const void *bytes, size_t size, struct count_columns *ret, struct err *e);
void sample_columns_release(struct sample_columns *c);
void count_columns_release(struct count_columns *c);

/* Any table. @wanted: tags of the columns to decode beside TAG_TIME, ended by 0; NULL: all. */
int chunk_decode(const void *bytes, size_t size, const uint32_t *wanted, struct chunk_columns *ret,
		 struct err *e);
void chunk_columns_release(struct chunk_columns *c);
/* Values of a column; NULL: they are all 0, or were not wanted. */
uint64_t *chunk_column(const struct chunk_columns *c, uint32_t tag);

#endif
