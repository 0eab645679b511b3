/* Reads bytes as a perf.data file, in the way that @how says, and looks at all that comes out. */
#ifndef TACHO_TESTS_PERFDATA_RUN_H
#define TACHO_TESTS_PERFDATA_RUN_H

#include "perf/record.h"
#include "perfdata/summary.h"
#include "../unit/record_touch.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* Bits of @how */
enum { RUN_UNORDERED = 1, RUN_WHOLE = 2, RUN_STOP = 4 };

struct run {
	struct summary summary;
	bool stops;
	uint64_t records;
};

static bool run_record(void *ctx, const struct stream_record *from)
{
	struct run *run = ctx;
	const char *reason = NULL;
	struct record r;

	if (from->event && record_decode(&from->event->layout, from->header, &r, &reason) == 0)
		touch_record(from->header, &from->event->layout, &r);
	summary_visitor.record(&run->summary, from);
	return !(run->stops && ++run->records == 3);
}

/* A file of these bytes, until the next call. */
static inline const char *run_file(const void *data, size_t size)
{
	static char path[64];
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("perf.data", MFD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	return path;
}

static inline void run_perfdata(const void *data, size_t size, unsigned how)
{
	static const struct stream_visitor visitor = {.record = run_record};
	struct perfdata_options options = {
		.unordered = how & RUN_UNORDERED,
		.whole = how & RUN_WHOLE,
	};
	struct run run = {.stops = how & RUN_STOP};
	struct perfdata *p;
	struct err e = {};
	int r;

	if (perfdata_open(&p, run_file(data, size), &options, &e) < 0) {
		if (!e.code || !e.text[0])
			abort();
		return;
	}
	run.summary.file = p;
	r = perfdata_read(p, &visitor, &run, &e);
	if (r < 0 ? !e.code || !e.text[0] : p->stream.damage_count && !p->stream.enough)
		abort();
	if (p->stream.order.waiting)
		abort();
	vec_each(&p->stream.events, event)
		if (!event->name || event->leader >= p->stream.events.len)
			abort();
	summary_release(&run.summary);
	perfdata_close(p);
}

#endif
