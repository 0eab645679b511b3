#include "perf/topology.h"
#include "base/fs.h"
#include "base/number.h"

#include <string.h>
#include <unistd.h>

#define CPULIST_BYTES_MAX 65536
#define UNIQUE_CPUS_MAX   4096

static int topology_number(const struct roots *roots, int cpu, const char *file)
{
	long long value;

	if (!fs_number(&value, "%s/devices/system/cpu/cpu%d/topology/%s", roots->sys, cpu, file) ||
	    value < 0 || value > CPU_LIMIT)
		return 0;
	return (int)value;
}

/* The first CPU of a list of those that share a core or socket; -1 without a list. */
static int first_of_list(const struct roots *roots, int cpu, const char *file)
{
	char line[32];

	if (!fs_line(line, sizeof(line), "%s/devices/system/cpu/cpu%d/topology/%s", roots->sys, cpu,
		     file))
		return -1;
	line[strspn(line, "0123456789")] = '\0';
	return *line ? atoi(line) : -1;
}

/*
 * Counts the cores or sockets by their first CPUs, where the kernel's own numbers repeat: a
 * core_id in every cluster of an Arm machine, a socket in every book of a mainframe.
 */
static void make_unique(struct topology *t, const struct roots *roots, const char *file,
			size_t offset)
{
	CLEANUP(free_ptr) int *first = xcalloc(t->count, sizeof(*first));
	bool repeats = false;
	int next = 0;

#define ID(i) (*(int *)((char *)&t->cpus[i] + offset))
	for (size_t i = 0; i < t->count; i++) {
		first[i] = first_of_list(roots, t->cpus[i].cpu, file);
		for (size_t k = 0; k < i && !repeats; k++)
			repeats = ID(k) == ID(i) && t->cpus[k].socket == t->cpus[i].socket &&
				  first[k] != first[i];
	}
	for (size_t i = 0; i < t->count && repeats; i++) {
		size_t k = 0;

		while (first[k] != first[i])
			k++;
		ID(i) = k < i ? ID(k) : next++;
	}
#undef ID
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
	/* Where there are dies (x86), numbers are unique in them. */
	if (count <= UNIQUE_CPUS_MAX &&
	    !fs_exists("%s/devices/system/cpu/cpu%d/topology/die_id", roots->sys, cpus[0])) {
		make_unique(t, roots, "package_cpus_list", offsetof(struct cpu_place, socket));
		make_unique(t, roots, "core_cpus_list", offsetof(struct cpu_place, core));
	}
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
