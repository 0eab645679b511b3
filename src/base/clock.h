/*
 * Time: everything is CLOCK_MONOTONIC in nanoseconds unless its name says otherwise.
 *
 * Code whose decisions depend on time (pauses, deadlines, ages, rates) takes a struct clock instead of
 * asking the kernel. The program hands it the system_clock. A test hands it a manual_clock, which
 * stands still until the test moves it, so the result does not depend on how fast the machine is.
 *
 * The system_clock may be used by any thread; so may a manual_clock, also while it is moved.
 */
#ifndef TACHO_BASE_CLOCK_H
#define TACHO_BASE_CLOCK_H

#include <pthread.h>
#include <stdatomic.h>
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

/* A source of time. */
struct clock {
	uint64_t (*read_ns)(const struct clock *c, clockid_t id);
	/* Waits for @cond until the monotonic time @until_ns. May return early. */
	void (*wait)(const struct clock *c, pthread_cond_t *cond, pthread_mutex_t *lock,
		     uint64_t until_ns);
};

/* The kernel's clocks. */
extern const struct clock system_clock;

/* @id: CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_REALTIME or CLOCK_THREAD_CPUTIME_ID. */
static inline uint64_t clock_read_ns(const struct clock *c, clockid_t id)
{
	return c->read_ns(c, id);
}

static inline uint64_t clock_monotonic_ns(const struct clock *c)
{
	return clock_read_ns(c, CLOCK_MONOTONIC);
}

static inline int64_t clock_wall_ms(const struct clock *c)
{
	return (int64_t)(clock_read_ns(c, CLOCK_REALTIME) / NS_PER_MSEC);
}

/*
 * Prepares a condition variable for clock_wait(), which waits on it until @until_ns, or until it is
 * signalled, or for a shorter time: call it in a loop that checks both the condition and the clock.
 */
void clock_cond_init(pthread_cond_t *cond);
static inline void clock_wait(const struct clock *c, pthread_cond_t *cond, pthread_mutex_t *lock,
			      uint64_t until_ns)
{
	c->wait(c, cond, lock, until_ns);
}

/* A clock for tests: only manual_clock_*() move it. Pass &c.clock on; @c must outlive its users. */
struct manual_clock {
	struct clock clock;
	_Atomic uint64_t monotonic_ns; /* CLOCK_BOOTTIME, too */
	_Atomic uint64_t wall_ns;
	_Atomic uint64_t cpu_ns; /* of every thread */
};

void manual_clock_init(struct manual_clock *c, uint64_t monotonic_ns, uint64_t wall_ns);
/* Time passes: the monotonic and the wall clock go on, no CPU time is used. */
void manual_clock_advance(struct manual_clock *c, uint64_t ns);
/* Time passes in which the thread computes: all clocks go on. */
void manual_clock_work(struct manual_clock *c, uint64_t ns);
/* Somebody sets the wall clock. */
void manual_clock_set_wall(struct manual_clock *c, uint64_t wall_ns);

#endif
