/*
 * Duration classes of spans. A chunk of spans has rows of one class only, because a single long span
 * would stretch the time range of its chunk over thousands of short ones, and every question about a
 * window in that range would have to decode it. Partition of such chunks: the class.
 */
#ifndef TACHO_PROFILE_SPANS_H
#define TACHO_PROFILE_SPANS_H

#include <stdint.h>

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

#endif
