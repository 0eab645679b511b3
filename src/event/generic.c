#include "event/generic.h"
#include "base/alloc.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define HW(id) PERF_TYPE_HARDWARE, PERF_COUNT_HW_##id, NULL, 1
#define SW(id) PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##id, NULL, 1
#define MS(id) PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##id, "msec", 1e-6

const struct generic_event generic_events[] = {
	{"cycles", "cpu-cycles", HW(CPU_CYCLES),
	 "CPU cycles; their length varies with the frequency"},
	{"instructions", NULL, HW(INSTRUCTIONS), "instructions that were completed"},
	{"cache-references", NULL, HW(CACHE_REFERENCES),
	 "accesses to the last level cache, mostly"},
	{"cache-misses", NULL, HW(CACHE_MISSES),
	 "accesses that the last level cache could not serve"},
	{"branches", "branch-instructions", HW(BRANCH_INSTRUCTIONS),
	 "branch instructions completed"},
	{"branch-misses", NULL, HW(BRANCH_MISSES), "branches that were predicted wrongly"},
	{"bus-cycles", NULL, HW(BUS_CYCLES), "cycles of the memory bus"},
	{"stalled-cycles-frontend", "idle-cycles-frontend", HW(STALLED_CYCLES_FRONTEND),
	 "cycles in which no instruction could be fetched or decoded"},
	{"stalled-cycles-backend", "idle-cycles-backend", HW(STALLED_CYCLES_BACKEND),
	 "cycles in which instructions waited for data or for a unit"},
	{"ref-cycles", NULL, HW(REF_CPU_CYCLES),
	 "cycles at a constant rate, whatever the frequency"},
	{"task-clock", NULL, MS(TASK_CLOCK), "time that the task ran on a CPU"},
	{"cpu-clock", NULL, MS(CPU_CLOCK), "time by the CPU's high resolution timer"},
	{"page-faults", "faults", SW(PAGE_FAULTS), "page faults, minor and major"},
	{"minor-faults", NULL, SW(PAGE_FAULTS_MIN), "page faults that needed no input or output"},
	{"major-faults", NULL, SW(PAGE_FAULTS_MAJ), "page faults that had to read from a disk"},
	{"context-switches", "cs", SW(CONTEXT_SWITCHES), "times that a CPU went to another task"},
	{"cpu-migrations", "migrations", SW(CPU_MIGRATIONS),
	 "times that a task moved to another CPU"},
	{"alignment-faults", NULL, SW(ALIGNMENT_FAULTS),
	 "unaligned accesses that the kernel mended"},
	{"emulation-faults", NULL, SW(EMULATION_FAULTS), "instructions that the kernel emulated"},
	{"cgroup-switches", NULL, SW(CGROUP_SWITCHES), "switches to a task of another cgroup"},
	{"dummy", NULL, SW(DUMMY), "counts nothing; carries records such as mappings"},
	{"bpf-output", NULL, SW(BPF_OUTPUT), "data that BPF programs write"},
	{"duration_time", NULL, TYPE_TOOL, TOOL_DURATION, "ns", 1,
	 "wall time of the run or interval"},
	{"user_time", NULL, TYPE_TOOL, TOOL_USER, "ns", 1, "time of the workload in user mode"},
	{"system_time", NULL, TYPE_TOOL, TOOL_SYSTEM, "ns", 1,
	 "time of the workload in the kernel"},
};

const size_t generic_event_count = ARRAY_LEN(generic_events);

bool perf_type_is_core(uint32_t type)
{
	return type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE || type == PERF_TYPE_RAW;
}

const struct generic_event *generic_find(const char *name)
{
	for (size_t i = 0; i < generic_event_count; i++) {
		const struct generic_event *g = &generic_events[i];

		if (!strcasecmp(g->name, name) || (g->alias && !strcasecmp(g->alias, name)))
			return g;
	}
	return NULL;
}

/* `ops` has a bit for each operation of the cache: bit 0 load, 1 store, 2 prefetch. */
static const struct cache {
	const char *names[4];
	const char *words;
	unsigned ops;
} caches[] = {
	{{"L1-dcache", "l1-d", "l1d", "L1-data"}, "the level 1 data cache", 7},
	{{"L1-icache", "l1-i", "l1i", "L1-instruction"}, "the level 1 instruction cache", 5},
	{{"LLC", "L2"}, "the last level cache", 7},
	{{"dTLB", "d-tlb", "Data-TLB"}, "the data address translation buffer", 7},
	{{"iTLB", "i-tlb", "Instruction-TLB"}, "the instruction address translation buffer", 1},
	{{"branch", "bpu", "btb", "bpc"}, "the branch predictor", 1},
	{{"node"}, "memory of the local node", 7},
};

static const struct cache_op {
	const char *names[4];
	const char *plural;
} cache_ops[] = {
	{{"load", "loads", "read"}, "loads"},
	{{"store", "stores", "write"}, "stores"},
	{{"prefetch", "prefetches", "speculative-read", "speculative-load"}, "prefetches"},
};

/* Returns the length of the longest of @names that is the first word of @text, or 0. */
static size_t match_word(const char *const *names, size_t count, const char *text)
{
	size_t best = 0;

	for (size_t i = 0; i < count && names[i]; i++) {
		size_t len = strlen(names[i]);

		if (len > best && !strncasecmp(names[i], text, len) &&
		    (text[len] == '-' || text[len] == '\0'))
			best = len;
	}
	return best;
}

bool cache_event_find(const char *name, uint64_t *ret_config)
{
	static const char *const misses[] = {"misses", "miss", NULL};
	static const char *const accesses[] = {"refs", "Reference", "ops", "access"};

	for (uint64_t c = 0; c < ARRAY_LEN(caches); c++) {
		size_t len = match_word(caches[c].names, 4, name);
		const char *rest = name + len;
		uint64_t op = 0, result = 0;

		if (!len)
			continue;
		while (*rest == '-') {
			const char *word = ++rest;

			for (uint64_t o = 0; o < ARRAY_LEN(cache_ops) && rest == word; o++) {
				len = match_word(cache_ops[o].names, 4, word);
				if (len)
					op = o;
				rest += len;
			}
			if (rest == word && (len = match_word(misses, 2, word))) {
				result = 1;
				rest += len;
			} else if (rest == word) {
				rest += match_word(accesses, 4, word);
			}
			if (rest == word)
				return false;
		}
		if (*rest || !(caches[c].ops & 1u << op))
			return false;
		*ret_config = c | op << 8 | result << 16;
		return true;
	}
	return false;
}

bool cache_event_nth(size_t nth, char *name, size_t size, uint64_t *ret_config, char *description,
		     size_t description_size)
{
	for (uint64_t c = 0; c < ARRAY_LEN(caches); c++) {
		for (uint64_t op = 0; op < ARRAY_LEN(cache_ops); op++) {
			for (uint64_t miss = 0; miss < 2; miss++) {
				const char *plural = cache_ops[op].plural;

				if (!(caches[c].ops & 1u << op) || nth--)
					continue;
				if (miss)
					snprintf(name, size, "%s-%s-misses", caches[c].names[0],
						 cache_ops[op].names[0]);
				else
					snprintf(name, size, "%s-%s", caches[c].names[0], plural);
				snprintf(description, description_size, "%s %s %s", plural,
					 miss ? "that missed" : "that went to", caches[c].words);
				*ret_config = c | op << 8 | miss << 16;
				return true;
			}
		}
	}
	return false;
}
