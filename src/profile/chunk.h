/*
 * A chunk: a run of rows of one table, in columns. It is the unit on the wire, in the store and in
 * memory. A chunk is encoded as a head and columns (profile/columns.h), compressed by zstd, with a hash
 * (docs/FORMATS.md). The table's schema (profile/schema.h) describes the columns; numbers of strings,
 * threads, stacks and so on refer to the dictionary of the same run and source (profile/dictionary.h).
 *
 * Samples and counts are the most frequent rows and have types of their own, with a typed pointer to
 * each column. chunk_decode() reads the columns of any table.
 *
 * Encoding and decoding are pure functions. Encoded bytes are not trusted: every length is checked, and
 * a chunk has at most CHUNK_ROWS_MAX rows. Values are not checked: the caller must check a number before
 * looking it up in a table. Version 1 of the format, which had samples and counts only, is read but
 * never written.
 */
#ifndef TACHO_PROFILE_CHUNK_H
#define TACHO_PROFILE_CHUNK_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define CHUNK_ROWS_MAX    65536u
#define CHUNK_BYTES_MAX   (16u << 20)
#define CHUNK_COLUMNS_MAX 160u /* SCHEMA_COLUMNS_MAX plus the columns with common tags */

/* What the store keeps beside the bytes, and chunk_peek() reads from the head. */
struct chunk_info {
	uint32_t schema; /* SCHEMA_SAMPLES, SCHEMA_COUNTS, or a schema of the run */
	bool sampled;    /* rows are samples: chunk_decode_samples() can read them */
	uint32_t rows;
	/* The same for all rows: the counter of counts, the duration class of spans
	 * (profile/spans.h), 0 for other tables. */
	uint32_t partition;
	uint64_t first_ns, last_ns; /* of spans: the earliest start and the latest end */
};

/* A sample. Event, thread and stack are indices into the dictionary's tables. */
struct sample_row {
	uint64_t time_ns; /* CLOCK_MONOTONIC of the run's machine, or the clock of an import */
	uint64_t weight;  /* the period of the event */
	uint64_t address; /* of the data accessed; 0: unknown */
	uint32_t event, thread, stack, cpu;
	/* Not stored in chunks: the innermost frame, and the raw data of the event (fields of a
	 * tracepoint). Both are valid only during the call that passes the row. */
	uint32_t leaf, raw_size;
	const void *raw;
};

/* Decoded samples in columns, by ascending time. */
struct sample_columns {
	size_t rows;
	uint64_t *time_ns, *weight;
	uint64_t *address; /* NULL: no sample has an address */
	uint32_t *event, *thread, *stack, *cpu;
	void *memory; /* holds all columns */
};

/* The increase of a counter in the interval that ends at time_ns. */
struct count_row {
	uint64_t time_ns, duration_ns;
	uint64_t value;       /* extrapolated if the counter ran only a part of the interval */
	uint32_t running_ppm; /* that part; 1,000,000: all of the interval */
};

struct count_columns {
	size_t rows;
	uint64_t *time_ns, *duration_ns, *value;
	uint32_t *running_ppm;
	void *memory;
};

/* A column of any table. */
struct chunk_column {
	uint32_t tag; /* enum column_tag, or a tag of the table's own */
	uint64_t *values;
};

/* Columns of any table; the first is TAG_TIME. A column that is 0 in all rows may be left out. */
struct chunk_columns {
	struct chunk_info info;
	size_t rows, count;
	struct chunk_column columns[CHUNK_COLUMNS_MAX];
};

/*
 * Encode rows, at least one and at most CHUNK_ROWS_MAX, and append them to @out. Rows may come in any
 * order: they are sorted by time, and rows of the same time keep their order.
 */
void chunk_encode_samples(const struct sample_row *rows, size_t count, struct buf *out,
			  struct chunk_info *ret);
void chunk_encode_counts(uint32_t counter, const struct count_row *rows, size_t count,
			 struct buf *out, struct chunk_info *ret);
/*
 * Encodes rows of any table; schema, sampled and partition are taken from c->info. Returns false if the
 * encoded chunk is larger than CHUNK_BYTES_MAX, which many wide columns of noise can be. Readers reject
 * such a chunk: discard it and encode fewer rows.
 */
bool chunk_encode(const struct chunk_columns *c, struct buf *out, struct chunk_info *ret);

/* Decodes the head alone and checks it against the size. */
int chunk_peek(const void *bytes, size_t size, struct chunk_info *ret, struct err *e);

/* Decode a chunk and check its hash. Return -EBADMSG if it is damaged or of another kind. */
int chunk_decode_samples(const void *bytes, size_t size, struct sample_columns *ret, struct err *e);
int chunk_decode_counts(const void *bytes, size_t size, struct count_columns *ret, struct err *e);
void sample_columns_release(struct sample_columns *c);
void count_columns_release(struct count_columns *c);

/* Decodes TAG_TIME and the columns with the tags @wanted, which end with 0, or all if @wanted is NULL. */
int chunk_decode(const void *bytes, size_t size, const uint32_t *wanted, struct chunk_columns *ret,
		 struct err *e);
void chunk_columns_release(struct chunk_columns *c);
/* Returns the values of a column, or NULL if all are 0 or the column was not decoded. */
uint64_t *chunk_column(const struct chunk_columns *c, uint32_t tag);

#endif
