#include "profile/chunk.h"

#include "profile/columns.h"
#include "profile/packed.h"

#include <errno.h>
#include <string.h>

#define HEAD_SIZE 28u /* u32 kind, rows, counter; u64 first, last */

/* ---- the order of time ---- */

struct key {
	uint64_t time_ns;
	uint32_t row;
};

/* [@begin, @middle) and [@middle, @end) ascend; puts both into @to. */
static void merge_runs(const struct key *from, size_t begin, size_t middle, size_t end,
		       struct key *to)
{
	size_t left = begin, right = middle;

	for (size_t i = begin; i < end; i++)
		if (right == end || (left < middle && from[left].time_ns <= from[right].time_ns))
			to[i] = from[left++];
		else
			to[i] = from[right++];
}

static size_t run_end(const struct key *keys, size_t begin, size_t count)
{
	size_t end = begin + 1;

	while (end < count && keys[end].time_ns >= keys[end - 1].time_ns)
		end++;
	return end < count ? end : count;
}

/*
 * What arrives is a few ascending runs, often one. Merging neighbours until one is left keeps equal
 * times in their order. Gives back the one of both arrays that has the result.
 */
static struct key *sort_keys(struct key *keys, struct key *spare, size_t count)
{
	while (run_end(keys, 0, count) < count) {
		struct key *swap = keys;

		for (size_t begin = 0, middle, end; begin < count; begin = end) {
			middle = run_end(keys, begin, count);
			end = middle < count ? run_end(keys, middle, count) : count;
			merge_runs(keys, begin, middle, end, spare);
		}
		keys = spare;
		spare = swap;
	}
	return keys;
}

/* ---- encoding ---- */

static void seal(const struct chunk_info *info, const struct buf *body, struct buf *out)
{
	CLEANUP(buf_release) struct buf head = {};

	put_u32(&head, info->kind);
	put_u32(&head, info->rows);
	put_u32(&head, info->counter);
	put_u64(&head, info->first_ns);
	put_u64(&head, info->last_ns);
	packed_seal(PACKED_CHUNK, &head, body, out);
}

/* One field of all rows, in the order of @keys, as a column. */
#define ADD_FIELD(body, keys, rows, count, field, scratch)                                         \
	do {                                                                                       \
		for (size_t i_ = 0; i_ < (count); i_++)                                            \
			(scratch)[i_] = (rows)[(keys)[i_].row].field;                              \
		column_encode((scratch), (count), (body));                                         \
	} while (0)

void chunk_encode_samples(const struct sample_row *rows, size_t count, struct buf *out,
			  struct chunk_info *ret)
{
	CLEANUP(free_ptr) struct key *memory = xrealloc(NULL, 2 * count, sizeof(*memory));
	CLEANUP(free_ptr) uint64_t *scratch = xrealloc(NULL, count, sizeof(*scratch));
	CLEANUP(buf_release) struct buf body = {};
	struct key *keys;

	for (size_t i = 0; i < count; i++)
		memory[i] = (struct key){rows[i].time_ns, (uint32_t)i};
	keys = sort_keys(memory, memory + count, count);
	ADD_FIELD(&body, keys, rows, count, time_ns, scratch);
	ADD_FIELD(&body, keys, rows, count, weight, scratch);
	ADD_FIELD(&body, keys, rows, count, address, scratch);
	ADD_FIELD(&body, keys, rows, count, event, scratch);
	ADD_FIELD(&body, keys, rows, count, thread, scratch);
	ADD_FIELD(&body, keys, rows, count, stack, scratch);
	ADD_FIELD(&body, keys, rows, count, cpu, scratch);
	*ret = (struct chunk_info){
		.kind = CHUNK_SAMPLES,
		.rows = (uint32_t)count,
		.first_ns = keys[0].time_ns,
		.last_ns = keys[count - 1].time_ns,
	};
	seal(ret, &body, out);
}

/*
 * An interval mostly begins where the one before it ended: what is kept is by how much it does not.
 * The first has none before it; it is kept as it is.
 */
static void add_durations(const struct key *keys, const struct count_row *rows, size_t count,
			  uint64_t *scratch, struct buf *body)
{
	varint_add(body, rows[keys[0].row].duration_ns);
	scratch[0] = 0;
	for (size_t i = 1; i < count; i++)
		scratch[i] = keys[i].time_ns - keys[i - 1].time_ns - rows[keys[i].row].duration_ns;
	column_encode(scratch, count, body);
}

void chunk_encode_counts(uint32_t counter, const struct count_row *rows, size_t count,
			 struct buf *out, struct chunk_info *ret)
{
	CLEANUP(free_ptr) struct key *memory = xrealloc(NULL, 2 * count, sizeof(*memory));
	CLEANUP(free_ptr) uint64_t *scratch = xrealloc(NULL, count, sizeof(*scratch));
	CLEANUP(buf_release) struct buf body = {};
	struct key *keys;

	for (size_t i = 0; i < count; i++)
		memory[i] = (struct key){rows[i].time_ns, (uint32_t)i};
	keys = sort_keys(memory, memory + count, count);
	ADD_FIELD(&body, keys, rows, count, time_ns, scratch);
	add_durations(keys, rows, count, scratch, &body);
	ADD_FIELD(&body, keys, rows, count, value, scratch);
	ADD_FIELD(&body, keys, rows, count, running_ppm, scratch);
	*ret = (struct chunk_info){
		.kind = CHUNK_COUNTS,
		.rows = (uint32_t)count,
		.counter = counter,
		.first_ns = keys[0].time_ns,
		.last_ns = keys[count - 1].time_ns,
	};
	seal(ret, &body, out);
}

