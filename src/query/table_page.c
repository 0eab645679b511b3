/*
 * A page of the rows of a table, sorted by any column.
 *
 * For a page near the beginning, each thread keeps the first rows that it has seen, and the lists are
 * merged. For a later page, the first row is searched before: keys are counted in buckets, then the keys in
 * the bucket with that row are, until few rows are left. So no page needs memory for all rows.
 */
#include "query/table_scan.h"

#include <errno.h>
#include <string.h>

/* Pages that end before this row are found in one pass. */
#define NEAR_MAX 4096u
/* The search by buckets ends with at most this many rows, which are then collected and sorted. */
#define CANDIDATES_MAX 16384u
#define BUCKET_BITS    14
#define BUCKETS        (1u << BUCKET_BITS)

typedef VEC(struct table_place) places;

struct page_thread {
	places found;
	struct table_place worst; /* last of the rows to keep; valid if is_full */
	bool is_full;
	uint64_t matched, min, max;
	uint64_t *buckets;
	bool *used_texts;
	uint64_t keys[KEPT_BLOCK];
};

struct paging {
	const struct table_query *q;
	const struct table_column *column;
	bool descending;
	uint32_t *rank; /* of a text column: position in alphabetical order, by string; else NULL */
	uint64_t seed;
	struct table_scan scan;
	struct page_thread *threads;
	/* Rows to find: at most `wanted`, not before `first`, with keys from `low` to `high`. */
	struct table_place first;
	size_t wanted;
	uint64_t low, high;
	unsigned shift;       /* bucket = (key - low) >> shift */
	uint64_t *chunk_rows; /* by chunk: number of rows with the key `low` */
	uint32_t only_chunk;
};

/* ---- keys ---- */

static uint64_t key_of(const struct paging *p, uint64_t value)
{
	uint64_t key = p->rank ? p->rank[table_text_number(p->q, p->column, value)]
			       : table_order(p->column, value);

	return p->descending ? ~key : key;
}

/* Returns the sort keys of a block's rows. Texts must have been ranked. */
static const uint64_t *block_keys(const struct paging *p, struct page_thread *t,
				  const struct table_block *b)
{
	uint64_t turned = p->descending ? UINT64_MAX : 0;

	if (p->rank || p->column->schema.type == VALUE_FLOAT) {
		for (size_t i = 0; i < b->count; i++)
			t->keys[i] = key_of(p, b->values[0][i]);
		return t->keys;
	}
	if (p->column->schema.type == VALUE_SIGNED)
		turned ^= 1ull << 63;
	for (size_t i = 0; i < b->count; i++)
		t->keys[i] = b->values[0][i] ^ turned;
	return t->keys;
}

/* Finds the range of the keys of a chunk. Returns false if it is unknown. */
static bool key_range(const struct paging *p, const struct table_part *part, uint64_t *ret_min,
		      uint64_t *ret_max)
{
	const struct kept_range *r = part->ranges[0];
	bool by_sign = p->column->schema.type == VALUE_SIGNED;
	uint64_t a, b;

	if (!r || p->rank || p->column->schema.type == VALUE_FLOAT)
		return false;
	a = key_of(p, by_sign ? (uint64_t)r->signed_min : r->min);
	b = key_of(p, by_sign ? (uint64_t)r->signed_max : r->max);
	*ret_min = a < b ? a : b;
	*ret_max = a < b ? b : a;
	return true;
}

/* ---- order ---- */

/* The order of rows. Rows with equal keys come in stored order: chunks are sorted by time, and so are the rows
 * of each. */
static bool is_before(const struct table_place *a, const struct table_place *b)
{
	if (a->key != b->key)
		return a->key < b->key;
	return a->chunk != b->chunk ? a->chunk < b->chunk : a->row < b->row;
}

static int by_key(const void *a, const void *b)
{
	return is_before(a, b) ? -1 : is_before(b, a);
}

