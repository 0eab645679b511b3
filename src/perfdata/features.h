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

static inline bool feature_set_has(const struct feature_set *set, enum feature feature)
{
	return set->present >> feature & 1;
}

/* Marks a section as present and empties it: the caller appends its bytes. */
struct buf *feature_set_begin(struct feature_set *set, enum feature feature);

/* Takes a section out. */
void feature_set_drop(struct feature_set *set, enum feature feature);

/* The pieces of which sections are made. A string is its length in 32 bits and its bytes, filled
 * up with zeros to a multiple of 64. */
void feature_add_u32(struct buf *b, uint32_t value);
void feature_add_u64(struct buf *b, uint64_t value);
void feature_add_str(struct buf *b, const char *s);

#endif
