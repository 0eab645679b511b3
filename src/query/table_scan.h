/*
 * Shared by the files of queries about tables: walks over the selected rows in blocks of columns, by
 * several threads. The columns that a query needs are decoded once and kept (table_kept.h), as long as
 * there is room. What a block has is dense, so that whoever adds up needs one loop for each column, and
 * nothing is called for each row.
 *
 * As with query/table.h, the run must be held.
 */
#ifndef TACHO_QUERY_TABLE_SCAN_H
#define TACHO_QUERY_TABLE_SCAN_H

#include "query/table.h"
#include "query/table_kept.h"

#define TABLE_THREADS_MAX 4u
#define TABLE_WANTS_MAX   8u

struct table_want {
	size_t column; /* of the query */
	/* Of a derived column that table_column_maps(): the values that it is derived from. */
	bool raw;
};

/* A chunk, before its rows are visited. */
struct table_part {
	uint32_t chunk, rows; /* rows that it has */
	bool whole;           /* all of them are selected */
	/* By want: what is known of the stored values; NULL: nothing, as of most derived columns. */
	const struct kept_range *ranges[TABLE_WANTS_MAX];
	struct kept_range times;
};

/* Selected rows of a block. */
struct table_block {
	uint32_t chunk, first; /* number of the block's first row in the chunk */
	size_t count;
	const uint16_t *place;                   /* of each row from the first; NULL: all rows */
	const uint64_t *values[TABLE_WANTS_MAX]; /* by want */
};

static inline uint32_t table_block_row(const struct table_block *b, size_t i)
{
	return b->first + (b->place ? b->place[i] : (uint32_t)i);
}

/* All calls may come from any thread, but from one at a time with the same number. */
struct table_scan {
	struct table_want wants[TABLE_WANTS_MAX];
	size_t count;
	unsigned threads; /* at most TABLE_THREADS_MAX; numbers are below this */
	bool backwards;   /* the last chunks first */
	/* Once for each chunk before its blocks; NULL: nothing to do. If it returns false, the rows
	 * are not visited: where ranges are known, the chunk is not even read. */
	bool (*begin)(void *ctx, unsigned thread, const struct table_part *part);
	void (*visit)(void *ctx, unsigned thread, const struct table_block *b);
	void *ctx;
};

/* Threads that a scan of many rows is worth. */
unsigned table_threads(void);
int table_scan(const struct table_query *q, const struct table_scan *scan, struct err *e);

/* ---- columns: table.c ---- */

/* Whether the values of a derived column depend on the value that it is derived from alone. */
bool table_column_maps(const struct table_column *c);
/* Derives @count values from raw ones. */
void table_derive(const struct table_query *q, const struct table_column *c, const uint64_t *raw,
		  size_t count, uint64_t *ret);

/* Numbers of texts of a column are below this; 0 is one, even if there are none. */
size_t table_text_limit(const struct table_query *q, const struct table_column *c);

/* ---- reading: table_read.c ---- */

/* Tags of stored columns that a query needs. */
struct table_tags {
	uint32_t *tags;
	bool *at_edges; /* needed only where the window ends within a chunk */
	size_t count;
};

/* A chunk to be visited, with its columns by number of the tag. */
struct table_job {
	uint32_t chunk;
	bool edge; /* not all of its rows are in the window */
	bool read; /* its bytes were read, as columns are missing */
	struct buf bytes;
	struct kept_column **columns; /* NULL: not needed, or not there yet */
	struct kept_column **own;     /* those that are freed with the job */
	struct err e;
	int rc;
};

void table_tags_add(struct table_tags *t, uint32_t tag, bool at_edges);
void table_tags_release(struct table_tags *t);
/* The number of a tag; the tag must be there. */
size_t table_tags_find(const struct table_tags *t, uint32_t tag);

/* Whether the query may be about rows of the chunk. */
bool table_touches(const struct table_query *q, const struct run_chunk *c);
/* Looks for kept columns, which may have ranges only. */
void table_job_open(const struct table_query *q, const struct table_tags *t, uint32_t chunk,
		    struct table_job *j);
/* Reads the chunk's bytes if values of needed columns are missing. */
int table_job_read(const struct table_query *q, const struct table_tags *t, struct table_job *j,
		   struct err *e);
/* Decodes and keeps missing columns. Any thread. Result and error are those of the job, too. */
int table_job_decode(const struct table_query *q, const struct table_tags *t, struct table_job *j);
/* The result of table_job_decode() with its sentence, which names run and chunk. The thread of q->s. */
int table_job_error(const struct table_query *q, const struct table_job *j, struct err *e);
void table_job_release(struct table_job *j, const struct table_tags *t);

#endif
