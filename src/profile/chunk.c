/* Chunks of samples and of counts, with a typed pointer to each column. */
#include "profile/chunk.h"

#include "profile/chunk_bytes.h"
#include "profile/chunk_order.h"
#include "profile/columns.h"
#include "profile/schema.h"

#include <errno.h>
#include <string.h>

/* ---- encoding ---- */

/* Copies one field of all rows to @scratch, in the order of @keys. */
#define GATHER_FIELD(keys, rows, count, field, scratch)                                            \
	do {                                                                                       \
		for (size_t i_ = 0; i_ < (count); i_++)                                            \
			(scratch)[i_] = (rows)[(keys)[i_].row].field;                              \
	} while (0)

#define WRITE_FIELD(w, tag, keys, rows, count, field, scratch)                                     \
	do {                                                                                       \
		GATHER_FIELD(keys, rows, count, field, scratch);                                   \
		column_write((w), (tag), (scratch), (count));                                      \
	} while (0)

void chunk_encode_samples(const struct sample_row *rows, size_t count, struct buf *out,
			  struct chunk_info *ret)
{
	CLEANUP(free_ptr) struct row_key *memory = xrealloc(NULL, 2 * count, sizeof(*memory));
	CLEANUP(free_ptr) uint64_t *scratch = xrealloc(NULL, count, sizeof(*scratch));
	struct column_writer w = {};
	struct row_key *keys;

	for (size_t i = 0; i < count; i++)
		memory[i] = (struct row_key){rows[i].time_ns, (uint32_t)i};
	keys = row_keys_sort(memory, memory + count, count);
	WRITE_FIELD(&w, TAG_TIME, keys, rows, count, time_ns, scratch);
	WRITE_FIELD(&w, TAG_WEIGHT, keys, rows, count, weight, scratch);
	WRITE_FIELD(&w, TAG_ADDRESS, keys, rows, count, address, scratch);
	WRITE_FIELD(&w, TAG_EVENT, keys, rows, count, event, scratch);
	WRITE_FIELD(&w, TAG_THREAD, keys, rows, count, thread, scratch);
	WRITE_FIELD(&w, TAG_STACK, keys, rows, count, stack, scratch);
	WRITE_FIELD(&w, TAG_CPU, keys, rows, count, cpu, scratch);
	*ret = (struct chunk_info){
		.schema = SCHEMA_SAMPLES,
		.sampled = true,
		.rows = (uint32_t)count,
		.first_ns = keys[0].time_ns,
		.last_ns = keys[count - 1].time_ns,
	};
	chunk_seal(&w, ret, out);
}

void chunk_encode_counts(uint32_t counter, const struct count_row *rows, size_t count,
			 struct buf *out, struct chunk_info *ret)
{
	CLEANUP(free_ptr) struct row_key *memory = xrealloc(NULL, 2 * count, sizeof(*memory));
	CLEANUP(free_ptr) uint64_t *scratch = xrealloc(NULL, 2 * count, sizeof(*scratch));
	uint64_t *time_ns = scratch + count;
	struct column_writer w = {};
	struct row_key *keys;

	for (size_t i = 0; i < count; i++)
		memory[i] = (struct row_key){rows[i].time_ns, (uint32_t)i};
	keys = row_keys_sort(memory, memory + count, count);
	WRITE_FIELD(&w, TAG_TIME, keys, rows, count, time_ns, time_ns);
	GATHER_FIELD(keys, rows, count, duration_ns, scratch);
	column_write_durations(&w, time_ns, scratch, count);
	WRITE_FIELD(&w, TAG_VALUE, keys, rows, count, value, scratch);
	WRITE_FIELD(&w, TAG_RUNNING, keys, rows, count, running_ppm, scratch);
	*ret = (struct chunk_info){
		.schema = SCHEMA_COUNTS,
		.rows = (uint32_t)count,
		.partition = counter,
		.first_ns = keys[0].time_ns,
		.last_ns = keys[count - 1].time_ns,
	};
	chunk_seal(&w, ret, out);
}

/* ---- decoding ---- */

static bool times_agree(const uint64_t *time_ns, const struct chunk_info *info, bool spans)
{
	for (size_t i = 1; i < info->rows; i++)
		if (time_ns[i] < time_ns[i - 1])
			return false;
	return time_ns[0] == info->first_ns && (spans || time_ns[info->rows - 1] == info->last_ns);
}

/* Columns of 8 bytes are placed before those of 4, so that all are aligned. */
static void place_samples(struct sample_columns *c, size_t rows)
{
	uint64_t *wide = xrealloc(NULL, rows, 3 * sizeof(uint64_t) + 4 * sizeof(uint32_t));
	uint32_t *narrow = (uint32_t *)(wide + 3 * rows);

	*c = (struct sample_columns){
		.rows = rows,
		.time_ns = wide,
		.weight = wide + rows,
		.address = wide + 2 * rows,
		.event = narrow,
		.thread = narrow + rows,
		.stack = narrow + 2 * rows,
		.cpu = narrow + 3 * rows,
		.memory = wide,
	};
}

static bool all_zero(const uint64_t *values, size_t rows)
{
	uint64_t any = 0;

	for (size_t i = 0; i < rows; i++)
		any |= values[i];
	return !any;
}

