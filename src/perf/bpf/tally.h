/*
 * Counts many tracepoints by small BPF programs: one map of counters instead of one kernel event
 * each. Opening and closing hundreds of tracepoints then takes milliseconds, not seconds, because
 * nothing has to wait for the kernel to forget each of them.
 *
 * System calls (syscalls:sys_enter_*, sys_exit_*) share one program that counts by call number.
 * Tasks are followed by programs on fork, exec and exit. Needs CAP_BPF and CAP_PERFMON, BTF, and
 * the machine's first pid namespace; tally_open() says what is missing.
 */
#ifndef TACHO_PERF_BPF_TALLY_H
#define TACHO_PERF_BPF_TALLY_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tally;

struct tally_tasks {
	const pid_t *tasks;
	size_t count; /* 0: everybody */
	bool inherit, on_exec;
};

/*
 * @names: "system:name" of each tracepoint. With @tasks only these are counted, with @inherit
 * their children too, with @on_exec from the moment that they execute a program. What it cannot
 * count is false in @ret_taken and left to the caller.
 */
int tally_open(const char *const *names, size_t name_count, const struct tally_tasks *tasks,
	       bool *ret_taken, struct tally **ret_tally, struct err *e);
void tally_free(struct tally *t);

/* Forgets what was counted before now. Without on_exec nothing counts before this. */
void tally_restart(struct tally *t);
/* What happens from now on is not counted. */
void tally_stop(struct tally *t);

/* Takes a reading; returns the nanoseconds for which it has counted. */
uint64_t tally_read(struct tally *t);
/* Count of name number @index in the last reading, on one CPU or with -1 on all. */
uint64_t tally_value(const struct tally *t, size_t index, int cpu);

/* Tasks that could not be followed because the map of tasks was full. */
uint64_t tally_missed(const struct tally *t);

#endif
