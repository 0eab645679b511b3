/*
 * Lanes: the spans of one CPU or thread, summed up in cells of time. A cell is 2^shift ns wide and begins
 * at a multiple of its width on the clock of the run. Therefore cells of all chunks and widths are aligned,
 * and coarse cells merged from fine ones are exact.
 *
 * The summary of a chunk of spans (profile/summary.h) contains levels: the cells of all its lanes at several
 * widths. A drawing of a long time reads levels instead of rows. Pure functions; encoded bytes are not
 * trusted.
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

/* The longest span of a cell. Of spans of equal duration the one with the earliest start wins, then the one
 * with the smallest key: a total order, so the result does not depend on the order of merging. */
struct lane_span {
	uint64_t duration_ns, start_ns, key;
};

/* A cell exists if a span touches it: then covered_ns or starts is not 0. */
struct lane_cell {
	uint64_t
		covered_ns; /* sum of the overlaps of all spans with the cell; saturates at UINT64_MAX */
	struct lane_span longest; /* of the spans that touch the cell */
	uint32_t starts;          /* spans that start in the cell */
	uint32_t cell;            /* number, counted from the first cell of the level or drawing */
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

/* Returns the last ns that a span covers, or its start if its duration is 0. */
static inline uint64_t lane_last_ns(const struct lane_span *s)
{
	return s->start_ns + (s->duration_ns ? s->duration_ns - 1 : 0);
}

/* ---- adding up spans: cells of one lane ---- */

/* Adding a span costs O(log len), however many cells it covers. */
struct lane_sum {
	unsigned shift;
	uint64_t first; /* number of the first cell on the clock */
	size_t len;
	struct lane_cell *cells; /* `cell` is not set */
	uint32_t *full; /* spans that fully cover a cell, minus those of the previous cell */
	/* 2 * len nodes with the longest span that covers all cells below; NULL: no such span. */
	struct lane_span *tree;
};

void lane_sum_init(struct lane_sum *l, unsigned shift, uint64_t first, size_t len);
void lane_sum_release(struct lane_sum *l);
/* Adds a span that lies in the cells @cell to @last, as numbered on the clock. */
void lane_sum_add_cells(struct lane_sum *l, const struct lane_span *s, uint64_t cell,
			uint64_t last);
/* Completes the cells. Add no spans afterwards. */
void lane_sum_finish(struct lane_sum *l);

/* Adds a span; parts of it outside of the cells are ignored. Optimised for spans within one cell. */
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
 * The finest level of a chunk has up to LANES_CELLS cells per lane: the finer it is, the fewer drawings need
 * to decode the rows. In any case it may have one cell per LANES_CELL_ROWS_MOST rows, and never more than one
 * per LANES_CELL_ROWS rows, because reading those would cost as much as reading the rows. Chunks of fewer
 * than LANES_ROWS_MIN rows have no levels: decoding their rows costs no more.
 */
#define LANES_CELLS          128u
#define LANES_CELL_ROWS      4u
#define LANES_CELL_ROWS_MOST 32u
#define LANES_ROWS_MIN       1024u
/* Cells of a level are 2^LANES_STEP times as wide as those of the previous level. */
#define LANES_STEP       2u
#define LANES_LEVELS_MAX 8u
#define LANES_CELLS_MAX  (CHUNK_ROWS_MAX / LANES_CELL_ROWS)

struct lane_level {
	enum lanes_by by;
	uint32_t key; /* tag of the column that keys are taken from; 0: no keys */
	unsigned shift;
	uint64_t first; /* number of the first cell on the clock */
	size_t lane_count, cell_count;
	uint32_t *lanes; /* numbers of the CPUs or threads, ascending */
	uint32_t *begin; /* index of the first cell of each lane, and the end: lane_count + 1 */
	struct lane_cell *cells; /* lane by lane, ascending by cell */
};

/* Returns the lane of a CPU or thread. Damaged data may have larger numbers: these share lane UINT32_MAX. */
static inline uint32_t lane_number(uint64_t value)
{
	return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

/* Returns a key in the form in which it is compared and stored. CPUs and threads are mapped as lanes are. */
static inline uint64_t lane_key(uint32_t tag, uint64_t value)
{
	return tag == TAG_KEY ? value : lane_number(value);
}

/* Columns that lanes and keys are read from; NULL: 0 in all rows. */
struct lane_columns {
	const uint64_t *start_ns, *end_ns, *lane, *key;
	uint32_t key_tag;
};

/* Returns false if @c has no spans, or no column of the CPU or thread. */
bool lane_columns_find(const struct chunk_columns *c, enum lanes_by by, struct lane_columns *ret);

/* Makes all levels of a chunk, the finest first. Returns their number: 0 if levels would not pay. */
size_t lane_levels_make(const struct chunk_columns *c, enum lanes_by by,
			struct lane_level ret[LANES_LEVELS_MAX]);
void lane_level_encode(const struct lane_level *l, struct buf *out);
int lane_level_decode(const void *bytes, size_t size, struct lane_level *ret, struct err *e);
/* Decodes only by, key and shift. */
int lane_level_peek(const void *bytes, size_t size, struct lane_level *ret, struct err *e);
void lane_level_release(struct lane_level *l);
size_t lane_level_bytes(const struct lane_level *l);

#endif
