/*
 * Tables of open addressing with linear steps grow in their place: no second table is filled while the
 * first one is still there, and only the new half has to be cleared. A slot of zeros is free.
 *
 *	static bool home(const void *slot, uint64_t seed, uint64_t *ret_hash);
 *	...
 *	t->slots = open_table_grow(t->slots, &t->mask, sizeof(*t->slots), home, seed);
 */
#ifndef TACHO_BASE_OPEN_TABLE_H
#define TACHO_BASE_OPEN_TABLE_H

#include "base/alloc.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define OPEN_TABLE_FIRST  256
#define OPEN_TABLE_INLINE static inline __attribute__((always_inline))

/* The hash whose lowest bits choose the slot's place; false: the slot is free. */
typedef bool (*open_table_home)(const void *slot, uint64_t seed, uint64_t *ret_hash);

/* At its place in a table where nothing that is still to be moved stands before it. */
OPEN_TABLE_INLINE void open_table_put(void *table, size_t mask, size_t size, const void *slot,
				      open_table_home home, uint64_t seed)
{
	char *slots = table;
	uint64_t at, other;

	home(slot, seed, &at);
	for (at &= mask; home(slots + at * size, seed, &other);)
		at = (at + 1) & mask;
	memcpy(slots + at * size, slot, size);
}

/* Twice the room, or the first room for NULL. The table is at most partly full. */
OPEN_TABLE_INLINE void *open_table_grow(void *old, size_t *mask, size_t size, open_table_home home,
					uint64_t seed)
{
	size_t room = old ? *mask + 1 : 0, wrapped = 0;
	char *slots, *first;
	uint64_t hash;

	*mask = (room ? room * 2 : OPEN_TABLE_FIRST) - 1;
	if (!room)
		return table_alloc(OPEN_TABLE_FIRST, size);
	slots = table_double(old, room, size);
	/* What stands before the first free slot may have come around the end: it is moved last. */
	while (home(slots + wrapped * size, seed, &hash))
		wrapped++;
	first = xcalloc(wrapped, size);
	memcpy(first, slots, wrapped * size);
	memset(slots, 0, wrapped * size);
	/* Each of the others finds its place at or before its old one, or in the new half. */
	for (size_t i = wrapped; i < room; i++) {
		char *from = slots + i * size, slot[64];

		if (!home(from, seed, &hash))
			continue;
		memcpy(slot, from, size);
		memset(from, 0, size);
		open_table_put(slots, *mask, size, slot, home, seed);
	}
	for (size_t i = 0; i < wrapped; i++)
		open_table_put(slots, *mask, size, first + i * size, home, seed);
	free(first);
	return slots;
}

#endif
