/*
 * Which runs are too old, or too much: the oldest ended ones go first. One with a note, or with the tag
 * "keep", stays whatever happens. One thread, with its own store.
 */
#ifndef TACHO_RUNS_RETENTION_H
#define TACHO_RUNS_RETENTION_H

#include "store/store.h"
#include "base/fs.h"

struct retention {
	uint64_t keep_s, keep_bytes; /* 0: for ever; any */
	const char *data;            /* the data directory, for the sizes of kept recordings */
	int64_t now_ms;              /* wall clock */
};

/* Appends their uuids. */
int retention_choose(struct store *s, const struct retention *r, strvec *ret, struct err *e);

#endif
