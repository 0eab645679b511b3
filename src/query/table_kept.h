/*
 * Columns of a chunk of any table as the server keeps them in memory: numbers of 1, 2, 4 or 8 bytes, as
 * distances from the least of their block, so that a row of a tracepoint with seven fields takes about 11
 * bytes. Reading them costs a small part of decoding the stored bytes. A column also says between which
 * numbers its values lie; one whose values found no room says only that.
 *
 * A struct kept_column does not change once it was made. Lists of them only grow while a run has users:
 * any thread may look for columns, and add some.
 */
#ifndef TACHO_QUERY_TABLE_KEPT_H
#define TACHO_QUERY_TABLE_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEPT_BLOCK 1024u /* rows in a block; a block is read as a whole */

/* Between which numbers values lie, if they are taken as unsigned and as signed ones. */
struct kept_range {
	uint64_t min, max;
	int64_t signed_min, signed_max;
};

struct kept_column {
	struct kept_column *next;
	struct kept_range range;
	uint64_t *base; /* of each block; NULL: only the range is known */
	void *values;   /* distances from it; NULL: all values of a block are the same */
	uint32_t tag, rows;
	uint32_t used; /* the last question that needed it: see run_data.table_questions */
	uint8_t width; /* bytes of a distance: 0, 1, 2, 4, 8 */
};

/* @values NULL: all are 0. */
struct kept_column *kept_column_make(uint32_t tag, const uint64_t *values, uint32_t rows);
void kept_column_free(struct kept_column *c);
void kept_columns_free(struct kept_column *list);
size_t kept_column_bytes(const struct kept_column *c);
size_t kept_columns_bytes(const struct kept_column *list);
/* Frees values and bases: the range stays. */
void kept_column_forget(struct kept_column *c);
/* The same for all that another question than @question needed last. Nobody else may use the list. */
void kept_columns_forget(struct kept_column *list, uint32_t question);

/* NULL: there is none of this tag. */
struct kept_column *kept_columns_find(struct kept_column *const *list, uint32_t tag);
/* False if the list has a column of this tag already, with values or as @c without; then the caller still
 * owns @c. */
bool kept_columns_add(struct kept_column **list, struct kept_column *c);

/* Whether values can be read, not only their range. */
static inline bool kept_column_readable(const struct kept_column *c)
{
	return c && c->base;
}

/* Writes the values of a block to @ret, which has room for KEPT_BLOCK. */
void kept_column_block(const struct kept_column *c, uint32_t block, uint64_t *ret);
uint64_t kept_column_value(const struct kept_column *c, uint32_t row);

#endif