static void swap(struct table_place *a, struct table_place *b)
{
	struct table_place c = *a;

	*a = *b;
	*b = c;
}

/* Moves the first @wanted rows of @p[0, count) to the front, unsorted (quickselect). */
static void select_first(struct table_place *p, size_t count, size_t wanted, uint64_t seed)
{
	size_t low = 0, high = count;

	while (high - low > 1 && wanted > low && wanted < high) {
		/* Never the last one, so that both parts are smaller than the whole. Random, so that no input
		 * makes this quadratic. */
		struct table_place pivot = p[low + hash_mix(seed, high - low) % (high - low - 1)];
		size_t left = low, right = high - 1;

		for (;; left++, right--) {
			while (is_before(&p[left], &pivot))
				left++;
			while (is_before(&pivot, &p[right]))
				right--;
			if (left >= right)
				break;
			swap(&p[left], &p[right]);
		}
		if (wanted <= right + 1)
			high = right + 1;
		else
			low = right + 1;
	}
}

/* ---- walks over the rows ---- */

static int walk(struct paging *p, bool (*begin)(void *, unsigned, const struct table_part *),
		void (*visit)(void *, unsigned, const struct table_block *), struct err *e)
{
	p->scan.begin = begin;
	p->scan.visit = visit;
	return table_scan(p->q, &p->scan, e);
}

static uint64_t matched_of(const struct paging *p)
{
	uint64_t matched = 0;

	for (unsigned i = 0; i < p->scan.threads; i++)
		matched += p->threads[i].matched;
	return matched;
}

static void forget_found(struct paging *p)
{
	for (unsigned i = 0; i < p->scan.threads; i++) {
		p->threads[i].found.len = 0;
		p->threads[i].matched = 0;
		p->threads[i].is_full = false;
	}
}

/* Appends the rows of all threads to the first thread's list and returns it. */
static places *join_found(struct paging *p)
{
	places *all = &p->threads[0].found;

	for (unsigned i = 1; i < p->scan.threads; i++)
		vec_each(&p->threads[i].found, place)
			vec_push(all, *place);
	return all;
}

/* ---- texts ---- */

struct ranked_text {
	const char *text;
	uint64_t value;
};

static int by_text(const void *a, const void *b)
{
	const struct ranked_text *x = a, *y = b;
	int order = strcmp(x->text, y->text);

	return order ? order : x->value < y->value ? -1 : x->value > y->value;
}

static void find_texts(void *ctx, unsigned thread, const struct table_block *b)
{
	struct paging *p = ctx;
	struct page_thread *t = &p->threads[thread];
	size_t limit = table_text_limit(p->q, p->column);

	if (!t->used_texts)
		t->used_texts = xcalloc(limit + 1, sizeof(*t->used_texts));
	for (size_t i = 0; i < b->count; i++)
		t->used_texts[b->values[0][i] < limit ? b->values[0][i] : 0] = true;
}

/* Ranks the strings of the selected rows alphabetically. */
static int rank_texts(struct paging *p, struct err *e)
{
	size_t limit = table_text_limit(p->q, p->column) + 1;
	VEC(struct ranked_text) texts = {};
	int r = walk(p, NULL, find_texts, e);

	for (size_t n = 0; n < limit && r == 0; n++) {
		bool used = false;

		for (unsigned i = 0; i < p->scan.threads; i++)
			used |= p->threads[i].used_texts && p->threads[i].used_texts[n];
		if (used)
			vec_push(&texts, (struct ranked_text){table_text(p->q, p->column, n), n});
	}
	if (texts.len)
		qsort(texts.items, texts.len, sizeof(*texts.items), by_text);
	p->rank = xcalloc(limit, sizeof(*p->rank));
	for (size_t i = 0; i < texts.len; i++)
		p->rank[texts.items[i].value] = (uint32_t)i;
	vec_release(&texts);
	return r;
}

