#include "runs/batch.h"

#include <stdlib.h>

void batch_release(batch *b)
{
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

static bool same_kind(const struct batch_chunk *a, const struct batch_chunk *b)
{
	return a->info.kind == b->info.kind && a->info.counter == b->info.counter;
}

static int by_kind_and_time(const void *x, const void *y)
{
	const struct chunk_info *a = &((const struct batch_chunk *)x)->info;
	const struct chunk_info *b = &((const struct batch_chunk *)y)->info;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->counter != b->counter)
		return a->counter < b->counter ? -1 : 1;
	return a->first_ns < b->first_ns ? -1 : a->first_ns > b->first_ns;
}

/* As they came. */
static int store_each(const struct batch_chunk *chunks, size_t count, struct store *s, int64_t run,
		      uint32_t source, struct err *e)
{
	int result = 0;

	for (size_t i = 0; i < count && !result; i++)
		result = store_chunk_add(s, run, source, &chunks[i].info, chunks[i].bytes,
					 chunks[i].size, NULL, 0, NULL, e);
	return result;
}

static int store_as_one(const struct batch_chunk *chunks, size_t count, struct store *s,
			int64_t run, uint32_t source, struct err *e)
{
	CLEANUP(free_ptr) struct chunk_piece *pieces = xcalloc(count, sizeof(*pieces));
	CLEANUP(buf_release) struct buf chunk = {};
	struct chunk_info info;

	for (size_t i = 0; i < count; i++)
		pieces[i] = (struct chunk_piece){chunks[i].bytes, chunks[i].size};
	/* What cannot be decoded is kept, too: who reads it says what is wrong. */
	if (count == 1 || chunks_merge(pieces, count, &chunk, &info, NULL) < 0)
		return store_each(chunks, count, s, run, source, e);
	return store_chunk_add(s, run, source, &info, chunk.s, chunk.len, NULL, 0, NULL, e);
}

int batch_store(batch *b, struct store *s, int64_t run, uint32_t source, struct err *e)
{
	int result = 0;
	size_t end;

	if (b->len)
		qsort(b->items, b->len, sizeof(*b->items), by_kind_and_time);
	for (size_t at = 0; at < b->len && !result; at = end) {
		uint64_t rows = b->items[at].info.rows;

		for (end = at + 1; end < b->len && same_kind(&b->items[at], &b->items[end]);
		     end++) {
			rows += b->items[end].info.rows;
			if (rows > BATCH_ROWS_MAX)
				break;
		}
		result = store_as_one(&b->items[at], end - at, s, run, source, e);
	}
	return result;
}
