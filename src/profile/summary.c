#include "profile/summary.h"

#include "base/bits.h"
#include "profile/columns.h"
#include "profile/packed.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define HEAD_SIZE     4u /* u32 entries */
#define BODY_SIZE_MAX CHUNK_BYTES_MAX

/* ---- histograms ---- */

/* Sort key of a sample, and the number of its row. */
struct entry {
	uint32_t part[3]; /* stack, thread, event: the least significant first */
	uint32_t row;
};

/* One pass of a radix sort, by one byte of @part. Returns false, without a pass, if it is the same in all. */
static bool sort_by_byte(const struct entry *from, struct entry *to, size_t count, unsigned part,
			 unsigned shift)
{
	uint32_t starts[257] = {};

	for (size_t i = 0; i < count; i++)
		starts[1 + (from[i].part[part] >> shift & 0xff)]++;
	for (unsigned i = 1; i <= 256; i++) {
		if (starts[i] == count)
			return false;
		starts[i] += starts[i - 1];
	}
	for (size_t i = 0; i < count; i++)
		to[starts[from[i].part[part] >> shift & 0xff]++] = from[i];
	return true;
}

/* Returns the array that holds the result: @entries or @spare. */
static struct entry *sort_entries(struct entry *entries, struct entry *spare, size_t count)
{
	for (unsigned part = 0; part < 3; part++)
		for (unsigned shift = 0; shift < 32; shift += 8)
			if (sort_by_byte(entries, spare, count, part, shift)) {
				struct entry *swap = entries;

				entries = spare;
				spare = swap;
			}
	return entries;
}

static void place_histogram(struct histogram *h, size_t len)
{
	uint64_t *wide = xrealloc(NULL, len + 1, sizeof(uint64_t) + 4 * sizeof(uint32_t));
	uint32_t *narrow = (uint32_t *)(wide + len);

	*h = (struct histogram){
		.len = len,
		.weight = wide,
		.event = narrow,
		.thread = narrow + len,
		.stack = narrow + 2 * len,
		.samples = narrow + 3 * len,
		.memory = wide,
	};
}

void histogram_make(const struct sample_columns *c, struct histogram *ret)
{
	CLEANUP(free_ptr) struct entry *memory = xrealloc(NULL, 2 * c->rows + 1, sizeof(*memory));
	struct entry *entries;
	size_t len = 0, at = 0;

	for (size_t i = 0; i < c->rows; i++)
		memory[i] = (struct entry){{c->stack[i], c->thread[i], c->event[i]}, (uint32_t)i};
	entries = sort_entries(memory, memory + c->rows, c->rows);
	for (size_t i = 0; i < c->rows; i++)
		len += !i || memcmp(entries[i].part, entries[i - 1].part, sizeof(entries->part));
	place_histogram(ret, len);
	for (size_t i = 0; i < c->rows; i++) {
		const struct entry *s = &entries[i];

		if (!i || memcmp(s->part, s[-1].part, sizeof(s->part))) {
			at += i > 0;
			ret->event[at] = s->part[2];
			ret->thread[at] = s->part[1];
			ret->stack[at] = s->part[0];
			ret->samples[at] = 0;
			ret->weight[at] = 0;
		}
		ret->samples[at]++;
		ret->weight[at] += c->weight[s->row];
	}
}

void histogram_encode(const struct histogram *h, struct buf *out)
{
	CLEANUP(buf_release) struct buf head = {}, body = {};

	put_u32(&head, (uint32_t)h->len);
	column_encode_u32(h->event, h->len, &body);
	column_encode_u32(h->thread, h->len, &body);
	column_encode_u32(h->stack, h->len, &body);
	column_encode_u32(h->samples, h->len, &body);
	column_encode(h->weight, h->len, &body);
	packed_seal(PACKED_HISTOGRAM, &head, &body, out);
}

static bool is_sorted(const struct histogram *h)
{
	for (size_t i = 1; i < h->len; i++) {
		if (h->event[i] != h->event[i - 1]) {
			if (h->event[i] < h->event[i - 1])
				return false;
		} else if (h->thread[i] != h->thread[i - 1]) {
			if (h->thread[i] < h->thread[i - 1])
				return false;
		} else if (h->stack[i] <= h->stack[i - 1]) {
			return false;
		}
	}
	return true;
}

