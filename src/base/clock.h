/* Time: everything is CLOCK_MONOTONIC in nanoseconds unless its name says otherwise. */
#ifndef TACHO_BASE_CLOCK_H
#define TACHO_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_SEC  1000000000ull
#define NS_PER_MSEC 1000000ull

static inline uint64_t clock_ns_of(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_SEC + (uint64_t)ts.tv_nsec;
}

static inline uint64_t clock_now_ns(void)
{
	return clock_ns_of(CLOCK_MONOTONIC);
}

#endif
