/*
 * Makes a perf.data file from a stored run: samples with their call chains, and records of tasks
 * and mappings that lead to the same names if the programs still exist. The file lacks what the
 * store does not have, and says so. Load addresses are made up, because the store has addresses in
 * files, not in memory.
 *
 *	remake_open(&r, &options, &e);
 *	remake_sample(r, &sample, &e);       // each, in order of time
 *	remake_finish(r, &lacks, &e);        // always
 *
 * The program must ignore SIGPIPE and SIGXFSZ. One thread.
 */
#ifndef TACHO_SERVER_EXPORT_REMAKE_H
#define TACHO_SERVER_EXPORT_REMAKE_H

#include "base/err.h"
#include "profile/chunk.h"
#include "profile/profile.h"

/* How an event was opened; all 0: unknown. */
struct remake_event {
	uint32_t type;
	uint64_t config, period, frequency;
};

struct remake_options {
	const char *path; /* the file, which is emptied; "/proc/self/fd/N" for an open one */
	const struct profile *profile;
	const struct remake_event *events; /* by event of the profile */
	size_t event_count;
	const char *hostname, *os_release, *arch, *cpu; /* of the recorded machine; NULL: unknown */
	const char *const *argv;                        /* command line of the workload */
	size_t argc;
	bool monotonic;             /* times are CLOCK_MONOTONIC; */
	uint64_t clock_ns, wall_ns; /* one moment by that clock and as time of day; 0: unknown */
	uint64_t lost;              /* number of lost samples */
	bool addresses;             /* samples have data addresses */
};

struct remake;

/* Everything that @o points to must stay valid until remake_finish(). */
int remake_open(struct remake **ret, const struct remake_options *o, struct err *e);
int remake_sample(struct remake *r, const struct sample_row *s, struct err *e);
/* Completes the file and frees @r. Adds sentences on what it lacks to @lacks, unless NULL. */
int remake_finish(struct remake *r, struct buf *lacks, struct err *e);

#endif
