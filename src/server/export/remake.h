/*
 * A perf.data file out of a stored run: samples with their call chains, and records of tasks and
 * mappings that lead to the same names where the programs are still there. What the store does not
 * have is missing, and the file says so: load addresses are made up, too, because tables have places in
 * files, not in memory.
 *
 *	remake_open(&r, &options, &e);
 *	remake_sample(r, &sample, &e);       // each, in the order of time
 *	remake_finish(r, &lacks, &e);        // always
 *
 * The program must ignore SIGPIPE and SIGXFSZ. One thread.
 */
#ifndef TACHO_SERVER_EXPORT_REMAKE_H
#define TACHO_SERVER_EXPORT_REMAKE_H

#include "base/err.h"
#include "profile/chunk.h"
#include "profile/profile.h"

/* How an event was opened; all 0: not known. */
struct remake_event {
	uint32_t type;
	uint64_t config, period, frequency;
};

struct remake_options {
	const char *path; /* "/proc/self/fd/N": an open file, which is emptied */
	const struct profile *profile;
	const struct remake_event *events; /* by the profile's numbers */
	size_t event_count;
	const char *hostname, *os_release, *arch, *cpu; /* of the recorded machine; NULL: unknown */
	const char *const *argv;                        /* what was run */
	size_t argc;
	bool monotonic;             /* times are CLOCK_MONOTONIC; */
	uint64_t clock_ns, wall_ns; /* a moment by it and by the time of day, 0: unknown */
	uint64_t lost;              /* samples */
	bool addresses;             /* samples have addresses of data */
};

struct remake;

/* The options and what they point to must stay until the end. */
int remake_open(struct remake **ret, const struct remake_options *o, struct err *e);
int remake_sample(struct remake *r, const struct sample_row *s, struct err *e);
/* Adds to @lacks, unless it is NULL, what the file does not have: sentences. Frees @r. */
int remake_finish(struct remake *r, struct buf *lacks, struct err *e);

#endif
