/*
 * Spans: rows with a start (TAG_TIME) and an end (TAG_END), the end exclusive. A point is a span without
 * length.
 *
 * Duration classes: a chunk of spans has rows of one class only, because a single long span would
 * stretch the time range of its chunk over thousands of short ones, and every question about a window
 * in that range would have to decode it. Partition of such chunks: the class. Only speed depends on it:
 * answers are the same if rows do not fit the class of their chunk.
 */
#ifndef TACHO_PROFILE_SPANS_H
#define TACHO_PROFILE_SPANS_H

#include "profile/chunk.h"

#define SPAN_CLASSES 9u

/* 0: shorter than 65 us; each further class has spans up to 64 times as long. */
static inline uint32_t span_class(uint64_t duration_ns)
{
	uint64_t short_ns = duration_ns >> 16;

	return short_ns ? (63u - (uint32_t)__builtin_clzll(short_ns)) / 6 + 1 : 0;
}

/* Every span of the class is at least this long. */
static inline uint64_t span_class_least_ns(uint32_t class)
{
	return class ? 1ull << (16 + 6 * (class - 1)) : 0;
}

/*
 * Whether any part of [@start_ns, @end_ns) lies in the window [@from_ns, @to_ns). A span that ends where
 * the window begins does not. A span without length lies in the window that its start lies in: so of
 * windows side by side each point is in exactly one.
 */
static inline bool span_in_window(uint64_t start_ns, uint64_t end_ns, uint64_t from_ns,
				  uint64_t to_ns)
{
	return start_ns < to_ns && (end_ns > from_ns || start_ns >= from_ns);
}

/*
 * Encodes rows of a span table as chunks that have rows of one duration class each, and calls @emit for
 * each chunk. @rows: any number of rows in any order, with a column TAG_END; schema and sampled are
 * those of rows->info. The classes come in ascending order. A result of @emit other than 0 ends it and
 * is returned. Returns -EINVAL if there is no column of ends, -E2BIG if a single row is too large for
 * a chunk.
 */
typedef int (*span_chunk_emit)(void *ctx, const struct buf *bytes, const struct chunk_info *info);
int span_chunks_encode(const struct chunk_columns *rows, span_chunk_emit emit, void *ctx);

#endif
