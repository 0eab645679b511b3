/*
 * Samples of a chunk as they are kept in memory: a third of their size when decoded, and many times
 * faster to look at than the stored bytes. Most samples of a chunk have event, thread and CPU in
 * common with others, so each row has the number of such a kind; times are counted from the first of a
 * block. Pure; what was made does not change.
 */
#ifndef TACHO_SERVER_RUN_ROWS_H
#define TACHO_SERVER_RUN_ROWS_H

#include "profile/chunk.h"

#include <stdbool.h>

#define RUN_ROWS_BLOCK 1024u /* rows that are looked at in one go */

struct run_rows;

/* Events and threads that the run does not have become number 0. */
struct run_rows *run_rows_make(const struct sample_columns *c, uint32_t events, uint32_t threads);
void run_rows_free(struct run_rows *r);
size_t run_rows_bytes(const struct run_rows *r);

/* Room for a block of rows in columns. */
struct row_block {
	struct sample_columns columns;
	uint64_t time_ns[RUN_ROWS_BLOCK], weight[RUN_ROWS_BLOCK];
	uint32_t event[RUN_ROWS_BLOCK], thread[RUN_ROWS_BLOCK], cpu[RUN_ROWS_BLOCK];
};

/* First row at or behind a time. */
size_t run_rows_at(const struct run_rows *r, uint64_t ns);
/* From row @from on, up to the end of its block or @to: in @b->columns, which is valid as long as
 * both are. Gives how many. */
size_t run_rows_block(const struct run_rows *r, size_t from, size_t to, struct row_block *b);

#endif
