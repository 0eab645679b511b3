/* Internal to the decoder: the body of a sample. */
#ifndef TACHO_PERF_SAMPLE_H
#define TACHO_PERF_SAMPLE_H

#include "perf/record.h"
#include "perf/walk.h"

/* NULL, or the reason why it is not valid. */
const char *sample_decode(const struct layout *l, struct walk *w, struct record *ret);
const char *sample_swap(const struct layout *l, struct walk *w, struct record *ret);

/* The values of PERF_SAMPLE_READ and of PERF_RECORD_READ. */
ALWAYS_INLINE void walk_read(struct walk *w, uint64_t format, struct read_view *ret, bool swap)
{
	bool group = format & PERF_FORMAT_GROUP;

	*ret = (struct read_view){.count = 1};
	ret->has_id = format & PERF_FORMAT_ID;
	ret->has_lost = format & PERF_FORMAT_LOST;
	ret->words_each = (uint8_t)(1 + ret->has_id + ret->has_lost);
	if (group) {
		ret->count = walk_u64(w, swap);
	} else {
		/* value, times, id, lost: the times stand between; get them in our order. */
		ret->words = walk_words(w, 1, swap);
	}
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		ret->enabled_ns = walk_u64(w, swap);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		ret->running_ns = walk_u64(w, swap);
	if (group) {
		if (ret->count > RECORD_BYTES_MAX) /* keeps the product below from overflowing */
			ret->count = RECORD_BYTES_MAX;
		ret->words = walk_words(w, ret->count * ret->words_each, swap);
	} else {
		ret->rest = walk_words(w, ret->words_each - 1u, swap);
	}
}

#endif
