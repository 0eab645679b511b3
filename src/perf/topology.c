#include "perf/topology.h"
#include "base/fs.h"
#include "base/number.h"

#include <unistd.h>

#define CPULIST_BYTES_MAX 65536

static int topology_number(const struct roots *roots, int cpu, const char *file)
{
	long long value;

	if (!fs_number(&value, "%s/devices/system/cpu/cpu%d/topology/%s", roots->sys, cpu, file) ||
	    value < 0 || value > CPU_LIMIT)
		return 0;
	return (int)value;
}

void topology_load(struct topology *t, const struct roots *roots)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/devices/system/cpu/online", roots->sys);
	CLEANUP(free_ptr) char *text = NULL;
	CLEANUP(free_ptr) int *cpus = NULL;
	size_t count = 0;

	if (fs_read(path, CPULIST_BYTES_MAX, &text) < 0 ||
	    !parse_cpulist(text, CPU_LIMIT, &cpus, &count) || !count) {
		long online = sysconf(_SC_NPROCESSORS_ONLN);

		count = online > 0 ? (size_t)online : 1;
		free(cpus);
		cpus = xcalloc(count, sizeof(*cpus));
		for (size_t i = 0; i < count; i++)
			cpus[i] = (int)i;
	}
	t->count = count;
	t->cpus = xcalloc(count, sizeof(*t->cpus));
	for (size_t i = 0; i < count; i++)
		t->cpus[i] = (struct cpu_place){
			.cpu = cpus[i],
			.core = topology_number(roots, cpus[i], "core_id"),
			.die = topology_number(roots, cpus[i], "die_id"),
			.socket = topology_number(roots, cpus[i], "physical_package_id"),
		};
}

void topology_release(struct topology *t)
{
	free(t->cpus);
	*t = (struct topology){};
}

struct cpu_place topology_of(const struct topology *t, int cpu)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->cpus[i].cpu == cpu)
			return t->cpus[i];
	return (struct cpu_place){.cpu = cpu};
}
