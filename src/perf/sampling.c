#include "perf/sampling.h"
#include "base/clock.h"
#include "perf/open.h"
#include "perf/topology.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* For each CPU. A stack of 8 KiB with every sample fills a ring in no time. */
#define RING_BYTES_DEFAULT ((size_t)2 << 20)
#define RING_BYTES_STACKS  ((size_t)8 << 20)

/* Of all rings together: without inheritance every thread has one of its own. */
#define RINGS_BYTES_MAX ((size_t)256 << 20)
#define RING_BYTES_MIN  ((size_t)32 << 10)

/* Who may not lock memory at will has this much for each CPU, with the page of control. */
static size_t default_ring_bytes(const struct sampling_options *o, const struct event_list *events,
				 const struct target *target)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = page;
	size_t wanted =
		sampling_has_calls(o, events, CALLS_DWARF) ? RING_BYTES_STACKS : RING_BYTES_DEFAULT;
	long long limit_kb;

	while (!target->inherit && wanted > RING_BYTES_MIN &&
	       wanted > RINGS_BYTES_MAX / (target->tasks.len + 1))
		wanted /= 2;
	if (geteuid() == 0 || !fs_number(&limit_kb, "/proc/sys/kernel/perf_event_mlock_kb") ||
	    limit_kb < 0)
		return wanted;
	while (bytes * 2 <= (size_t)limit_kb * 1024 - page && bytes * 2 <= wanted)
		bytes *= 2;
	return bytes;
}

/* ---- rows ---- */

static void add_row(struct sampling *s, const struct event *event, size_t number,
		    struct event_unit unit, int leader)
{
	struct sampling_row row = {.event = event,
				   .number = number,
				   .unit = unit,
				   .name = xstrdup(event ? event->name : "dummy:u"),
				   .leader = leader};

	vec_push(&s->rows, row);
}

/* Boxes outside of the cores differ in number and place: their events are not grouped. */
static int leader_of(const struct sampling *s, const struct event *event)
{
	if (event->group < 0 || event->units.len != 1)
		return -1;
	for (size_t i = 0; i < s->rows.len; i++) {
		const struct sampling_row *row = &s->rows.items[i];

		if (row->event->group == event->group && row->event->units.len == 1 &&
		    row->leader < 0)
			return (int)i;
	}
	return -1;
}

static bool is_everywhere(const struct sampling *s, const struct sampling_row *row)
{
	const struct target *target = s->target;

	return target->tasks.len && !(row->unit.pmu && row->unit.pmu->cpus) &&
	       row->event->inherit >= 0;
}

/*
 * Who tells of processes and mappings: the first event if it is on all the time and everywhere. Of
 * a whole system the dummy must tell from the beginning, because looking at all processes takes a
 * while, in which new ones start.
 */
static void choose_tracking(struct sampling *s)
{
	if (!s->options->delayed && is_everywhere(s, &s->rows.items[0])) {
		s->rows.items[0].tracking = true;
		return;
	}
	add_row(s, NULL, 0, (struct event_unit){PERF_TYPE_SOFTWARE, NULL}, -1);
	s->rows.items[s->rows.len - 1].tracking = true;
}

static int make_rows(struct sampling *s, const struct event_list *events, struct err *e)
{
	for (size_t i = 0; i < events->events.len; i++) {
		const struct event *event = &events->events.items[i];
		int leader = leader_of(s, event);

		if (event->missing)
			return err_set(e, ENOENT, "cannot record '%s': %s", event->name,
				       event->missing);
		if (event->inherit > 0 && !s->target->inherit)
			return err_set(e, EINVAL,
				       "cannot record '%s': its term inherit contradicts -i; with "
				       "no-inherit single events leave child processes out",
				       event->name);
		if (event->tool)
			return err_set(e, EINVAL,
				       "cannot record '%s': it is a time that is measured at the "
				       "end, not an event that samples could be taken of",
				       event->name);
		vec_each(&event->units, unit)
			add_row(s, event, i, *unit, leader);
	}
	if (!s->rows.len)
		return err_set(e, EINVAL, "no events to record");
	choose_tracking(s);
	return 0;
}

