/*
 * Summaries of large chunks. Queries about a time window read the summaries of the chunks inside it, and
 * decode only the chunks at its edges. The store keeps a summary beside its chunk.
 *
 * The summary of samples is a histogram: number of samples and weight of each (event, thread, stack). That
 * of counts is a list of blocks of SUMMARY_BLOCK_ROWS values, each with minimum, maximum, sum and time. That
 * of other tables is the minimum and maximum of each column. Summaries of spans also have levels of lanes
 * (profile/lanes.h) and therefore several parts: see summary_part().
 * Pure functions; encoded bytes are not trusted.
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
	uint64_t first_ns, last_ns; /* start of the first interval, end of the last */
	uint64_t min, max, sum;     /* of the values */
	double min_rate, max_rate;  /* of the values per second */
	uint64_t duration_ns;       /* sum over the intervals, without the gaps between them */
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

/* Appends tag, minimum and maximum of each column. */
void column_ranges_encode(const struct chunk_columns *c, struct buf *out);

struct chunk_piece {
	const void *bytes;
	size_t size;
};

/*
 * Finds the @n-th part of a summary with the four letters @what (profile/packed.h). A summary of a single
 * part is that part itself. Returns false if there is none. The contents of the part are not checked.
 */
bool summary_part(const void *bytes, size_t size, const char *what, size_t n,
		  struct chunk_piece *ret);

/* Makes the summary of a chunk of any table. */
int chunk_summarize(const struct chunk_piece *chunk, struct buf *ret_summary, struct err *e);

/*
 * Merges small chunks of the same table and partition into one, of the current version. They must have at
 * most CHUNK_ROWS_MAX rows in all; their times may overlap. Columns with unknown tags are kept. Returns
 * -E2BIG if the result would be larger than a chunk may be, -EINVAL if the chunks do not belong together.
 */
int chunks_merge(const struct chunk_piece *pieces, size_t count, struct buf *ret_chunk,
		 struct chunk_info *ret, struct err *e);

#endif
