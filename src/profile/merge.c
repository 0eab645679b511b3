/* Small chunks become a large one; chunks get their summaries: see summary.h. */
#include "profile/summary.h"

#include "profile/lanes.h"
#include "profile/packed.h"
#include "profile/schema.h"

#include <errno.h>
#include <string.h>

/* ---- summaries ---- */

static int summarize_samples(const struct chunk_piece *chunk, struct buf *ret_summary,
			     struct err *e)
{
	struct sample_columns c;
	struct histogram h;
	int err = chunk_decode_samples(chunk->bytes, chunk->size, &c, e);

	if (err)
		return err;
	histogram_make(&c, &h);
	histogram_encode(&h, ret_summary);
	histogram_release(&h);
	sample_columns_release(&c);
	return 0;
}

static int summarize_counts(const struct chunk_piece *chunk, struct buf *ret_summary, struct err *e)
{
	struct count_columns c;
	count_blocks blocks;
	int err = chunk_decode_counts(chunk->bytes, chunk->size, &c, e);

	if (err)
		return err;
	count_blocks_make(&c, &blocks);
	count_blocks_encode(&blocks, ret_summary);
	vec_release(&blocks);
	count_columns_release(&c);
	return 0;
}

/* ---- several parts ---- */

struct parts {
	VEC(uint32_t) sizes;
	struct buf bytes;
};

/* What was added to the bytes since the last part is one. */
static void end_part(struct parts *p)
{
	uint32_t before = 0;

	vec_each(&p->sizes, size)
		before += *size;
	if (p->bytes.len > before)
		vec_push(&p->sizes, (uint32_t)p->bytes.len - before);
}

/* The coarsest level first: it is what is read first. */
static void add_lanes(const struct chunk_columns *c, struct parts *p)
{
	struct lane_level levels[LANES_LEVELS_MAX];

	for (int by = 0; by < LANES_BY_COUNT; by++)
		for (size_t n = lane_levels_make(c, (enum lanes_by)by, levels); n; n--) {
			lane_level_encode(&levels[n - 1], &p->bytes);
			lane_level_release(&levels[n - 1]);
			end_part(p);
		}
}

/* Ranges of columns, unless the rows are samples, whose summary is a histogram; lanes of spans. */
static int add_table(const struct chunk_piece *chunk, bool sampled, struct parts *p, struct err *e)
{
	static const uint32_t of_lanes[] = {TAG_END, TAG_CPU, TAG_THREAD, TAG_KEY, 0};
	struct chunk_columns *c = xcalloc(1, sizeof(*c));
	int err = chunk_decode(chunk->bytes, chunk->size, sampled ? of_lanes : NULL, c, e);

	if (!err && !sampled)
		column_ranges_encode(c, &p->bytes);
	end_part(p);
	if (!err)
		add_lanes(c, p);
	chunk_columns_release(c);
	free(c);
	return err;
}

static void join_parts(const struct parts *p, struct buf *out)
{
	if (p->sizes.len > 1) {
		buf_add_mem(out, PACKED_SEVERAL, 4);
		put_u32(out, (uint32_t)p->sizes.len);
		vec_each(&p->sizes, size)
			put_u32(out, *size);
	}
	buf_add_mem(out, buf_str(&p->bytes), p->bytes.len);
}

bool summary_part(const void *bytes, size_t size, const char *what, size_t n,
		  struct chunk_piece *ret)
{
	struct cursor c = little_cursor(bytes, size);
	uint64_t at, part, count;

	if (size < 8 || memcmp(bytes, PACKED_SEVERAL, 4)) {
		*ret = (struct chunk_piece){bytes, size};
		return !n && size >= 4 && !memcmp(bytes, what, 4);
	}
	cursor_skip(&c, 4);
	count = cursor_u32(&c);
	at = 8 + 4 * count;
	for (; count; count--, at += part) {
		part = cursor_u32(&c);
		if (c.failed || part < 4 || at > size || part > size - at)
			return false;
		if (memcmp((const char *)bytes + at, what, 4) || n--)
			continue;
		*ret = (struct chunk_piece){(const char *)bytes + at, (size_t)part};
		return true;
	}
	return false;
}