/* ---- the first rows, starting at a given one ---- */

static bool begin_near(void *ctx, unsigned thread, const struct table_part *part)
{
	struct paging *p = ctx;
	struct page_thread *t = &p->threads[thread];
	uint64_t min, max;

	if (!part->whole || !key_range(p, part, &min, &max))
		return true;
	if ((t->is_full && min > t->worst.key) || max < p->first.key) {
		t->matched += part->rows;
		return false;
	}
	return true;
}

/* Drops all but the first p->wanted rows of a thread. */
static void prune(const struct paging *p, struct page_thread *t)
{
	if (t->found.len <= p->wanted)
		return;
	select_first(t->found.items, t->found.len, p->wanted, p->seed);
	t->found.len = p->wanted;
	t->worst = t->found.items[0];
	vec_each(&t->found, place)
		if (is_before(&t->worst, place))
			t->worst = *place;
	t->is_full = true;
}

static void visit_near(void *ctx, unsigned thread, const struct table_block *b)
{
	struct paging *p = ctx;
	struct page_thread *t = &p->threads[thread];
	const uint64_t *keys = block_keys(p, t, b);

	t->matched += b->count;
	if (!p->wanted)
		return;
	for (size_t i = 0; i < b->count; i++) {
		struct table_place place = {keys[i], b->chunk, 0};

		if (place.key < p->first.key || (t->is_full && place.key > t->worst.key))
			continue;
		place.row = table_block_row(b, i);
		if (is_before(&place, &p->first) || (t->is_full && is_before(&t->worst, &place)))
			continue;
		vec_push(&t->found, place);
		if (t->found.len >= 2 * p->wanted + KEPT_BLOCK)
			prune(p, t);
	}
}

/* Finds the first @wanted rows that are not before p->first. */
static int find_near(struct paging *p, size_t wanted, places **ret, struct err *e)
{
	int r;

	forget_found(p);
	p->wanted = wanted;
	r = walk(p, begin_near, visit_near, e);
	*ret = join_found(p);
	return r;
}

/* ---- the row at a position ---- */

static bool begin_range(void *ctx, unsigned thread, const struct table_part *part)
{
	struct paging *p = ctx;
	struct page_thread *t = &p->threads[thread];
	uint64_t min, max;

	if (!part->whole || !key_range(p, part, &min, &max))
		return true;
	t->min = min < t->min ? min : t->min;
	t->max = max > t->max ? max : t->max;
	t->matched += part->rows;
	return false;
}

static void visit_range(void *ctx, unsigned thread, const struct table_block *b)
{
	struct paging *p = ctx;
	struct page_thread *t = &p->threads[thread];
	const uint64_t *keys = block_keys(p, t, b);

	t->matched += b->count;
	for (size_t i = 0; i < b->count; i++) {
		t->min = keys[i] < t->min ? keys[i] : t->min;
		t->max = keys[i] > t->max ? keys[i] : t->max;
	}
}

/* Counts the rows and finds the range of their keys, p->low to p->high. */
static int find_range(struct paging *p, uint64_t *ret_matched, struct err *e)
{
	int r;

	for (unsigned i = 0; i < p->scan.threads; i++)
		p->threads[i].min = UINT64_MAX;
	r = walk(p, begin_range, visit_range, e);
	p->low = UINT64_MAX;
	for (unsigned i = 0; i < p->scan.threads; i++) {
		const struct page_thread *t = &p->threads[i];

		p->low = t->min < p->low ? t->min : p->low;
		p->high = t->max > p->high ? t->max : p->high;
	}
	*ret_matched = matched_of(p);
	return r;
}

/* Skips chunks without keys between p->low and p->high. */
static bool begin_between(void *ctx, unsigned thread, const struct table_part *part)
{
	struct paging *p = ctx;
	uint64_t min, max;

	(void)thread;
	if (p->only_chunk != UINT32_MAX && part->chunk != p->only_chunk)
		return false;
	return !key_range(p, part, &min, &max) || (min <= p->high && max >= p->low);
}

