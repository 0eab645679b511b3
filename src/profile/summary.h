/*
 * What a large chunk says of itself, so that questions about a window read summaries and decode only
 * the chunks at its edges. The store keeps it beside the chunk.
 *
 * Rows that are samples: a histogram, how many samples and how much weight each (event, thread, stack)
 * has. Counts: blocks of SUMMARY_BLOCK_ROWS values with least, largest, sum and time. Other tables: the
 * least and the largest number of each column. Spans have levels of lanes (profile/lanes.h) beside that:
 * then the summary has several parts, see summary_part().
 * Pure functions; bytes are not trusted.
 */
#ifndef TACHO_PROFILE_SUMMARY_H
#define TACHO_PROFILE_SUMMARY_H

#include "base/vec.h"
#include "profile/chunk.h"

#define SUMMARY_BLOCK_ROWS 64u

/* Sorted by event, thread, stack. */
struct histogram {
	size_t len;
	uint32_t *event, *thread, *stack, *samples;
	uint64_t *weight;
	void *memory;
};

struct count_block {
	uint64_t first_ns, last_ns; /* the beginning of its first interval, the end of its last */
	uint64_t min, max, sum;     /* of values */
	double min_rate, max_rate;  /* of values a second */
	uint64_t duration_ns;       /* of all its intervals together: gaps are not counted */
	uint32_t rows;
	uint32_t least_ppm; /* the smallest running_ppm */
};

typedef VEC(struct count_block) count_blocks;

void histogram_make(const struct sample_columns *c, struct histogram *ret);
void histogram_encode(const struct histogram *h, struct buf *out);
int histogram_decode(const void *bytes, size_t size, struct histogram *ret, struct err *e);
void histogram_release(struct histogram *h);

void count_blocks_make(const struct count_columns *c, count_blocks *ret);
void count_blocks_encode(const count_blocks *b, struct buf *out);
int count_blocks_decode(const void *bytes, size_t size, count_blocks *ret, struct err *e);

/* Tag, least and largest number of each column. */
void column_ranges_encode(const struct chunk_columns *c, struct buf *out);

struct chunk_piece {
	const void *bytes;
	size_t size;
};

/*
 * The @n-th part of a summary that has these four letters (profile/packed.h). A summary of one part is that
 * part. Returns false if there is none; a part that is found is not looked into.
 */
bool summary_part(const void *bytes, size_t size, const char *what, size_t n,
		  struct chunk_piece *ret);

/* The summary of a chunk of any table. */
int chunk_summarize(const struct chunk_piece *chunk, struct buf *ret_summary, struct err *e);

/*
 * Small chunks of one table (and one partition of it) become one, in the present version of chunks. All
 * of them together have at most CHUNK_ROWS_MAX rows; times may overlap. Columns that are unknown here
 * are kept. -E2BIG: together they are larger than a chunk may be; -EINVAL: they cannot become one.
 */
int chunks_merge(const struct chunk_piece *pieces, size_t count, struct buf *ret_chunk,
		 struct chunk_info *ret, struct err *e);

#endif
