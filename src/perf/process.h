/*
 * What /proc says of a running process that others need to look through its eyes: its owner, its
 * number inside its own pid namespace, when it began, and whether it sees other files than we do.
 * Everything is read at once; the process may be gone a moment later. Any thread.
 */
#ifndef TACHO_PERF_PROCESS_H
#define TACHO_PERF_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

struct process_facts {
	uint32_t pid;        /* the process, if it was asked for a thread of it */
	uint32_t pid_inside; /* in its own, innermost pid namespace */
	uint32_t uid, gid;   /* effective */
	uint64_t start_ns;   /* wall clock, to a hundredth of a second; 0: unknown */
	bool foreign_files;  /* it has another mount namespace or root directory than we have */
};

/* False: it is gone, or nothing may be known of it. */
bool process_read(uint32_t pid, struct process_facts *ret);

/*
 * Opens @path as the process itself would find it: links in it lead to places in its own root
 * directory, never out of it. O_CLOEXEC is added. A descriptor or a negative errno.
 */
int process_open(uint32_t pid, const char *path, int flags);

/* The same as process_read() from the text of /proc/PID/status; the rest is left alone. */
bool process_parse_status(const char *status, struct process_facts *ret);

/* Ticks since the boot from the text of /proc/PID/stat. */
bool process_parse_start(const char *stat, uint64_t *ret_ticks);

#endif
