#include "perfdata/features_machine.h"
#include "base/fs.h"
#include "base/number.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define LIST_BYTES_MAX 65536

/* Lists of CPUs that share something, each once: one file for each, not for each CPU. */
struct siblings {
	strvec lists;
	unsigned char *covered; /* by CPU */
};

static int *read_cpulist(int limit, size_t *ret_count, const char *path, char **ret_text)
{
	int *cpus = NULL;

	*ret_count = 0;
	if (fs_read(path, LIST_BYTES_MAX, ret_text) < 0 ||
	    !parse_cpulist(*ret_text, limit, &cpus, ret_count))
		return NULL;
	return cpus;
}

static void siblings_look(struct siblings *s, const struct roots *roots, int cpu, size_t avail,
			  const char *const files[2])
{
	if (s->covered[cpu])
		return;
	for (size_t i = 0; i < 2; i++) {
		CLEANUP(free_ptr)
		char *path = xasprintf("%s/devices/system/cpu/cpu%d/topology/%s", roots->sys, cpu,
				       files[i]);
		CLEANUP(free_ptr) char *text = NULL;
		CLEANUP(free_ptr) int *cpus = NULL;
		size_t count;

		cpus = read_cpulist((int)avail, &count, path, &text);
		for (size_t k = 0; k < count; k++)
			s->covered[cpus[k]] = 1;
		if (!count)
			continue;
		vec_push(&s->lists, text);
		text = NULL;
		return;
	}
}

static void add_lists(struct buf *b, const strvec *lists)
{
	feature_add_u32(b, (uint32_t)lists->len);
	vec_each(lists, list)
		feature_add_str(b, *list);
}

static uint32_t cpu_number(const struct roots *roots, size_t cpu, const char *file)
{
	long long value;

	if (!fs_number(&value, "%s/devices/system/cpu/cpu%zu/topology/%s", roots->sys, cpu, file))
		return UINT32_MAX;
	return (uint32_t)value;
}

static void add_cpu_topology(struct feature_set *set, const struct roots *roots, const int *online,
			     size_t count, size_t avail)
{
	/* Newer kernels' names first. */
	static const char *const files[3][2] = {{"package_cpus_list", "core_siblings_list"},
						{"core_cpus_list", "thread_siblings_list"},
						{"die_cpus_list", "die_cpus_list"}};
	struct siblings all[3] = {};
	struct buf *b = feature_set_begin(set, FEATURE_CPU_TOPOLOGY);

	for (size_t kind = 0; kind < 3; kind++) {
		all[kind].covered = xcalloc(avail, 1);
		for (size_t i = 0; i < count; i++) {
			siblings_look(&all[kind], roots, online[i], avail, files[kind]);
			/* No dies here, so not on the other CPUs either. */
			if (!all[kind].lists.len)
				break;
		}
	}
	add_lists(b, &all[0].lists);
	add_lists(b, &all[1].lists);
	/* An entry for each CPU that could be there, as NRCPUS counts them. */
	for (size_t cpu = 0; cpu < avail; cpu++) {
		feature_add_u32(b, cpu_number(roots, cpu, "core_id"));
		feature_add_u32(b, cpu_number(roots, cpu, "physical_package_id"));
	}
	if (all[2].lists.len) {
		add_lists(b, &all[2].lists);
		for (size_t cpu = 0; cpu < avail; cpu++)
			feature_add_u32(b, cpu_number(roots, cpu, "die_id"));
	}
	for (size_t kind = 0; kind < 3; kind++) {
		strvec_release(&all[kind].lists);
		free(all[kind].covered);
	}
}

static void add_node(struct buf *b, const struct roots *roots, int node)
{
	CLEANUP(free_ptr)
	char *path = xasprintf("%s/devices/system/node/node%d/meminfo", roots->sys, node);
	CLEANUP(free_ptr)
	char *list = xasprintf("%s/devices/system/node/node%d/cpulist", roots->sys, node);
	CLEANUP(free_ptr) char *info = NULL;
	CLEANUP(free_ptr) char *cpus = NULL;
	char key[48], value[64];

	feature_add_u32(b, (uint32_t)node);
	fs_read(path, LIST_BYTES_MAX, &info);
	for (int i = 0; i < 2; i++) {
		snprintf(key, sizeof(key), "Node %d %s", node, i ? "MemFree" : "MemTotal");
		feature_add_u64(b, info && text_field(info, key, value, sizeof(value))
					   ? strtoull(value, NULL, 10)
					   : 0);
	}
	fs_read(list, LIST_BYTES_MAX, &cpus);
	feature_add_str(b, cpus ? cpus : "");
}

static void add_numa(struct feature_set *set, const struct roots *roots)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/devices/system/node/online", roots->sys);
	CLEANUP(free_ptr) char *text = NULL;
	CLEANUP(free_ptr) int *nodes = NULL;
	struct buf *b;
	size_t count;

	nodes = read_cpulist(CPU_LIMIT, &count, path, &text);
	if (!count)
		return;
	b = feature_set_begin(set, FEATURE_NUMA_TOPOLOGY);
	feature_add_u32(b, (uint32_t)count);
	for (size_t i = 0; i < count; i++)
		add_node(b, roots, nodes[i]);
}

void features_topology(struct feature_set *set, const struct roots *roots)
{
	CLEANUP(free_ptr)
	char *present_path = xasprintf("%s/devices/system/cpu/present", roots->sys);
	CLEANUP(free_ptr) char *online_path = xasprintf("%s/devices/system/cpu/online", roots->sys);
	CLEANUP(free_ptr) char *present_text = NULL;
	CLEANUP(free_ptr) char *online_text = NULL;
	CLEANUP(free_ptr) int *present = NULL;
	CLEANUP(free_ptr) int *online = NULL;
	size_t present_count, online_count, avail;
	struct buf *b;

	present = read_cpulist(CPU_LIMIT, &present_count, present_path, &present_text);
	online = read_cpulist(CPU_LIMIT, &online_count, online_path, &online_text);
	if (!present_count || !online_count)
		return;
	avail = (size_t)present[present_count - 1] + 1;
	if ((size_t)online[online_count - 1] >= avail)
		avail = (size_t)online[online_count - 1] + 1;
	b = feature_set_begin(set, FEATURE_NRCPUS);
	feature_add_u32(b, (uint32_t)avail);
	feature_add_u32(b, (uint32_t)online_count);
	add_cpu_topology(set, roots, online, online_count, avail);
	add_numa(set, roots);
}
