/* Events that the kernel names on every machine: hardware, cache and software events. */
#ifndef TACHO_EVENT_GENERIC_H
#define TACHO_EVENT_GENERIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Times that tacho measures itself; users write them like events, but they need no counter. */
enum tool_event { TOOL_NONE, TOOL_DURATION, TOOL_USER, TOOL_SYSTEM };

/* Not a kernel type: marks a tool event in struct generic_event. */
#define TYPE_TOOL 0xffffffffu

struct generic_event {
	const char *name, *alias; /* alias may be NULL */
	uint32_t type;
	uint64_t config;
	const char *unit; /* NULL: a plain count */
	double scale;
	const char *description;
};

extern const struct generic_event generic_events[];
extern const size_t generic_event_count;

/* Events of these types are counted by the PMU of the cores. */
bool perf_type_is_core(uint32_t type);

const struct generic_event *generic_find(const char *name);

/* A cache event name has three parts: the cache (L1-dcache, LLC …), the operation (load, store,
 * prefetch) and the result (access, miss). */
bool cache_event_find(const char *name, uint64_t *ret_config);

/* Returns the canonical name of combination @nth; false past the last. */
bool cache_event_nth(size_t nth, char *name, size_t size, uint64_t *ret_config, char *description,
		     size_t description_size);

#endif
