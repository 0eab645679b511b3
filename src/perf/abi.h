/*
 * The kernel's record ABI as far as it is newer than the headers that we are built with: names and
 * numbers only. A number that the running kernel does not know does no harm.
 */
#ifndef TACHO_PERF_ABI_H
#define TACHO_PERF_ABI_H

#include <linux/perf_event.h>

/* Linux 6.19: the user part of a call chain, sent when the task returns to user mode. */
#define RECORD_CALLCHAIN_DEFERRED 22
/* One more than the highest record type of the kernel that we can name. */
#define RECORD_KERNEL_END 23
/* Types from here on are written by tools, not by the kernel; see perfdata/format.h. */
#define RECORD_USER_START 64

/* Linux 6.8: a counter value for each branch. */
#define SAMPLE_BRANCH_COUNTERS (1ull << 19)

/* A record's size is 16 bits wide. */
#define RECORD_BYTES_MAX 65535u

#endif
