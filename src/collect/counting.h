/*
 * A counting run: opens the counters, starts the workload or attaches, reads them at every tick
 * and at the end. Ticks keep to the clock (tick n is due at start + n × interval) and are never
 * allowed to slow the workload: when reading gets expensive, they become rarer, and the ledger
 * says so.
 */
#ifndef TACHO_COLLECT_COUNTING_H
#define TACHO_COLLECT_COUNTING_H

#include "collect/ticker.h"
#include "collect/workload.h"
#include "perf/counter.h"

struct counting_plan {
	const struct event_list *events;
	struct target target;          /* tasks are filled in from the workload, if there is one */
	char *const *argv;             /* the workload, or NULL */
	uint64_t interval_ns;          /* 0: no ticks */
	uint64_t delay_ns, timeout_ns; /* 0: none */
	unsigned tick_limit;           /* 0: none */
	/*
	 * Called with a fresh reading; @time_ns since the start, @duration_ns since the last one.
	 * Returns false if nobody listens any more: a run without a workload then ends.
	 */
	bool (*on_tick)(void *ctx, struct counters *c, uint64_t time_ns, uint64_t duration_ns);
	/* Called with the final reading, before anything is closed. The workload has ended;
	 * @elapsed_ns is the time that was counted, without the delay. */
	void (*on_end)(void *ctx, struct counters *c, uint64_t elapsed_ns);
	/* Called when the counters are open and before the workload runs. May be NULL. */
	int (*on_open)(void *ctx, struct counters *c, struct err *e);
	void *ctx;
};

struct counting_result {
	struct tick_ledger ledger;
	struct workload workload;
	bool exec_failed;
	bool ended_by_plan; /* timeout or tick limit: the workload was ended by us */
	bool interrupted;   /* by the user */
	bool hurried;       /* the user asked twice: everything ends now */
};

int counting_run(const struct counting_plan *plan, struct counting_result *ret, struct err *e);

#endif
