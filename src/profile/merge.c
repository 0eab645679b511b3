/* Small chunks become a large one; chunks get their summaries: see summary.h. */
#include "profile/summary.h"

#include <errno.h>

typedef VEC(struct sample_row) sample_rows;
typedef VEC(struct count_row) count_rows;

static int too_many(struct err *e)
{
	return err_set(e, EINVAL, "chunks of more than %u rows cannot be merged into one",
		       CHUNK_ROWS_MAX);
}

static int read_samples(const struct chunk_piece *piece, sample_rows *rows, struct err *e)
{
	struct sample_columns c;
	int err = chunk_decode_samples(piece->bytes, piece->size, &c, e);

	if (err)
		return err;
	if (rows->len + c.rows > CHUNK_ROWS_MAX) {
		sample_columns_release(&c);
		return too_many(e);
	}
	vec_reserve(rows, rows->len + c.rows);
	for (size_t i = 0; i < c.rows; i++)
		rows->items[rows->len++] = (struct sample_row){
			.time_ns = c.time_ns[i],
			.weight = c.weight[i],
			.address = c.address ? c.address[i] : 0,
			.event = c.event[i],
			.thread = c.thread[i],
			.stack = c.stack[i],
			.cpu = c.cpu[i],
		};
	sample_columns_release(&c);
	return 0;
}

static int merge_samples(const struct chunk_piece *pieces, size_t count, struct buf *ret_chunk,
			 struct chunk_info *ret, struct err *e)
{
	sample_rows rows = {};
	int err = 0;

	for (size_t i = 0; i < count && !err; i++)
		err = read_samples(&pieces[i], &rows, e);
	if (!err)
		chunk_encode_samples(rows.items, rows.len, ret_chunk, ret);
	vec_release(&rows);
	return err;
}

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

static int read_counts(const struct chunk_piece *piece, uint32_t counter, count_rows *rows,
		       struct err *e)
{
	struct chunk_info info;
	struct count_columns c;
	int err = chunk_peek(piece->bytes, piece->size, &info, e);

	if (!err && info.counter != counter)
		err = err_set(e, EINVAL, "chunks of different counters cannot be merged");
	if (!err)
		err = chunk_decode_counts(piece->bytes, piece->size, &c, e);
	if (err)
		return err;
	if (rows->len + c.rows > CHUNK_ROWS_MAX) {
		count_columns_release(&c);
		return too_many(e);
	}
	vec_reserve(rows, rows->len + c.rows);
	for (size_t i = 0; i < c.rows; i++)
		rows->items[rows->len++] = (struct count_row){
			.time_ns = c.time_ns[i],
			.duration_ns = c.duration_ns[i],
			.value = c.value[i],
			.running_ppm = c.running_ppm[i],
		};
	count_columns_release(&c);
	return 0;
}

static int merge_counts(const struct chunk_piece *pieces, size_t count, uint32_t counter,
			struct buf *ret_chunk, struct chunk_info *ret, struct err *e)
{
	count_rows rows = {};
	int err = 0;

	for (size_t i = 0; i < count && !err; i++)
		err = read_counts(&pieces[i], counter, &rows, e);
	if (!err)
		chunk_encode_counts(counter, rows.items, rows.len, ret_chunk, ret);
	vec_release(&rows);
	return err;
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

int chunk_summarize(const struct chunk_piece *chunk, struct buf *ret_summary, struct err *e)
{
	struct chunk_info info;
	int err = chunk_peek(chunk->bytes, chunk->size, &info, e);

	if (err)
		return err;
	return info.kind == CHUNK_SAMPLES ? summarize_samples(chunk, ret_summary, e)
					  : summarize_counts(chunk, ret_summary, e);
}

int chunks_merge(const struct chunk_piece *pieces, size_t count, struct buf *ret_chunk,
		 struct chunk_info *ret, struct err *e)
{
	int err;

	if (!count)
		return err_set(e, EINVAL, "there are no chunks to merge");
	err = chunk_peek(pieces[0].bytes, pieces[0].size, ret, e);
	if (err)
		return err;
	if (ret->kind == CHUNK_SAMPLES)
		return merge_samples(pieces, count, ret_chunk, ret, e);
	return merge_counts(pieces, count, ret->counter, ret_chunk, ret, e);
}
