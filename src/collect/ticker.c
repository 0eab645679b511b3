#include "collect/ticker.h"
#include "base/clock.h"

/* A tick may cost a tenth of the interval. Above that the interval grows until a tick costs a
 * fortieth; if ticks cost less than a hundredth, it shrinks again. */
#define TICK_SHARE_MAX    10
#define TICK_SHARE_WANTED 40
#define TICK_SHARE_LOW    100

void ticker_start(struct ticker *t, const struct clock *clock, uint64_t start_ns, uint64_t from_ns,
		  uint64_t interval_ns)
{
	t->clock = clock;
	t->wanted_ns = t->interval_ns = interval_ns;
	t->start_ns = start_ns;
	t->next_ns = interval_ns ? from_ns + interval_ns : 0;
}

bool ticker_due(const struct ticker *t, uint64_t now_ns)
{
	return t->next_ns && now_ns >= t->next_ns;
}

/*
 * The cost of a tick is CPU time. Reading that takes two system calls a tick, so the wall clock,
 * which also counts the times when we were not running, is used until a tick looks too expensive.
 */
static uint64_t cost_so_far(const struct ticker *t)
{
	return clock_read_ns(t->clock, t->suspicious ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC);
}

uint64_t ticker_begin(struct ticker *t)
{
	struct tick_ledger *ledger = &t->ledger;
	uint64_t now = clock_monotonic_ns(t->clock), late = now - t->next_ns;

	t->before = cost_so_far(t);
	ledger->worst_late_ns = late > ledger->worst_late_ns ? late : ledger->worst_late_ns;
	ledger->ticks++;
	return now;
}

/* Makes ticks rarer when they cost too much, and more frequent when they are cheap again. */
static void adapt_interval(struct ticker *t, uint64_t cost)
{
	struct tick_ledger *ledger = &t->ledger;
	uint64_t wanted = t->wanted_ns, fair = cost * TICK_SHARE_WANTED;

	if (!t->suspicious) {
		t->suspicious = cost * TICK_SHARE_MAX * 2 > t->interval_ns;
		return;
	}
	ledger->worst_cost_ns = cost > ledger->worst_cost_ns ? cost : ledger->worst_cost_ns;
	/* One expensive tick may be bad luck; two in a row are not. */
	if (cost * TICK_SHARE_MAX <= t->interval_ns)
		t->expensive = 0;
	else if (++t->expensive > 1)
		t->interval_ns = fair;
	if (t->interval_ns > wanted && cost * TICK_SHARE_LOW < t->interval_ns)
		t->interval_ns = fair > wanted ? fair : wanted;
	if (t->interval_ns > wanted && t->interval_ns > ledger->stretched_ns)
		ledger->stretched_ns = t->interval_ns;
}

/* Sets the next due time: the first one on the grid of the interval that is still ahead. */
static void schedule_next(struct ticker *t, uint64_t now)
{
	uint64_t wanted = t->wanted_ns, due = t->next_ns + t->interval_ns;

	if (t->interval_ns > wanted)
		due = t->start_ns + (due - t->start_ns + wanted - 1) / wanted * wanted;
	if (due <= now) {
		uint64_t skipped = (now - due) / wanted + 1;

		t->ledger.missed += skipped;
		due += skipped * wanted;
	}
	t->next_ns = due;
}

void ticker_end(struct ticker *t)
{
	adapt_interval(t, cost_so_far(t) - t->before);
	schedule_next(t, clock_monotonic_ns(t->clock));
}