/* ---- opening ---- */

/* The ring of a place, NULL if nothing has been opened there yet. Places come in the same order
 * for every event, so it usually is the one behind the last. */
static struct sampling_ring *ring_of(struct sampling *s, const struct place *place)
{
	int task = place->cpu >= 0 ? -1 : place->task;

	for (size_t i = 0; i < s->rings.len; i++) {
		size_t at = (s->ring_hint + i) % s->rings.len;
		struct sampling_ring *ring = &s->rings.items[at];

		if (ring->cpu == place->cpu && ring->task == task) {
			s->ring_hint = at + 1;
			return ring;
		}
	}
	return NULL;
}

static int open_fd(struct sampling *s, struct sampling_row *row, const struct place *place,
		   int leader_fd)
{
	bool chosen = !row->event || row->event->modified, before = row->user_only;
	int fd;

	do
		fd = place_open(&row->attr, place, leader_fd, chosen, &row->user_only);
	while (fd < 0 && !row->ids.len && sampling_retreat(s, row, -fd));
	if (row->user_only && !before) {
		free(row->name);
		row->name =
			xasprintf("%s%su", row->event->name, row->event->precise_max ? "" : ":");
	}
	return fd;
}

/*
 * The first event of a place gets the ring. If it had to be smaller than wanted, the event is
 * opened once more, because it must wake us up earlier.
 */
static int make_ring(struct sampling *s, struct sampling_row *row, const struct place *place,
		     int leader_fd, int *fd, struct err *e)
{
	struct sampling_ring ring = {.cpu = place->cpu, .task = place->cpu >= 0 ? -1 : place->task};
	size_t wanted = s->ring_bytes;
	int r = ring_open(&ring.ring, *fd, &s->ring_bytes, e);

	if (r < 0)
		return r;
	if (s->ring_bytes < wanted) {
		row->attr.wakeup_watermark = sampling_wakeup_bytes(s);
		ring_close(&ring.ring);
		close(*fd);
		*fd = open_fd(s, row, place, leader_fd);
		if (*fd < 0)
			return sampling_refused(row, -*fd, place->pid < 0, e);
		r = ring_open(&ring.ring, *fd, &s->ring_bytes, e);
		if (r < 0)
			return r;
	}
	vec_push(&ring.fds, *fd);
	vec_push(&s->rings, ring);
	return 0;
}

/* Names of the fields that a filter of the tracepoint may use. */
static void add_fields(const struct roots *roots, const char *tracepoint, struct buf *out)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/events/%s/format", roots->tracefs, tracepoint);
	CLEANUP(free_ptr) char *text = NULL;
	char *colon = strrchr(path, ':');

	if (colon)
		*colon = '/';
	if (fs_read(path, 1 << 20, &text) < 0)
		return;
	for (char *at = text; (at = strstr(at, "field:"));) {
		char *end = strchr(at, ';'), *name;

		if (!end)
			break;
		*end = '\0';
		name = strrchr(at, ' ');
		if (name && strncmp(name + 1, "common_", 7) && out->len < 400)
			buf_addf(out, "%s %.*s", out->len ? "," : "; its fields are",
				 (int)strcspn(name + 1, "["), name + 1);
		at = end + 1;
	}
}

static int set_filter(const struct sampling *s, const struct sampling_row *row, int fd,
		      struct err *e)
{
	const char *filter =
		row->event && s->options->filters ? s->options->filters[row->number] : NULL;
	CLEANUP(buf_release) struct buf fields = {};
	int code;

	if (!filter || !ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter))
		return 0;
	code = errno;
	if (row->event->tracepoint)
		add_fields(s->options->roots, row->event->tracepoint, &fields);
	else
		buf_add(&fields, "; filters are for tracepoints");
	return err_set(e, code, "the kernel refused the filter '%s' of '%s' (%s)%s", filter,
		       row->name, strerror(code), buf_str(&fields));
}

