/* Small chunks become a large one; chunks get their summaries: see summary.h. */
#include "profile/summary.h"

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

static int summarize_ranges(const struct chunk_piece *chunk, struct buf *ret_summary, struct err *e)
{
	struct chunk_columns *c = xcalloc(1, sizeof(*c));
	int err = chunk_decode(chunk->bytes, chunk->size, NULL, c, e);

	if (!err)
		column_ranges_encode(c, ret_summary);
	chunk_columns_release(c);
	free(c);
	return err;
}

int chunk_summarize(const struct chunk_piece *chunk, struct buf *ret_summary, struct err *e)
{
	struct chunk_info info;
	int err = chunk_peek(chunk->bytes, chunk->size, &info, e);

	if (err)
		return err;
	return info.sampled                   ? summarize_samples(chunk, ret_summary, e)
	       : info.schema == SCHEMA_COUNTS ? summarize_counts(chunk, ret_summary, e)
					      : summarize_ranges(chunk, ret_summary, e);
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
