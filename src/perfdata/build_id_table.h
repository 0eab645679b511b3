/*
 * Which program had which build id, collected from the records of mappings while they are written;
 * becomes FEATURE_BUILD_ID. One thread at a time; the owner calls build_id_table_free().
 */
#ifndef TACHO_PERFDATA_BUILD_ID_TABLE_H
#define TACHO_PERFDATA_BUILD_ID_TABLE_H

#include "event/roots.h"
#include "perf/build_id.h"
#include "perfdata/features.h"

struct build_id_table;

struct build_id_table *build_id_table_new(void);
void build_id_table_free(struct build_id_table *t);

/* @pid: -1, or the virtual machine's for its own files; @cpumode: PERF_RECORD_MISC_USER, …_KERNEL.
 * Beyond 100,000 entries nothing is added. */
void build_id_table_add(struct build_id_table *t, int32_t pid, uint16_t cpumode,
			const struct build_id *id, const char *name);

/* Looks at whole records, and takes the build ids that MMAP2 ones bring. */
void build_id_table_see(struct build_id_table *t, const void *records, size_t size);

/* The running kernel and its modules. */
void build_id_table_add_kernel(struct build_id_table *t, const struct roots *roots);

size_t build_id_table_count(const struct build_id_table *t);

/* The section; none is added for an empty table. */
void build_id_table_feature(const struct build_id_table *t, struct feature_set *set);

#endif
