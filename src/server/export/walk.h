/*
 * Rows of a run's chunks in order of time: the one walk that samples, counters and tables of all
 * downloads are read by. Chunks of a run overlap, those of hundreds of tables all do: a chunk is
 * opened when the walk comes to its first row, and a heap by time holds the open ones. So memory
 * grows with the chunks that overlap, not with the run.
 *
 * Returns -ESTALE if chunks were merged meanwhile, as everything in export/run.h.
 */
#ifndef TACHO_SERVER_EXPORT_WALK_H
#define TACHO_SERVER_EXPORT_WALK_H

#include "profile/chunk.h"
#include "server/export/run.h"

struct export_walk {
	struct chunk_query which; /* its time is set by the walk, from the selection */
	const uint32_t *tags;     /* columns that the visitor reads, ended by 0 */
	bool any_thread;          /* only the time of the selection limits rows */
};

/* A row, valid until the visitor returns. */
struct export_row {
	const struct chunk_info *info;
	uint64_t time_ns;
	const uint64_t *const *values; /* by number in export_walk.tags; NULL: 0 in all rows */
	size_t at;
};

static inline uint64_t export_value(const struct export_row *row, size_t n)
{
	return row->values[n] ? row->values[n][row->at] : 0;
}

/* Visits the selected rows. Rows of the same time come by partition, then as they were stored. A
 * result other than 0 stops the walk and is returned. */
typedef int export_visit(void *ctx, const struct export_row *row);
int export_walk(struct export_run *x, const struct export_walk *how, export_visit *visit, void *ctx,
		struct err *e);

/* Lists chunks of @which that touch the window, by their first time. */
int export_chunks(struct export_run *x, struct chunk_query which, stored_chunks *ret,
		  struct err *e);

#endif
