/*
 * Decides when counters are read: tick n is due at start + n × interval. Ticks must never slow what
 * is counted: when reading gets expensive they become rarer, on the same grid, and return to the
 * interval when it is cheap again. The ledger says what happened. One thread.
 *
 *	ticker_start(&t, &system_clock, start_ns, start_ns, interval_ns);
 *	if (ticker_due(&t, now)) {
 *		now = ticker_begin(&t);  … read, hand on …  ticker_end(&t);
 *	}
 */
#ifndef TACHO_COLLECT_TICKER_H
#define TACHO_COLLECT_TICKER_H

#include "base/clock.h"

#include <stdbool.h>
#include <stdint.h>

/* What a user should know about the ticks. */
struct tick_ledger {
	uint64_t ticks, missed;
	uint64_t worst_late_ns;
	uint64_t stretched_ns;  /* longest interval that costly ticks forced on us, 0: none */
	uint64_t worst_cost_ns; /* CPU time of the most expensive tick */
};

struct ticker {
	const struct clock *clock;
	uint64_t wanted_ns;            /* interval as asked for; 0: there are no ticks */
	uint64_t interval_ns, next_ns; /* interval in force; when the next tick is due, 0: never */
	uint64_t start_ns;             /* start of the grid */
	uint64_t before;               /* cost_so_far() at the beginning of the tick */
	bool suspicious;               /* a tick took long by the wall clock */
	unsigned expensive;            /* ticks in a row that took too much CPU time */
	struct tick_ledger ledger;
};

/* The first tick is due one interval after @from_ns. @clock tells the time and what a tick costs. */
void ticker_start(struct ticker *t, const struct clock *clock, uint64_t start_ns, uint64_t from_ns,
		  uint64_t interval_ns);
bool ticker_due(const struct ticker *t, uint64_t now_ns);
/* Begins a tick. Returns its time. */
uint64_t ticker_begin(struct ticker *t);
void ticker_end(struct ticker *t);

#endif
