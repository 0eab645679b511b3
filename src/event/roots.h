/*
 * Where the kernel's files are: normally /sys and /proc. The environment variables TACHO_SYSFS and
 * TACHO_PROCFS name other folders, to examine a machine by a copy of its files. In that case no
 * event is opened for a test, because the answer would be about the wrong machine.
 */
#ifndef TACHO_EVENT_ROOTS_H
#define TACHO_EVENT_ROOTS_H

#include <stdbool.h>

struct roots {
	const char *sys, *proc;
	char tracefs[256]; /* mounted tracefs, "" if there is none that can be read */
	bool foreign;      /* the files are not this machine's own */
};

struct roots roots_find(void);

/* Returns a sentence that says why tracepoints cannot be listed, or NULL if they can. */
const char *roots_tracefs_problem(const struct roots *roots);

#endif
