/*
 * Groups rows with equal values in some columns: number of rows, and sum, extremes and percentiles of
 * another column. Percentiles are read from a log-linear histogram; TABLE_BIN_WIDTH is the width of its bins.
 *
 * Each thread makes groups of its own, which are added up at the end. If a thread reaches the limit of
 * groups, one thread repeats the whole work: which groups are left out must not depend on scheduling.
 */
#include "query/table_scan.h"
#include "base/bits.h"
#include "base/open_table.h"

#include <math.h>
#include <string.h>

/* ---- bins ---- */

/* Each power of two has 2^BIN_BITS bins. Values below 2^BIN_BITS have a bin each. */
#define BIN_BITS  6
#define BIN_EXACT (1u << (BIN_BITS + 1))

/* Returns the bin of a non-negative value. Larger values have larger bin numbers. */
static uint32_t bin_of(uint64_t value)
{
	unsigned top;

	if (value < BIN_EXACT)
		return (uint32_t)value;
	top = 63 - (unsigned)__builtin_clzll(value);
	return (uint32_t)((top - BIN_BITS) << BIN_BITS) + (uint32_t)(value >> (top - BIN_BITS));
}

/* Returns the middle of a bin. */
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

/* The bin of value 0. Negative numbers have lower bins. */
#define BIN_ZERO (1u << 12)
#define BINS     (2 * BIN_ZERO)

/* The bin of a floating point number is the upper bits of table_order(). */
#define FLOAT_SHIFT (52 - BIN_BITS)

_Static_assert(((64 - BIN_BITS) << BIN_BITS) + (1 << BIN_BITS) <= BIN_ZERO, "any number has a bin");

static uint32_t value_bin(const struct table_column *c, uint64_t value)
{
	if (c->schema.type == VALUE_FLOAT)
		return (uint32_t)(table_order(c, value) >> FLOAT_SHIFT);
	if (c->schema.type == VALUE_SIGNED && (int64_t)value < 0)
		return BIN_ZERO - bin_of(-value);
	return BIN_ZERO + bin_of(value);
}

static double float_bin_value(uint32_t bin)
{
	const uint64_t sign = 1ull << 63;
	uint64_t order = ((uint64_t)bin << FLOAT_SHIFT) + (1ull << (FLOAT_SHIFT - 1));

	return double_of_bits(order & sign ? order ^ sign : ~order);
}

static double value_of_bin(const struct table_column *c, uint32_t bin)
{
	if (c->schema.type == VALUE_FLOAT)
		return float_bin_value(bin);
	return bin < BIN_ZERO ? -bin_value(BIN_ZERO - bin) : bin_value(bin - BIN_ZERO);
}

/* ---- tables ---- */

/* Limit of bins in the hash tables of all threads together; a bin takes 16 bytes. */
#define BINS_MAX (8u << 20)
/* The first groups have an array of all bins each, which is faster than the hash table. */
#define ARRAY_GROUPS 128u

/* In place of a group's number: the limit of groups is reached. */
#define NO_ROOM UINT32_MAX

/* If the keys of a chunk have at most this many combinations, groups are found by an array, not by hashing. */
#define DIRECT_MAX 65536u

struct group_slot {
	uint64_t hash;
	uint32_t group; /* + 1; 0: free */
};

struct bin_slot {
	uint32_t group; /* + 1; 0: free */
	uint32_t bin;
	uint64_t count;
};

/* Shared by all threads. */
struct grouping {
	const struct table_query *q;
	const struct table_column *keys[TABLE_KEYS_MAX];
	bool mapped[TABLE_KEYS_MAX]; /* the scan gives stored values: derive the key */
	size_t key_count;
	const struct table_column *value; /* NULL: only counts */
	bool percentiles;
	size_t bins_max; /* limit for each thread */
	uint64_t seed;
	struct tally *tallies; /* by thread */
};