static void count_buckets(void *ctx, unsigned thread, const struct table_block *b)
{
	struct paging *p = ctx;
	struct page_thread *t = &p->threads[thread];
	const uint64_t *keys = block_keys(p, t, b);
	uint64_t width = p->high - p->low;

	for (size_t i = 0; i < b->count; i++)
		if (keys[i] - p->low <= width)
			t->buckets[(keys[i] - p->low) >> p->shift]++;
}

/* Narrows p->low and p->high to the bucket with the row at position *rank, and makes *rank relative to it. */
static int narrow(struct paging *p, uint64_t *rank, uint64_t *ret_rows, struct err *e)
{
	unsigned bits = p->high == p->low ? 0 : 64 - (unsigned)__builtin_clzll(p->high - p->low);
	uint64_t low = p->low, high = p->high, rows = 0;
	size_t bucket = 0;
	int r;

	p->shift = bits > BUCKET_BITS ? bits - BUCKET_BITS : 0;
	for (unsigned i = 0; i < p->scan.threads; i++) {
		struct page_thread *t = &p->threads[i];

		if (!t->buckets)
			t->buckets = xcalloc(BUCKETS, sizeof(*t->buckets));
		memset(t->buckets, 0, BUCKETS * sizeof(*t->buckets));
	}
	r = walk(p, begin_between, count_buckets, e);
	if (r < 0)
		return r;
	for (; bucket < BUCKETS; bucket++, *rank -= rows) {
		rows = 0;
		for (unsigned i = 0; i < p->scan.threads; i++)
			rows += p->threads[i].buckets[bucket];
		if (*rank < rows)
			break;
	}
	p->low = low + ((uint64_t)bucket << p->shift);
	p->high = p->low + ((1ull << p->shift) - 1);
	p->high = p->high < p->low || p->high > high ? high : p->high;
	*ret_rows = rows;
	return 0;
}

static void collect(void *ctx, unsigned thread, const struct table_block *b)
{
	struct paging *p = ctx;
	struct page_thread *t = &p->threads[thread];
	const uint64_t *keys = block_keys(p, t, b);

	for (size_t i = 0; i < b->count; i++)
		if (keys[i] >= p->low && keys[i] <= p->high)
			vec_push(&t->found,
				 (struct table_place){keys[i], b->chunk, table_block_row(b, i)});
}

static void count_same(void *ctx, unsigned thread, const struct table_block *b)
{
	struct paging *p = ctx;
	const uint64_t *keys = block_keys(p, &p->threads[thread], b);
	uint64_t same = 0;

	for (size_t i = 0; i < b->count; i++)
		same += keys[i] == p->low;
	/* No lock: a chunk is visited by one thread only. */
	p->chunk_rows[b->chunk] += same;
}

/* When p->low equals p->high: finds the chunk with the row at position *rank, and makes *rank relative to it. */
static int find_chunk(struct paging *p, uint64_t *rank, struct err *e)
{
	size_t chunks = p->q->d->chunks.len;
	uint32_t chunk = 0;
	int r;

	p->chunk_rows = xcalloc(chunks + 1, sizeof(*p->chunk_rows));
	r = walk(p, begin_between, count_same, e);
	while (chunk < chunks && *rank >= p->chunk_rows[chunk])
		*rank -= p->chunk_rows[chunk++];
	p->only_chunk = chunk;
	free(p->chunk_rows);
	p->chunk_rows = NULL;
	return r;
}

