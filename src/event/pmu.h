/*
 * The PMUs that the kernel describes under /sys/bus/event_source/devices: their type, the bit
 * fields of their events ("format"), named events with scale and unit, and the CPUs they are for.
 * pmus_load() reads names, types and CPUs; fields and events of a PMU are read when first needed.
 * A struct pmus owns all its strings. One thread at a time.
 */
#ifndef TACHO_EVENT_PMU_H
#define TACHO_EVENT_PMU_H

#include "base/err.h"
#include "base/fs.h"
#include "event/roots.h"

#include <linux/perf_event.h>
#include <stdint.h>

struct bit_range {
	uint8_t first, last;
};

/* One named field of an event code: which bits of which config word. */
struct pmu_field {
	char *name;
	uint8_t word; /* 0: config, 1: config1 … */
	uint8_t range_count;
	struct bit_range ranges[8];
};

struct pmu {
	char *name;
	uint32_t type;
	int *cpus; /* CPUs to open on, NULL: any */
	size_t cpu_count;
	bool core; /* counts what a core does, so it can follow a task */
	bool loaded_fields;
	VEC(struct pmu_field) fields;
};

struct pmus {
	const struct roots *roots;
	VEC(struct pmu) list; /* sorted by name */
};

struct pmu_event {
	const char *name; /* file name */
	char *terms;      /* "event=0x3c,umask=0x1" */
	char *unit;       /* "Joules", or NULL */
	double scale;     /* 1 without one */
};

void pmus_load(struct pmus *pmus, const struct roots *roots);
void pmus_release(struct pmus *pmus);

struct pmu *pmus_find(struct pmus *pmus, const char *name);

/* Returns core PMU number @nth, NULL past the last: one on most machines, two or more on hybrid
 * ones, none in many virtual machines. */
struct pmu *pmus_core(struct pmus *pmus, size_t nth);

const struct pmu_field *pmu_field(struct pmus *pmus, struct pmu *pmu, const char *name);

/* Puts @value into the bits of @field. Returns false if it does not fit. */
bool pmu_field_set(const struct pmu_field *field, uint64_t value, struct perf_event_attr *attr);

/* Parses a bit field as sysfs writes it: "config:0-7,32-35". */
bool pmu_field_parse(const char *text, struct pmu_field *ret_field);

int pmu_event_names(struct pmus *pmus, const struct pmu *pmu, strvec *ret_names);
bool pmu_event_read(struct pmus *pmus, const struct pmu *pmu, const char *name,
		    struct pmu_event *ret_event);
void pmu_event_release(struct pmu_event *event);

/* Returns whether @wanted means PMU @name: it is the name, or e.g. "uncore_cbox" or "cbox" for
 * uncore_cbox_0. */
bool pmu_name_matches(const char *name, const char *wanted);

#endif
