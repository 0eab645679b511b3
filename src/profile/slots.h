/*
 * The index beneath every interned table: open addressing from a hash to the number of an entry.
 * The table compares; the slots keep half of the hash, so that it rarely has to.
 *
 *	size_t i = slots_begin(&t->slots, hash);
 *	while ((number = slots_next(&t->slots, hash, &i)))
 *		if (same(&t->items[number], key))
 *			return number;
 *	slots_add(&t->slots, hash, new_number);
 *
 * Keys come from files: hashes are seeded, so that nobody can choose where they land.
 */
#ifndef TACHO_PROFILE_SLOTS_H
#define TACHO_PROFILE_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct slot {
	uint32_t tag;    /* the upper half of the hash, which also chooses the place */
	uint32_t number; /* 0: free */
};

struct slots {
	struct slot *items;
	size_t mask, count; /* items NULL: nothing was added yet */
};

/* @number is not 0. */
void slots_add(struct slots *s, uint64_t hash, uint32_t number);
void slots_release(struct slots *s);

/* A number that nobody can foresee, the same while the process lives. */
uint64_t hash_seed(void);
uint64_t hash_bytes(const void *bytes, size_t size, uint64_t seed);

static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
	__uint128_t m = (__uint128_t)(a ^ 0x9e3779b97f4a7c15ull) * (b ^ 0xe7037ed1a0b428dbull);

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static inline size_t slots_begin(const struct slots *s, uint64_t hash)
{
	return (size_t)(hash >> 32) & s->mask;
}

/* The next number whose hash may be this one; 0: there is none. */
static inline uint32_t slots_next(const struct slots *s, uint64_t hash, size_t *at)
{
	uint32_t tag = (uint32_t)(hash >> 32);

	if (!s->items)
		return 0;
	for (;;) {
		const struct slot *slot = &s->items[*at];

		if (!slot->number)
			return 0;
		*at = (*at + 1) & s->mask;
		if (slot->tag == tag)
			return slot->number;
	}
}

#endif
