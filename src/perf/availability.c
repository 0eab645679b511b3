#include "perf/availability.h"
#include "event/tracepoint.h"
#include "perf/open.h"

#include <errno.h>
#include <unistd.h>

static int try_open(const struct perf_event_attr *attr, int cpu)
{
	struct perf_event_attr copy = *attr;
	/* An event of a place (uncore, one kind of core) is opened there, any other on ourselves. */
	int fd;

	copy.disabled = 1;
	fd = perf_open(&copy, cpu >= 0 ? -1 : 0, cpu, -1, 0);
	if (fd == -EACCES && cpu < 0 && !copy.exclude_kernel && !perf_is_kernel_only(&copy)) {
		/* Counting our own user code is enough for "can be opened". */
		copy.exclude_kernel = 1;
		fd = perf_open(&copy, 0, -1, -1, 0);
	}
	if (fd == -EINVAL && cpu < 0)
		fd = perf_open(&copy, -1, 0, -1, 0);
	if (fd < 0)
		return -fd;
	close(fd);
	return 0;
}

/*
 * The kernel refuses branch stacks for tracepoints, but only after every check that an open would
 * meet: EOPNOTSUPP means that all else is granted.
 */
static int try_tracepoint(uint64_t id)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT,
				       .size = sizeof(attr),
				       .config = id,
				       .disabled = 1,
				       .sample_type = PERF_SAMPLE_BRANCH_STACK,
				       .branch_sample_type =
					       PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY};
	int fd = perf_open(&attr, 0, -1, -1, 0);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || fd == -EOPNOTSUPP ? 0 : -fd;
}

struct first_tracepoint {
	const struct roots *roots;
	uint64_t id;
	bool found;
};

static bool first_id(void *ctx, const char *system, const char *name)
{
	struct first_tracepoint *first = ctx;

	first->found = tracepoint_id(first->roots, system, name, &first->id);
	return !first->found;
}

static int tracepoint_code(struct availability *a)
{
	struct first_tracepoint first = {.roots = a->roots};

	if (!a->tracepoint_known) {
		tracepoint_visit(a->roots, "sched", "*", first_id, &first);
		if (!first.found)
			tracepoint_visit(a->roots, "*", "*", first_id, &first);
		a->tracepoint_code = first.found ? try_tracepoint(first.id) : EACCES;
		a->tracepoint_known = true;
	}
	return a->tracepoint_code;
}

int availability_of(struct availability *a, const struct catalog_entry *entry)
{
	if (a->roots->foreign)
		return -1;
	if (entry->attr.type == PERF_TYPE_TRACEPOINT)
		return tracepoint_code(a);
	return try_open(&entry->attr, entry->cpu);
}