static int open_summary(const char *what, const void *bytes, size_t size, size_t max,
			struct packed *p, size_t *ret_len, struct err *e)
{
	int err = packed_open(what, bytes, size, HEAD_SIZE, BODY_SIZE_MAX, p, e);

	if (err)
		return err;
	*ret_len = cursor_u32(&p->head);
	if (*ret_len > max) {
		packed_release(p);
		return err_set(e, EBADMSG, "a stored summary is damaged: it is too large");
	}
	return 0;
}

int histogram_decode(const void *bytes, size_t size, struct histogram *ret, struct err *e)
{
	struct packed p = {};
	bool good;
	size_t len;
	int err;

	*ret = (struct histogram){};
	err = open_summary(PACKED_HISTOGRAM, bytes, size, CHUNK_ROWS_MAX, &p, &len, e);
	if (err)
		return err;
	place_histogram(ret, len);
	good = column_decode_u32(&p.body, len, UINT32_MAX, ret->event) &&
	       column_decode_u32(&p.body, len, UINT32_MAX, ret->thread) &&
	       column_decode_u32(&p.body, len, UINT32_MAX, ret->stack) &&
	       column_decode_u32(&p.body, len, UINT32_MAX, ret->samples) &&
	       column_decode(&p.body, len, UINT64_MAX, ret->weight) && p.body.at == p.body.size &&
	       is_sorted(ret);
	packed_release(&p);
	if (good)
		return 0;
	histogram_release(ret);
	return err_set(e, EBADMSG, "a stored histogram is damaged");
}

void histogram_release(struct histogram *h)
{
	free(h->memory);
	*h = (struct histogram){};
}

/* ---- blocks of counts ---- */

static double rate_of(uint64_t value, uint64_t duration_ns)
{
	return duration_ns ? (double)value * 1e9 / (double)duration_ns : 0;
}

static struct count_block block_of(const struct count_columns *c, size_t from, size_t to)
{
	struct count_block b = {
		.first_ns = UINT64_MAX,
		.last_ns = c->time_ns[to - 1],
		.min = UINT64_MAX,
		.min_rate = INFINITY,
		.rows = (uint32_t)(to - from),
		.least_ppm = UINT32_MAX,
	};

	for (size_t i = from; i < to; i++) {
		uint64_t value = c->value[i], duration_ns = c->duration_ns[i];
		uint64_t begin = c->time_ns[i] > duration_ns ? c->time_ns[i] - duration_ns : 0;
		double rate = rate_of(value, duration_ns);

		b.first_ns = begin < b.first_ns ? begin : b.first_ns;
		b.min = value < b.min ? value : b.min;
		b.max = value > b.max ? value : b.max;
		b.sum += value;
		b.duration_ns += duration_ns;
		b.least_ppm = c->running_ppm[i] < b.least_ppm ? c->running_ppm[i] : b.least_ppm;
		/* An interval of 0 ns has no rate. */
		if (!duration_ns)
			continue;
		b.min_rate = rate < b.min_rate ? rate : b.min_rate;
		b.max_rate = rate > b.max_rate ? rate : b.max_rate;
	}
	if (b.min_rate > b.max_rate)
		b.min_rate = b.max_rate;
	return b;
}

void count_blocks_make(const struct count_columns *c, count_blocks *ret)
{
	*ret = (count_blocks){};
	for (size_t at = 0; at < c->rows; at += SUMMARY_BLOCK_ROWS)
		vec_push(ret,
			 block_of(c, at,
				  c->rows - at < SUMMARY_BLOCK_ROWS ? c->rows
								    : at + SUMMARY_BLOCK_ROWS));
}

#define ADD_COLUMN(blocks, scratch, body, value)                                                   \
	do {                                                                                       \
		for (size_t i = 0; i < (blocks)->len; i++) {                                       \
			const struct count_block *b = &(blocks)->items[i];                         \
			(scratch)[i] = (value);                                                    \
		}                                                                                  \
		column_encode((scratch), (blocks)->len, (body));                                   \
	} while (0)