int chunk_summarize(const struct chunk_piece *chunk, struct buf *ret_summary, struct err *e)
{
	struct parts p = {};
	struct chunk_info info;
	int err = chunk_peek(chunk->bytes, chunk->size, &info, e);

	if (!err && info.sampled)
		err = summarize_samples(chunk, &p.bytes, e);
	else if (!err && info.schema == SCHEMA_COUNTS)
		err = summarize_counts(chunk, &p.bytes, e);
	end_part(&p);
	if (!err && info.schema >= SCHEMA_FIRST_OWN)
		err = add_table(chunk, info.sampled, &p, e);
	if (!err)
		join_parts(&p, ret_summary);
	vec_release(&p.sizes);
	buf_release(&p.bytes);
	return err;
}

/* ---- merging ---- */

/* Column @tag of @to, which is made with zeros if no piece had it before. */
static uint64_t *column_of(struct chunk_columns *to, uint32_t tag, size_t rows)
{
	uint64_t *values = chunk_column(to, tag);

	if (values || to->count == CHUNK_COLUMNS_MAX)
		return values;
	values = xcalloc(rows, sizeof(*values));
	to->columns[to->count++] = (struct chunk_column){tag, values};
	return values;
}

/* All columns of a piece, also those that we do not know: a newer version may have written them. */
static int add_piece(const struct chunk_piece *piece, struct chunk_columns *part,
		     struct chunk_columns *to, size_t rows, struct err *e)
{
	int err = chunk_decode(piece->bytes, piece->size, NULL, part, e);

	if (err)
		return err;
	for (size_t i = 0; i < part->count && !err; i++) {
		uint64_t *values = column_of(to, part->columns[i].tag, rows);

		if (values)
			memcpy(values + to->rows, part->columns[i].values,
			       part->rows * sizeof(*values));
		else
			err = err_set(e, EINVAL, "chunks of more than %u columns cannot be merged",
				      CHUNK_COLUMNS_MAX);
	}
	to->rows += part->rows;
	chunk_columns_release(part);
	return err;
}

/* Rows of all pieces together. */
static int count_rows(const struct chunk_piece *pieces, size_t count, struct chunk_info *ret_first,
		      size_t *ret, struct err *e)
{
	struct chunk_info info;
	size_t rows = 0;

	for (size_t i = 0; i < count; i++) {
		int err = chunk_peek(pieces[i].bytes, pieces[i].size, &info, e);

		if (err)
			return err;
		if (!i)
			*ret_first = info;
		if (info.schema != ret_first->schema || info.partition != ret_first->partition ||
		    info.sampled != ret_first->sampled)
			return err_set(e, EINVAL,
				       "chunks of different tables or counters cannot be merged");
		rows += info.rows;
		if (rows > CHUNK_ROWS_MAX)
			return err_set(e, EINVAL,
				       "chunks of more than %u rows cannot be merged into one",
				       CHUNK_ROWS_MAX);
	}
	*ret = rows;
	return 0;
}

int chunks_merge(const struct chunk_piece *pieces, size_t count, struct buf *ret_chunk,
		 struct chunk_info *ret, struct err *e)
{
	struct chunk_columns *both;
	size_t rows = 0;
	int err;

	if (!count)
		return err_set(e, EINVAL, "there are no chunks to merge");
	err = count_rows(pieces, count, ret, &rows, e);
	if (err)
		return err;
	both = xcalloc(2, sizeof(*both));
	both[0].info = *ret;
	for (size_t i = 0; i < count && !err; i++)
		err = add_piece(&pieces[i], &both[1], &both[0], rows, e);
	if (!err && !chunk_encode(&both[0], ret_chunk, ret))
		err = err_set(e, E2BIG, "the chunks together are too large for one");
	chunk_columns_release(&both[0]);
	free(both);
	return err;
}
