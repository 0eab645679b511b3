/*
 * Chooses runs to delete because they are too old or take too much space: the oldest ended runs
 * first. A run with a note or with the tag "keep" is never chosen. One thread, with its own store.
 */
#ifndef TACHO_RUNS_RETENTION_H
#define TACHO_RUNS_RETENTION_H

#include "store/store.h"
#include "base/fs.h"

struct retention {
	uint64_t keep_s, keep_bytes; /* 0: no limit */
	const char *data;            /* the data directory, for the sizes of kept recordings */
	int64_t now_ms;              /* wall clock */
};

/* Appends the UUIDs of the runs to delete. */
int retention_choose(struct store *s, const struct retention *r, strvec *ret, struct err *e);

#endif
