/*
 * perf.data on disk: a header, one attr for each event with its ids, the records, and behind them
 * the feature sections in the order of their bits. In pipe form there is a magic and a size, and
 * all else comes as records. Only shapes and numbers stand here; reader.c and writer.c use them.
 */
#ifndef TACHO_PERFDATA_FORMAT_H
#define TACHO_PERFDATA_FORMAT_H

#include "perf/abi.h"

#include <stdint.h>

#define PERFDATA_MAGIC         0x32454c4946524550ull /* "PERFILE2" in our byte order */
#define PERFDATA_MAGIC_SWAPPED 0x50455246494c4532ull

struct perfdata_section {
	uint64_t offset, size;
};

struct perfdata_file_header {
	uint64_t magic, size, attr_size;
	struct perfdata_section attrs, data, event_types;
	uint64_t features[4]; /* bits by enum feature */
};

/* The header of a pipe ends here. */
struct perfdata_pipe_header {
	uint64_t magic, size;
};

/* Features: bit n of the header, in the order of their sections. */
enum feature {
	FEATURE_RESERVED = 0,
	FEATURE_TRACING_DATA = 1,
	FEATURE_BUILD_ID,
	FEATURE_HOSTNAME,
	FEATURE_OSRELEASE,
	FEATURE_VERSION,
	FEATURE_ARCH,
	FEATURE_NRCPUS,
	FEATURE_CPUDESC,
	FEATURE_CPUID,
	FEATURE_TOTAL_MEM,
	FEATURE_CMDLINE,
	FEATURE_EVENT_DESC,
	FEATURE_CPU_TOPOLOGY,
	FEATURE_NUMA_TOPOLOGY,
	FEATURE_BRANCH_STACK,
	FEATURE_PMU_MAPPINGS,
	FEATURE_GROUP_DESC,
	FEATURE_AUXTRACE,
	FEATURE_STAT,
	FEATURE_CACHE,
	FEATURE_SAMPLE_TIME,
	FEATURE_MEM_TOPOLOGY,
	FEATURE_CLOCKID,
	FEATURE_DIR_FORMAT,
	FEATURE_BPF_PROG_INFO,
	FEATURE_BPF_BTF,
	FEATURE_COMPRESSED,
	FEATURE_CPU_PMU_CAPS,
	FEATURE_CLOCK_DATA,
	FEATURE_HYBRID_TOPOLOGY,
	FEATURE_PMU_CAPS,
	FEATURE_CPU_DOMAIN_INFO,
	FEATURE_END, /* one more than the last that we can name */
};

/* Records that tools write among those of the kernel. */
enum user_record {
	USER_HEADER_ATTR = 64,
	USER_EVENT_TYPE = 65,
	USER_TRACING_DATA = 66,
	USER_BUILD_ID = 67,
	USER_FINISHED_ROUND = 68,
	USER_ID_INDEX = 69,
	USER_AUXTRACE_INFO = 70,
	USER_AUXTRACE = 71,
	USER_AUXTRACE_ERROR = 72,
	USER_THREAD_MAP = 73,
	USER_CPU_MAP = 74,
	USER_STAT_CONFIG = 75,
	USER_STAT = 76,
	USER_STAT_ROUND = 77,
	USER_EVENT_UPDATE = 78,
	USER_TIME_CONV = 79,
	USER_HEADER_FEATURE = 80,
	USER_COMPRESSED = 81,
	USER_FINISHED_INIT = 82,
	USER_COMPRESSED2 = 83,
	USER_BPF_METADATA = 84,
	USER_RECORD_END,
};

/* USER_STAT: what a counter has counted since it was opened. */
struct stat_record {
	struct perf_event_header header;
	uint64_t id;
	uint32_t cpu, thread;
	uint64_t value, enabled_ns, running_ns;
};

/* USER_STAT_ROUND: the values before it were read at this time. perf counts from its start. */
enum stat_round_kind { STAT_ROUND_INTERVAL = 0, STAT_ROUND_FINAL = 1 };

struct stat_round_record {
	struct perf_event_header header;
	uint64_t kind, time_ns;
};

/* Of LOST_SAMPLES: BPF filters of perf record (--filter) did not want them. */
#define MISC_LOST_BY_FILTER (1u << 15)

/* Of build ids: the size of the id stands in the byte behind its room of 20. */
#define MISC_BUILD_ID_SIZE (1u << 15)

/* Kinds of USER_EVENT_UPDATE: a u64 kind and the u64 id of the event come first, then the value. */
enum event_update { UPDATE_UNIT = 0, UPDATE_SCALE = 1, UPDATE_NAME = 2, UPDATE_CPUS = 3 };

/* FEATURE_COMPRESSED: how the USER_COMPRESSED records are to be read. */
struct perfdata_compressed {
	uint32_t version, type, level, ratio, mmap_len;
};
#define COMPRESSION_ZSTD 1u

#endif
