/*
 * Rounds that wait on the disk because whoever reads them is behind: an unlinked file, written at the
 * end and read from the beginning; what was read is given back to the disk. Bounded. The caller keeps
 * threads apart.
 */
#ifndef TACHO_COLLECT_SPILL_H
#define TACHO_COLLECT_SPILL_H

#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"

struct spill {
	int fd;
	uint64_t limit_bytes;
	uint64_t head, tail; /* in the file: the oldest that waits, and behind the newest */
	VEC(size_t) sizes;   /* of all since the file was empty */
	size_t next;         /* of them, the oldest that waits */
	uint64_t total_bytes;
};

/* A file in @directory that nobody else can see. */
int spill_open(struct spill *s, const char *directory, uint64_t limit_bytes, struct err *e);
void spill_close(struct spill *s);

static inline bool spill_is_empty(const struct spill *s)
{
	return s->next == s->sizes.len;
}

static inline bool spill_has_room(const struct spill *s)
{
	return s->tail - s->head < s->limit_bytes;
}

/* False: the disk is full, or it cannot be written for another reason. */
bool spill_put(struct spill *s, const struct buf *round);
/* The oldest into @ret; false if it cannot be read. Not if it is empty. */
bool spill_take(struct spill *s, struct buf *ret);

#endif
