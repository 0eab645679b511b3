/*
 * Rows of a run's chunks in order of time: the walk that samples, counters and tables of all
 * downloads are read by. Chunks of a run overlap, and those of hundreds of tables all do: a chunk is
 * opened when the walk comes to its first row, and a heap by time holds the open ones. So memory
 * grows with the chunks that overlap, not with the run.
 *
 * The run need not be held: a download may take minutes. If chunks are merged meanwhile, -ESTALE is
 * returned and the caller must start again.
 */
#ifndef TACHO_QUERY_ROW_WALK_H
#define TACHO_QUERY_ROW_WALK_H

#include "profile/chunk.h"
#include "query/selection.h"

struct row_walk {
	struct store *store;
	int64_t run;
	const struct selection *sel; /* see selection_detach() */
	struct chunk_query which;    /* the walk sets its times, from the selection */
	const uint32_t *tags;        /* columns that the visitor reads, ended by 0 */
	bool any_thread;             /* only the time of the selection limits rows */
};

/* A row, valid until the visitor returns. */
struct walked_row {
	const struct chunk_info *info;
	uint64_t time_ns;
	const uint64_t *const *values; /* by number in row_walk.tags; NULL: 0 in all rows */
	size_t at;
};

static inline uint64_t walked_value(const struct walked_row *row, size_t n)
{
	return row->values[n] ? row->values[n][row->at] : 0;
}

/* Visits the selected rows. Rows of the same time come by partition, then as they were stored. A
 * result other than 0 stops the walk and is returned. */
typedef int row_visit(void *ctx, const struct walked_row *row);
int row_walk_each(const struct row_walk *w, row_visit *visit, void *ctx, struct err *e);

/* Lists the chunks that the walk would read, by their first time. */
int row_walk_chunks(const struct row_walk *w, stored_chunks *ret, struct err *e);

#endif