/* The groups of one thread. */
struct tally {
	struct table_groups found;
	struct group_slot *slots;
	size_t mask;
	uint64_t *arrays[ARRAY_GROUPS]; /* bins by group; NULL: empty */
	struct bin_slot *bins;          /* hash table of the bins of all other groups */
	size_t bin_mask, bin_count;
	/* For the current chunk: 1 + group by combination of keys; NULL: too many combinations. */
	uint32_t *direct, *direct_room;
	uint64_t base[TABLE_KEYS_MAX], step[TABLE_KEYS_MAX];
	uint32_t number[KEPT_BLOCK]; /* 1 + group of each row of a block */
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

/* Returns 1 + the number of the group with these keys, which is added if new, or NO_ROOM. */
static uint32_t group_of(const struct grouping *g, struct tally *t, const uint64_t *keys)
{
	uint64_t hash = g->seed;
	size_t at;

	for (size_t i = 0; i < g->key_count; i++)
		hash = hash_mix(hash, keys[i]);
	if (!t->slots || t->found.groups.len * 3 > t->mask * 2)
		t->slots = open_table_grow(t->slots, &t->mask, sizeof(*t->slots), group_home, 0);
	for (at = hash & t->mask; t->slots[at].group; at = (at + 1) & t->mask) {
		const struct group_slot *s = &t->slots[at];

		if (s->hash == hash && !memcmp(t->found.groups.items[s->group - 1].keys, keys,
					       g->key_count * sizeof(*keys)))
			return s->group;
	}
	if (t->found.groups.len == TABLE_GROUPS_MAX)
		return NO_ROOM;
	vec_push(&t->found.groups, (struct table_group){});
	memcpy(t->found.groups.items[t->found.groups.len - 1].keys, keys,
	       g->key_count * sizeof(*keys));
	t->slots[at] = (struct group_slot){hash, (uint32_t)t->found.groups.len};
	return (uint32_t)t->found.groups.len;
}

static void count_bin(const struct grouping *g, struct tally *t, uint32_t group, uint32_t bin,
		      uint64_t count)
{
	struct bin_slot *s;
	size_t at;

	if (t->bin_count >= g->bins_max)
		return;
	if (!t->bins || t->bin_count * 3 > t->bin_mask * 2)
		t->bins =
			open_table_grow(t->bins, &t->bin_mask, sizeof(*t->bins), bin_home, g->seed);
	for (at = bin_hash(g->seed, group, bin) & t->bin_mask;; at = (at + 1) & t->bin_mask) {
		s = &t->bins[at];
		if (!s->group || (s->group == group && s->bin == bin))
			break;
	}
	t->bin_count += !s->group;
	s->group = group;
	s->bin = bin;
	s->count += count;
}

/* Returns the array of a group's bins, or NULL if they are in the hash table. */
static uint64_t *array_of(const struct grouping *g, struct tally *t, uint32_t group)
{
	if (group > ARRAY_GROUPS || g->value->schema.type == VALUE_FLOAT)
		return NULL;
	if (!t->arrays[group - 1])
		t->arrays[group - 1] = xcalloc(BINS, sizeof(**t->arrays));
	return t->arrays[group - 1];
}

static void tally_release(struct tally *t)
{
	table_groups_release(&t->found);
	table_free(t->slots, t->slots ? t->mask + 1 : 0, sizeof(*t->slots));
	table_free(t->bins, t->bins ? t->bin_mask + 1 : 0, sizeof(*t->bins));
	for (size_t i = 0; i < ARRAY_GROUPS; i++)
		free(t->arrays[i]);
	free(t->direct_room);
	*t = (struct tally){};
}

/* ---- finding the group of a row ---- */

/* Chooses how groups are found in a chunk: by an array if its keys have few combinations. */
static bool begin_chunk(void *ctx, unsigned thread, const struct table_part *part)
{
	struct grouping *g = ctx;
	struct tally *t = &g->tallies[thread];
	uint64_t combinations = 1;

	t->direct = NULL;
	for (size_t k = 0; k < g->key_count; k++) {
		const struct kept_range *r = part->ranges[k];
		uint64_t plain = r ? r->max - r->min : UINT64_MAX, spread = plain;

		t->base[k] = r ? r->min : 0;
		if (r && (uint64_t)r->signed_max - (uint64_t)r->signed_min < plain) {
			spread = (uint64_t)r->signed_max - (uint64_t)r->signed_min;
			t->base[k] = (uint64_t)r->signed_min;
		}
		t->step[k] = combinations;
		if (spread >= DIRECT_MAX / combinations)
			return true;
		combinations *= spread + 1;
	}
	if (!t->direct_room)
		t->direct_room = xcalloc(DIRECT_MAX, sizeof(*t->direct_room));
	t->direct = t->direct_room;
	memset(t->direct, 0, combinations * sizeof(*t->direct));
	return true;
}

static uint32_t find_group(const struct grouping *g, struct tally *t, const struct table_block *b,
			   size_t row)
{
	uint64_t keys[TABLE_KEYS_MAX] = {};

	for (size_t k = 0; k < g->key_count; k++)
		if (g->mapped[k])
			table_derive(g->q, g->keys[k], &b->values[k][row], 1, &keys[k]);
		else
			keys[k] = b->values[k][row];
	return group_of(g, t, keys);
}

static void find_direct(const struct grouping *g, struct tally *t, const struct table_block *b)
{
	uint32_t *number = t->number;

	memset(number, 0, b->count * sizeof(*number));
	for (size_t k = 0; k < g->key_count; k++)
		for (size_t i = 0; i < b->count; i++)
			number[i] += (uint32_t)((b->values[k][i] - t->base[k]) * t->step[k]);
	for (size_t i = 0; i < b->count; i++) {
		uint32_t *known = &t->direct[number[i]];

		if (!*known)
			*known = find_group(g, t, b, i);
		number[i] = *known;
	}
}

/* Consecutive rows are often in the same group: that of the previous row is tried first. */
static void find_by_keys(const struct grouping *g, struct tally *t, const struct table_block *b)
{
	for (size_t i = 0; i < b->count; i++) {
		bool same = i > 0;

		for (size_t k = 0; same && k < g->key_count; k++)
			same = b->values[k][i] == b->values[k][i - 1];
		t->number[i] = same ? t->number[i - 1] : find_group(g, t, b, i);
	}
}

/* ---- adding up ---- */

/* Adds the rows of a block to their groups. @add is the statement that adds the value `v` to the group `to`. */
#define EACH_ROW(type, less, add)                                                                  \
	for (size_t i = 0; i < count; i++) {                                                       \
		struct table_group *to = &groups[number[i] - 1];                                   \
		type v, min, max;                                                                  \
		if (number[i] == NO_ROOM)                                                          \
			continue;                                                                  \
		memcpy(&v, &values[i], sizeof(v));                                                 \
		memcpy(&min, &to->min, sizeof(min));                                               \
		memcpy(&max, &to->max, sizeof(max));                                               \
		if (!to->count || less(v, min))                                                    \
			to->min = values[i];                                                       \
		if (!to->count || less(max, v))                                                    \
			to->max = values[i];                                                       \
		to->count++;                                                                       \
		add;                                                                               \
	}

#define IS_LESS(a, b) ((a) < (b))

static bool float_less(double a, double b)
{
	static const struct table_column c = {.schema = {.type = VALUE_FLOAT}};

	return table_order(&c, bits_of_double(a)) < table_order(&c, bits_of_double(b));
}

static void add_values(const struct grouping *g, struct table_group *groups, const uint32_t *number,
		       const uint64_t *values, size_t count)
{
	switch (g->value->schema.type) {
	case VALUE_FLOAT:
		EACH_ROW(double, float_less, to->sum_float += v)
		break;
	case VALUE_SIGNED:
		EACH_ROW(int64_t, IS_LESS, to->sum += v)
		break;
	default:
		EACH_ROW(uint64_t, IS_LESS, to->sum += v)
	}
}

static void count_bins(const struct grouping *g, struct tally *t, const uint64_t *values,
		       size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t group = t->number[i], bin = value_bin(g->value, values[i]);
		uint64_t *array;

		if (group == NO_ROOM)
			continue;
		array = array_of(g, t, group);
		if (array)
			array[bin]++;
		else
			count_bin(g, t, group, bin, 1);
	}
}

