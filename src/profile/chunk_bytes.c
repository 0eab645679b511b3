#include "profile/chunk_bytes.h"

#include "profile/columns.h"
#include "profile/schema.h"

#include <errno.h>
#include <string.h>

#define HEAD_1_SIZE 28u /* u32 kind, rows, counter; u64 first, last */
#define HEAD_SIZE   32u /* u32 schema, rows, partition, flags; u64 first, last */

#define FLAG_SAMPLED 1u

/* ---- writing ---- */

static bool all_zero(const uint64_t *values, size_t rows)
{
	uint64_t any = 0;

	for (size_t i = 0; i < rows; i++)
		any |= values[i];
	return !any;
}

static void add_column(struct column_writer *w, uint32_t tag)
{
	varint_add(&w->body, tag);
	varint_add(&w->body, w->column.len);
	buf_add_mem(&w->body, buf_str(&w->column), w->column.len);
	buf_clear(&w->column);
	w->count++;
}

/*
 * Whether a column is written even if it is 0 in all rows. The end of a span is stored as its duration, so a
 * missing column would mean "ends at time 0", not "lasts 0 ns". Lanes need the columns of CPUs and threads
 * of spans.
 */
static bool is_always_there(const struct column_writer *w, uint32_t tag)
{
	return tag == TAG_TIME || tag == TAG_END ||
	       (w->spans && (tag == TAG_CPU || tag == TAG_THREAD || tag == TAG_KEY));
}

void column_write(struct column_writer *w, uint32_t tag, const uint64_t *values, size_t rows)
{
	if (!is_always_there(w, tag) && all_zero(values, rows))
		return;
	column_encode(values, rows, &w->column);
	add_column(w, tag);
}

/* The first interval has no predecessor and is stored as it is, apart from the others: one large number
 * would make the whole column wider. */
void column_write_durations(struct column_writer *w, const uint64_t *time_ns, uint64_t *values,
			    size_t rows)
{
	varint_add(&w->column, values[0]);
	values[0] = 0;
	for (size_t i = 1; i < rows; i++)
		values[i] = time_ns[i] - time_ns[i - 1] - values[i];
	column_encode(values, rows, &w->column);
	add_column(w, TAG_DURATION);
}

void chunk_seal(struct column_writer *w, const struct chunk_info *info, struct buf *out)
{
	CLEANUP(buf_release) struct buf head = {}, body = {};

	put_u32(&head, info->schema);
	put_u32(&head, info->rows);
	put_u32(&head, info->partition);
	put_u32(&head, info->sampled ? FLAG_SAMPLED : 0);
	put_u64(&head, info->first_ns);
	put_u64(&head, info->last_ns);
	varint_add(&body, w->count);
	buf_add_mem(&body, buf_str(&w->body), w->body.len);
	packed_seal(PACKED_ROWS, &head, &body, out);
	w->bytes = body.len;
	buf_release(&w->body);
	buf_release(&w->column);
}

/* ---- heads ---- */

static bool is_version_1(const void *bytes, size_t size)
{
	return size >= 4 && !memcmp(bytes, PACKED_CHUNK, 4);
}

/* The kinds of version 1 have the same numbers as SCHEMA_SAMPLES and SCHEMA_COUNTS. */
static int read_head_1(struct cursor head, struct chunk_info *ret, struct err *e)
{
	*ret = (struct chunk_info){
		.schema = cursor_u32(&head),
		.rows = cursor_u32(&head),
		.partition = cursor_u32(&head),
		.first_ns = cursor_u64(&head),
		.last_ns = cursor_u64(&head),
	};
	ret->sampled = ret->schema == SCHEMA_SAMPLES;
	if (ret->schema != SCHEMA_SAMPLES && ret->schema != SCHEMA_COUNTS)
		return err_set(e, EBADMSG, "a stored chunk is damaged: its kind %u is not known",
			       ret->schema);
	return 0;
}

static int read_head_2(struct cursor head, struct chunk_info *ret, struct err *e)
{
	uint32_t flags;

	*ret = (struct chunk_info){
		.schema = cursor_u32(&head),
		.rows = cursor_u32(&head),
		.partition = cursor_u32(&head),
	};
	flags = cursor_u32(&head);
	ret->sampled = flags & FLAG_SAMPLED;
	ret->first_ns = cursor_u64(&head);
	ret->last_ns = cursor_u64(&head);
	if (!ret->schema || ret->schema >= SCHEMA_FIRST_OWN + SCHEMAS_MAX ||
	    (flags & ~FLAG_SAMPLED) ||
	    (ret->schema < SCHEMA_FIRST_OWN && ret->sampled != (ret->schema == SCHEMA_SAMPLES)))
		return err_set(e, EBADMSG, "a stored chunk is damaged: its table is not known");
	return 0;
}

