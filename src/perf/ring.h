/*
 * The buffer that the kernel writes records into and we read from: one page of control, then a
 * power of two of data pages. One reader at a time; different rings may have different threads.
 */
#ifndef TACHO_PERF_RING_H
#define TACHO_PERF_RING_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct ring {
	void *base; /* the control page, NULL: not mapped */
	unsigned char *data;
	size_t bytes;  /* of data, a power of two */
	uint64_t tail; /* read up to here */
};

/* What can be read: whole records, in two pieces if they go round the end of the buffer. */
struct ring_view {
	const unsigned char *first, *second;
	size_t first_bytes, second_bytes;
};

/*
 * Maps the ring of @fd with *bytes of data, rounded up to pages and a power of two. Where the
 * kernel does not let us lock as much, half of it is tried, and so on; *bytes becomes what it is.
 */
int ring_open(struct ring *ring, int fd, size_t *bytes, struct err *e);
void ring_close(struct ring *ring);

/* Everything up to now. The kernel keeps it until ring_consume(). */
struct ring_view ring_view(const struct ring *ring);
void ring_consume(struct ring *ring, const struct ring_view *view);

/* Copies @size bytes at @offset of the view; false if they are not all inside. */
bool ring_view_copy(const struct ring_view *view, size_t offset, void *to, size_t size);

/* A hint that any thread may ask for: nothing can be read at the moment. */
bool ring_is_empty(const struct ring *ring);

#endif
