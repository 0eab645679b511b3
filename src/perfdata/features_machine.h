/*
 * Feature sections about this machine and this run, for recording. Reads a handful of small files;
 * what cannot be read is left out. One thread at a time for each set.
 */
#ifndef TACHO_PERFDATA_FEATURES_MACHINE_H
#define TACHO_PERFDATA_FEATURES_MACHINE_H

#include "event/roots.h"
#include "perfdata/features.h"
#include "perfdata/writer.h"

/* Events that are counted together: @count of them from @leader on. */
struct feature_group {
	const char *name; /* NULL: without one */
	uint32_t leader, count;
};

struct feature_facts {
	const struct roots *roots;
	const char *const *argv; /* the command line, as typed */
	size_t argc;
	const struct writer_event *events;
	size_t event_count;
	const struct feature_group *groups;
	size_t group_count;
	bool branch_stack;
	bool use_clockid; /* attr.use_clockid of the events, with this clock */
	int clockid;
};

/*
 * HOSTNAME to CMDLINE, EVENT_DESC, topologies, PMU_MAPPINGS; BRANCH_STACK, GROUP_DESC, CLOCKID and
 * CLOCK_DATA where they apply. Not CACHE and MEM_TOPOLOGY, which take hundreds of files on a large
 * machine and which nobody reads.
 */
void features_of_machine(struct feature_set *set, const struct feature_facts *facts);

/* EVENT_DESC alone. */
void features_events(struct feature_set *set, const struct writer_event *events, size_t count);

/* Times of the first and last sample, when they are known. */
void features_sample_time(struct feature_set *set, uint64_t first_ns, uint64_t last_ns);

/* ---- features_topology.c: CPU_TOPOLOGY, NUMA_TOPOLOGY, NRCPUS ---- */

void features_topology(struct feature_set *set, const struct roots *roots);

#endif
