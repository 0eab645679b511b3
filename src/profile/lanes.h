/*
 * Lanes: what the spans of a table were doing, cell by cell of time, for each CPU or thread. A cell is
 * 2^shift ns wide and begins at a multiple of that on the clock of the run. So cells of all chunks and
 * all widths fit into each other, and coarse cells made from fine ones are exact.
 *
 * Small levels of cells are part of the summary of a chunk of spans (profile/summary.h): a drawing of
 * a long time reads those instead of rows. Pure functions; bytes are not trusted.
 */
#ifndef TACHO_PROFILE_LANES_H
#define TACHO_PROFILE_LANES_H

#include "base/vec.h"
#include "profile/schema.h"
#include "profile/chunk.h"

enum lanes_by {
	LANES_CPU,
	LANES_THREAD,
	LANES_BY_COUNT,
};

/* Spans are compared by their duration, then by the least start, then by the least key: a total order,
 * so that it does not matter in which order cells are merged. */
struct lane_span {
	uint64_t duration_ns, start_ns, key;
};

/* At least one span touches a cell that exists: covered_ns or starts is not 0. */
struct lane_cell {
	uint64_t
		covered_ns; /* overlap of all spans with the cell added up; UINT64_MAX: so long or longer */
	struct lane_span longest; /* of those that touch it */
	uint32_t starts;          /* spans that start in it */
	uint32_t cell;            /* number, from the first one of the level or the drawing */
};

static inline bool lane_span_is_longer(const struct lane_span *a, const struct lane_span *b)
{
	if (a->duration_ns != b->duration_ns)
		return a->duration_ns > b->duration_ns;
	return a->start_ns != b->start_ns ? a->start_ns < b->start_ns : a->key < b->key;
}

static inline uint64_t lane_add_ns(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline void lane_cell_merge(struct lane_cell *to, const struct lane_cell *from)
{
	to->covered_ns = lane_add_ns(to->covered_ns, from->covered_ns);
	to->starts += from->starts;
	if (lane_span_is_longer(&from->longest, &to->longest))
		to->longest = from->longest;
}

/* The last ns that a span lies in; of one without length that of its start. */
static inline uint64_t lane_last_ns(const struct lane_span *s)
{
	return s->start_ns + (s->duration_ns ? s->duration_ns - 1 : 0);
}

/* ---- adding up spans: cells of one lane ---- */

/* A span over many cells costs a few steps, not one for each cell. */
struct lane_sum {
	unsigned shift;
	uint64_t first; /* number of the first cell on the clock */
	size_t len;
	struct lane_cell *cells; /* `cell` is not set */
	uint32_t *full; /* by how much more spans than the cell before are all over a cell */
	struct lane_span
		*tree; /* of 2 * len: spans all over the cells below a node; NULL: none yet */
};

void lane_sum_init(struct lane_sum *l, unsigned shift, uint64_t first, size_t len);
void lane_sum_release(struct lane_sum *l);
/* Adds a span from cell @cell to @last on the clock. */
void lane_sum_add_cells(struct lane_sum *l, const struct lane_span *s, uint64_t cell,
			uint64_t last);
/* The cells are right after this; nothing may be added any more. */
void lane_sum_finish(struct lane_sum *l);

/* Parts of the span outside of the cells are left out. Most spans lie in one cell. */
static inline void lane_sum_add(struct lane_sum *l, const struct lane_span *s)
{
	uint64_t cell = s->start_ns >> l->shift, last = lane_last_ns(s) >> l->shift;
	struct lane_cell *c;

	if (cell != last || cell - l->first >= l->len) {
		lane_sum_add_cells(l, s, cell, last);
		return;
	}
	c = &l->cells[cell - l->first];
	c->starts++;
	c->covered_ns = lane_add_ns(c->covered_ns, s->duration_ns);
	if (lane_span_is_longer(s, &c->longest))
		c->longest = *s;
}

static inline bool lane_cell_exists(const struct lane_cell *c)
{
	return c->covered_ns || c->starts;
}

/* ---- levels ---- */

/*
 * The finest level of a chunk has at most LANES_CELLS cells for each lane, because that is what decides how many
 * chunks a drawing in narrower cells must decode; but not more than one for LANES_CELL_ROWS rows, which would
 * cost as much to read as rows, and one for LANES_CELL_ROWS_MOST rows in any case. Chunks of fewer than
 * LANES_ROWS_MIN rows have no levels: decoding them costs no more.
 */
#define LANES_CELLS          128u
#define LANES_CELL_ROWS      4u
#define LANES_CELL_ROWS_MOST 32u
#define LANES_ROWS_MIN       1024u
/* Each level has cells 4 times as wide as the one before. */
#define LANES_STEP       2u
#define LANES_LEVELS_MAX 8u
#define LANES_CELLS_MAX  (CHUNK_ROWS_MAX / LANES_CELL_ROWS)

struct lane_level {
	enum lanes_by by;
	uint32_t key; /* tag of the column that the keys are of, 0: of none */
	unsigned shift;
	uint64_t first; /* number of the first cell on the clock */
	size_t lane_count, cell_count;
	uint32_t *lanes;         /* CPU or thread, ascending */
	uint32_t *begin;         /* of each lane in cells; one more than there are lanes */
	struct lane_cell *cells; /* of a lane ascending by cell */
};

/* Lanes and threads that need more than 32 bits are no lanes: all of them become this one. */
static inline uint32_t lane_number(uint64_t value)
{
	return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

/* A key as it is compared and kept: CPUs and threads as the lanes of them. */
static inline uint64_t lane_key(uint32_t tag, uint64_t value)
{
	return tag == TAG_KEY ? value : lane_number(value);
}

/* Columns of @c that lanes and keys are read from; NULL: 0 in all rows. */
struct lane_columns {
	const uint64_t *start_ns, *end_ns, *lane, *key;
	uint32_t key_tag;
};

/* False if @c has no spans, or no column for such lanes. */
bool lane_columns_find(const struct chunk_columns *c, enum lanes_by by, struct lane_columns *ret);

/* Makes all levels of a chunk, the finest first. Returns how many: 0 if rows are as quick to read. */
size_t lane_levels_make(const struct chunk_columns *c, enum lanes_by by,
			struct lane_level ret[LANES_LEVELS_MAX]);
void lane_level_encode(const struct lane_level *l, struct buf *out);
int lane_level_decode(const void *bytes, size_t size, struct lane_level *ret, struct err *e);
/* by, key and shift alone. */
int lane_level_peek(const void *bytes, size_t size, struct lane_level *ret, struct err *e);
void lane_level_release(struct lane_level *l);
size_t lane_level_bytes(const struct lane_level *l);

#endif
