/*
 * Symbolic machine events from libpfm4: names, descriptions and unit masks of every CPU it knows,
 * present or not. The library is loaded on first use, so that commands which need none of it
 * start fast; where it is not installed everything here finds nothing. Any thread may ask: one
 * at a time is answered, so visitors do not ask in turn.
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

/* "EVENT:UMASK:modifiers" of this machine's PMUs into @attr; false if libpfm4 knows none. */
bool pfm_encode(const char *text, struct perf_event_attr *attr);

/*
 * Events of the PMUs whose name matches @uarch: a libpfm4 name, a glob, "all", or NULL for those
 * of this machine. Stops when @visit returns false; returns how many PMUs matched. Unit masks are
 * nearly all of the work, so who needs names only does without them.
 */
typedef bool (*pfm_visitor)(void *ctx, const struct pfm_event *event);
size_t pfm_visit(const char *uarch, bool with_masks, pfm_visitor visit, void *ctx);

/* Names of the PMUs: @visit(ctx, name, description, present). */
void pfm_pmus(uarch_visitor visit, void *ctx);

/* Whether @uarch, as people or Intel's files call it ("zen4", "icelakex"), means PMU @pmu. */
bool pfm_uarch_matches(const char *uarch, const char *pmu);

#endif
