/*
 * The distribution of the values of a column: as a list of values with counts, and over time.
 *
 * A column such as a duration in ns may have millions of different values. Beyond DIFFERENT_MAX values are
 * rounded, so that memory is bounded, however many rows there are.
 */
#include "query/table_scan.h"
#include "base/open_table.h"
#include "profile/slots.h"

#include <math.h>

/* When a thread has counted this many different values, it rounds them. */
#define DIFFERENT_MAX (1u << 18)
/* Rounding keeps this many bits below the highest one; the maximum error is TABLE_VALUES_ERROR. */
#define ROUND_BITS 12

_Static_assert(1u << (ROUND_BITS + 1) == TABLE_VALUES_PART, "errors are what is said");

/* If the values of a chunk span less than this, they are counted in an array. */
#define DIRECT_MAX 65536u

struct value_slot {
	uint64_t value, count; /* count 0: the slot is free */
};

struct value_tally {
	struct value_slot *slots;
	size_t mask, len;
	bool rounded;
	uint64_t count, min, max; /* min and max as table_order() */
	/* For the current chunk: counts of the values from `base`; NULL: their range is too large. */
	uint32_t *direct, *direct_room;
	uint64_t base;
	size_t direct_len;
};

struct gathering {
	const struct table_column *column;
	uint64_t seed;
	struct value_tally *tallies; /* by thread */
};

static void free_slots(struct value_tally *t)
{
	table_free(t->slots, t->slots ? t->mask + 1 : 0, sizeof(*t->slots));
	t->slots = NULL;
	t->mask = t->len = 0;
}

static bool value_home(const void *slot, uint64_t seed, uint64_t *ret_hash)
{
	const struct value_slot *s = slot;

	*ret_hash = hash_mix(seed, s->value);
	return s->count;
}

/* Replaces the lower bits of a value by the middle of their range. */
static uint64_t round_value(const struct table_column *c, uint64_t value)
{
	bool negative = c->schema.type == VALUE_SIGNED && (int64_t)value < 0;
	uint64_t size = negative ? -value : value;
	unsigned lost = 52 - ROUND_BITS;

	if (c->schema.type == VALUE_FLOAT && !isfinite(table_number(c, value)))
		return value;
	if (c->schema.type != VALUE_FLOAT) {
		/* Small numbers are exact. INT64_MIN is kept: rounding its magnitude, 2^63, would overflow. */
		if (size < 2ull << ROUND_BITS || (negative && size == 1ull << 63))
			return value;
		lost = 63 - (unsigned)__builtin_clzll(size) - ROUND_BITS;
	}
	size = (size >> lost << lost) | 1ull << (lost - 1);
	return negative ? -size : size;
}

static void count_value(const struct gathering *g, struct value_tally *t, uint64_t value,
			uint64_t count)
{
	size_t at;

	if (!t->slots || t->len * 3 > t->mask * 2)
		t->slots =
			open_table_grow(t->slots, &t->mask, sizeof(*t->slots), value_home, g->seed);
	for (at = hash_mix(g->seed, value) & t->mask;
	     t->slots[at].count && t->slots[at].value != value;)
		at = (at + 1) & t->mask;
	t->len += !t->slots[at].count;
	t->slots[at].value = value;
	t->slots[at].count += count;
}

static void round_all(const struct gathering *g, struct value_tally *t)
{
	struct value_tally old = *t;

	t->slots = NULL;
	t->mask = t->len = 0;
	t->rounded = true;
	for (size_t i = 0; old.slots && i <= old.mask; i++)
		if (old.slots[i].count)
			count_value(g, t, round_value(g->column, old.slots[i].value),
				    old.slots[i].count);
	free_slots(&old);
}

static void note_extremes(const struct gathering *g, struct value_tally *t, uint64_t value)
{
	uint64_t order = table_order(g->column, value);

	t->min = !t->count || order < t->min ? order : t->min;
	t->max = !t->count || order > t->max ? order : t->max;
}

static void add_value(const struct gathering *g, struct value_tally *t, uint64_t value,
		      uint64_t count)
{
	if (t->len >= DIFFERENT_MAX && !t->rounded)
		round_all(g, t);
	note_extremes(g, t, value);
	t->count += count;
	count_value(g, t, t->rounded ? round_value(g->column, value) : value, count);
}

/* Adds the counts of the array of the last chunk to the table. */
static void end_chunk(const struct gathering *g, struct value_tally *t)
{
	for (size_t i = 0; t->direct && i < t->direct_len; i++)
		if (t->direct[i])
			add_value(g, t, t->base + i, t->direct[i]);
	t->direct = NULL;
}

