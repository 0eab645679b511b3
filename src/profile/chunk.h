/*
 * A chunk: a run of samples, or of values of one counter, in columns. It is the unit on the wire, in
 * the store and in memory. Its bytes are a header and columns (profile/columns.h) under zstd, with a
 * hash (docs/FORMATS.md). What the numbers in it mean is in the dictionary of the same (run, source):
 * see profile/dictionary.h.
 *
 * Encoding and decoding are pure functions. Bytes are not trusted: every length is checked, numbers
 * may be anything (whoever looks them up in a table checks them), rows are at most CHUNK_ROWS_MAX.
 */
#ifndef TACHO_PROFILE_CHUNK_H
#define TACHO_PROFILE_CHUNK_H

#include "base/buf.h"
#include "base/err.h"

#include <stdint.h>

#define CHUNK_ROWS_MAX  65536u
#define CHUNK_BYTES_MAX (16u << 20)

enum chunk_kind {
	CHUNK_SAMPLES = 1,
	CHUNK_COUNTS = 2, /* of one counter */
};

/* What the store keeps beside the bytes, and what can be read without decoding them. */
struct chunk_info {
	enum chunk_kind kind;
	uint32_t rows;
	uint32_t counter; /* profile.counters; 0 for samples */
	uint64_t first_ns, last_ns;
};

/* A sample. Numbers are those of the dictionary's tables. */
struct sample_row {
	uint64_t time_ns; /* CLOCK_MONOTONIC of the run's machine, or what an imported file has */
	uint64_t weight;  /* its period */
	uint64_t address; /* of data, 0: none */
	uint32_t event, thread, stack, cpu;
	uint32_t leaf; /* the frame that was hit, for who makes the row: chunks do not have it */
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

/*
 * Rows come in any order, and are put into that of time; those of the same time keep theirs. At least
 * one, at most CHUNK_ROWS_MAX. Adds to @out.
 */
void chunk_encode_samples(const struct sample_row *rows, size_t count, struct buf *out,
			  struct chunk_info *ret);
void chunk_encode_counts(uint32_t counter, const struct count_row *rows, size_t count,
			 struct buf *out, struct chunk_info *ret);

/* The header alone, checked against the size. */
int chunk_peek(const void *bytes, size_t size, struct chunk_info *ret, struct err *e);

/* With the hash checked. -EBADMSG: not a chunk of this kind, or damaged. */
int chunk_decode_samples(const void *bytes, size_t size, struct sample_columns *ret, struct err *e);
int chunk_decode_counts(const void *bytes, size_t size, struct count_columns *ret, struct err *e);
void sample_columns_release(struct sample_columns *c);
void count_columns_release(struct count_columns *c);

#endif