static int check_head(const struct chunk_info *info, struct err *e)
{
	if (!info->rows || info->rows > CHUNK_ROWS_MAX || info->first_ns > info->last_ns)
		return err_set(e, EBADMSG, "a stored chunk is damaged: its head makes no sense");
	return 0;
}

int chunk_peek(const void *bytes, size_t size, struct chunk_info *ret, struct err *e)
{
	bool old = is_version_1(bytes, size);
	struct cursor head;
	int err;

	*ret = (struct chunk_info){};
	if (size > CHUNK_BYTES_MAX)
		return err_set(e, EBADMSG, "a chunk of %zu bytes is too large", size);
	err = old ? packed_peek(PACKED_CHUNK, bytes, size, HEAD_1_SIZE, &head, e)
		  : packed_peek(PACKED_ROWS, bytes, size, HEAD_SIZE, &head, e);
	if (!err)
		err = old ? read_head_1(head, ret, e) : read_head_2(head, ret, e);
	return err ? err : check_head(ret, e);
}

/* ---- reading ---- */

static const uint8_t samples_1[] = {TAG_TIME,   TAG_WEIGHT, TAG_ADDRESS, TAG_EVENT,
				    TAG_THREAD, TAG_STACK,  TAG_CPU,     0};
static const uint8_t counts_1[] = {TAG_TIME, TAG_DURATION, TAG_VALUE, TAG_RUNNING, 0};

int column_reader_open(const void *bytes, size_t size, struct column_reader *ret, struct err *e)
{
	int err;

	*ret = (struct column_reader){};
	err = chunk_peek(bytes, size, &ret->info, e);
	if (err)
		return err;
	if (is_version_1(bytes, size)) {
		ret->fixed = ret->info.sampled ? samples_1 : counts_1;
		return packed_open(PACKED_CHUNK, bytes, size, HEAD_1_SIZE, CHUNK_BYTES_MAX,
				   &ret->packed, e);
	}
	err = packed_open(PACKED_ROWS, bytes, size, HEAD_SIZE, CHUNK_BYTES_MAX, &ret->packed, e);
	if (err)
		return err;
	ret->left = varint_take(&ret->packed.body);
	if (ret->left > CHUNK_COLUMNS_MAX)
		return err_set(e, EBADMSG, "a stored chunk is damaged: it has %llu columns",
			       (unsigned long long)ret->left);
	return 0;
}

void column_reader_close(struct column_reader *r)
{
	packed_release(&r->packed);
}

bool column_reader_next(struct column_reader *r, uint32_t *ret_tag, struct cursor **ret)
{
	struct cursor *body = &r->packed.body;
	uint64_t tag, size;

	if (r->fixed) {
		if (body->failed || !*r->fixed)
			return false;
		*ret_tag = *r->fixed++;
		*ret = body;
		return true;
	}
	/* The caller must have read the whole column or nothing of it. */
	if (body->failed ||
	    (r->begun && (r->column.failed || (r->column.at && !cursor_done(&r->column))))) {
		body->failed = true;
		return false;
	}
	if (!r->left)
		return false;
	r->left--;
	tag = varint_take(body);
	size = varint_take(body);
	r->column = cursor_part(body, body->at, size);
	cursor_skip(body, size);
	r->begun = true;
	if (!tag || tag > UINT32_MAX || r->column.failed)
		body->failed = true;
	*ret_tag = (uint32_t)tag;
	*ret = &r->column;
	return !body->failed;
}

bool column_reader_ended(const struct column_reader *r)
{
	return !r->packed.body.failed && r->packed.body.at == r->packed.body.size &&
	       (r->fixed ? !*r->fixed : !r->left);
}

bool column_read_durations(struct cursor *c, const uint64_t *time_ns, size_t rows, uint64_t *ret)
{
	uint64_t first = varint_take(c);

	if (!column_decode(c, rows, UINT64_MAX, ret))
		return false;
	for (size_t i = rows - 1; i; i--)
		ret[i] = time_ns[i] - time_ns[i - 1] - ret[i];
	ret[0] = first;
	return true;
}
