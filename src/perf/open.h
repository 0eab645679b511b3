/* perf_event_open(2), and what its refusals mean for the user. */
#ifndef TACHO_PERF_OPEN_H
#define TACHO_PERF_OPEN_H

#include "base/buf.h"
#include "event/event.h"

#include <sys/types.h>

/*
 * File descriptor (close-on-exec) or a negative errno. Opens the event as the user who was chosen by
 * as_user_choose(), if any: the kernel then refuses what it refuses him.
 */
int perf_open(const struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned flags);
/*
 * @workload, a child of ours that waits to become the chosen user and execute a program, may be
 * measured although it has our rights until then. 0 again before it goes on.
 */
void perf_open_expect(pid_t workload);

/*
 * A short reason, fit for a table: "not supported by this CPU", "needs perf_event_paranoid ≤ 1".
 * @no_pmu: why the machine has no core PMU (catalog_no_pmu()), NULL if it has one.
 */
void perf_open_reason(int code, const struct perf_event_attr *attr, bool system_wide,
		      const char *no_pmu, struct buf *out);

/* True for errors that mean "this machine has no such event", not "you may not" or "not so". */
bool perf_open_is_absent(int code);

/* -1 … 4, or 2 (the kernel's default) if it cannot be read. */
int perf_paranoid(void);

/* Events that happen inside the kernel only: without it they would count to an untrue zero. */
bool perf_is_kernel_only(const struct perf_event_attr *attr);

#endif