static void add_block(void *ctx, unsigned thread, const struct table_block *b)
{
	struct grouping *g = ctx;
	struct tally *t = &g->tallies[thread];
	const uint64_t *values = b->values[g->key_count];

	if (t->direct)
		find_direct(g, t, b);
	else
		find_by_keys(g, t, b);
	t->found.matched += b->count;
	for (size_t i = 0; i < b->count; i++)
		t->found.left_out += t->number[i] == NO_ROOM;
	if (g->value)
		add_values(g, t->found.groups.items, t->number, values, b->count);
	else
		for (size_t i = 0; i < b->count; i++)
			if (t->number[i] != NO_ROOM)
				t->found.groups.items[t->number[i] - 1].count++;
	if (g->value && g->percentiles)
		count_bins(g, t, values, b->count);
}

/* ---- adding up threads ---- */

static void add_group(const struct grouping *g, struct table_group *to,
		      const struct table_group *from)
{
	const struct table_column *c = g->value;

	if (c && (!to->count || table_order(c, from->min) < table_order(c, to->min)))
		to->min = from->min;
	if (c && (!to->count || table_order(c, from->max) > table_order(c, to->max)))
		to->max = from->max;
	to->sum += from->sum;
	to->sum_float += from->sum_float;
	to->count += from->count;
}