/* Finds where the column with @tag is decoded to. Sets one of the results, or none if the column is ignored. */
static void sample_target(const struct sample_columns *c, uint32_t tag, uint64_t **ret_wide,
			  uint32_t **ret_narrow)
{
	*ret_wide = tag == TAG_TIME      ? c->time_ns
		    : tag == TAG_WEIGHT  ? c->weight
		    : tag == TAG_ADDRESS ? c->address
					 : NULL;
	*ret_narrow = tag == TAG_EVENT    ? c->event
		      : tag == TAG_THREAD ? c->thread
		      : tag == TAG_STACK  ? c->stack
		      : tag == TAG_CPU    ? c->cpu
					  : NULL;
}

/* Returns false if a column with @tag was seen before. Tags unknown to the typed readers are ignored. */
static bool note_tag(uint32_t tag, uint32_t *seen)
{
	bool twice = tag < SCHEMA_TAG_OWN && *seen & 1u << tag;

	if (tag < SCHEMA_TAG_OWN)
		*seen |= 1u << tag;
	return !twice;
}

static bool read_samples(struct column_reader *r, struct sample_columns *ret)
{
	static const uint32_t tags[] = {TAG_WEIGHT, TAG_EVENT, TAG_THREAD, TAG_STACK, TAG_CPU};
	size_t rows = r->info.rows;
	struct cursor *column;
	uint64_t *wide;
	uint32_t *narrow, tag, seen = 0;

	while (column_reader_next(r, &tag, &column)) {
		if (!note_tag(tag, &seen))
			return false;
		sample_target(ret, tag, &wide, &narrow);
		if (wide && !column_decode(column, rows, UINT64_MAX, wide))
			return false;
		if (narrow && !column_decode_u32(column, rows, UINT32_MAX, narrow))
			return false;
	}
	if (!column_reader_ended(r) || !(seen & 1u << TAG_TIME))
		return false;
	if (!(seen & 1u << TAG_ADDRESS) || all_zero(ret->address, rows))
		ret->address = NULL;
	for (size_t i = 0; i < ARRAY_LEN(tags); i++) {
		if (seen & 1u << tags[i])
			continue;
		sample_target(ret, tags[i], &wide, &narrow);
		if (wide)
			memset(wide, 0, rows * sizeof(*wide));
		if (narrow)
			memset(narrow, 0, rows * sizeof(*narrow));
	}
	return times_agree(ret->time_ns, &r->info, seen & 1u << TAG_END);
}

int chunk_decode_samples(const void *bytes, size_t size, struct sample_columns *ret, struct err *e)
{
	struct column_reader r;
	int err;

	*ret = (struct sample_columns){};
	err = column_reader_open(bytes, size, &r, e);
	if (!err && !r.info.sampled)
		err = err_set(e, EBADMSG, "a stored chunk is of another table than it should be");
	if (!err) {
		place_samples(ret, r.info.rows);
		if (!read_samples(&r, ret)) {
			sample_columns_release(ret);
			err = err_set(e, EBADMSG, "a stored chunk of samples is damaged");
		}
	}
	column_reader_close(&r);
	return err;
}

static void place_counts(struct count_columns *c, size_t rows)
{
	uint64_t *wide = xcalloc(rows, 3 * sizeof(uint64_t) + sizeof(uint32_t));

	*c = (struct count_columns){
		.rows = rows,
		.time_ns = wide,
		.duration_ns = wide + rows,
		.value = wide + 2 * rows,
		.running_ppm = (uint32_t *)(wide + 3 * rows),
		.memory = wide,
	};
}

static bool read_counts(struct column_reader *r, struct count_columns *ret)
{
	size_t rows = r->info.rows;
	uint32_t tag, seen = 0;
	struct cursor *column;
	bool good = true;

	while (good && column_reader_next(r, &tag, &column)) {
		if (!note_tag(tag, &seen) || !(seen & 1u << TAG_TIME))
			return false;
		if (tag == TAG_TIME)
			good = column_decode(column, rows, UINT64_MAX, ret->time_ns);
		else if (tag == TAG_DURATION)
			good = column_read_durations(column, ret->time_ns, rows, ret->duration_ns);
		else if (tag == TAG_VALUE)
			good = column_decode(column, rows, UINT64_MAX, ret->value);
		else if (tag == TAG_RUNNING)
			good = column_decode_u32(column, rows, UINT32_MAX, ret->running_ppm);
	}
	return good && column_reader_ended(r) && seen & 1u << TAG_TIME &&
	       times_agree(ret->time_ns, &r->info, false);
}

int chunk_decode_counts(const void *bytes, size_t size, struct count_columns *ret, struct err *e)
{
	struct column_reader r;
	int err;

	*ret = (struct count_columns){};
	err = column_reader_open(bytes, size, &r, e);
	if (!err && r.info.schema != SCHEMA_COUNTS)
		err = err_set(e, EBADMSG, "a stored chunk is of another table than it should be");
	if (!err) {
		place_counts(ret, r.info.rows);
		if (!read_counts(&r, ret)) {
			count_columns_release(ret);
			err = err_set(e, EBADMSG, "a stored chunk of counts is damaged");
		}
	}
	column_reader_close(&r);
	return err;
}

void sample_columns_release(struct sample_columns *c)
{
	free(c->memory);
	*c = (struct sample_columns){};
}

void count_columns_release(struct count_columns *c)
{
	free(c->memory);
	*c = (struct count_columns){};
}