static bool begin_chunk(void *ctx, unsigned thread, const struct table_part *part)
{
	struct gathering *g = ctx;
	struct value_tally *t = &g->tallies[thread];
	const struct kept_range *r = part->ranges[0];
	uint64_t plain, by_sign;

	end_chunk(g, t);
	if (!r)
		return true;
	plain = r->max - r->min;
	by_sign = (uint64_t)r->signed_max - (uint64_t)r->signed_min;
	t->base = by_sign < plain ? (uint64_t)r->signed_min : r->min;
	plain = by_sign < plain ? by_sign : plain;
	if (plain >= DIRECT_MAX)
		return true;
	if (!t->direct_room)
		t->direct_room = xcalloc(DIRECT_MAX, sizeof(*t->direct_room));
	t->direct = t->direct_room;
	t->direct_len = (size_t)plain + 1;
	memset(t->direct, 0, t->direct_len * sizeof(*t->direct));
	return true;
}

static void tally_release(struct value_tally *t)
{
	free_slots(t);
	free(t->direct_room);
}

static void add_values(void *ctx, unsigned thread, const struct table_block *b)
{
	struct gathering *g = ctx;
	struct value_tally *t = &g->tallies[thread];
	const uint64_t *values = b->values[0];

	if (t->direct)
		for (size_t i = 0; i < b->count; i++)
			t->direct[values[i] - t->base]++;
	else
		for (size_t i = 0; i < b->count; i++)
			add_value(g, t, values[i], 1);
}

/* Adds the counts of another thread. */
static void add_tally(const struct gathering *g, struct value_tally *to, struct value_tally *from)
{
	if (!from->count)
		return;
	if (from->rounded && !to->rounded)
		round_all(g, to);
	for (size_t i = 0; from->slots && i <= from->mask; i++)
		if (from->slots[i].count)
			add_value(g, to, from->slots[i].value, from->slots[i].count);
	to->min = from->min < to->min ? from->min : to->min;
	to->max = from->max > to->max ? from->max : to->max;
}

static uint64_t value_of_order(const struct table_column *c, uint64_t order)
{
	const uint64_t sign = 1ull << 63;

	if (c->schema.type == VALUE_SIGNED)
		return order ^ sign;
	if (c->schema.type == VALUE_FLOAT)
		return order & sign ? order ^ sign : ~order;
	return order;
}

/* Returns the slot that a value was rounded into. */
static struct value_slot *slot_of(const struct gathering *g, const struct value_tally *t,
				  uint64_t value)
{
	uint64_t rounded = round_value(g->column, value);
	size_t at = hash_mix(g->seed, rounded) & t->mask;

	while (t->slots[at].count && t->slots[at].value != rounded)
		at = (at + 1) & t->mask;
	return &t->slots[at];
}

/* Lists the extremes with their exact values, and takes them out of the slots that they were rounded into. */
static void list_extremes(const struct gathering *g, struct value_tally *t, struct value_list *ret)
{
	uint64_t value[] = {value_of_order(g->column, t->min), value_of_order(g->column, t->max)};
	struct value_slot *slot[] = {slot_of(g, t, value[0]), slot_of(g, t, value[1])};

	for (int i = 0; i < 2; i++) {
		if (!slot[i]->count)
			continue;
		slot[i]->count--;
		value_list_add(ret, table_number(g->column, value[i]), 1);
	}
}

static void list_values(const struct gathering *g, struct value_tally *t, struct value_list *ret)
{
	double min = table_number(g->column, value_of_order(g->column, t->min));
	double max = table_number(g->column, value_of_order(g->column, t->max));

	if (t->rounded)
		list_extremes(g, t, ret);
	for (size_t i = 0; t->slots && i <= t->mask; i++) {
		double v = table_number(g->column, t->slots[i].value);

		if (t->slots[i].count)
			value_list_add(ret, v < min ? min : v > max ? max : v, t->slots[i].count);
	}
}

int table_values(const struct table_query *q, size_t column, struct value_list *ret, struct err *e)
{
	struct gathering g = {.column = &q->columns.items[column], .seed = hash_seed()};
	const struct table_scan scan = {
		.wants = {{column, false}},
		.count = 1,
		.threads = table_threads(),
		.begin = begin_chunk,
		.visit = add_values,
		.ctx = &g,
	};
	int r;

	g.tallies = xcalloc(TABLE_THREADS_MAX, sizeof(*g.tallies));
	r = table_scan(q, &scan, e);
	for (size_t i = 0; i < TABLE_THREADS_MAX && r == 0; i++) {
		end_chunk(&g, &g.tallies[i]);
		if (i)
			add_tally(&g, &g.tallies[0], &g.tallies[i]);
	}
	if (r == 0)
		list_values(&g, &g.tallies[0], ret);
	for (size_t i = 0; i < TABLE_THREADS_MAX; i++)
		tally_release(&g.tallies[i]);
	free(g.tallies);
	return r;
}

/* ---- heat maps ---- */

struct heating {
	const struct table_column *column;
	struct table_heat *h;
	struct heat_thread {
		double min, max;
		uint64_t matched;
		uint32_t *cells;
	} threads[TABLE_THREADS_MAX];
};

