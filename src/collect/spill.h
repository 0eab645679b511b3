/*
 * A queue of rounds on the disk, for a reader that is behind: an unlinked file, written at the end
 * and read from the beginning; space that was read is given back to the disk. Bounded. Not locked:
 * the caller must hold a lock.
 */
#ifndef TACHO_COLLECT_SPILL_H
#define TACHO_COLLECT_SPILL_H

#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"

struct spill {
	int fd;
	uint64_t limit_bytes;
	uint64_t head, tail; /* file offsets: start of the oldest round, end of the newest */
	VEC(size_t) sizes;   /* of all rounds since the file was empty */
	size_t next;         /* index in sizes of the oldest round that waits */
	uint64_t total_bytes;
};

/* Creates an unlinked file in @directory. */
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

/* Appends a round. Returns false if it cannot be written, for example because the disk is full. */
bool spill_put(struct spill *s, const struct buf *round);
/* Takes the oldest round. Returns false if it cannot be read. The queue must not be empty. */
bool spill_take(struct spill *s, struct buf *ret);

#endif
