/* Which CPUs are online, and to which core, die and socket each belongs. */
#ifndef TACHO_PERF_TOPOLOGY_H
#define TACHO_PERF_TOPOLOGY_H

#include "event/roots.h"

#include <stddef.h>

struct cpu_place {
	int cpu, core, die, socket;
};

struct topology {
	struct cpu_place *cpus; /* online ones, sorted */
	size_t count;
};

void topology_load(struct topology *t, const struct roots *roots);
void topology_release(struct topology *t);
/* Place of a CPU; zeros if it is not online. */
struct cpu_place topology_of(const struct topology *t, int cpu);

#endif
