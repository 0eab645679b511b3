/*
 * The feature sections of a perf.data file as bytes: made from this machine when recording, taken
 * over from the input when converting. The owner calls feature_set_release().
 */
#ifndef TACHO_PERFDATA_FEATURES_H
#define TACHO_PERFDATA_FEATURES_H

#include "base/buf.h"
#include "perfdata/format.h"

struct feature_set {
	struct buf sections[FEATURE_END];
	uint64_t present; /* bit n: section n is there, be it empty */
};

void feature_set_release(struct feature_set *set);

#endif
