/*
 * Groups of rows that have some columns in common: how many, and sum, extremes and percentiles of a
 * column. Percentiles are read from a log-linear histogram: TABLE_BIN_WIDTH says how exact they are.
 */
#include "query/table.h"
#include "base/open_table.h"

#include <math.h>
#include <string.h>

/* ---- bins ---- */

/* Values are counted in 2^BIN_BITS bins for each power of two; those below that are exact. */
#define BIN_BITS  6
#define BIN_EXACT (1u << (BIN_BITS + 1))

/* The bin of a value that is not negative; bins grow with the values. */
static uint32_t bin_of(uint64_t value)
{
	unsigned top;

	if (value < BIN_EXACT)
		return (uint32_t)value;
	top = 63 - (unsigned)__builtin_clzll(value);
	return (uint32_t)((top - BIN_BITS) << BIN_BITS) + (uint32_t)(value >> (top - BIN_BITS));
}

/* The middle of a bin. */
static double bin_value(uint32_t bin)
{
	unsigned shift;
	uint64_t first;

	if (bin < BIN_EXACT)
		return bin;
	shift = (bin >> BIN_BITS) - 1;
	first = (uint64_t)((bin & ((1u << BIN_BITS) - 1)) | 1u << BIN_BITS) << shift;
	return (double)first + (double)((1ull << shift) - 1) / 2;
}

/* Bins of negative numbers lie before the others, the most negative first. */
#define BIN_ZERO (1u << 15)

static uint32_t signed_bin(const struct table_column *c, uint64_t value)
{
	bool negative = c->schema.type == VALUE_SIGNED && (int64_t)value < 0;

	return negative ? BIN_ZERO - bin_of(-value) : BIN_ZERO + bin_of(value);
}

static double signed_bin_value(uint32_t bin)
{
	return bin < BIN_ZERO ? -bin_value(BIN_ZERO - bin) : bin_value(bin - BIN_ZERO);
}

/* ---- tables ---- */

/* Bins of all groups together, of 16 bytes. */
#define BINS_MAX (8u << 20)

struct group_slot {
	uint64_t hash;
	uint32_t group; /* + 1; 0: free */
};

struct bin_slot {
	uint32_t group; /* + 1; 0: free */
	uint32_t bin;
	uint64_t count;
};

struct grouping {
	const struct table_query *q;
	const struct table_column *keys[TABLE_KEYS_MAX];
	size_t key_count;
	const struct table_column *value; /* NULL: only counts */
	bool percentiles;
	struct table_groups *groups;
	struct group_slot *slots;
	size_t mask;
	struct bin_slot *bins;
	size_t bin_mask, bin_count;
	uint64_t seed;
};

static bool group_home(const void *slot, uint64_t seed, uint64_t *ret_hash)
{
	const struct group_slot *s = slot;

	(void)seed;
	*ret_hash = s->hash;
	return s->group;
}

static uint64_t bin_hash(uint64_t seed, uint32_t group, uint32_t bin)
{
	return hash_mix(seed, (uint64_t)group << 32 | bin);
}

static bool bin_home(const void *slot, uint64_t seed, uint64_t *ret_hash)
{
	const struct bin_slot *s = slot;

	*ret_hash = bin_hash(seed, s->group, s->bin);
	return s->group;
}

/* The number of the group with these keys, + 1; 0: there is no room for it. */
static uint32_t group_of(struct grouping *g, const uint64_t *keys)
{
	uint64_t hash = g->seed;
	size_t at;

	for (size_t i = 0; i < g->key_count; i++)
		hash = hash_mix(hash, keys[i]);
	if (!g->slots || g->groups->groups.len * 3 > g->mask * 2)
		g->slots = open_table_grow(g->slots, &g->mask, sizeof(*g->slots), group_home, 0);
	for (at = hash & g->mask; g->slots[at].group; at = (at + 1) & g->mask) {
		const struct group_slot *s = &g->slots[at];

		if (s->hash == hash && !memcmp(g->groups->groups.items[s->group - 1].keys, keys,
					       g->key_count * sizeof(*keys)))
			return s->group;
	}
	if (g->groups->groups.len == TABLE_GROUPS_MAX)
		return 0;
	vec_push(&g->groups->groups, (struct table_group){});
	memcpy(g->groups->groups.items[g->groups->groups.len - 1].keys, keys,
	       g->key_count * sizeof(*keys));
	g->slots[at] = (struct group_slot){hash, (uint32_t)g->groups->groups.len};
	return (uint32_t)g->groups->groups.len;
}

static void count_bin(struct grouping *g, uint32_t group, uint32_t bin)
{
	struct bin_slot *s;
	size_t at;

	if (!g->bins || g->bin_count * 3 > g->bin_mask * 2)
		g->bins =
			open_table_grow(g->bins, &g->bin_mask, sizeof(*g->bins), bin_home, g->seed);
	for (at = bin_hash(g->seed, group, bin) & g->bin_mask;; at = (at + 1) & g->bin_mask) {
		s = &g->bins[at];
		if (!s->group || (s->group == group && s->bin == bin))
			break;
	}
	g->bin_count += !s->group;
	s->group = group;
	s->bin = bin;
	s->count++;
}

