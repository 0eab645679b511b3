#include "perf/ring.h"
#include "base/caps.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The kernel's own limit is an unsigned count of pages; nobody needs more than this. */
#define RING_BYTES_MAX ((size_t)1 << 31)

static size_t round_up(size_t bytes, size_t page)
{
	size_t rounded = page;

	while (rounded < bytes && rounded < RING_BYTES_MAX)
		rounded *= 2;
	return rounded;
}

int ring_open(struct ring *ring, int fd, size_t *bytes, struct err *e)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = round_up(*bytes, page);
	void *base;

	for (;; size /= 2) {
		caps_raise();
		base = mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		caps_lower();
		if (base != MAP_FAILED || (errno != EPERM && errno != ENOMEM) || size <= page)
			break;
	}
	if (base == MAP_FAILED && errno == EPERM)
		return err_set(e, EPERM,
			       "no memory may be locked for the samples: other recordings use up "
			       "/proc/sys/kernel/perf_event_mlock_kb and ulimit -l");
	if (base == MAP_FAILED)
		return err_set(e, errno, "cannot map the buffer for the samples: %s",
			       strerror(errno));
	*ring = (struct ring){.base = base, .data = (unsigned char *)base + page, .bytes = size};
	*bytes = size;
	return 0;
}

void ring_close(struct ring *ring)
{
	if (ring->base)
		munmap(ring->base,
		       (size_t)(ring->data - (unsigned char *)ring->base) + ring->bytes);
	*ring = (struct ring){};
}

struct ring_view ring_view(const struct ring *ring)
{
	struct perf_event_mmap_page *control = ring->base;
	/* Pairs with the kernel's store: what lies before the head is written. */
	uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
	uint64_t size = head - ring->tail;
	size_t at = (size_t)(ring->tail & (ring->bytes - 1)), to_end = ring->bytes - at;
	struct ring_view view = {.first = ring->data + at, .second = ring->data};

	/* Cannot be, unless somebody else writes the control page. */
	if (size > ring->bytes)
		size = 0;
	view.first_bytes = size < to_end ? size : to_end;
	view.second_bytes = size - view.first_bytes;
	return view;
}

void ring_consume(struct ring *ring, const struct ring_view *view)
{
	struct perf_event_mmap_page *control = ring->base;

	if (!view->first_bytes)
		return;
	ring->tail += view->first_bytes + view->second_bytes;
	/* Our reads are done before the kernel may write there again. */
	__atomic_store_n(&control->data_tail, ring->tail, __ATOMIC_RELEASE);
}

bool ring_view_copy(const struct ring_view *view, size_t offset, void *to, size_t size)
{
	size_t total = view->first_bytes + view->second_bytes, part = 0;

	if (offset > total || size > total - offset)
		return false;
	if (offset < view->first_bytes) {
		part = view->first_bytes - offset < size ? view->first_bytes - offset : size;
		memcpy(to, view->first + offset, part);
	}
	if (part < size)
		memcpy((char *)to + part, view->second + (offset + part - view->first_bytes),
		       size - part);
	return true;
}

bool ring_is_empty(const struct ring *ring)
{
	struct perf_event_mmap_page *control = ring->base;

	return __atomic_load_n(&control->data_head, __ATOMIC_RELAXED) ==
	       __atomic_load_n(&control->data_tail, __ATOMIC_RELAXED);
}
