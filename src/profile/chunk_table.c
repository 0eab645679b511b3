/* Chunks of any table. */
#include "profile/chunk_bytes.h"

#include "profile/chunk_order.h"
#include "profile/columns.h"
#include "profile/schema.h"

#include <errno.h>

uint64_t *chunk_column(const struct chunk_columns *c, uint32_t tag)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->columns[i].tag == tag)
			return c->columns[i].values;
	return NULL;
}

void chunk_columns_release(struct chunk_columns *c)
{
	for (size_t i = 0; i < c->count; i++)
		free(c->columns[i].values);
	c->count = 0;
}

/* ---- encoding ---- */

static void gather(const struct row_key *keys, const uint64_t *values, size_t rows, uint64_t *ret)
{
	for (size_t i = 0; i < rows; i++)
		ret[i] = values[keys[i].row];
}

/* Replaces each end by its distance from the start, which is mostly small. Returns the latest end. */
static uint64_t lengths_of(const uint64_t *start_ns, uint64_t *ends, size_t rows)
{
	uint64_t last = 0;

	for (size_t i = 0; i < rows; i++) {
		last = ends[i] > last ? ends[i] : last;
		ends[i] = ends[i] > start_ns[i] ? ends[i] - start_ns[i] : 0;
	}
	return last;
}

bool chunk_encode(const struct chunk_columns *c, struct buf *out, struct chunk_info *ret)
{
	size_t rows = c->rows;
	CLEANUP(free_ptr) struct row_key *memory = xrealloc(NULL, 2 * rows, sizeof(*memory));
	CLEANUP(free_ptr) uint64_t *scratch = xrealloc(NULL, 2 * rows, sizeof(*scratch));
	uint64_t *time_ns = scratch + rows, last_ns;
	size_t before = out->len;
	struct column_writer w = {.spans = chunk_column(c, TAG_END)};
	struct row_key *keys;

	for (size_t i = 0; i < rows; i++)
		memory[i] = (struct row_key){c->columns[0].values[i], (uint32_t)i};
	keys = row_keys_sort(memory, memory + rows, rows);
	gather(keys, c->columns[0].values, rows, time_ns);
	last_ns = time_ns[rows - 1];
	column_write(&w, TAG_TIME, time_ns, rows);
	for (size_t i = 1; i < c->count; i++) {
		gather(keys, c->columns[i].values, rows, scratch);
		if (c->columns[i].tag == TAG_DURATION) {
			column_write_durations(&w, time_ns, scratch, rows);
			continue;
		}
		if (c->columns[i].tag == TAG_END)
			last_ns = lengths_of(time_ns, scratch, rows);
		column_write(&w, c->columns[i].tag, scratch, rows);
	}
	*ret = (struct chunk_info){
		.schema = c->info.schema,
		.sampled = c->info.sampled,
		.rows = (uint32_t)rows,
		.partition = c->info.partition,
		.first_ns = time_ns[0],
		.last_ns = last_ns > time_ns[0] ? last_ns : time_ns[0],
	};
	chunk_seal(&w, ret, out);
	return w.bytes <= CHUNK_BYTES_MAX && out->len - before <= CHUNK_BYTES_MAX;
}

/* ---- decoding ---- */

static bool is_wanted(const uint32_t *wanted, uint32_t tag)
{
	if (!wanted || tag == TAG_TIME)
		return true;
	for (; *wanted; wanted++)
		if (*wanted == tag)
			return true;
	return false;
}

static bool read_ends(struct cursor *column, const uint64_t *start_ns, size_t rows, uint64_t *ret)
{
	if (!column_decode(column, rows, UINT64_MAX, ret))
		return false;
	for (size_t i = 0; i < rows; i++)
		if (__builtin_add_overflow(start_ns[i], ret[i], &ret[i]))
			return false;
	return true;
}

static bool read_column(struct cursor *column, uint32_t tag, const struct chunk_columns *c,
			uint64_t *ret)
{
	const uint64_t *time_ns = c->count ? c->columns[0].values : NULL;

	if (!time_ns && tag != TAG_TIME)
		return false;
	switch (tag) {
	case TAG_DURATION:
		return column_read_durations(column, time_ns, c->rows, ret);
	case TAG_END:
		return read_ends(column, time_ns, c->rows, ret);
	default:
		return column_decode(column, c->rows, UINT64_MAX, ret);
	}
}

static bool is_there(const struct chunk_columns *c, uint32_t tag)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->columns[i].tag == tag)
			return true;
	return false;
}

static bool read_columns(struct column_reader *r, const uint32_t *wanted, struct chunk_columns *c)
{
	struct cursor *column;
	uint64_t *values;
	uint32_t tag;

	while (column_reader_next(r, &tag, &column)) {
		/* Columns of version 1 do not state their length, so they cannot be skipped. */
		if (!r->fixed && !is_wanted(wanted, tag))
			continue;
		if (is_there(c, tag))
			return false;
		values = xrealloc(NULL, c->rows, sizeof(*values));
		if (!read_column(column, tag, c, values)) {
			free(values);
			return false;
		}
		c->columns[c->count++] = (struct chunk_column){tag, values};
	}
	return column_reader_ended(r) && c->count && c->columns[0].tag == TAG_TIME;
}

static bool times_agree(const struct chunk_columns *c)
{
	const uint64_t *time_ns = c->columns[0].values, *end_ns = chunk_column(c, TAG_END);

	if (time_ns[0] != c->info.first_ns)
		return false;
	for (size_t i = 0; i < c->rows; i++)
		if ((i && time_ns[i] < time_ns[i - 1]) || time_ns[i] > c->info.last_ns ||
		    (end_ns && end_ns[i] > c->info.last_ns))
			return false;
	return true;
}

int chunk_decode(const void *bytes, size_t size, const uint32_t *wanted, struct chunk_columns *ret,
		 struct err *e)
{
	struct column_reader r;
	int err;

	ret->count = ret->rows = 0;
	err = column_reader_open(bytes, size, &r, e);
	if (!err) {
		ret->info = r.info;
		ret->rows = r.info.rows;
		if (!read_columns(&r, wanted, ret) || !times_agree(ret)) {
			chunk_columns_release(ret);
			err = err_set(e, EBADMSG, "a stored chunk is damaged");
		}
	}
	column_reader_close(&r);
	return err;
}
