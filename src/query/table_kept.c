#include "query/table_kept.h"

#include "base/alloc.h"

#include <string.h>

/* ---- making ---- */

static size_t blocks_of(uint32_t rows)
{
	return (rows + KEPT_BLOCK - 1) / KEPT_BLOCK;
}

static struct kept_range range_of(const uint64_t *values, size_t count)
{
	struct kept_range r = {values[0], values[0], (int64_t)values[0], (int64_t)values[0]};

	for (size_t i = 1; i < count; i++) {
		uint64_t value = values[i];

		r.min = value < r.min ? value : r.min;
		r.max = value > r.max ? value : r.max;
		r.signed_min = (int64_t)value < r.signed_min ? (int64_t)value : r.signed_min;
		r.signed_max = (int64_t)value > r.signed_max ? (int64_t)value : r.signed_max;
	}
	return r;
}

static void widen(struct kept_range *r, const struct kept_range *by)
{
	r->min = by->min < r->min ? by->min : r->min;
	r->max = by->max > r->max ? by->max : r->max;
	r->signed_min = by->signed_min < r->signed_min ? by->signed_min : r->signed_min;
	r->signed_max = by->signed_max > r->signed_max ? by->signed_max : r->signed_max;
}

/* Returns the signed or the unsigned minimum, whichever gives the smaller spread: -1 is huge if unsigned. */
static uint64_t base_of(const struct kept_range *r, uint64_t *ret_spread)
{
	uint64_t plain = r->max - r->min,
		 by_sign = (uint64_t)r->signed_max - (uint64_t)r->signed_min;

	*ret_spread = plain < by_sign ? plain : by_sign;
	return plain <= by_sign ? r->min : (uint64_t)r->signed_min;
}

static uint8_t width_of(uint64_t spread)
{
	return !spread                ? 0
	       : spread <= UINT8_MAX  ? 1
	       : spread <= UINT16_MAX ? 2
	       : spread <= UINT32_MAX ? 4
				      : 8;
}

#define STORE(type)                                                                                \
	for (size_t i = 0; i < count; i++)                                                         \
	((type *)c->values)[from + i] = (type)(values[from + i] - base)

static void store_block(struct kept_column *c, const uint64_t *values, size_t from, size_t count,
			uint64_t base)
{
	switch (c->width) {
	case 1:
		STORE(uint8_t);
		break;
	case 2:
		STORE(uint16_t);
		break;
	case 4:
		STORE(uint32_t);
		break;
	case 8:
		STORE(uint64_t);
		break;
	}
}

#undef STORE

struct kept_column *kept_column_make(uint32_t tag, const uint64_t *values, uint32_t rows)
{
	struct kept_column *c = xcalloc(1, sizeof(*c));
	size_t blocks = blocks_of(rows);
	uint64_t most = 0;

	c->tag = tag;
	c->rows = rows;
	c->base = xcalloc(blocks, sizeof(*c->base));
	if (!values)
		return c;
	for (size_t b = 0; b < blocks; b++) {
		size_t from = b * KEPT_BLOCK,
		       count = rows - from < KEPT_BLOCK ? rows - from : KEPT_BLOCK;
		struct kept_range r = range_of(values + from, count);
		uint64_t spread;

		c->base[b] = base_of(&r, &spread);
		most = spread > most ? spread : most;
		if (!b)
			c->range = r;
		widen(&c->range, &r);
	}
	c->width = width_of(most);
	if (!c->width)
		return c;
	/* The last block is padded, so that loops over a block have a constant number of steps. */
	c->values = xcalloc(blocks * KEPT_BLOCK, c->width);
	for (size_t b = 0; b < blocks; b++) {
		size_t from = b * KEPT_BLOCK;

		store_block(c, values, from, rows - from < KEPT_BLOCK ? rows - from : KEPT_BLOCK,
			    c->base[b]);
	}
	return c;
}

void kept_column_forget(struct kept_column *c)
{
	free(c->base);
	free(c->values);
	c->base = NULL;
	c->values = NULL;
}

/* Frees the columns behind @by with the same tag: lookups find only the first one. */
static void free_hidden(struct kept_column *by)
{
	for (struct kept_column **at = &by->next; *at;) {
		struct kept_column *c = *at;

		if (c->tag != by->tag) {
			at = &c->next;
			continue;
		}
		*at = c->next;
		kept_column_free(c);
	}
}

void kept_columns_forget(struct kept_column *list, uint32_t question)
{
	for (struct kept_column *c = list; c; c = c->next) {
		free_hidden(c);
		if (c->used != question)
			kept_column_forget(c);
	}
}

void kept_column_free(struct kept_column *c)
{
	kept_column_forget(c);
	free(c);
}

void kept_columns_free(struct kept_column *list)
{
	while (list) {
		struct kept_column *next = list->next;

		kept_column_free(list);
		list = next;
	}
}

size_t kept_column_bytes(const struct kept_column *c)
{
	size_t blocks = blocks_of(c->rows), bytes = sizeof(*c);

	if (c->base)
		bytes += blocks * sizeof(*c->base);
	return c->values ? bytes + blocks * KEPT_BLOCK * c->width : bytes;
}

size_t kept_columns_bytes(const struct kept_column *list)
{
	size_t bytes = 0;

	for (; list; list = list->next)
		bytes += kept_column_bytes(list);
	return bytes;
}

/* ---- lists ---- */

struct kept_column *kept_columns_find(struct kept_column *const *list, uint32_t tag)
{
	struct kept_column *c = __atomic_load_n(list, __ATOMIC_ACQUIRE);

	while (c && c->tag != tag)
		c = c->next;
	return c;
}

bool kept_columns_add(struct kept_column **list, struct kept_column *c)
{
	struct kept_column *first = __atomic_load_n(list, __ATOMIC_ACQUIRE);

	do {
		for (const struct kept_column *known = first; known; known = known->next)
			if (known->tag == c->tag && (known->base || !c->base))
				return false;
		c->next = first;
	} while (!__atomic_compare_exchange_n(list, &first, c, false, __ATOMIC_ACQ_REL,
					      __ATOMIC_ACQUIRE));
	return true;
}

/* ---- reading ---- */

#define READ(type)                                                                                 \
	do {                                                                                       \
		const type *from = (const type *)c->values + (size_t)block * KEPT_BLOCK;           \
		for (size_t i = 0; i < KEPT_BLOCK; i++)                                            \
			ret[i] = base + from[i];                                                   \
	} while (0)

void kept_column_block(const struct kept_column *c, uint32_t block, uint64_t *restrict ret)
{
	uint64_t base = c->base[block];

	switch (c->width) {
	case 1:
		READ(uint8_t);
		break;
	case 2:
		READ(uint16_t);
		break;
	case 4:
		READ(uint32_t);
		break;
	case 8:
		READ(uint64_t);
		break;
	default:
		for (size_t i = 0; i < KEPT_BLOCK; i++)
			ret[i] = base;
	}
}

#undef READ

uint64_t kept_column_value(const struct kept_column *c, uint32_t row)
{
	uint64_t base = c->base[row / KEPT_BLOCK];

	switch (c->width) {
	case 1:
		return base + ((const uint8_t *)c->values)[row];
	case 2:
		return base + ((const uint16_t *)c->values)[row];
	case 4:
		return base + ((const uint32_t *)c->values)[row];
	case 8:
		return base + ((const uint64_t *)c->values)[row];
	default:
		return base;
	}
}
