#include "profile/spans.h"

#include "base/alloc.h"
#include "profile/schema.h"

#include <errno.h>

struct span_encoding {
	const struct chunk_columns *rows;
	struct chunk_columns
		*part; /* what becomes a chunk; its columns have room for a chunk's rows */
	span_chunk_emit emit;
	void *ctx;
};

/* Rows @row[0, count) of all become the part. */
static void take_part(struct span_encoding *s, const uint32_t *row, size_t count)
{
	s->part->rows = count;
	for (size_t c = 0; c < s->rows->count; c++)
		for (size_t i = 0; i < count; i++)
			s->part->columns[c].values[i] = s->rows->columns[c].values[row[i]];
}

/* Wide columns of noise may make a chunk too large: then each half becomes one. */
static int encode_part(struct span_encoding *s, const uint32_t *row, size_t count)
{
	CLEANUP(buf_release) struct buf bytes = {};
	struct chunk_info info;
	int rc;

	take_part(s, row, count);
	if (chunk_encode(s->part, &bytes, &info))
		return s->emit(s->ctx, &bytes, &info);
	buf_release(&bytes);
	if (count == 1)
		return -E2BIG;
	rc = encode_part(s, row, count / 2);
	return rc ? rc : encode_part(s, row + count / 2, count - count / 2);
}

static uint64_t duration_of(uint64_t start_ns, uint64_t end_ns)
{
	return end_ns > start_ns ? end_ns - start_ns : 0;
}

/* Sorts the numbers of rows by class; ret_starts[class] is where a class begins. */
static uint32_t *rows_by_class(const struct chunk_columns *rows, const uint64_t *end_ns,
			       size_t ret_starts[SPAN_CLASSES + 1])
{
	const uint64_t *start_ns = rows->columns[0].values;
	uint32_t *row = xrealloc(NULL, rows->rows + 1, sizeof(*row));
	size_t at[SPAN_CLASSES] = {};

	for (size_t i = 0; i < rows->rows; i++)
		at[span_class(duration_of(start_ns[i], end_ns[i]))]++;
	ret_starts[0] = 0;
	for (size_t c = 0; c < SPAN_CLASSES; c++) {
		ret_starts[c + 1] = ret_starts[c] + at[c];
		at[c] = ret_starts[c];
	}
	for (size_t i = 0; i < rows->rows; i++)
		row[at[span_class(duration_of(start_ns[i], end_ns[i]))]++] = (uint32_t)i;
	return row;
}

int span_chunks_encode(const struct chunk_columns *rows, span_chunk_emit emit, void *ctx)
{
	CLEANUP(free_ptr) uint32_t *row = NULL;
	struct span_encoding s = {.rows = rows, .emit = emit, .ctx = ctx};
	const uint64_t *end_ns = chunk_column(rows, TAG_END);
	size_t starts[SPAN_CLASSES + 1], room;
	int rc = 0;

	if (!end_ns || rows->rows > UINT32_MAX)
		return -EINVAL;
	row = rows_by_class(rows, end_ns, starts);
	room = rows->rows < CHUNK_ROWS_MAX ? rows->rows : CHUNK_ROWS_MAX;
	s.part = xcalloc(1, sizeof(*s.part));
	s.part->info = rows->info;
	for (; s.part->count < rows->count; s.part->count++)
		s.part->columns[s.part->count] =
			(struct chunk_column){rows->columns[s.part->count].tag,
					      xrealloc(NULL, room + 1, sizeof(uint64_t))};
	for (uint32_t class = 0; class < SPAN_CLASSES && !rc; class ++) {
		s.part->info.partition = class;
		for (size_t at = starts[class]; at < starts[class + 1] && !rc; at += room)
			rc = encode_part(&s, row + at,
					 starts[class + 1] - at < room ? starts[class + 1] - at
								       : room);
	}
	chunk_columns_release(s.part);
	free(s.part);
	return rc;
}
