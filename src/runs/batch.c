#include "runs/batch.h"

#include <stdlib.h>

void batch_release(batch *b)
{
	vec_each(b, c)
		free(c->own);
	vec_release(b);
}

int batch_add(batch *b, const void *bytes, size_t size, struct err *e)
{
	struct batch_chunk c = {.bytes = bytes, .size = size};
	int result = chunk_peek(bytes, size, &c.info, e);

	if (result < 0)
		return result;
	vec_push(b, c);
	return 0;
}

static bool same_table(const struct batch_chunk *a, const struct batch_chunk *b)
{
	return a->info.schema == b->info.schema && a->info.sampled == b->info.sampled &&
	       a->info.partition == b->info.partition;
}

static int by_table_and_time(const void *x, const void *y)
{
	const struct chunk_info *a = &((const struct batch_chunk *)x)->info;
	const struct chunk_info *b = &((const struct batch_chunk *)y)->info;

	if (a->schema != b->schema)
		return a->schema < b->schema ? -1 : 1;
	if (a->partition != b->partition)
		return a->partition < b->partition ? -1 : 1;
	return a->first_ns < b->first_ns ? -1 : a->first_ns > b->first_ns;
}

/* Merges the chunks. Returns false if there is only one, or if one of them cannot be decoded. */
static bool make_one(const struct batch_chunk *chunks, size_t count, struct batch_chunk *ret)
{
	CLEANUP(free_ptr) struct chunk_piece *pieces = xcalloc(count, sizeof(*pieces));
	struct buf chunk = {};

	for (size_t i = 0; i < count; i++)
		pieces[i] = (struct chunk_piece){chunks[i].bytes, chunks[i].size};
	*ret = (struct batch_chunk){};
	if (count == 1 || chunks_merge(pieces, count, &chunk, &ret->info, NULL) < 0) {
		buf_release(&chunk);
		return false;
	}
	ret->size = chunk.len;
	ret->bytes = ret->own = buf_steal(&chunk);
	return true;
}

void batch_join(batch *b)
{
	batch joined = {};
	size_t end;

	if (b->len)
		qsort(b->items, b->len, sizeof(*b->items), by_table_and_time);
	for (size_t at = 0; at < b->len; at = end) {
		uint64_t rows = b->items[at].info.rows;
		struct batch_chunk one;

		for (end = at + 1; end < b->len && same_table(&b->items[at], &b->items[end]);
		     end++) {
			rows += b->items[end].info.rows;
			if (rows > BATCH_ROWS_MAX)
				break;
		}
		if (make_one(&b->items[at], end - at, &one)) {
			for (size_t i = at; i < end; i++)
				free(b->items[i].own);
			vec_push(&joined, one);
			continue;
		}
		/* Keep chunks that cannot be decoded: the reader reports what is wrong. */
		for (size_t i = at; i < end; i++)
			vec_push(&joined, b->items[i]);
	}
	vec_release(b);
	*b = joined;
}

int batch_store(const batch *b, struct store *s, int64_t run, uint32_t source, struct err *e)
{
	int result = 0;

	for (size_t i = 0; i < b->len && !result; i++)
		result = store_chunk_add(s, run, source, &b->items[i].info, b->items[i].bytes,
					 b->items[i].size, NULL, 0, NULL, e);
	return result;
}
