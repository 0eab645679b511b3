/*
 * Which samples count, as the user wrote it on a command line. Making it is for one thread, asking
 * for all.
 */
#ifndef TACHO_RESOLVE_FILTER_H
#define TACHO_RESOLVE_FILTER_H

#include "perfdata/facts.h"

/* As written: "bash,sshd", "1,2,7". NULL: all. */
struct sample_filter {
	const char *time; /* "FROM,TO" in seconds of the recording's clock, "10%-20%", "10%/2" */
	const char *comms, *pids, *tids, *cpus;
	const char *events; /* "cycles,faults": their names, with or without modifiers */
};

struct time_range {
	uint64_t from_ns, to_ns; /* to_ns 0: to the end */
};

struct filter {
	uint64_t first_ns, last_ns; /* of the recording, for shares of it */
	VEC(struct time_range) ranges;
	strvec comms, events;
	VEC(uint32_t) pids, tids;
	bool by_cpu;
	int *cpus;
	size_t cpu_count;
};

int filter_make(struct filter *f, const struct sample_filter *o, const struct perfdata_facts *facts,
		struct err *e);
void filter_release(struct filter *f);

/* @time_ns 0: a record without a time is always wanted. */
bool filter_time(const struct filter *f, uint64_t time_ns);
bool filter_event(const struct filter *f, const char *name);
bool filter_cpu(const struct filter *f, uint32_t cpu);
bool filter_task(const struct filter *f, uint32_t pid, uint32_t tid, const char *comm);

#endif