/* Everything that makes an open descriptor one of ours. */
static int adopt(struct sampling *s, struct sampling_row *row, const struct place *place,
		 int leader_fd, int fd, struct err *e)
{
	struct sampling_ring *ring = ring_of(s, place);
	uint64_t id;
	int r = 0;

	if (!ring)
		r = make_ring(s, row, place, leader_fd, &fd, e);
	else if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fds.items[0]))
		r = err_set(e, errno, "cannot record '%s' together with the others: %s", row->name,
			    strerror(errno));
	else
		vec_push(&ring->fds, fd);
	/* From here on closing it is the row's business. */
	vec_push(&row->fds, fd);
	if (r < 0)
		return r;
	if (ioctl(fd, PERF_EVENT_IOC_ID, &id))
		return err_set(e, errno, "cannot ask for the id of '%s': %s", row->name,
			       strerror(errno));
	vec_push(&row->ids, id);
	return set_filter(s, row, fd, e);
}

static int open_place(struct sampling *s, struct sampling_row *row, const struct place *place,
		      struct err *e)
{
	size_t number = row->fds.len;
	int leader_fd = row->leader >= 0 ? s->rows.items[row->leader].fds.items[number] : -1, fd;

	/* A thread may end while we look, a CPU be taken away. */
	if (row->leader >= 0 && leader_fd < 0) {
		vec_push(&row->fds, -1);
		return 0;
	}
	fd = open_fd(s, row, place, leader_fd);
	if (fd == -ESRCH || (fd == -ENODEV && row->ids.len)) {
		vec_push(&row->fds, -1);
		return 0;
	}
	if (fd == -EMFILE || fd == -ENFILE)
		return files_too_few(s->rows.len, s->target, e);
	if (fd < 0)
		return sampling_refused(row, -fd, place->pid < 0 || place->flags, e);
	return adopt(s, row, place, leader_fd, fd, e);
}

/*
 * The kernel maps no ring of an inherited event that follows a task over all CPUs: it is opened on
 * each. The same goes for tracking beside events that are on some CPUs only.
 */
static void places_of_row(const struct sampling *s, const struct sampling_row *row,
			  place_list *places)
{
	const struct topology *topology = s->options->topology;
	struct target target = *s->target;

	target.cpus.items = NULL;
	target.cpus.len = target.cpus.cap = 0;
	if (row->event && s->target->cpus.len)
		target.cpus = s->target->cpus;
	else if (s->target->inherit || !s->target->tasks.len)
		for (size_t i = 0; i < topology->count; i++)
			vec_push(&target.cpus, topology->cpus[i].cpu);
	places_of(&row->unit, &target, places);
	if (target.cpus.items != s->target->cpus.items)
		vec_release(&target.cpus);
}

static int open_row(struct sampling *s, struct sampling_row *row, struct err *e)
{
	place_list places = {};
	int r = 0;

	places_of_row(s, row, &places);
	sampling_prepare(s, row, places.len && places.items[0].task >= 0);
	for (size_t i = 0; i < places.len && r == 0; i++)
		r = open_place(s, row, &places.items[i], e);
	vec_release(&places);
	if (r == 0 && !row->ids.len)
		r = err_set(e, ESRCH, "nothing is left to record: %s",
			    s->target->tasks.len ? "the processes have ended"
						 : "no CPU is there for the event");
	return r;
}

static int open_all(struct sampling *s, const struct event_list *events, size_t ring_bytes,
		    struct err *e)
{
	int r;

	s->ring_bytes = ring_bytes;
	files_raise(&s->files);
	r = make_rows(s, events, e);
	for (size_t i = 0; i < s->rows.len && r == 0; i++)
		r = open_row(s, &s->rows.items[i], e);
	return r;
}