/* Sets p->first to the row at position @rank. */
static int find_first(struct paging *p, uint64_t rank, struct err *e)
{
	uint64_t rows = UINT64_MAX;
	places *found;
	int r = 0;

	while (r == 0 && rows > CANDIDATES_MAX && (rows == UINT64_MAX || p->low < p->high))
		r = narrow(p, &rank, &rows, e);
	if (r == 0 && rows > CANDIDATES_MAX)
		r = find_chunk(p, &rank, e);
	forget_found(p);
	if (r == 0)
		r = walk(p, begin_between, collect, e);
	p->only_chunk = UINT32_MAX;
	if (r < 0)
		return r;
	found = join_found(p);
	if (rank >= found->len)
		return err_set(e, ESTALE, "rows have changed meanwhile");
	select_first(found->items, found->len, (size_t)rank + 1, p->seed);
	p->first = found->items[0];
	for (size_t i = 1; i <= rank; i++)
		if (is_before(&p->first, &found->items[i]))
			p->first = found->items[i];
	return 0;
}

/* ---- the whole ---- */

static size_t time_column(const struct table_query *q)
{
	for (size_t i = 0; i < q->columns.len; i++)
		if (q->columns.items[i].schema.tag == TAG_TIME)
			return i;
	return 0;
}

static void take_page(struct paging *p, places *found, size_t from, size_t wanted,
		      struct table_page *ret)
{
	size_t to;

	select_first(found->items, found->len, from + wanted, p->seed);
	found->len = from + wanted < found->len ? from + wanted : found->len;
	if (found->len)
		qsort(found->items, found->len, sizeof(*found->items), by_key);
	to = found->len;
	for (size_t i = from; i < to; i++)
		vec_push(&ret->rows, found->items[i]);
}

static int find_page(struct paging *p, uint64_t offset, uint64_t limit, struct table_page *ret,
		     struct err *e)
{
	places *found = NULL;
	size_t wanted = (size_t)limit;
	bool near = offset < NEAR_MAX && limit < NEAR_MAX;
	int r = table_column_is_text(p->column) ? rank_texts(p, e) : 0;

	if (r == 0 && near) {
		r = find_near(p, (size_t)(offset + limit), &found, e);
		ret->matched = matched_of(p);
		if (r == 0)
			take_page(p, found, (size_t)offset, wanted, ret);
		return r;
	}
	if (r == 0)
		r = find_range(p, &ret->matched, e);
	if (r < 0 || offset >= ret->matched)
		return r;
	r = find_first(p, offset, e);
	wanted = limit < ret->matched - offset ? wanted : (size_t)(ret->matched - offset);
	if (r == 0)
		r = find_near(p, wanted, &found, e);
	if (r == 0)
		take_page(p, found, 0, wanted, ret);
	return r;
}

static void paging_close(struct paging *p)
{
	for (size_t i = 0; i < TABLE_THREADS_MAX; i++) {
		vec_release(&p->threads[i].found);
		free(p->threads[i].buckets);
		free(p->threads[i].used_texts);
	}
	free(p->threads);
	free(p->rank);
}

int table_page_find(const struct table_query *q, const struct table_order_by *by, uint64_t offset,
		    uint64_t limit, struct table_page *ret, struct err *e)
{
	size_t column = by->column < 0 ? time_column(q) : (size_t)by->column;
	struct paging p = {.q = q,
			   .descending = by->descending,
			   .seed = hash_seed(),
			   .only_chunk = UINT32_MAX};
	int r;

	*ret = (struct table_page){};
	/* A table without columns has nothing to sort by. */
	if (!q->columns.len)
		return 0;
	p.column = &q->columns.items[column];
	p.threads = xcalloc(TABLE_THREADS_MAX, sizeof(*p.threads));
	p.scan = (struct table_scan){
		.wants = {{column, false}},
		.count = 1,
		.threads = table_threads(),
		.backwards =
			by->descending && !p.column->derived && p.column->schema.tag == TAG_TIME,
		.ctx = &p,
	};
	r = find_page(&p, offset, limit, ret, e);
	if (r < 0)
		table_page_release(ret);
	paging_close(&p);
	return r;
}

void table_page_release(struct table_page *p)
{
	vec_release(&p->rows);
}
