/* Sorts rows by time. Internal to the encoders of chunks. Pure functions. */
#ifndef TACHO_PROFILE_CHUNK_ORDER_H
#define TACHO_PROFILE_CHUNK_ORDER_H

#include <stddef.h>
#include <stdint.h>

struct row_key {
	uint64_t time_ns;
	uint32_t row;
};

/*
 * Sorts @keys by time; rows of the same time keep their order. @spare must have room for @count keys.
 * Returns the array that holds the result: @keys or @spare.
 */
struct row_key *row_keys_sort(struct row_key *keys, struct row_key *spare, size_t count);

#endif
