/* Cells of one lane, and the levels of cells of a chunk. */
#include "profile/lanes.h"

#include <string.h>

/* ---- adding up spans ---- */

/* A span over at most this many cells is added to each of them; longer ones go into the tree. */
#define FEW_CELLS 8u

static const struct lane_span no_span = {0, UINT64_MAX, UINT64_MAX};

void lane_sum_init(struct lane_sum *l, unsigned shift, uint64_t first, size_t len)
{
	*l = (struct lane_sum){.shift = shift, .first = first, .len = len};
	l->cells = xrealloc(NULL, len + 1, sizeof(*l->cells));
	for (size_t i = 0; i < len; i++)
		l->cells[i] = (struct lane_cell){.longest = no_span};
}

void lane_sum_release(struct lane_sum *l)
{
	free(l->cells);
	free(l->full);
	free(l->tree);
	*l = (struct lane_sum){};
}

static void offer(struct lane_span *to, const struct lane_span *s)
{
	if (lane_span_is_longer(s, to))
		*to = *s;
}

/* Adds a span that fully covers the cells [@at, @end). */
static void add_full(struct lane_sum *l, size_t at, size_t end, const struct lane_span *s)
{
	if (!l->tree) {
		l->full = xcalloc(l->len + 1, sizeof(*l->full));
		l->tree = xrealloc(NULL, 2 * l->len, sizeof(*l->tree));
		for (size_t i = 0; i < 2 * l->len; i++)
			l->tree[i] = no_span;
	}
	l->full[at]++;
	l->full[end]--;
	for (at += l->len, end += l->len; at < end; at /= 2, end /= 2) {
		if (at & 1)
			offer(&l->tree[at++], s);
		if (end & 1)
			offer(&l->tree[--end], s);
	}
}

static void add_part(struct lane_sum *l, size_t at, uint64_t cell, const struct lane_span *s)
{
	uint64_t first = cell << l->shift, last = first + ((1ull << l->shift) - 1);
	uint64_t end = lane_last_ns(s);
	struct lane_cell *c = &l->cells[at];

	if (s->duration_ns) {
		first = s->start_ns > first ? s->start_ns : first;
		last = end < last ? end : last;
		c->covered_ns = lane_add_ns(c->covered_ns, last - first);
		c->covered_ns = lane_add_ns(c->covered_ns, 1);
	}
	offer(&c->longest, s);
}

/* Adds a span that lies in the cells @cell to @last on the clock; @at is the index of the first. */
static void add_at(struct lane_sum *l, size_t at, uint64_t cell, uint64_t last,
		   const struct lane_span *s)
{
	size_t count = (size_t)(last - cell) + 1;

	if (cell == s->start_ns >> l->shift)
		l->cells[at].starts++;
	if (count <= FEW_CELLS) {
		for (size_t i = 0; i < count; i++)
			add_part(l, at + i, cell + i, s);
		return;
	}
	add_part(l, at, cell, s);
	add_part(l, at + count - 1, last, s);
	add_full(l, at + 1, at + count - 1, s);
}

void lane_sum_add_cells(struct lane_sum *l, const struct lane_span *s, uint64_t cell, uint64_t last)
{
	if (cell < l->first)
		cell = l->first;
	if (last >= l->first && last - l->first >= l->len)
		last = l->first + l->len - 1;
	if (cell <= last && last >= l->first)
		add_at(l, (size_t)(cell - l->first), cell, last, s);
}

static uint64_t times_ns(uint64_t count, unsigned shift)
{
	return count && count > UINT64_MAX >> shift ? UINT64_MAX : count << shift;
}

void lane_sum_finish(struct lane_sum *l)
{
	uint32_t full = 0;

	if (!l->tree)
		return;
	for (size_t i = 1; i < l->len; i++) {
		offer(&l->tree[2 * i], &l->tree[i]);
		offer(&l->tree[2 * i + 1], &l->tree[i]);
	}
	for (size_t i = 0; i < l->len; i++) {
		struct lane_cell *c = &l->cells[i];

		full += l->full[i];
		c->covered_ns = lane_add_ns(c->covered_ns, times_ns(full, l->shift));
		offer(&c->longest, &l->tree[l->len + i]);
	}
}

/* ---- rows by lane ---- */

bool lane_columns_find(const struct chunk_columns *c, enum lanes_by by, struct lane_columns *ret)
{
	static const uint32_t lane_tags[] = {[LANES_CPU] = TAG_CPU, [LANES_THREAD] = TAG_THREAD};
	const uint32_t key_tags[] = {TAG_KEY,
				     lane_tags[by == LANES_CPU ? LANES_THREAD : LANES_CPU]};

	*ret = (struct lane_columns){
		.start_ns = c->columns[0].values,
		.end_ns = chunk_column(c, TAG_END),
		.lane = chunk_column(c, lane_tags[by]),
	};
	for (size_t i = 0; i < ARRAY_LEN(key_tags) && !ret->key; i++) {
		ret->key = chunk_column(c, key_tags[i]);
		ret->key_tag = ret->key ? key_tags[i] : 0;
	}
	return ret->end_ns && ret->lane;
}

