#include "collect/keep/mapping_watch.h"
#include "base/vec.h"
#include "perf/open.h"
#include "perf/ring.h"

#include <errno.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#define RING_BYTES 32768u
/* The longest record of a mapping: a path of PATH_MAX bytes and the other fields. */
#define MAPPING_BYTES_MAX 4352u
/* Limit of tasks times CPUs: enough for a workload on a large machine, or for a whole system. */
#define RINGS_MAX 1024u

struct watched {
	int fd;
	struct ring ring;
};

struct mapping_watch {
	VEC(struct watched) rings;
	struct layout layout;
	atomic_bool lost;
};

static struct perf_event_attr attr_of(const struct target *target)
{
	struct perf_event_attr attr = {.size = sizeof(attr)};

	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	attr.sample_id_all = 1;
	attr.sample_period = 1;
	attr.exclude_kernel = attr.exclude_hv = 1;
	attr.mmap = attr.mmap2 = 1;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	attr.inherit = target->inherit;
	attr.disabled = attr.enable_on_exec = target->on_exec;
	/* No wakeups: the keeper reads the rings regularly. */
	attr.watermark = 1;
	attr.wakeup_watermark = RING_BYTES;
	return attr;
}

static bool open_one(struct mapping_watch *w, const struct perf_event_attr *attr, pid_t pid,
		     int cpu)
{
	struct watched watched = {.fd = perf_open(attr, pid, cpu, -1, 0)};
	size_t bytes = RING_BYTES;

	if (watched.fd < 0)
		return watched.fd == -ENODEV; /* the CPU has just gone offline */
	if (ring_open(&watched.ring, watched.fd, &bytes, NULL) < 0) {
		close(watched.fd);
		return false;
	}
	vec_push(&w->rings, watched);
	return true;
}

struct mapping_watch *mapping_watch_open(const struct target *target,
					 const struct topology *topology)
{
	size_t tasks = target->tasks.len ? target->tasks.len : 1;
	struct perf_event_attr attr = attr_of(target);
	struct mapping_watch *w;
	bool good = true;

	if (target->cgroups.len || tasks * topology->count > RINGS_MAX)
		return NULL;
	w = xcalloc(1, sizeof(*w));
	layout_init(&w->layout, &attr);
	for (size_t i = 0; i < tasks && good; i++)
		for (size_t k = 0; k < topology->count && good; k++)
			good = open_one(w, &attr, target->tasks.len ? target->tasks.items[i] : -1,
					topology->cpus[k].cpu);
	if (good && w->rings.len)
		return w;
	mapping_watch_close(w);
	return NULL;
}

static void read_ring(struct mapping_watch *w, struct ring *ring,
		      void (*see)(void *ctx, const struct record *r), void *ctx)
{
	uint64_t bytes[(RECORD_BYTES_MAX + 8) / 8];
	struct ring_view view = ring_view(ring);
	size_t at = 0, total = view.first_bytes + view.second_bytes;

	/* A nearly full ring counts as a loss: the kernel's LOST record only comes with the next
	 * mapping, when the rings of the recording, which have all mappings, may have been read
	 * already. */
	if (total + MAPPING_BYTES_MAX > ring->bytes)
		atomic_store(&w->lost, true);
	while (total - at >= sizeof(struct perf_event_header)) {
		struct perf_event_header header;
		const char *reason;
		struct record r;

		ring_view_copy(&view, at, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size > total - at)
			break;
		if (header.type == PERF_RECORD_MMAP2 &&
		    ring_view_copy(&view, at, bytes, header.size) &&
		    record_decode(&w->layout, bytes, &r, &reason) == 0)
			see(ctx, &r);
		if (header.type == PERF_RECORD_LOST)
			atomic_store(&w->lost, true);
		at += header.size;
	}
	ring_consume(ring, &view);
}

void mapping_watch_read(struct mapping_watch *w, void (*see)(void *ctx, const struct record *r),
			void *ctx)
{
	vec_each(&w->rings, watched)
		read_ring(w, &watched->ring, see, ctx);
}

bool mapping_watch_has_news(const struct mapping_watch *w)
{
	vec_each(&w->rings, watched)
		if (!ring_is_empty(&watched->ring))
			return true;
	return false;
}

bool mapping_watch_has_lost(const struct mapping_watch *w)
{
	return atomic_load(&w->lost);
}

void mapping_watch_close(struct mapping_watch *w)
{
	if (!w)
		return;
	vec_each(&w->rings, watched) {
		ring_close(&watched->ring);
		close(watched->fd);
	}
	vec_release(&w->rings);
	free(w);
}