static void add_value(struct grouping *g, struct table_group *group, uint32_t number,
		      uint64_t value)
{
	const struct table_column *c = g->value;
	uint64_t order = table_order(c, value);

	if (c->schema.type == VALUE_FLOAT)
		group->sum_float += table_number(c, value);
	else if (c->schema.type == VALUE_SIGNED)
		group->sum += (int64_t)value;
	else
		group->sum += value;
	if (!group->count || order < table_order(c, group->min))
		group->min = value;
	if (!group->count || order > table_order(c, group->max))
		group->max = value;
	if (g->percentiles && g->bin_count < BINS_MAX)
		count_bin(g, number, signed_bin(c, value));
}

static int add_rows(void *ctx, const struct table_rows *rows, struct err *e)
{
	struct grouping *g = ctx;

	(void)e;
	for (size_t i = 0; i < rows->count; i++) {
		uint64_t keys[TABLE_KEYS_MAX] = {};
		struct table_group *group;
		uint32_t number;

		for (size_t k = 0; k < g->key_count; k++)
			keys[k] = table_value(g->q, g->keys[k], rows->columns, rows->row[i]);
		number = group_of(g, keys);
		g->groups->matched++;
		g->groups->left_out += !number;
		if (!number)
			continue;
		group = &g->groups->groups.items[number - 1];
		if (g->value)
			add_value(g, group, number,
				  table_value(g->q, g->value, rows->columns, rows->row[i]));
		group->count++;
	}
	return 0;
}

/* ---- percentiles ---- */

static int by_bin(const void *a, const void *b)
{
	const struct bin_slot *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return x->bin < y->bin ? -1 : x->bin > y->bin;
}

/* A percentile is the value of the row at that rank, so it lies between the extremes. */
static void set_percentile(const struct grouping *g, const struct table_group *group, double share,
			   uint64_t before, const struct bin_slot *b, double *ret)
{
	uint64_t rank = (uint64_t)ceil(share * (double)group->count);
	double value = signed_bin_value(b->bin), min = table_number(g->value, group->min);
	double max = table_number(g->value, group->max);

	rank = rank ? rank : 1;
	if (rank > before && rank <= before + b->count)
		*ret = value < min ? min : value > max ? max : value;
}

static void find_percentiles(struct grouping *g)
{
	size_t count = 0;
	uint64_t before = 0;

	/* Some values were not counted: better none than wrong ones. */
	if (g->bin_count >= BINS_MAX)
		vec_each(&g->groups->groups, group)
			group->p50 = group->p90 = group->p99 = NAN;
	for (size_t i = 0; g->bins && g->bin_count < BINS_MAX && i <= g->bin_mask; i++)
		if (g->bins[i].group)
			g->bins[count++] = g->bins[i];
	if (count)
		qsort(g->bins, count, sizeof(*g->bins), by_bin);
	for (size_t i = 0; i < count; i++) {
		const struct bin_slot *b = &g->bins[i];
		struct table_group *group = &g->groups->groups.items[b->group - 1];

		if (!i || b[-1].group != b->group)
			before = 0;
		set_percentile(g, group, 0.5, before, b, &group->p50);
		set_percentile(g, group, 0.9, before, b, &group->p90);
		set_percentile(g, group, 0.99, before, b, &group->p99);
		before += b->count;
	}
}

/* ---- the whole ---- */

static int by_count(const void *a, const void *b)
{
	const struct table_group *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return memcmp(x->keys, y->keys, sizeof(x->keys));
}

int table_group(const struct table_query *q, const size_t *keys, size_t key_count, int value,
		bool percentiles, struct table_groups *ret, struct err *e)
{
	struct grouping g = {.q = q,
			     .key_count = key_count,
			     .value = value < 0 ? NULL : &q->columns.items[value],
			     .groups = ret,
			     .seed = hash_seed()};
	int columns[TABLE_KEYS_MAX + 2], count = 0, rc;

	*ret = (struct table_groups){};
	/* Bits of a float are no whole number that could be counted in bins. */
	g.percentiles = percentiles && g.value && g.value->schema.type != VALUE_FLOAT;
	for (size_t i = 0; i < key_count; i++) {
		g.keys[i] = &q->columns.items[keys[i]];
		columns[count++] = (int)keys[i];
	}
	if (value >= 0)
		columns[count++] = value;
	columns[count] = -1;
	rc = table_each(q, columns, add_rows, &g, e);
	if (rc == 0) {
		find_percentiles(&g);
		if (ret->groups.len)
			qsort(ret->groups.items, ret->groups.len, sizeof(*ret->groups.items),
			      by_count);
	} else {
		table_groups_release(ret);
	}
	table_free(g.slots, g.slots ? g.mask + 1 : 0, sizeof(*g.slots));
	table_free(g.bins, g.bins ? g.bin_mask + 1 : 0, sizeof(*g.bins));
	return rc;
}

void table_groups_release(struct table_groups *g)
{
	vec_release(&g->groups);
}
