/*
 * What the feature sections of a file say, decoded. Everything is optional: strings are NULL and
 * numbers 0 where the file does not say. Sections are hostile: a length that lies makes the fact
 * missing and a damage noted, nothing else.
 */
#ifndef TACHO_PERFDATA_FACTS_H
#define TACHO_PERFDATA_FACTS_H

#include "base/cursor.h"
#include "base/fs.h"
#include "perf/stream.h"
#include "perfdata/format.h"

struct build_id_fact {
	int32_t pid;
	uint16_t misc; /* cpu mode */
	uint8_t size;
	unsigned char id[20];
	char *filename;
};

struct pmu_fact {
	uint32_t type;
	char *name;
};

/* A tracepoint that the file describes. */
struct tracepoint_fact {
	uint64_t id;
	char *system, *name;
	char *format; /* the text of its format file */
};

/* A constant string of the recorded kernel, which tracepoints' data only points to. */
struct string_fact {
	uint64_t address;
	char *text;
};

struct perfdata_facts {
	char *hostname, *os_release, *version, *arch, *cpu_desc, *cpuid;
	uint32_t cpus_online, cpus_available;
	uint64_t total_memory_kb;
	strvec cmdline;
	uint64_t first_sample_ns, last_sample_ns; /* SAMPLE_TIME */
	uint64_t clock_resolution_ns;             /* CLOCKID */
	bool has_clock;                           /* CLOCK_DATA: */
	uint32_t clock_id;
	uint64_t wall_ns, clock_ns; /* the same moment by both clocks */
	struct perfdata_compressed compressed;
	VEC(struct pmu_fact) pmus;
	VEC(struct build_id_fact) build_ids;
	uint64_t build_id_names_bytes;
	VEC(struct tracepoint_fact) tracepoints;
	VEC(struct string_fact) strings;
	uint32_t tracing_long_size, tracing_page_size; /* of the recorded machine */
	bool tracing_swap; /* its tracepoints' data is of the other byte order */
};

/* Decodes one section and adds it to what is known; names and groups go to @stream's events. */
void facts_add(struct perfdata_facts *facts, struct stream *stream, enum feature feature,
	       struct cursor section, uint64_t file_offset);

/* The blob of tracing data: the tracepoints' formats. Only the first that has any counts. */
void facts_add_tracing(struct perfdata_facts *facts, struct stream *stream, struct cursor blob,
		       uint64_t file_offset);

/* One record or one entry of the section of build ids. */
void facts_add_build_id(struct perfdata_facts *facts, struct cursor entry, uint16_t misc,
			bool has_size);

const struct tracepoint_fact *facts_tracepoint(const struct perfdata_facts *facts, uint64_t id);

/* NULL if the file does not say. */
const char *facts_string(const struct perfdata_facts *facts, uint64_t address);

/* Section names as perf calls them: "HOSTNAME" … */
const char *feature_name(enum feature feature);

void facts_release(struct perfdata_facts *facts);

#endif
