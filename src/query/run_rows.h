/*
 * Samples of a chunk as they are kept in memory: a third of the size of decoded columns, and many
 * times faster to read than the stored bytes. A kind is a combination of event, thread and CPU,
 * which most samples share with others: each row has the number of its kind. Times are relative to
 * the first row of a block. Pure; a struct run_rows does not change once it was made.
 */
#ifndef TACHO_QUERY_RUN_ROWS_H
#define TACHO_QUERY_RUN_ROWS_H

#include "profile/chunk.h"

#include <stdbool.h>

#define RUN_ROWS_BLOCK 1024u /* rows in a block */

struct run_rows;

/* Event and thread numbers that the run does not have become 0. c->stack may be NULL: there are none. */
struct run_rows *run_rows_make(const struct sample_columns *c, uint32_t events, uint32_t threads);
void run_rows_free(struct run_rows *r);
size_t run_rows_bytes(const struct run_rows *r);

/* What rows of a kind have in common. */
struct row_kind {
	uint32_t event, thread, cpu;
	uint64_t weight; /* of each row of the kind, if all have the same */
};

/* Whether rows of one kind may have different weights. */
bool run_rows_weights_differ(const struct run_rows *r);
/* Sets *ret to all kinds and returns their number. */
size_t run_rows_kinds(const struct run_rows *r, const struct row_kind **ret);

/* Columns to fill in; stacks and addresses are always filled in. */
#define ROWS_TIME   1u
#define ROWS_WEIGHT 2u
#define ROWS_KIND   4u /* event, thread, CPU */

/* Room for a block of rows in columns. */
struct row_block {
	struct sample_columns columns;
	uint64_t time_ns[RUN_ROWS_BLOCK], weight[RUN_ROWS_BLOCK], address[RUN_ROWS_BLOCK];
	uint32_t event[RUN_ROWS_BLOCK], thread[RUN_ROWS_BLOCK], cpu[RUN_ROWS_BLOCK];
	uint32_t stack[RUN_ROWS_BLOCK];
	uint16_t place[RUN_ROWS_BLOCK]; /* offset of each chosen row from the first one read */
};

/* Index of the first row at or after a time. */
size_t run_rows_at(const struct run_rows *r, uint64_t ns);
/*
 * Reads rows from @from up to the end of its block or @to, and puts those of @wanted kinds (NULL:
 * all) into @b->columns, which is valid as long as @b. Returns how many rows were read.
 */
size_t run_rows_block(const struct run_rows *r, size_t from, size_t to, const bool *wanted,
		      unsigned columns, struct row_block *b);

/* ---- rows as they lie in memory, for who adds up many of them ---- */

/* Numbers of all rows: one of both is set, or none if they are all 0. */
struct run_numbers {
	uint32_t *narrow;
	uint64_t *wide;
};

static inline uint64_t run_number(const struct run_numbers *n, size_t row)
{
	return n->narrow ? n->narrow[row] : n->wide ? n->wide[row] : 0;
}

struct run_rows_view {
	const uint64_t *base_ns;   /* of each block, if offset_ns is set */
	const uint32_t *offset_ns; /* NULL: see time_ns */
	const uint64_t *time_ns;
	const uint16_t *kind;
	bool weights_differ; /* within a kind; else see the weights of kinds */
	struct run_numbers weight;
	struct run_numbers address;
};

struct run_rows_view run_rows_view(const struct run_rows *r);

/* ---- sums by kind, which are faster still ---- */

/* Sum over the rows of a kind. */
struct kind_sum {
	const struct row_kind *kind;
	uint64_t samples, weight, first_ns, last_ns;
};

/* Memory for run_rows_sum(), zeroed at first; keep it if there are many calls. */
struct kind_scratch {
	struct kind_place {
		uint32_t samples, first, last;
		uint64_t weight;
	} * places;
	uint16_t *touched;
	size_t len;
};

uint64_t run_rows_time(const struct run_rows *r, size_t row);
/* Sums rows [@from, @to): calls @add for each kind among them that is @wanted (NULL: all). */
void run_rows_sum(const struct run_rows *r, size_t from, size_t to, const bool *wanted,
		  struct kind_scratch *scratch, void (*add)(void *ctx, const struct kind_sum *sum),
		  void *ctx);
void kind_scratch_release(struct kind_scratch *s);

#endif
