/*
 * Chooses runs to delete because they are too old or take too much space: the oldest ended runs
 * first. A run with a note or with the tag "keep" is never chosen. One thread, with its own store.
 *
 * Age needs a clock that is right. While the newest run has ended in the future, the clock is wrong, or
 * was when that run was measured: then no run is chosen because of its age. Size needs no clock.
 */
#ifndef TACHO_RUNS_RETENTION_H
#define TACHO_RUNS_RETENTION_H

#include "store/store.h"
#include "base/fs.h"

struct retention {
	uint64_t keep_s, keep_bytes; /* 0: no limit */
	const char *data;            /* the data directory, for the sizes of kept recordings */
	int64_t now_ms;              /* as far as it is known, see known_time.h */
};

/* Appends the UUIDs of the runs to delete. @ret_future_ms: the end of the newest run if that lies in
 * the future, else 0; may be NULL. */
int retention_choose(struct store *s, const struct retention *r, strvec *ret,
		     int64_t *ret_future_ms, struct err *e);

#endif
