/*
 * Chooses the selected rows of a block of a chunk, for the walks of table_rows.c: what a query needs of a
 * chunk (a plan), and what one thread needs to look at a block of it (a view).
 */
#ifndef TACHO_QUERY_TABLE_CHOOSE_H
#define TACHO_QUERY_TABLE_CHOOSE_H

#include "query/table_scan.h"

/* Where the values of a column come from. */
struct table_source {
	const struct table_column *column;
	size_t tag;  /* index in plan.tags */
	bool mapped; /* derived from the column with that tag alone */
	bool other;  /* derived from several columns */
	bool is_time;
};

struct table_plan {
	const struct table_query *q;
	struct table_tags tags;
	/* Of the condition, by its number of the field; others are zeros. */
	struct table_source *fields;
	struct table_source wants[TABLE_WANTS_MAX];
	size_t want_count;
	bool want_raw[TABLE_WANTS_MAX];
	bool has_other; /* at least one source has `other` set */
};

/* Plans a query. @with_times: visitors read times, so they are needed of every row. */
void table_plan_open(struct table_plan *p, const struct table_query *q,
		     const struct table_want *wants, size_t count, bool with_times);
void table_plan_close(struct table_plan *p);
/* Which results the condition may have in the chunk, by the ranges that are known of its columns. */
unsigned table_chunk_may(const struct table_plan *p, const struct table_job *j);

typedef uint64_t table_block_values[KEPT_BLOCK];

/* The block that a thread works on. */
struct table_view {
	const struct table_plan *plan;
	const struct table_job *job;
	uint32_t block, rows;       /* number of rows in the block */
	table_block_values *stored; /* decoded values, by tag */
	bool *is_stored;            /* by tag: `stored` has the values of this block */
	table_block_values *fields; /* converted values, by field of the condition */
	bool *is_field;
	table_block_values *wants;     /* derived values, or those of selected rows only */
	struct chunk_columns *columns; /* the block's columns, for sources with `other` set */
	struct predicate_scratch *scratch;
	bool keep[KEPT_BLOCK];
	uint16_t place[KEPT_BLOCK];
};

struct table_view *table_view_new(const struct table_plan *p);
void table_view_free(struct table_view *v);
/* Goes to a block of a chunk whose columns are decoded. */
void table_view_move(struct table_view *v, const struct table_job *j, uint32_t block);
/* Values of all rows of the block, by number of the tag. */
const uint64_t *table_stored_values(struct table_view *v, size_t tag);
/* The same of a column; derived ones are written to @room. */
const uint64_t *table_source_values(struct table_view *v, const struct table_source *s,
				    uint64_t *room);
/* Chooses rows of the block and returns how many. Their places are v->place, unless all are chosen: then
 * *ret_all is true. @tested: the condition may fail for some. */
size_t table_choose(struct table_view *v, bool tested, bool *ret_all);

#endif
