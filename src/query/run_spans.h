/*
 * Spans of a chunk as the server keeps them in memory once a question needed them: rows of about ten bytes,
 * and levels of lanes (profile/lanes.h) from its summary. Both count as rows of the cache, and are
 * decoded again by each question if there is no room for them.
 *
 * Any thread; what was kept does not change until the run is trimmed, when it has no users.
 */
#ifndef TACHO_QUERY_RUN_SPANS_H
#define TACHO_QUERY_RUN_SPANS_H

#include "profile/lanes.h"
#include "query/run_rows.h"

struct run_data;
struct run_chunk;
struct store;

/* Rows: in `rows` the weight of a span is its duration, its address the value of TAG_KEY. */
struct span_rows {
	struct run_rows *rows;
	size_t count, bytes;
	uint64_t last_ns[]; /* that a span of each block lies in */
};

struct span_rows *span_rows_make(const struct chunk_columns *c);
void span_rows_free(struct span_rows *s);

/* What is kept of a chunk; NULL: not decoded yet. */
struct run_spans {
	struct span_rows *rows;
	uint64_t rows_used; /* run_data.used of the last question that read them */
	struct kept_level {
		unsigned shift;
		uint32_t key;
		struct lane_level *level;
		uint64_t used;
	} levels[LANES_BY_COUNT][LANES_LEVELS_MAX]; /* the coarsest first */
	size_t level_count[LANES_BY_COUNT];
};

void run_spans_free(struct run_spans *s);
size_t run_spans_bytes(const struct run_spans *s);
/* Frees what was not read for the longest time until half of the room for rows is free. The run
 * must not have users. Who looks at one window after the other fills the room otherwise, and all
 * further windows are decoded each time. */
void run_spans_trim(struct run_data *d);

/* ---- chunks of a run ---- */

/* What a question wants of each chunk. */
struct spans_wanted {
	enum lanes_by by;
	uint32_t key;   /* tag of the column that keys are of */
	unsigned shift; /* the widest cells that will do; levels that are finer will, too */
	bool totals;    /* of chunks that lie in the window as a whole, any cells will do */
	bool rows_only;
};

/* One of both. Belongs to the visitor until it returns. */
struct spans_found {
	const struct lane_level *level;
	const struct span_rows *rows;
};

/*
 * Visits the chunks of @schema that have a part in [@from_ns, @last_ns]: those that are not kept are
 * decoded in parallel. A result of @visit other than 0 ends it and is returned. Returns -ESTALE if
 * chunks were merged meanwhile.
 */
typedef int (*spans_visitor)(void *ctx, const struct spans_found *found);
int run_spans_each(struct run_data *d, struct store *s, uint32_t schema, uint64_t from_ns,
		   uint64_t last_ns, const struct spans_wanted *wanted, spans_visitor visit,
		   void *ctx, struct err *e);

#endif
