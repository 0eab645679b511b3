/*
 * Event files in the JSON form that the Linux kernel (pmu-events) and Intel (perfmon) publish.
 * vendor_install() reads and checks them and stores one file for each microarchitecture in the
 * user's data directory; vendor_load() reads such a file back. A vendor_set owns its strings.
 */
#ifndef TACHO_EVENT_VENDOR_H
#define TACHO_EVENT_VENDOR_H

#include "base/err.h"
#include "base/fs.h"
#include "event/roots.h"

struct vendor_event {
	char *name, *description, *details;
	char *terms;          /* "event=0xc0,umask=0x1" for the PMU that it belongs to */
	char *unit;           /* PMU of an uncore event ("imc"), NULL: the core */
	uint64_t code, umask; /* as in the file, before fixed counters are mapped */
	bool deprecated;
};

struct vendor_metric {
	char *name, *description, *expression, *group;
	double scale; /* 100 of ScaleUnit "100%" */
	char *unit;
};

struct vendor_set {
	char *uarch;
	VEC(struct vendor_event) events; /* sorted by name, ignoring case */
	VEC(struct vendor_metric) metrics;
};

/* Parses JSON text (an array of events, or Intel's object with a header) and appends to @set. */
int vendor_parse(const char *text, size_t len, struct vendor_set *set, struct err *e);
void vendor_sort(struct vendor_set *set);
void vendor_release(struct vendor_set *set);

/* Finds an event by name, ignoring case; NULL if there is none. The set must be sorted. */
const struct vendor_event *vendor_find(const struct vendor_set *set, const char *name);

/* ---- vendor_store.c: event files that the user has loaded ---- */

struct vendor_installed {
	char *uarch;
	size_t events, metrics;
	bool this_cpu;
	bool any_cpu; /* the store knows which CPUs the set is for */
};

typedef VEC(struct vendor_installed) vendor_installed_list;

/*
 * Loads a file, or all files below a folder. @cpu (a regular expression) says which CPUs they are
 * for, @uarch names the microarchitecture. If @cpu is NULL, a mapfile.csv beside or above the files
 * is used; if @uarch is NULL, the mapfile or the file name.
 */
int vendor_install(const char *path, const char *uarch, const char *cpu,
		   vendor_installed_list *ret_installed, struct err *e);
int vendor_remove(const char *uarch, struct err *e);
int vendor_list(const struct roots *roots, vendor_installed_list *ret_installed);
void vendor_installed_release(vendor_installed_list *list);

/* Loads the set of @uarch, or of this CPU if NULL. Returns -ENOENT if there is none. */
int vendor_load(const struct roots *roots, const char *uarch, struct vendor_set *ret_set,
		struct err *e);

/* ---- cpuid.c ---- */

/* Writes the CPU's name in mapfiles: "GenuineIntel-6-6A-6", "0x00000000410fd0c0"; "" if unknown. */
void cpuid_text(const struct roots *roots, char *text, size_t size);

#endif