/* The rows of a chunk, sorted by lane and then by start. */
struct lane_rows {
	struct lane_columns from;
	size_t count;
	uint64_t *order; /* lane << 32 | row */
};

/* One pass of a radix sort, by one byte. Returns false, without a pass, if it is the same in all. */
static bool sort_by_byte(const uint64_t *from, uint64_t *to, size_t count, unsigned shift)
{
	uint32_t starts[257] = {};

	for (size_t i = 0; i < count; i++)
		starts[1 + (from[i] >> shift & 0xff)]++;
	for (unsigned i = 1; i <= 256; i++) {
		if (starts[i] == count)
			return false;
		starts[i] += starts[i - 1];
	}
	for (size_t i = 0; i < count; i++)
		to[starts[from[i] >> shift & 0xff]++] = from[i];
	return true;
}

static void rows_by_lane(struct lane_rows *r)
{
	uint64_t *spare = xrealloc(NULL, r->count, sizeof(*spare));

	r->order = xrealloc(NULL, r->count, sizeof(*r->order));
	for (size_t i = 0; i < r->count; i++)
		r->order[i] = (uint64_t)lane_number(r->from.lane[i]) << 32 | i;
	for (unsigned shift = 32; shift < 64; shift += 8)
		if (sort_by_byte(r->order, spare, r->count, shift)) {
			uint64_t *swap = r->order;

			r->order = spare;
			spare = swap;
		}
	free(spare);
}

static uint32_t lane_of(const struct lane_rows *r, size_t i)
{
	return (uint32_t)(r->order[i] >> 32);
}

static struct lane_span span_at(const struct lane_rows *r, size_t i)
{
	uint32_t row = (uint32_t)r->order[i];
	uint64_t start_ns = r->from.start_ns[row], end_ns = r->from.end_ns[row];

	return (struct lane_span){end_ns > start_ns ? end_ns - start_ns : 0, start_ns,
				  r->from.key ? lane_key(r->from.key_tag, r->from.key[row]) : 0};
}

/* ---- the finest level ---- */

/* Iterates over the cells of a lane that at least one span touches. One pass over the spans is enough,
 * because their starts ascend. */
struct touched {
	uint64_t last; /* the last cell touched so far */
	bool any;
};

/* Returns the number of cells that no earlier span has touched; *ret_first is the first of them. */
static uint64_t touch(struct touched *t, const struct lane_span *s, unsigned shift,
		      uint64_t *ret_first)
{
	uint64_t first = s->start_ns >> shift, last = lane_last_ns(s) >> shift;

	if (t->any && last <= t->last)
		return 0;
	*ret_first = t->any && first <= t->last ? t->last + 1 : first;
	t->last = last;
	t->any = true;
	return last - *ret_first == UINT64_MAX ? UINT64_MAX : last - *ret_first + 1;
}

static bool fits(const struct lane_rows *r, unsigned shift, size_t limit, uint64_t last_ns)
{
	struct touched t = {};
	uint64_t cells = 0, first, more;

	if ((last_ns >> shift) - (r->from.start_ns[0] >> shift) > UINT32_MAX)
		return false;
	for (size_t i = 0; i < r->count; i++) {
		struct lane_span s = span_at(r, i);

		if (i && lane_of(r, i) != lane_of(r, i - 1))
			t = (struct touched){};
		more = touch(&t, &s, shift, &first);
		if (more > limit - cells)
			return false;
		cells += more;
	}
	return true;
}