int sampling_open(struct sampling *s, const struct event_list *events, const struct target *target,
		  const struct sampling_options *options, struct err *e)
{
	const struct sampling empty = {.target = target, .options = options, .events = events};
	size_t usual = default_ring_bytes(options, events, target);
	int r;

	*s = empty;
	r = open_all(s, events, options->ring_bytes ? options->ring_bytes : usual, e);
	/* The first rings may have taken all the memory that may be locked. */
	if (r == -EPERM && s->rings.len && options->ring_bytes > usual) {
		sampling_close(s);
		*s = empty;
		r = open_all(s, events, usual, e);
	}
	if (s->ring_bytes < options->ring_bytes)
		vec_push(&s->notes,
			 xasprintf("the buffers are of %zu KiB, not of %zu: no more memory may be "
				   "locked (/proc/sys/kernel/perf_event_mlock_kb, ulimit -l)",
				   s->ring_bytes / 1024, options->ring_bytes / 1024));
	if (r < 0)
		sampling_close(s);
	return r;
}

static void control(struct sampling *s, unsigned long request, bool waiting_too)
{
	vec_each(&s->rows, row) {
		if (row->leader >= 0 || (!waiting_too && row->attr.enable_on_exec))
			continue;
		vec_each(&row->fds, fd)
			if (*fd >= 0)
				ioctl(*fd, request, 0);
	}
}

void sampling_start(struct sampling *s)
{
	if (s->options && !s->options->delayed)
		control(s, PERF_EVENT_IOC_ENABLE, false);
}

void sampling_enable(struct sampling *s)
{
	control(s, PERF_EVENT_IOC_ENABLE, true);
}

void sampling_disable(struct sampling *s)
{
	control(s, PERF_EVENT_IOC_DISABLE, true);
}

uint64_t sampling_lost(const struct sampling_row *row)
{
	/* value, time enabled, time running, id, lost */
	uint64_t values[5], lost = 0;

	if (!(row->attr.read_format & PERF_FORMAT_LOST))
		return 0;
	vec_each(&row->fds, fd)
		if (*fd >= 0 && read(*fd, values, sizeof(values)) == sizeof(values))
			lost += values[4];
	return lost;
}

/* Time that the counter was there for; the second word of any form of reading. */
static uint64_t time_enabled(int fd)
{
	uint64_t values[1024];

	return read(fd, values, sizeof(values)) >= 16 ? values[1] : 0;
}

#define AWAY_MIN_NS (100 * NS_PER_MSEC)

void sampling_note_gaps(struct sampling *s, strvec *ret_notes)
{
	uint64_t *enabled = xcalloc(s->rings.len + 1, sizeof(*enabled)), longest = 0;

	/* Tasks come and go, and so does the time of a cgroup; that of a CPU should not. */
	for (size_t i = 0; i < s->rings.len && !s->target->tasks.len && !s->target->cgroups.len;
	     i++) {
		const struct sampling_ring *ring = &s->rings.items[i];

		enabled[i] = ring->fds.len ? time_enabled(ring->fds.items[0]) : 0;
		longest = enabled[i] > longest ? enabled[i] : longest;
	}
	for (size_t i = 0; longest && i < s->rings.len; i++)
		if (longest - enabled[i] > AWAY_MIN_NS)
			vec_push(ret_notes,
				 xasprintf("CPU %d was taken offline: of %.1f s only %.1f s of it "
					   "are recorded",
					   s->rings.items[i].cpu, (double)longest / 1e9,
					   (double)enabled[i] / 1e9));
	free(enabled);
}

void sampling_close(struct sampling *s)
{
	vec_each(&s->rings, ring) {
		ring_close(&ring->ring);
		vec_release(&ring->fds);
	}
	vec_each(&s->rows, row) {
		vec_each(&row->fds, fd)
			if (*fd >= 0)
				close(*fd);
		vec_release(&row->fds);
		vec_release(&row->ids);
		free(row->name);
	}
	vec_release(&s->rings);
	vec_release(&s->rows);
	strvec_release(&s->notes);
	if (s->target)
		files_restore(&s->files);
	*s = (struct sampling){};
}
