/* Puts rows into the order of time. Internal to the encoders of chunks. Pure. */
#ifndef TACHO_PROFILE_CHUNK_ORDER_H
#define TACHO_PROFILE_CHUNK_ORDER_H

#include <stddef.h>
#include <stdint.h>

struct row_key {
	uint64_t time_ns;
	uint32_t row;
};

/*
 * Sorts @keys by time; rows of the same time keep their order. @spare has room for as many. Returns
 * the one of both arrays that has the result.
 */
struct row_key *row_keys_sort(struct row_key *keys, struct row_key *spare, size_t count);

#endif
