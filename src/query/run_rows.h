/*
 * Samples of a chunk as they are kept in memory: a third of their size when decoded, and many times
 * faster to look at than the stored bytes. Most samples of a chunk have event, thread and CPU in
 * common with others, so each row has the number of such a kind; times are counted from the first of a
 * block. Pure; what was made does not change.
 */
#ifndef TACHO_QUERY_RUN_ROWS_H
#define TACHO_QUERY_RUN_ROWS_H

#include "profile/chunk.h"

#include <stdbool.h>

#define RUN_ROWS_BLOCK 1024u /* rows that are looked at in one go */

struct run_rows;

/* Events and threads that the run does not have become number 0. */
struct run_rows *run_rows_make(const struct sample_columns *c, uint32_t events, uint32_t threads);
void run_rows_free(struct run_rows *r);
size_t run_rows_bytes(const struct run_rows *r);

/* What rows of a kind have in common. */
struct row_kind {
	uint32_t event, thread, cpu;
	uint64_t weight; /* of each of its rows, if that is always the same */
};

/* Whether rows of one kind may have different weights. */
bool run_rows_weights_differ(const struct run_rows *r);
/* All kinds that there are; gives how many. */
size_t run_rows_kinds(const struct run_rows *r, const struct row_kind **ret);

/* Columns that are asked for; stacks and addresses are always there. */
#define ROWS_TIME   1u
#define ROWS_WEIGHT 2u
#define ROWS_KIND   4u /* event, thread, CPU */

/* Room for a block of rows in columns. */
struct row_block {
	struct sample_columns columns;
	uint64_t time_ns[RUN_ROWS_BLOCK], weight[RUN_ROWS_BLOCK], address[RUN_ROWS_BLOCK];
	uint32_t event[RUN_ROWS_BLOCK], thread[RUN_ROWS_BLOCK], cpu[RUN_ROWS_BLOCK];
	uint32_t stack[RUN_ROWS_BLOCK];
	uint16_t place[RUN_ROWS_BLOCK]; /* of a row in the block that it is of */
};

/* First row at or behind a time. */
size_t run_rows_at(const struct run_rows *r, uint64_t ns);
/*
 * Rows from @from on, up to the end of its block or @to: those of kinds that are @wanted (NULL: all)
 * are in @b->columns, which is valid as long as both are. Gives how many were looked at.
 */
size_t run_rows_block(const struct run_rows *r, size_t from, size_t to, const bool *wanted,
		      unsigned columns, struct row_block *b);

/* ---- by kind, which is faster still ---- */

/* What the rows of a kind come to. */
struct kind_sum {
	const struct row_kind *kind;
	uint64_t samples, weight, first_ns, last_ns;
};

/* All 0; whoever sums often keeps it. */
struct kind_scratch {
	struct kind_place {
		uint32_t samples, first, last;
		uint64_t weight;
	} * places;
	uint16_t *touched;
	size_t len;
};

uint64_t run_rows_time(const struct run_rows *r, size_t row);
/* Rows [@from, @to), a sum for each kind that is among them and @wanted (NULL: all). */
void run_rows_sum(const struct run_rows *r, size_t from, size_t to, const bool *wanted,
		  struct kind_scratch *scratch, void (*add)(void *ctx, const struct kind_sum *sum),
		  void *ctx);
void kind_scratch_release(struct kind_scratch *s);

#endif