void count_blocks_encode(const count_blocks *b_, struct buf *out)
{
	CLEANUP(free_ptr) uint64_t *scratch = xrealloc(NULL, b_->len + 1, sizeof(*scratch));
	CLEANUP(buf_release) struct buf head = {}, body = {};

	put_u32(&head, (uint32_t)b_->len);
	ADD_COLUMN(b_, scratch, &body, b->first_ns);
	ADD_COLUMN(b_, scratch, &body, b->last_ns - b->first_ns);
	ADD_COLUMN(b_, scratch, &body, b->min);
	ADD_COLUMN(b_, scratch, &body, b->max);
	ADD_COLUMN(b_, scratch, &body, b->sum);
	ADD_COLUMN(b_, scratch, &body, bits_of_double(b->min_rate));
	ADD_COLUMN(b_, scratch, &body, bits_of_double(b->max_rate));
	ADD_COLUMN(b_, scratch, &body, b->duration_ns);
	ADD_COLUMN(b_, scratch, &body, b->rows);
	ADD_COLUMN(b_, scratch, &body, b->least_ppm);
	packed_seal(PACKED_BLOCKS, &head, &body, out);
}

#define TAKE_COLUMN(x, blocks, scratch, max, target)                                               \
	do {                                                                                       \
		if (!column_decode((x), (blocks)->len, (max), (scratch)))                          \
			return false;                                                              \
		for (size_t i = 0; i < (blocks)->len; i++) {                                       \
			struct count_block *b = &(blocks)->items[i];                               \
			uint64_t v = (scratch)[i];                                                 \
			target;                                                                    \
		}                                                                                  \
	} while (0)

static bool take_blocks(struct cursor *c, count_blocks *ret, uint64_t *scratch)
{
	TAKE_COLUMN(c, ret, scratch, UINT64_MAX, b->first_ns = v);
	TAKE_COLUMN(c, ret, scratch, UINT64_MAX, b->last_ns = b->first_ns + v);
	TAKE_COLUMN(c, ret, scratch, UINT64_MAX, b->min = v);
	TAKE_COLUMN(c, ret, scratch, UINT64_MAX, b->max = v);
	TAKE_COLUMN(c, ret, scratch, UINT64_MAX, b->sum = v);
	TAKE_COLUMN(c, ret, scratch, UINT64_MAX, b->min_rate = double_of_bits(v));
	TAKE_COLUMN(c, ret, scratch, UINT64_MAX, b->max_rate = double_of_bits(v));
	TAKE_COLUMN(c, ret, scratch, UINT64_MAX, b->duration_ns = v);
	TAKE_COLUMN(c, ret, scratch, SUMMARY_BLOCK_ROWS, b->rows = (uint32_t)v);
	TAKE_COLUMN(c, ret, scratch, UINT32_MAX, b->least_ppm = (uint32_t)v);
	/* Code that walks blocks relies on these conditions. */
	for (size_t i = 0; i < ret->len; i++) {
		const struct count_block *b = &ret->items[i];

		if (!b->rows || b->last_ns < b->first_ns || !isfinite(b->min_rate) ||
		    !isfinite(b->max_rate) || (i && b->last_ns < b[-1].last_ns))
			return false;
	}
	return c->at == c->size;
}

int count_blocks_decode(const void *bytes, size_t size, count_blocks *ret, struct err *e)
{
	CLEANUP(free_ptr) uint64_t *scratch = NULL;
	struct packed p = {};
	size_t len;
	bool good;
	int err;

	*ret = (count_blocks){};
	err = open_summary(PACKED_BLOCKS, bytes, size, CHUNK_ROWS_MAX / SUMMARY_BLOCK_ROWS, &p,
			   &len, e);
	if (err)
		return err;
	scratch = xrealloc(NULL, len + 1, sizeof(*scratch));
	for (size_t i = 0; i < len; i++)
		vec_push(ret, (struct count_block){});
	good = take_blocks(&p.body, ret, scratch);
	packed_release(&p);
	if (good)
		return 0;
	vec_release(ret);
	return err_set(e, EBADMSG, "a stored summary of counts is damaged");
}

/* ---- ranges of columns ---- */

void column_ranges_encode(const struct chunk_columns *c, struct buf *out)
{
	CLEANUP(buf_release) struct buf head = {}, body = {};

	put_u32(&head, (uint32_t)c->count);
	for (size_t i = 0; i < c->count; i++) {
		const uint64_t *values = c->columns[i].values;
		uint64_t min = values[0], max = values[0];

		for (size_t n = 1; n < c->rows; n++) {
			min = values[n] < min ? values[n] : min;
			max = values[n] > max ? values[n] : max;
		}
		varint_add(&body, c->columns[i].tag);
		varint_add(&body, min);
		varint_add(&body, max);
	}
	packed_seal(PACKED_RANGES, &head, &body, out);
}
