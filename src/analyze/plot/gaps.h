/*
 * In how many samples a name is missing: of the code itself, or of what called it. Samples say how
 * much it matters; how many places there are does not.
 *
 * Pure functions; the profile is complete and named.
 */
#ifndef TACHO_ANALYZE_PLOT_GAPS_H
#define TACHO_ANALYZE_PLOT_GAPS_H

#include "profile/profile.h"

struct profile_gaps {
	uint64_t samples;
	uint64_t unnamed;         /* are in code without a name */
	uint64_t unnamed_callers; /* are not, but have callers without one */
	uint64_t lost_callers;    /* of these: in no program or library at all */
};

void profile_gaps(const struct profile *p, struct profile_gaps *ret);

#endif
