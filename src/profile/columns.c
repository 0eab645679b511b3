#include "profile/columns.h"

#include "profile/slots.h"

#include <string.h>

enum column_form {
	COLUMN_CONSTANT = 0, /* varint: the value of all rows */
	COLUMN_PLAIN = 1,    /* u8 width, planes */
	COLUMN_DELTA = 2,    /* varint: the first value; u8 width, planes of zigzag differences */
	COLUMN_RANK = 3,     /* varint: how many values there are; a column of them, the most
			      * frequent first; u8 width, planes of numbers in it */
};

#define RANK_ROWS_MIN 16u /* below this a list of values costs more than it saves */

void varint_add(struct buf *out, uint64_t value)
{
	char *to = buf_room(out, 10);

	for (; value >= 0x80; value >>= 7)
		*to++ = (char)(value | 0x80);
	*to++ = (char)value;
	buf_commit(out, to);
}

uint64_t varint_take(struct cursor *c)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte = cursor_u8(c);

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	c->failed = true;
	return 0;
}

static uint64_t zigzag(uint64_t difference)
{
	return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

static uint64_t unzigzag(uint64_t value)
{
	return value >> 1 ^ (0 - (value & 1));
}

static unsigned bits_of(uint64_t value)
{
	return value ? 64 - (unsigned)__builtin_clzll(value) : 0;
}

/* ---- encoding ---- */

static void add_planes(const uint64_t *values, size_t rows, uint64_t any, struct buf *out)
{
	unsigned width = (bits_of(any) + 7) / 8;
	unsigned char *to;

	buf_add_char(out, (char)width);
	to = (unsigned char *)buf_room(out, width * rows);
	for (unsigned plane = 0; plane < width; plane++, to += rows)
		for (size_t i = 0; i < rows; i++)
			to[i] = (unsigned char)(values[i] >> 8 * plane);
	buf_commit(out, (char *)to);
}

static uint64_t any_of(const uint64_t *values, size_t rows)
{
	uint64_t any = 0;

	for (size_t i = 0; i < rows; i++)
		any |= values[i];
	return any;
}

static uint64_t *differences(const uint64_t *values, size_t rows)
{
	uint64_t *ret = xrealloc(NULL, rows, sizeof(*ret));

	ret[0] = 0;
	for (size_t i = 1; i < rows; i++)
		ret[i] = zigzag(values[i] - values[i - 1]);
	return ret;
}

static void add_plain_or_delta(const uint64_t *values, size_t rows, struct buf *out)
{
	CLEANUP(free_ptr) uint64_t *delta = differences(values, rows);
	uint64_t plain_bits = 0, delta_bits = 0;

	for (size_t i = 0; i < rows; i++) {
		plain_bits += bits_of(values[i]);
		delta_bits += bits_of(delta[i]);
	}
	if (plain_bits <= delta_bits) {
		buf_add_char(out, COLUMN_PLAIN);
		add_planes(values, rows, any_of(values, rows), out);
		return;
	}
	buf_add_char(out, COLUMN_DELTA);
	varint_add(out, values[0]);
	add_planes(delta, rows, any_of(delta, rows), out);
}

/* Values with how often they occur, then with their rank. */
struct rank_slot {
	uint64_t value;
	uint32_t count, rank;
};

struct ranks {
	struct rank_slot *slots;
	size_t mask, count;
	uint64_t seed;
};

static struct rank_slot *rank_slot(const struct ranks *r, uint64_t value)
{
	size_t at = hash_mix(r->seed, value) & r->mask;

	while (r->slots[at].count && r->slots[at].value != value)
		at = (at + 1) & r->mask;
	return &r->slots[at];
}

/* As times are: that they are all different needs no counting. */
static bool ascends(const uint64_t *values, size_t rows)
{
	for (size_t i = 1; i < rows; i++)
		if (values[i] <= values[i - 1])
			return false;
	return true;
}

/* False: there are too many different ones for it to be worth while. */
static bool count_values(struct ranks *r, const uint64_t *values, size_t rows)
{
	size_t limit = rows / 4, room = 64;
	struct rank_slot *last = NULL;

	if (ascends(values, limit + 1))
		return false;
	while (room < 2 * limit)
		room *= 2;
	*r = (struct ranks){
		.slots = xcalloc(room, sizeof(*r->slots)), .mask = room - 1, .seed = hash_seed()};
	for (size_t i = 0; i < rows; i++) {
		struct rank_slot *slot =
			last && last->value == values[i] ? last : rank_slot(r, values[i]);

		if (!slot->count && ++r->count > limit)
			return false;
		slot->value = values[i];
		slot->count++;
		last = slot;
	}
	return true;
}

static int by_count(const void *a, const void *b)
{
	const struct rank_slot *left = *(struct rank_slot *const *)a,
			       *right = *(struct rank_slot *const *)b;

	if (left->count != right->count)
		return left->count < right->count ? 1 : -1;
	return left->value < right->value ? -1 : left->value > right->value;
}

static void add_ranks(struct ranks *r, const uint64_t *values, size_t rows, struct buf *out)
{
	CLEANUP(free_ptr) struct rank_slot **order = xcalloc(r->count, sizeof(struct rank_slot *));
	CLEANUP(free_ptr) uint64_t *numbers = xrealloc(NULL, rows, sizeof(*numbers));
	size_t n = 0;

	for (size_t i = 0; i <= r->mask; i++)
		if (r->slots[i].count)
			order[n++] = &r->slots[i];
	qsort(order, n, sizeof(struct rank_slot *), by_count);
	for (size_t i = 0; i < n; i++) {
		order[i]->rank = (uint32_t)i;
		numbers[i] = order[i]->value;
	}
	buf_add_char(out, COLUMN_RANK);
	varint_add(out, n);
	add_plain_or_delta(numbers, n, out);
	for (size_t i = 0; i < rows; i++)
		numbers[i] = rank_slot(r, values[i])->rank;
	add_planes(numbers, rows, n - 1, out);
}

static bool all_equal(const uint64_t *values, size_t rows)
{
	for (size_t i = 1; i < rows; i++)
		if (values[i] != values[0])
			return false;
	return true;
}

void column_encode(const uint64_t *values, size_t rows, struct buf *out)
{
	struct ranks r = {};

	if (!rows)
		return;
	if (all_equal(values, rows)) {
		buf_add_char(out, COLUMN_CONSTANT);
		varint_add(out, values[0]);
	} else if (rows >= RANK_ROWS_MIN && count_values(&r, values, rows)) {
		add_ranks(&r, values, rows, out);
	} else {
		add_plain_or_delta(values, rows, out);
	}
	free(r.slots);
}

void column_encode_u32(const uint32_t *values, size_t rows, struct buf *out)
{
	CLEANUP(free_ptr) uint64_t *wide = xrealloc(NULL, rows + 1, sizeof(*wide));

	for (size_t i = 0; i < rows; i++)
		wide[i] = values[i];
	column_encode(wide, rows, out);
}

/* ---- decoding ---- */

static bool take_planes(struct cursor *c, size_t rows, uint64_t *ret)
{
	unsigned width = cursor_u8(c);
	const unsigned char *from = c->data + c->at;

	if (width > 8)
		c->failed = true;
	cursor_skip(c, (uint64_t)width * rows);
	if (c->failed)
		return false;
	if (!width)
		memset(ret, 0, rows * sizeof(*ret));
	for (unsigned plane = 0; plane < width; plane++, from += rows)
		if (plane)
			for (size_t i = 0; i < rows; i++)
				ret[i] |= (uint64_t)from[i] << 8 * plane;
		else
			for (size_t i = 0; i < rows; i++)
				ret[i] = from[i];
	return true;
}

static bool take_constant(struct cursor *c, size_t rows, uint64_t *ret)
{
	uint64_t value = varint_take(c);

	for (size_t i = 0; i < rows; i++)
		ret[i] = value;
	return !c->failed;
}

static bool take_delta(struct cursor *c, size_t rows, uint64_t *ret)
{
	uint64_t value = varint_take(c);

	if (!take_planes(c, rows, ret))
		return false;
	for (size_t i = 0; i < rows; i++)
		ret[i] = value += unzigzag(ret[i]);
	return true;
}

static bool take_form(struct cursor *c, unsigned form, size_t rows, uint64_t *ret);

static bool take_ranks(struct cursor *c, size_t rows, uint64_t *ret)
{
	uint64_t count = varint_take(c), top = 0;
	uint64_t *values;
	unsigned form;
	bool good;

	/* Never more values than rows; and a list of a list would only be somebody's joke. */
	if (!count || count > rows || (form = cursor_u8(c)) == COLUMN_RANK) {
		c->failed = true;
		return false;
	}
	values = xrealloc(NULL, count, sizeof(*values));
	good = take_form(c, form, count, values) && take_planes(c, rows, ret);
	for (size_t i = 0; good && i < rows; i++)
		top = ret[i] > top ? ret[i] : top;
	good = good && top < count;
	for (size_t i = 0; good && i < rows; i++)
		ret[i] = values[ret[i]];
	free(values);
	return good;
}

static bool take_form(struct cursor *c, unsigned form, size_t rows, uint64_t *ret)
{
	switch (form) {
	case COLUMN_CONSTANT:
		return take_constant(c, rows, ret);
	case COLUMN_PLAIN:
		return take_planes(c, rows, ret);
	case COLUMN_DELTA:
		return take_delta(c, rows, ret);
	case COLUMN_RANK:
		return take_ranks(c, rows, ret);
	default:
		return false;
	}
}

bool column_decode(struct cursor *c, size_t rows, uint64_t max, uint64_t *ret)
{
	uint64_t top = 0;

	if (!rows)
		return !c->failed;
	if (!take_form(c, cursor_u8(c), rows, ret)) {
		c->failed = true;
		return false;
	}
	for (size_t i = 0; max != UINT64_MAX && i < rows; i++)
		top = ret[i] > top ? ret[i] : top;
	if (top > max || c->failed)
		c->failed = true;
	return !c->failed;
}

bool column_decode_u32(struct cursor *c, size_t rows, uint32_t max, uint32_t *ret)
{
	CLEANUP(free_ptr) uint64_t *wide = xrealloc(NULL, rows + 1, sizeof(*wide));

	if (!column_decode(c, rows, max, wide))
		return false;
	for (size_t i = 0; i < rows; i++)
		ret[i] = (uint32_t)wide[i];
	return true;
}
