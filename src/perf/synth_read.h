/* The files of /proc that synthesized records come from. */
#ifndef TACHO_PERF_SYNTH_READ_H
#define TACHO_PERF_SYNTH_READ_H

#include "event/roots.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A line of /proc/PID/maps. */
struct mapping {
	uint64_t start, end, offset, inode;
	uint32_t major, minor;
	uint32_t prot, flags; /* PROT_…, MAP_PRIVATE or MAP_SHARED */
	const char *name;     /* as the kernel names it in records: "//anon" without a file */
};

/* False if the line is none; @line is changed, and the name points into it. */
bool mapping_parse(char *line, struct mapping *ret_mapping);

typedef bool (*mapping_visitor)(void *ctx, const struct mapping *m);
/* Stops when @visit returns false; -ETIME past the deadline. */
int synth_read_maps(const struct roots *roots, pid_t pid, uint64_t deadline_ns,
		    mapping_visitor visit, void *ctx);

/* The process of a thread, and its parent. */
bool synth_read_status(const struct roots *roots, pid_t pid, pid_t *ret_group, pid_t *ret_parent);

struct kernel_text {
	const char *symbol; /* "_text" or "_stext" */
	uint64_t start, size;
};

/* False if addresses are hidden. Reads only the first of a hundred thousand lines. */
bool synth_read_kernel(const struct roots *roots, struct kernel_text *ret_text);

typedef bool (*module_visitor)(void *ctx, const char *name, uint64_t address, uint64_t size);
/* Modules with their addresses; none if these are hidden. */
void synth_read_modules(const struct roots *roots, module_visitor visit, void *ctx);

#endif