/* Adds the groups of another thread. */
static void add_tally(const struct grouping *g, struct tally *to, struct tally *from)
{
	size_t count = from->found.groups.len;
	uint32_t *number = xcalloc(count + 1, sizeof(*number));

	to->found.matched += from->found.matched;
	to->found.left_out += from->found.left_out;
	for (size_t i = 0; i < count; i++) {
		const struct table_group *group = &from->found.groups.items[i];

		number[i] = group_of(g, to, group->keys);
		if (number[i] == NO_ROOM)
			to->found.left_out += group->count;
		else
			add_group(g, &to->found.groups.items[number[i] - 1], group);
	}
	for (size_t i = 0; i < count && i < ARRAY_GROUPS; i++) {
		uint64_t *array =
			from->arrays[i] && number[i] != NO_ROOM ? array_of(g, to, number[i]) : NULL;

		for (uint32_t bin = 0; from->arrays[i] && bin < BINS; bin++)
			if (array)
				array[bin] += from->arrays[i][bin];
			else if (from->arrays[i][bin] && number[i] != NO_ROOM)
				count_bin(g, to, number[i], bin, from->arrays[i][bin]);
	}
	for (size_t i = 0; from->bins && i <= from->bin_mask; i++) {
		const struct bin_slot *b = &from->bins[i];
		uint32_t group = b->group ? number[b->group - 1] : NO_ROOM;
		uint64_t *array = group == NO_ROOM ? NULL : array_of(g, to, group);

		if (array)
			array[b->bin] += b->count;
		else if (group != NO_ROOM)
			count_bin(g, to, group, b->bin, b->count);
	}
	free(number);
}

/* ---- percentiles ---- */

static int by_bin(const void *a, const void *b)
{
	const struct bin_slot *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return x->bin < y->bin ? -1 : x->bin > y->bin;
}

/* Sets a percentile if its rank is in bin @b. The middle of the bin is clamped to the extremes of the group. */
static void set_percentile(const struct grouping *g, const struct table_group *group, double share,
			   uint64_t before, const struct bin_slot *b, double *ret)
{
	uint64_t rank = (uint64_t)ceil(share * (double)group->count);
	double value = value_of_bin(g->value, b->bin), min = table_number(g->value, group->min);
	double max = table_number(g->value, group->max);

	rank = rank ? rank : 1;
	if (rank > before && rank <= before + b->count)
		*ret = value < min ? min : value > max ? max : value;
}

/* Takes the bins of a group in ascending order; *before is the number of rows in the bins so far. */
static void add_bin(const struct grouping *g, struct tally *t, const struct bin_slot *b,
		    uint64_t *before)
{
	struct table_group *group = &t->found.groups.items[b->group - 1];

	set_percentile(g, group, 0.5, *before, b, &group->p50);
	set_percentile(g, group, 0.9, *before, b, &group->p90);
	set_percentile(g, group, 0.99, *before, b, &group->p99);
	*before += b->count;
}

static void read_arrays(const struct grouping *g, struct tally *t)
{
	for (uint32_t i = 0; i < ARRAY_GROUPS; i++) {
		uint64_t before = 0;

		for (uint32_t bin = 0; t->arrays[i] && bin < BINS; bin++)
			if (t->arrays[i][bin])
				add_bin(g, t, &(struct bin_slot){i + 1, bin, t->arrays[i][bin]},
					&before);
	}
}

