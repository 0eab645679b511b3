/*
 * Counts the samples in which a function name is missing: that of the sampled code or of a caller.
 * Samples show how much it matters; the number of addresses without a name does not.
 *
 * Pure functions; the profile is complete and named.
 */
#ifndef TACHO_ANALYZE_PLOT_GAPS_H
#define TACHO_ANALYZE_PLOT_GAPS_H

#include "profile/profile.h"

struct profile_gaps {
	uint64_t samples;
	uint64_t unnamed;         /* in code without a name */
	uint64_t unnamed_callers; /* in named code, but with unnamed callers */
	uint64_t lost_callers;    /* of these: with a caller in no program or library */
};

void profile_gaps(const struct profile *p, struct profile_gaps *ret);

#endif
