/*
 * Decoded columns of chunks that the server keeps in memory. Values are stored as distances of 1, 2, 4 or 8
 * bytes from the smallest value of their block: a row of a tracepoint with seven fields takes about 11 bytes,
 * and reading them is much faster than decoding the chunk. A column also has the range of its values. The
 * range is kept even if there is no room for the values.
 *
 * A struct kept_column is immutable. Lists only grow while a run has users: any thread may search a list
 * and add to it.
 */
#ifndef TACHO_QUERY_TABLE_KEPT_H
#define TACHO_QUERY_TABLE_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEPT_BLOCK 1024u /* rows of a block, which is read as a whole */

/* Range of the values, compared as unsigned and as signed numbers. */
struct kept_range {
	uint64_t min, max;
	int64_t signed_min, signed_max;
};

struct kept_column {
	struct kept_column *next;
	struct kept_range range;
	uint64_t *base; /* smallest value of each block; NULL: only the range is known */
	void *values;   /* distances from the base; NULL: the values of each block are equal */
	uint32_t tag, rows;
	uint32_t used; /* the last question that used it: see run_data.table_questions */
	uint8_t width; /* bytes of a distance: 0, 1, 2, 4 or 8 */
};

/* Makes a column of @rows values; @values NULL: zeros. */
struct kept_column *kept_column_make(uint32_t tag, const uint64_t *values, uint32_t rows);
void kept_column_free(struct kept_column *c);
void kept_columns_free(struct kept_column *list);
size_t kept_column_bytes(const struct kept_column *c);
size_t kept_columns_bytes(const struct kept_column *list);
/* Frees the values and keeps the range. */
void kept_column_forget(struct kept_column *c);
/* Forgets all columns that were not used by @question. The caller must be the only user of the list. */
void kept_columns_forget(struct kept_column *list, uint32_t question);

/* Returns the column with @tag, or NULL. */
struct kept_column *kept_columns_find(struct kept_column *const *list, uint32_t tag);
/* Adds a column and takes ownership of it. Returns false, and leaves it to the caller, if the list has one
 * with the same tag, unless that has only its range and @c has values. */
bool kept_columns_add(struct kept_column **list, struct kept_column *c);

/* Whether the values are there, not only their range. */
static inline bool kept_column_readable(const struct kept_column *c)
{
	return c && c->base;
}

/* Copies the values of a block to @ret, which must have room for KEPT_BLOCK values. */
void kept_column_block(const struct kept_column *c, uint32_t block, uint64_t *ret);
uint64_t kept_column_value(const struct kept_column *c, uint32_t row);

#endif
