/*
 * Internal to queries about tables: scans of the selected rows, in blocks of columns, by several threads.
 * Columns that a query needs are decoded once and kept in memory (table_kept.h) as long as there is room. A
 * block has dense arrays of values, so aggregation is one loop per column without calls per row.
 *
 * As with query/table.h, the caller must hold the run.
 */
#ifndef TACHO_QUERY_TABLE_SCAN_H
#define TACHO_QUERY_TABLE_SCAN_H

#include "query/table.h"
#include "query/table_kept.h"

#define TABLE_THREADS_MAX 4u
#define TABLE_WANTS_MAX   8u

struct table_want {
	size_t column; /* index in table_query.columns */
	/* Give the stored values that a derived column is computed from; only if table_column_maps(). */
	bool raw;
};

/* A chunk that is about to be scanned. */
struct table_part {
	uint32_t chunk, rows; /* number of rows in the chunk */
	bool whole;           /* all rows are selected */
	/* By want: the range of the stored values; NULL: unknown, as for derived columns unless `raw`. */
	const struct kept_range *ranges[TABLE_WANTS_MAX];
	struct kept_range times;
};

/* The selected rows of a block. */
struct table_block {
	uint32_t chunk, first; /* number of the block's first row in the chunk */
	size_t count;
	const uint16_t *place; /* of each selected row in the block; NULL: all rows */
	const uint64_t *values[TABLE_WANTS_MAX]; /* by want: one per selected row */
};

static inline uint32_t table_block_row(const struct table_block *b, size_t i)
{
	return b->first + (b->place ? b->place[i] : (uint32_t)i);
}

/* Callbacks run on several threads; @thread is a number that no two running callbacks share. */
struct table_scan {
	struct table_want wants[TABLE_WANTS_MAX];
	size_t count;
	unsigned threads; /* at most TABLE_THREADS_MAX; thread numbers are below this */
	bool backwards;   /* latest chunks first */
	/* Called once for each chunk before its blocks; may be NULL. Return false to skip the chunk. If
	 * all ranges are known already, a skipped chunk is not even read. */
	bool (*begin)(void *ctx, unsigned thread, const struct table_part *part);
	void (*visit)(void *ctx, unsigned thread, const struct table_block *b);
	void *ctx;
};

/* Returns the number of threads for a scan of many rows. */
unsigned table_threads(void);
int table_scan(const struct table_query *q, const struct table_scan *scan, struct err *e);

/* ---- columns: table.c ---- */

/* Whether a column is derived from the values of a single stored column. */
bool table_column_maps(const struct table_column *c);
/* Derives @count values from stored ones. */
void table_derive(const struct table_query *q, const struct table_column *c, const uint64_t *raw,
		  size_t count, uint64_t *ret);

/* Returns the end of the string numbers of a text column. Number 0 is valid in any case. */
size_t table_text_limit(const struct table_query *q, const struct table_column *c);

/* ---- reading: table_read.c ---- */

/* Tags of the stored columns that a query needs. */
struct table_tags {
	uint32_t *tags;
	bool *at_edges; /* needed only for chunks at the edges of the window */
	size_t count;
};

/* A chunk to visit, with its columns by index of the tag. */
struct table_job {
	uint32_t chunk;
	bool edge; /* some of its rows may be outside of the window */
	bool read; /* its bytes were read because columns were missing */
	struct buf bytes;
	struct kept_column **columns; /* NULL: not needed, or not decoded yet */
	struct kept_column **own;     /* columns owned by the job */
	struct err e;
	int rc;
};

void table_tags_add(struct table_tags *t, uint32_t tag, bool at_edges);
void table_tags_release(struct table_tags *t);
/* Returns the index of a tag, which must exist. */
size_t table_tags_find(const struct table_tags *t, uint32_t tag);

/* Whether the chunk may have rows in the query's table and window. */
bool table_touches(const struct table_query *q, const struct run_chunk *c);
/* Begins a job with the columns kept in memory, some of which may have only their ranges. */
void table_job_open(const struct table_query *q, const struct table_tags *t, uint32_t chunk,
		    struct table_job *j);
/* Reads the chunk from the store if values of needed columns are missing. */
int table_job_read(const struct table_query *q, const struct table_tags *t, struct table_job *j,
		   struct err *e);
/* Decodes missing columns and keeps them. May run on any thread. The result is also stored in the job. */
int table_job_decode(const struct table_query *q, const struct table_tags *t, struct table_job *j);
/* The result of table_job_decode() with its sentence, which names run and chunk. The thread of q->s. */
int table_job_error(const struct table_query *q, const struct table_job *j, struct err *e);
void table_job_release(struct table_job *j, const struct table_tags *t);

#endif
