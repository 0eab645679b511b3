#include "base/clock.h"

/* How often a thread that waits by a manual clock looks at it again, in real time. */
#define MANUAL_LOOK_NS NS_PER_MSEC

static void wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t until_ns)
{
	struct timespec ts = {.tv_sec = (time_t)(until_ns / NS_PER_SEC),
			      .tv_nsec = (long)(until_ns % NS_PER_SEC)};

	pthread_cond_timedwait(cond, lock, &ts);
}

void clock_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

/* ---- the kernel's ---- */

static uint64_t system_read_ns(const struct clock *c, clockid_t id)
{
	(void)c;
	return clock_ns_of(id);
}

static void system_wait(const struct clock *c, pthread_cond_t *cond, pthread_mutex_t *lock,
			uint64_t until_ns)
{
	(void)c;
	wait_until(cond, lock, until_ns);
}

const struct clock system_clock = {system_read_ns, system_wait};

/* ---- one for tests ---- */

static uint64_t manual_read_ns(const struct clock *clock, clockid_t id)
{
	const struct manual_clock *c = (const struct manual_clock *)clock;

	switch (id) {
	case CLOCK_REALTIME:
		return c->wall_ns;
	case CLOCK_THREAD_CPUTIME_ID:
		return c->cpu_ns;
	default:
		return c->monotonic_ns;
	}
}

static void manual_wait(const struct clock *clock, pthread_cond_t *cond, pthread_mutex_t *lock,
			uint64_t until_ns)
{
	if (manual_read_ns(clock, CLOCK_MONOTONIC) < until_ns)
		wait_until(cond, lock, clock_now_ns() + MANUAL_LOOK_NS);
}

void manual_clock_init(struct manual_clock *c, uint64_t monotonic_ns, uint64_t wall_ns)
{
	c->clock = (struct clock){manual_read_ns, manual_wait};
	c->monotonic_ns = monotonic_ns;
	c->wall_ns = wall_ns;
	c->cpu_ns = 0;
}

void manual_clock_advance(struct manual_clock *c, uint64_t ns)
{
	c->monotonic_ns += ns;
	c->wall_ns += ns;
}

void manual_clock_work(struct manual_clock *c, uint64_t ns)
{
	c->cpu_ns += ns;
	manual_clock_advance(c, ns);
}

void manual_clock_set_wall(struct manual_clock *c, uint64_t wall_ns)
{
	c->wall_ns = wall_ns;
}