/* Returns the smallest shift with at most @limit cells, or 64 if every shift has more. */
static unsigned choose_shift(const struct lane_rows *r, size_t limit)
{
	unsigned low = 0, high = 64;
	uint64_t last_ns = 0;

	for (size_t i = 0; i < r->count; i++) {
		struct lane_span s = span_at(r, i);

		last_ns = lane_last_ns(&s) > last_ns ? lane_last_ns(&s) : last_ns;
	}
	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (fits(r, middle, limit, last_ns))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static size_t most_cells(const struct lane_rows *r)
{
	size_t lanes = 1, cells;

	for (size_t i = 1; i < r->count; i++)
		lanes += lane_of(r, i) != lane_of(r, i - 1);
	cells = lanes * LANES_CELLS;
	if (cells < r->count / LANES_CELL_ROWS_MOST)
		cells = r->count / LANES_CELL_ROWS_MOST;
	return cells < r->count / LANES_CELL_ROWS ? cells : r->count / LANES_CELL_ROWS;
}

typedef VEC(struct lane_cell) cell_list;
typedef VEC(uint32_t) number_list;

/*
 * Sums up the rows [@from, @to), which belong to one lane. Only touched cells are allocated. The cells that
 * one span touches are consecutive in the allocation, so only the index of the first one is looked up.
 */
static void sum_lane(const struct lane_rows *r, size_t from, size_t to, struct lane_level *level,
		     cell_list *cells)
{
	VEC(uint64_t) numbers = {};
	struct touched t = {};
	struct lane_sum sum;
	size_t at = 0;

	for (size_t i = from; i < to; i++) {
		struct lane_span s = span_at(r, i);
		uint64_t first, count = touch(&t, &s, level->shift, &first);

		for (uint64_t n = 0; n < count; n++)
			vec_push(&numbers, first + n);
	}
	lane_sum_init(&sum, level->shift, 0, numbers.len);
	for (size_t i = from; i < to; i++) {
		struct lane_span s = span_at(r, i);
		uint64_t first = s.start_ns >> level->shift;

		while (numbers.items[at] < first)
			at++;
		add_at(&sum, at, first, lane_last_ns(&s) >> level->shift, &s);
	}
	lane_sum_finish(&sum);
	for (size_t i = 0; i < numbers.len; i++) {
		sum.cells[i].cell = (uint32_t)(numbers.items[i] - level->first);
		vec_push(cells, sum.cells[i]);
	}
	lane_sum_release(&sum);
	vec_release(&numbers);
}

static void take_lists(struct lane_level *l, number_list *lanes, number_list *begin,
		       cell_list *cells)
{
	l->lane_count = lanes->len;
	l->cell_count = cells->len;
	vec_push(begin, (uint32_t)cells->len);
	l->lanes = lanes->items;
	l->begin = begin->items;
	l->cells = cells->items;
}

static void make_finest(const struct lane_rows *r, struct lane_level *level)
{
	number_list lanes = {}, begin = {};
	cell_list cells = {};

	level->first = r->from.start_ns[0] >> level->shift;
	for (size_t from = 0, to; from < r->count; from = to) {
		for (to = from; to < r->count && lane_of(r, to) == lane_of(r, from); to++)
			;
		vec_push(&lanes, lane_of(r, from));
		vec_push(&begin, (uint32_t)cells.len);
		sum_lane(r, from, to, level, &cells);
	}
	take_lists(level, &lanes, &begin, &cells);
}

/* ---- coarser levels ---- */

static void make_coarser(const struct lane_level *from, struct lane_level *to)
{
	number_list lanes = {}, begin = {};
	cell_list cells = {};

	*to = *from;
	to->shift = from->shift + LANES_STEP;
	to->first = from->first >> LANES_STEP;
	for (size_t lane = 0; lane < from->lane_count; lane++) {
		size_t before = cells.len;

		vec_push(&lanes, from->lanes[lane]);
		vec_push(&begin, (uint32_t)before);
		for (size_t i = from->begin[lane]; i < from->begin[lane + 1]; i++) {
			struct lane_cell cell = from->cells[i];

			cell.cell =
				(uint32_t)(((from->first + cell.cell) >> LANES_STEP) - to->first);
			if (cells.len > before && cells.items[cells.len - 1].cell == cell.cell)
				lane_cell_merge(&cells.items[cells.len - 1], &cell);
			else
				vec_push(&cells, cell);
		}
	}
	take_lists(to, &lanes, &begin, &cells);
}

/* Whether a level has so few cells that a coarser one is not worth it. */
static bool is_coarse(const struct lane_level *l)
{
	return l->cell_count <= 128 || l->cell_count <= 2 * l->lane_count ||
	       l->shift + LANES_STEP > 63;
}

size_t lane_levels_make(const struct chunk_columns *c, enum lanes_by by,
			struct lane_level ret[LANES_LEVELS_MAX])
{
	struct lane_rows r = {.count = c->rows};
	size_t count = 0;

	if (c->rows < LANES_ROWS_MIN || !lane_columns_find(c, by, &r.from))
		return 0;
	rows_by_lane(&r);
	ret[0] = (struct lane_level){.by = by, .key = r.from.key_tag};
	ret[0].shift = choose_shift(&r, most_cells(&r));
	if (ret[0].shift < 64)
		make_finest(&r, &ret[count++]);
	for (; count && count < LANES_LEVELS_MAX && !is_coarse(&ret[count - 1]); count++)
		make_coarser(&ret[count - 1], &ret[count]);
	free(r.order);
	return count;
}

void lane_level_release(struct lane_level *l)
{
	free(l->lanes);
	free(l->begin);
	free(l->cells);
	*l = (struct lane_level){};
}

size_t lane_level_bytes(const struct lane_level *l)
{
	return sizeof(*l) + (2 * l->lane_count + 1) * sizeof(uint32_t) +
	       l->cell_count * sizeof(*l->cells);
}