static void add_range(struct heat_thread *t, double v, uint64_t rows)
{
	if (!isfinite(v))
		return;
	t->min = !t->matched || v < t->min ? v : t->min;
	t->max = !t->matched || v > t->max ? v : t->max;
	t->matched += rows;
}

static bool begin_range(void *ctx, unsigned thread, const struct table_part *part)
{
	struct heating *g = ctx;
	const struct kept_range *r = part->ranges[0];
	bool by_sign = g->column->schema.type == VALUE_SIGNED;

	if (!part->whole || !r || g->column->schema.type == VALUE_FLOAT)
		return true;
	add_range(&g->threads[thread],
		  table_number(g->column, by_sign ? (uint64_t)r->signed_min : r->min), part->rows);
	add_range(&g->threads[thread],
		  table_number(g->column, by_sign ? (uint64_t)r->signed_max : r->max), 0);
	return false;
}

static void visit_range(void *ctx, unsigned thread, const struct table_block *b)
{
	struct heating *g = ctx;

	for (size_t i = 0; i < b->count; i++)
		add_range(&g->threads[thread], table_number(g->column, b->values[0][i]), 1);
}

/* Returns the position of a value between minimum and maximum, 0 to 1. */
static double share_of(const struct table_heat *h, double v)
{
	if (h->max <= h->min || !isfinite(h->max - h->min))
		return 0;
	if (!h->log)
		return (v - h->min) / (h->max - h->min);
	/* The logarithmic scale begins at 1: smaller values are in the lowest row. */
	return v < 1 || h->max <= 1 ? 0 : log(v / fmax(h->min, 1)) / log(h->max / fmax(h->min, 1));
}

static void visit_cells(void *ctx, unsigned thread, const struct table_block *b)
{
	struct heating *g = ctx;
	struct heat_thread *t = &g->threads[thread];
	struct table_heat *h = g->h;
	const uint64_t *values = b->values[0], *time_ns = b->values[1];
	double columns_a_ns = h->columns / (double)(h->to_ns - h->from_ns);
	uint32_t x, y = 0;

	if (!t->cells)
		t->cells = xcalloc((size_t)h->columns * h->rows, sizeof(*t->cells));
	for (size_t i = 0; i < b->count; i++) {
		/* Rows often repeat the previous value: this saves its logarithm. */
		if (!i || values[i] != values[i - 1]) {
			double v = table_number(g->column, values[i]);

			y = isfinite(v) ? (uint32_t)(share_of(h, v) * h->rows) : UINT32_MAX;
			y = y < h->rows || y == UINT32_MAX ? y : h->rows - 1;
		}
		if (y == UINT32_MAX || time_ns[i] < h->from_ns || time_ns[i] >= h->to_ns)
			continue;
		x = (uint32_t)((double)(time_ns[i] - h->from_ns) * columns_a_ns);
		x = x < h->columns ? x : h->columns - 1;
		t->cells[(size_t)x * h->rows + y]++;
	}
}

static void join_ranges(struct heating *g)
{
	struct table_heat *h = g->h;

	for (size_t i = 0; i < TABLE_THREADS_MAX; i++) {
		const struct heat_thread *t = &g->threads[i];

		if (!t->matched)
			continue;
		h->min = !h->matched || t->min < h->min ? t->min : h->min;
		h->max = !h->matched || t->max > h->max ? t->max : h->max;
		h->matched += t->matched;
	}
}

static void join_cells(struct heating *g)
{
	size_t count = (size_t)g->h->columns * g->h->rows;

	g->h->cells = xcalloc(count, sizeof(*g->h->cells));
	for (size_t i = 0; i < TABLE_THREADS_MAX; i++) {
		uint32_t *cells = g->threads[i].cells;

		for (size_t c = 0; cells && c < count; c++)
			g->h->cells[c] += cells[c];
		free(cells);
	}
}

static size_t time_column(const struct table_query *q)
{
	for (size_t i = 0; i < q->columns.len; i++)
		if (q->columns.items[i].schema.tag == TAG_TIME)
			return i;
	return 0;
}

int table_heat_make(const struct table_query *q, size_t column, struct table_heat *h, struct err *e)
{
	struct heating *g = xcalloc(1, sizeof(*g));
	struct table_scan scan = {
		.wants = {{column, false}, {time_column(q), false}},
		.count = 1,
		.threads = table_threads(),
		.begin = begin_range,
		.visit = visit_range,
		.ctx = g,
	};
	int r;

	g->column = &q->columns.items[column];
	g->h = h;
	h->min = h->max = 0;
	h->matched = 0;
	h->cells = NULL;
	r = table_scan(q, &scan, e);
	join_ranges(g);
	scan.count = 2;
	scan.begin = NULL;
	scan.visit = visit_cells;
	if (r == 0)
		r = table_scan(q, &scan, e);
	join_cells(g);
	free(g);
	return r;
}