/* ---- decoding ---- */

static int read_head(struct cursor head, struct chunk_info *ret, struct err *e)
{
	uint32_t kind = cursor_u32(&head);

	*ret = (struct chunk_info){
		.kind = kind == CHUNK_COUNTS ? CHUNK_COUNTS : CHUNK_SAMPLES,
		.rows = cursor_u32(&head),
		.counter = cursor_u32(&head),
		.first_ns = cursor_u64(&head),
		.last_ns = cursor_u64(&head),
	};
	if (kind != CHUNK_SAMPLES && kind != CHUNK_COUNTS)
		return err_set(e, EBADMSG, "a stored chunk is damaged: its kind %u is not known",
			       kind);
	if (!ret->rows || ret->rows > CHUNK_ROWS_MAX || ret->first_ns > ret->last_ns)
		return err_set(e, EBADMSG, "a stored chunk is damaged: its head makes no sense");
	return 0;
}

int chunk_peek(const void *bytes, size_t size, struct chunk_info *ret, struct err *e)
{
	struct cursor head;
	int err;

	*ret = (struct chunk_info){};
	if (size > CHUNK_BYTES_MAX)
		return err_set(e, EBADMSG, "a chunk of %zu bytes is too large", size);
	err = packed_peek(PACKED_CHUNK, bytes, size, HEAD_SIZE, &head, e);
	return err ? err : read_head(head, ret, e);
}

static int open_chunk(const void *bytes, size_t size, enum chunk_kind kind, struct packed *p,
		      struct chunk_info *ret, struct err *e)
{
	int err = packed_open(PACKED_CHUNK, bytes, size, HEAD_SIZE, CHUNK_BYTES_MAX, p, e);

	if (err)
		return err;
	err = read_head(p->head, ret, e);
	if (!err && ret->kind != kind)
		err = err_set(e, EBADMSG, "a stored chunk is of another kind than it should be");
	return err;
}

static bool times_agree(const uint64_t *time_ns, const struct chunk_info *info)
{
	for (size_t i = 1; i < info->rows; i++)
		if (time_ns[i] < time_ns[i - 1])
			return false;
	return time_ns[0] == info->first_ns && time_ns[info->rows - 1] == info->last_ns;
}

/* The columns of 8 bytes lie first, so that all are aligned. */
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

static int read_samples(struct cursor *c, const struct chunk_info *info, struct sample_columns *ret,
			struct err *e)
{
	size_t rows = info->rows;

	place_samples(ret, rows);
	if (!column_decode(c, rows, UINT64_MAX, ret->time_ns) ||
	    !column_decode(c, rows, UINT64_MAX, ret->weight) ||
	    !column_decode(c, rows, UINT64_MAX, ret->address) ||
	    !column_decode_u32(c, rows, UINT32_MAX, ret->event) ||
	    !column_decode_u32(c, rows, UINT32_MAX, ret->thread) ||
	    !column_decode_u32(c, rows, UINT32_MAX, ret->stack) ||
	    !column_decode_u32(c, rows, UINT32_MAX, ret->cpu) || c->at != c->size ||
	    !times_agree(ret->time_ns, info)) {
		sample_columns_release(ret);
		return err_set(e, EBADMSG, "a stored chunk of samples is damaged");
	}
	if (all_zero(ret->address, rows))
		ret->address = NULL;
	return 0;
}

int chunk_decode_samples(const void *bytes, size_t size, struct sample_columns *ret, struct err *e)
{
	struct chunk_info info;
	struct packed p = {};
	int err;

	*ret = (struct sample_columns){};
	err = open_chunk(bytes, size, CHUNK_SAMPLES, &p, &info, e);
	if (!err)
		err = read_samples(&p.body, &info, ret, e);
	packed_release(&p);
	return err;
}

static void place_counts(struct count_columns *c, size_t rows)
{
	uint64_t *wide = xrealloc(NULL, rows, 3 * sizeof(uint64_t) + sizeof(uint32_t));

	*c = (struct count_columns){
		.rows = rows,
		.time_ns = wide,
		.duration_ns = wide + rows,
		.value = wide + 2 * rows,
		.running_ppm = (uint32_t *)(wide + 3 * rows),
		.memory = wide,
	};
}

static int read_counts(struct cursor *c, const struct chunk_info *info, struct count_columns *ret,
		       struct err *e)
{
	size_t rows = info->rows;
	uint64_t first_duration;
	bool good;

	place_counts(ret, rows);
	good = column_decode(c, rows, UINT64_MAX, ret->time_ns);
	first_duration = varint_take(c);
	if (!good || !column_decode(c, rows, UINT64_MAX, ret->duration_ns) ||
	    !column_decode(c, rows, UINT64_MAX, ret->value) ||
	    !column_decode_u32(c, rows, UINT32_MAX, ret->running_ppm) || c->at != c->size ||
	    !times_agree(ret->time_ns, info)) {
		count_columns_release(ret);
		return err_set(e, EBADMSG, "a stored chunk of counts is damaged");
	}
	for (size_t i = rows - 1; i; i--)
		ret->duration_ns[i] = ret->time_ns[i] - ret->time_ns[i - 1] - ret->duration_ns[i];
	ret->duration_ns[0] = first_duration;
	return 0;
}

int chunk_decode_counts(const void *bytes, size_t size, struct count_columns *ret, struct err *e)
{
	struct chunk_info info;
	struct packed p = {};
	int err;

	*ret = (struct count_columns){};
	err = open_chunk(bytes, size, CHUNK_COUNTS, &p, &info, e);
	if (!err)
		err = read_counts(&p.body, &info, ret, e);
	packed_release(&p);
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
