/* A page of the rows of a table, in the order of any column. */
#include "query/table.h"
#include "profile/slots.h"

#include <errno.h>
#include <string.h>

/* Rows that a page can be chosen from: their places take 16 bytes each. */
#define PLACES_MAX (16u << 20)

struct finding {
	const struct table_query *q;
	const struct table_column *column;
	bool descending;
	VEC(struct table_place) places;
};

static int add_places(void *ctx, const struct table_rows *rows, struct err *e)
{
	struct finding *f = ctx;

	if (f->places.len + rows->count > PLACES_MAX)
		return err_set(e, E2BIG,
			       "The selection has more than %u rows, too many to sort. Choose a "
			       "smaller window, or a condition on columns.",
			       PLACES_MAX);
	vec_reserve(&f->places, f->places.len + rows->count);
	for (size_t i = 0; i < rows->count; i++) {
		uint64_t value = table_value(f->q, f->column, rows->columns, rows->row[i]);

		f->places.items[f->places.len++] = (struct table_place){
			table_column_is_text(f->column) ? table_text_number(f->q, f->column, value)
							: table_order(f->column, value),
			rows->chunk, rows->row[i]};
	}
	return 0;
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

/* Replaces the numbers of texts by their places in the alphabet. */
static void rank_texts(struct finding *f)
{
	VEC(struct ranked_text) texts = {};
	uint32_t *rank; /* by number of the text: first whether it is used, then its place */
	uint64_t most = 0;

	vec_each(&f->places, p)
		most = p->key > most ? p->key : most;
	rank = xcalloc(most + 1, sizeof(*rank));
	vec_each(&f->places, p)
		if (!rank[p->key]++)
			vec_push(&texts,
				 (struct ranked_text){table_text(f->q, f->column, p->key), p->key});
	if (texts.len)
		qsort(texts.items, texts.len, sizeof(*texts.items), by_text);
	for (size_t i = 0; i < texts.len; i++)
		rank[texts.items[i].value] = (uint32_t)i;
	vec_each(&f->places, p)
		p->key = rank[p->key];
	vec_release(&texts);
	free(rank);
}

/* ---- order ---- */

/* Chunks are sorted by time, and so are the rows of each: what is equal stays in that order. */
static int by_key(const void *a, const void *b)
{
	const struct table_place *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->chunk != y->chunk)
		return x->chunk < y->chunk ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static void swap(struct table_place *a, struct table_place *b)
{
	struct table_place c = *a;

	*a = *b;
	*b = c;
}

/* Moves the smallest @wanted places of @p[0, count) to the front, in no order. */
static void select_first(struct table_place *p, size_t count, size_t wanted)
{
	uint64_t seed = hash_seed();
	size_t low = 0, high = count;

	while (high - low > 1 && wanted > low && wanted < high) {
		/* Any but the last one, so that both parts are smaller than the whole; by chance, so that no
		 * order of values makes it slow. */
		struct table_place pivot = p[low + hash_mix(seed, high - low) % (high - low - 1)];
		size_t left = low, right = high - 1;

		for (;; left++, right--) {
			while (by_key(&p[left], &pivot) < 0)
				left++;
			while (by_key(&pivot, &p[right]) < 0)
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

static void choose_page(struct finding *f, uint64_t offset, uint64_t limit, struct table_page *ret)
{
	size_t count = f->places.len, from, to;

	if (!count)
		return;
	from = offset < count ? (size_t)offset : count;
	to = limit < count - from ? from + (size_t)limit : count;
	if (f->descending)
		vec_each(&f->places, p)
			p->key = ~p->key;
	select_first(f->places.items, count, from);
	select_first(f->places.items + from, count - from, to - from);
	for (size_t i = from; i < to; i++)
		vec_push(&ret->rows, f->places.items[i]);
	if (ret->rows.len)
		qsort(ret->rows.items, ret->rows.len, sizeof(*ret->rows.items), by_key);
}

static size_t time_column(const struct table_query *q)
{
	for (size_t i = 0; i < q->columns.len; i++)
		if (q->columns.items[i].schema.tag == TAG_TIME)
			return i;
	return 0;
}

int table_page_find(const struct table_query *q, const struct table_order_by *by, uint64_t offset,
		    uint64_t limit, struct table_page *ret, struct err *e)
{
	size_t column = by->column < 0 ? time_column(q) : (size_t)by->column;
	const int wanted[] = {(int)column, -1};
	struct finding f = {.q = q, .descending = by->descending};
	int rc;

	*ret = (struct table_page){};
	/* Nothing can be said of a table without columns. */
	if (!q->columns.len)
		return 0;
	f.column = &q->columns.items[column];
	rc = table_each(q, wanted, add_places, &f, e);
	if (rc == 0) {
		ret->matched = f.places.len;
		if (table_column_is_text(f.column) && f.places.len)
			rank_texts(&f);
		choose_page(&f, offset, limit, ret);
	}
	vec_release(&f.places);
	return rc;
}

void table_page_release(struct table_page *p)
{
	vec_release(&p->rows);
}

/* ---- reading ---- */

struct page_read {
	const struct table_page *page;
	struct chunk_columns *columns; /* of the page's rows, in their order */
	uint32_t chunk;
};

/* The column of the page for a column of a chunk; NULL: there is no room. */
static uint64_t *page_column(struct page_read *r, uint32_t tag)
{
	struct chunk_columns *to = r->columns;
	uint64_t *values = chunk_column(to, tag);

	if (values || to->count == CHUNK_COLUMNS_MAX)
		return values;
	values = xcalloc(r->page->rows.len, sizeof(*values));
	to->columns[to->count++] = (struct chunk_column){tag, values};
	return values;
}

/* Takes the page's rows out of a chunk, which has many others. */
static int copy_rows(void *ctx, const struct table_rows *rows, struct err *e)
{
	struct page_read *r = ctx;
	const struct chunk_columns *from = rows->columns;

	(void)e;
	for (size_t c = 0; c < from->count; c++) {
		uint64_t *to = page_column(r, from->columns[c].tag);

		for (size_t i = 0; to && i < r->page->rows.len; i++) {
			const struct table_place *place = &r->page->rows.items[i];

			if (place->chunk == r->chunk && place->row < from->rows)
				to[i] = from->columns[c].values[place->row];
		}
	}
	return 0;
}

int table_page_each(const struct table_query *q, const struct table_page *p,
		    void (*row)(void *ctx, const struct chunk_columns *columns, uint32_t row),
		    void *ctx, struct err *e)
{
	CLEANUP(free_ptr) bool *read = xcalloc(q->d->chunks.len + 1, sizeof(*read));
	struct page_read r = {.page = p, .columns = xcalloc(1, sizeof(*r.columns))};
	int rc = 0;

	for (size_t i = 0; i < p->rows.len && rc == 0; i++) {
		r.chunk = p->rows.items[i].chunk;
		if (!read[r.chunk])
			rc = table_each_of(q, r.chunk, NULL, copy_rows, &r, e);
		read[r.chunk] = true;
	}
	for (uint32_t i = 0; i < p->rows.len && rc == 0; i++)
		row(ctx, r.columns, i);
	chunk_columns_release(r.columns);
	free(r.columns);
	return rc;
}
