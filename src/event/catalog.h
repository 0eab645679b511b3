/*
 * Every source of events, loaded when first needed and kept: the kernel's tables, PMUs from sysfs,
 * tracefs, event files that the user added, libpfm4. The parser looks names up in it; listing
 * walks it. One thread at a time.
 *
 * To add a source: write a visit function and add it to sources[] in catalog.c.
 */
#ifndef TACHO_EVENT_CATALOG_H
#define TACHO_EVENT_CATALOG_H

#include "event/event.h"
#include "event/vendor.h"

enum event_kind {
	KIND_HW,
	KIND_SW,
	KIND_CACHE,
	KIND_PMU, /* from sysfs, event files or libpfm4 */
	KIND_TRACEPOINT,
	KIND_SDT,
	KIND_PROBE,
	KIND_RAW, /* forms to fill in: rNNN, mem:ADDR */
	KIND_COUNT,
};

const char *event_kind_name(enum event_kind kind);  /* as in --group */
const char *event_kind_title(enum event_kind kind); /* as a heading */
bool event_kind_find(const char *name, enum event_kind *ret_kind);

/* A unit mask: one variant of a symbolic event. */
struct catalog_mask {
	const char *name, *description;
	uint64_t code;
	bool is_default;
};

/* One line of the list. Strings belong to the source and live until the visitor returns. */
struct catalog_entry {
	const char *name, *alias, *description, *details;
	enum event_kind kind;
	const char *pmu;      /* sysfs or libpfm4 name, or NULL */
	const char *uarch;    /* microarchitecture that it belongs to, NULL: this machine */
	const char *source;   /* "kernel", "sysfs", "libpfm4", "file" … */
	const char *encoding; /* as it can be typed: "cpu/event=0xc0,umask=1/" */
	const char *unit;
	double scale;
	bool has_code, deprecated;
	uint64_t code, umask; /* as the vendor writes them */
	bool openable;        /* attr can be used to test whether the event opens */
	struct perf_event_attr attr;
	int cpu; /* where to try to open it, -1: anywhere */
	const struct catalog_mask *masks;
	size_t mask_count;
};

struct catalog {
	struct roots roots;
	bool pmus_ready, vendor_ready;
	struct pmus pmus;
	struct vendor_set vendor; /* for this CPU */
	char *no_pmu;             /* see catalog_no_pmu(); NULL: not asked yet, "": there is one */
};

void catalog_init(struct catalog *c);
void catalog_release(struct catalog *c);
struct pmus *catalog_pmus(struct catalog *c);
const struct vendor_set *catalog_vendor(struct catalog *c);

/* Returns half a sentence that says why there is no core PMU ("this virtual machine has no PMU …"),
 * or NULL if there is one. The text belongs to the catalogue. */
const char *catalog_no_pmu(struct catalog *c);

struct catalog_query {
	int kind;               /* enum event_kind, or -1 for all */
	const char *uarch;      /* NULL: this machine; "all" */
	const strvec *binaries; /* whose SDT markers to show */
	const char *name_glob;  /* lets a source skip what cannot match; may be NULL */
};

/* Stops when the visitor returns false. Reports sources that cannot be read to @problem. */
typedef bool (*catalog_visitor)(void *ctx, const struct catalog_entry *entry);
typedef void (*catalog_problem)(void *ctx, enum event_kind kind, const char *sentence);
void catalog_visit(struct catalog *c, const struct catalog_query *query, catalog_visitor visit,
		   catalog_problem problem, void *ctx);

/* Visits the microarchitecture names that --uarch accepts, each with a description. */
typedef void (*uarch_visitor)(void *ctx, const char *name, const char *description, bool present);
void catalog_uarchs(struct catalog *c, uarch_visitor visit, void *ctx);

#endif
