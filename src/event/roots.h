/*
 * Where the kernel's files are. Normally /sys and /proc; the environment variables TACHO_SYSFS and
 * TACHO_PROCFS point elsewhere, to look at a machine from a copy of its files. Then nothing is
 * opened by perf_event_open for a test, because the answer would be about the wrong machine.
 */
#ifndef TACHO_EVENT_ROOTS_H
#define TACHO_EVENT_ROOTS_H

#include <stdbool.h>

struct roots {
	const char *sys, *proc;
	char tracefs[256]; /* mounted tracefs, "" if there is none that can be read */
	bool foreign;      /* not this machine's own */
};

struct roots roots_find(void);

/* Why tracepoints cannot be listed: a sentence, or NULL when tracefs is there. */
const char *roots_tracefs_problem(const struct roots *roots);

#endif