static void find_percentiles(const struct grouping *g, struct tally *t)
{
	size_t count = 0;
	uint64_t before = 0;

	/* Some values were not counted, so percentiles would be wrong. */
	if (t->bin_count >= g->bins_max)
		vec_each(&t->found.groups, group)
			group->p50 = group->p90 = group->p99 = NAN;
	for (size_t i = 0; t->bins && t->bin_count < g->bins_max && i <= t->bin_mask; i++)
		if (t->bins[i].group)
			t->bins[count++] = t->bins[i];
	if (count)
		qsort(t->bins, count, sizeof(*t->bins), by_bin);
	for (size_t i = 0; i < count; i++) {
		if (!i || t->bins[i - 1].group != t->bins[i].group)
			before = 0;
		add_bin(g, t, &t->bins[i], &before);
	}
	read_arrays(g, t);
}

/* ---- the whole ---- */

static int by_count(const void *a, const void *b)
{
	const struct table_group *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return memcmp(x->keys, y->keys, sizeof(x->keys));
}

/* Sets *ret_full if a thread reached the limit of groups or bins. */
static int count_all(struct grouping *g, const struct table_scan *scan, bool *ret_full,
		     struct err *e)
{
	struct tally *all = &g->tallies[0];
	int r;

	g->bins_max = BINS_MAX / scan->threads;
	r = table_scan(g->q, scan, e);
	*ret_full = false;
	for (unsigned i = 0; i < scan->threads && r == 0; i++) {
		struct tally *t = &g->tallies[i];

		*ret_full |= t->found.left_out || t->bin_count >= g->bins_max;
		if (i && !*ret_full)
			add_tally(g, all, t);
	}
	*ret_full |= all->found.left_out || all->bin_count >= g->bins_max;
	return r;
}

static void release_tallies(struct grouping *g)
{
	for (size_t i = 0; i < TABLE_THREADS_MAX; i++)
		tally_release(&g->tallies[i]);
}

static void open_scan(struct grouping *g, const size_t *keys, int value, struct table_scan *scan)
{
	for (size_t i = 0; i < g->key_count; i++) {
		g->keys[i] = &g->q->columns.items[keys[i]];
		g->mapped[i] = table_column_maps(g->keys[i]);
		scan->wants[scan->count++] = (struct table_want){keys[i], g->mapped[i]};
	}
	if (value >= 0)
		scan->wants[scan->count++] = (struct table_want){(size_t)value, false};
	/* One thread for floating point numbers: their sum depends on the order of addition. */
	scan->threads = g->value && g->value->schema.type == VALUE_FLOAT ? 1 : table_threads();
}

int table_group(const struct table_query *q, const size_t *keys, size_t key_count, int value,
		bool percentiles, struct table_groups *ret, struct err *e)
{
	struct grouping g = {.q = q,
			     .key_count = key_count,
			     .value = value < 0 ? NULL : &q->columns.items[value],
			     .percentiles = percentiles && value >= 0,
			     .seed = hash_seed()};
	struct table_scan scan = {.begin = begin_chunk, .visit = add_block, .ctx = &g};
	bool full;
	int r;

	*ret = (struct table_groups){};
	g.tallies = xcalloc(TABLE_THREADS_MAX, sizeof(*g.tallies));
	open_scan(&g, keys, value, &scan);
	r = count_all(&g, &scan, &full, e);
	if (r == 0 && full && scan.threads > 1) {
		release_tallies(&g);
		scan.threads = 1;
		r = count_all(&g, &scan, &full, e);
	}
	if (r == 0) {
		find_percentiles(&g, &g.tallies[0]);
		*ret = g.tallies[0].found;
		g.tallies[0].found = (struct table_groups){};
		if (ret->groups.len)
			qsort(ret->groups.items, ret->groups.len, sizeof(*ret->groups.items),
			      by_count);
	}
	release_tallies(&g);
	free(g.tallies);
	return r;
}

void table_groups_release(struct table_groups *g)
{
	vec_release(&g->groups);
}
