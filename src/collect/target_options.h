/* What to measure, as given by options of commands: processes, threads, users, CPUs, cgroups. */
#ifndef TACHO_COLLECT_TARGET_OPTIONS_H
#define TACHO_COLLECT_TARGET_OPTIONS_H

#include "base/fs.h"
#include "perf/target.h"
#include "perf/topology.h"

struct target_options {
	const char *cpus, *pids, *tids, *cgroups, *user;
	bool all_cpus, no_inherit;
};

/* Whether CPUs are watched instead of tasks. */
static inline bool target_is_cpu_wide(const struct target_options *o)
{
	return o->all_cpus || o->cpus || o->cgroups;
}

/* Whether tasks that run already are watched. */
static inline bool target_has_tasks(const struct target_options *o)
{
	return o->pids || o->tids || o->user;
}

/* @topology may be empty unless CPUs are watched. *ret_names, unless NULL, gets "comm-tid" for
 * each task. Call it late: threads come and go. */
int target_choose(const struct target_options *o, const struct topology *topology,
		  struct target *ret, strvec *ret_names, struct err *e);

#endif
