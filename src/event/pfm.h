/*
 * Symbolic machine events from libpfm4: names, descriptions and unit masks of every CPU it knows,
 * present or not. The library is loaded on first use, so that commands that do not need it start
 * fast; if it is not installed, the functions here find nothing. Any thread may call them. One lock
 * serializes the calls, so a visitor must not call them.
 */
#ifndef TACHO_EVENT_PFM_H
#define TACHO_EVENT_PFM_H

#include "event/catalog.h"

struct pfm_event {
	const char *pmu, *pmu_description, *name, *description;
	uint64_t code;
	bool present; /* the PMU is this machine's */
	bool uncore;
	const struct catalog_mask *masks;
	size_t mask_count;
};

/* Encodes "EVENT:UMASK:modifiers" for this machine's PMUs; false if libpfm4 does not know it. */
bool pfm_encode(const char *text, struct perf_event_attr *attr);

/*
 * Visits the events of the PMUs whose name matches @uarch: a libpfm4 name, a glob, "all", or NULL
 * for those of this machine. Stops when @visit returns false; returns how many PMUs matched. Unit
 * masks are nearly all of the work: pass @with_masks false if only names are needed.
 */
typedef bool (*pfm_visitor)(void *ctx, const struct pfm_event *event);
size_t pfm_visit(const char *uarch, bool with_masks, pfm_visitor visit, void *ctx);

/* Names of the PMUs: @visit(ctx, name, description, present). */
void pfm_pmus(uarch_visitor visit, void *ctx);

/* Whether @uarch, as users or Intel's files write it ("zen4", "icelakex"), means PMU @pmu. */
bool pfm_uarch_matches(const char *uarch, const char *pmu);

#endif
