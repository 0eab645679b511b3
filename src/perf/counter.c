#include "perf/counter.h"
#include "base/fs.h"
#include "perf/open.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Closing a tracepoint makes the kernel wait, one after the other. From this many on they are
 * counted by a BPF program instead, if that is possible. */
#define TALLY_FROM 4

#define READ_FORMAT                                                                                \
	(PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

static void row_fails(struct counter_row *row, int code, const struct perf_event_attr *attr,
		      bool system_wide)
{
	struct buf reason = {};

	row->code = code;
	row->state =
		perf_open_is_absent(code) || code == EINVAL ? EVENT_UNSUPPORTED : EVENT_REFUSED;
	perf_open_reason(code, attr, system_wide, row->event->no_pmu, &reason);
	free(row->reason);
	row->reason = buf_steal(&reason);
}

/* Only tasks have children and execute programs; a box outside of the cores does not. */
static struct perf_event_attr attr_for(const struct event *event, const struct event_unit *unit,
				       const struct target *target, const struct place *place,
				       bool leader)
{
	struct perf_event_attr attr = event->attr;

	attr.type = unit->type;
	attr.size = sizeof(attr);
	attr.read_format = READ_FORMAT;
	attr.sample_period = 0;
	attr.freq = 0;
	attr.inherit = place->task >= 0 && (event->inherit ? event->inherit > 0 : target->inherit);
	attr.disabled = leader;
	attr.enable_on_exec = leader && target->on_exec && place->task >= 0;
	attr.precise_ip = 0; /* precision is about where samples are taken; counting refuses it */
	return attr;
}

static int open_at(struct counter_row *row, struct perf_event_attr *attr, const struct place *place,
		   int leader_fd)
{
	bool before = row->user_only;
	int fd = place_open(attr, place, leader_fd, row->event->modified, &row->user_only);

	if (row->user_only && !before) {
		free(row->name);
		row->name = xasprintf("%s:u", row->event->name);
	}
	return fd;
}

static void add_member(struct counters *c, struct reading *reading, size_t row_number)
{
	struct counter_row *row = &c->rows[row_number];

	vec_push(&c->members,
		 (struct reading_member){(uint32_t)row_number, (uint32_t)row->counters.len - 1});
	reading->count++;
}

static void begin_reading(struct counters *c, struct reading *reading, int fd, bool on_exec)
{
	*reading = (struct reading){.fd = fd, .first = c->members.len, .on_exec = on_exec};
}

static void end_reading(struct counters *c, const struct reading *reading)
{
	if (reading->count)
		vec_push(&c->readings, *reading);
	if (reading->count + 3 > c->buffer_words)
		c->buffer_words = reading->count + 3;
}

/* Rows that are opened together, as one group of the kernel. */
struct open_group {
	VEC(size_t) rows;
	bool by_user; /* written as {…} */
};

/* One member at one place. A negative errno means that the whole work is hopeless. */
static int open_member(struct counters *c, const struct open_group *group, size_t row_number,
		       size_t unit, const struct place *place, struct reading *reading)
{
	struct counter_row *row = &c->rows[row_number];
	bool first = !reading->count;
	struct perf_event_attr attr =
		attr_for(row->event, &row->event->units.items[unit], c->target, place, first);
	int fd = open_at(row, &attr, place, first ? -1 : reading->fd);

	if (fd == -EINVAL && !first) {
		/* The PMU cannot count all of the group at once: this one goes on alone. */
		attr.disabled = 1;
		attr.enable_on_exec = c->target->on_exec && place->task >= 0;
		fd = open_at(row, &attr, place, -1);
		if (fd >= 0) {
			end_reading(c, reading);
			begin_reading(c, reading, fd, attr.enable_on_exec);
			if (group->by_user && !row->event->weak_group && !c->note)
				c->note =
					xstrdup("a group has more events than the PMU can count at "
						"once; it was broken up");
		}
	}
	if (fd == -EMFILE || fd == -ENFILE)
		return fd;
	if (fd < 0) {
		if (!row->counters.len)
			row_fails(row, -fd, &attr, place->pid < 0 || place->flags);
		return 0;
	}
	if (first)
		begin_reading(c, reading, fd, attr.enable_on_exec);
	vec_push(&row->counters, (struct counter){.fd = fd,
						  .cpu = place->cpu,
						  .task = place->task,
						  .cgroup = place->cgroup});
	add_member(c, reading, row_number);
	return 0;
}

static int open_group(struct counters *c, const struct open_group *group)
{
	const struct event *leader = c->rows[group->rows.items[0]].event;
	int r = 0;

	for (size_t unit = 0; unit < leader->units.len && r == 0; unit++) {
		place_list places = {};

		places_of(&leader->units.items[unit], c->target, &places);
		for (size_t i = 0; i < places.len && r == 0; i++) {
			struct reading reading = {.fd = -1, .first = c->members.len};

			vec_each(&group->rows, number) {
				struct counter_row *row = &c->rows[*number];

				/* What the machine does not have here it has nowhere. */
				if (i && !row->counters.len && row->state == EVENT_UNSUPPORTED &&
				    row->code != ENODEV)
					continue;
				r = open_member(c, group, *number, unit, &places.items[i],
						&reading);
				if (r < 0)
					break;
			}
			end_reading(c, &reading);
		}
		vec_release(&places);
	}
	return r;
}

static bool is_software(const struct event *event)
{
	return event->group < 0 && !event->missing && event->units.len == 1 && !event->inherit &&
	       event->units.items[0].type == PERF_TYPE_SOFTWARE && !event->attr.pinned &&
	       !event->attr.exclusive;
}

/*
 * Uncore boxes differ in number and place, so their events cannot share a group. An event that any
 * core can count goes with one that names the core's PMU.
 */
static bool can_group(const struct event *a, const struct event *b)
{
	const struct pmu *x = a->units.len == 1 ? a->units.items[0].pmu : NULL;
	const struct pmu *y = b->units.len == 1 ? b->units.items[0].pmu : NULL;

	if (a->units.len != 1 || b->units.len != 1)
		return false;
	return x == y || (!x && y->core) || (!y && x->core);
}

/* Groups as the user wrote them; all plain software events make one more, read by one call. */
static void next_group(struct counters *c, bool *taken, size_t from, struct open_group *group)
{
	const struct event *leader = c->rows[from].event;

	group->rows.len = 0;
	group->by_user = leader->group >= 0;
	for (size_t i = from; i < c->row_count; i++) {
		const struct event *event = c->rows[i].event;
		bool same = group->by_user ? event->group == leader->group
					   : is_software(leader) && is_software(event);

		if (taken[i] ||
		    (i != from && (!same || !can_group(leader, event) || event->missing)))
			continue;
		taken[i] = true;
		vec_push(&group->rows, i);
	}
}

static int open_all(struct counters *c, bool *taken)
{
	struct open_group group = {};
	int r = 0;

	for (size_t i = 0; i < c->row_count && r == 0; i++) {
		if (taken[i])
			continue;
		next_group(c, taken, i, &group);
		r = open_group(c, &group);
	}
	vec_release(&group.rows);
	return r;
}

static void add_tally_row(struct counters *c, struct counter_row *row)
{
	struct counter counter = {.fd = -1, .cpu = -1, .task = -1, .cgroup = -1};

	if (!c->target->cpus.len)
		vec_push(&row->counters, counter);
	vec_each(&c->target->cpus, cpu) {
		counter.cpu = *cpu;
		vec_push(&row->counters, counter);
	}
}

/* Hands tracepoints to BPF programs when there are many. */
static void open_tally(struct counters *c, bool *taken)
{
	const struct target *target = c->target;
	struct tally_tasks tasks = {.tasks = target->tasks.items,
				    .count = target->tasks.len,
				    .inherit = target->inherit,
				    .on_exec = target->on_exec};
	VEC(const char *) names = {};
	bool *by_tally = xcalloc(c->row_count, sizeof(*by_tally));
	struct err e = {};

	for (size_t i = 0; i < c->row_count; i++) {
		const struct event *event = c->rows[i].event;

		if (taken[i] || !event->tracepoint || event->group >= 0 || event->modified ||
		    event->inherit)
			continue;
		vec_push(&c->tally_rows, i);
		vec_push(&names, event->tracepoint);
	}
	if (names.len < TALLY_FROM || target->cgroups.len || target->tasks_apart) {
		c->tally_rows.len = 0;
	} else if (tally_open(names.items, names.len, &tasks, by_tally, &c->tally, &e) < 0) {
		c->note = xasprintf(
			"%zu tracepoints are counted one by one (%s); the kernel takes about "
			"%.1f s to close them",
			names.len, e.text, 0.04 * (double)names.len);
		c->slow_close = names.len > 10;
		c->tally_rows.len = 0;
	}
	for (size_t i = 0; i < c->tally_rows.len; i++) {
		size_t number = c->tally_rows.items[i];

		taken[number] = by_tally[i];
		if (by_tally[i])
			add_tally_row(c, &c->rows[number]);
	}
	free(by_tally);
	vec_release(&names);
}

int counters_open(struct counters *c, const struct event_list *events, const struct target *target,
		  struct err *e)
{
	bool *taken = xcalloc(events->events.len, sizeof(*taken));
	int r;

	*c = (struct counters){.target = target, .row_count = events->events.len};
	c->rows = xcalloc(c->row_count, sizeof(*c->rows));
	files_raise(&c->files);
	for (size_t i = 0; i < c->row_count; i++) {
		const struct event *event = &events->events.items[i];
		struct counter_row *row = &c->rows[i];
		const struct pmu *pmu = event->units.len ? event->units.items[0].pmu : NULL;

		row->event = event;
		row->name = xstrdup(event->name);
		row->whole_machine = pmu && !pmu->core && pmu->cpus && target->tasks.len;
		taken[i] = event->missing || event->tool;
		if (event->missing) {
			row->state = EVENT_UNSUPPORTED;
			row->reason = xstrdup(event->missing);
		}
	}
	open_tally(c, taken);
	r = open_all(c, taken);
	free(taken);
	c->buffer = xcalloc(c->buffer_words + 3, sizeof(*c->buffer));
	if (r < 0) {
		r = files_too_few(c->row_count, c->target, e);
		counters_close(c);
		return r;
	}
	for (size_t i = 0; i < c->row_count; i++)
		if (c->rows[i].counters.len)
			c->rows[i].state = EVENT_COUNTED;
	return 0;
}

static void control(struct counters *c, unsigned long request)
{
	vec_each(&c->readings, reading)
		ioctl(reading->fd, request, PERF_IOC_FLAG_GROUP);
}

void counters_start(struct counters *c)
{
	vec_each(&c->readings, reading)
		if (!reading->on_exec)
			ioctl(reading->fd, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
	if (c->tally && !c->target->on_exec)
		tally_restart(c->tally);
}

void counters_enable(struct counters *c)
{
	control(c, PERF_EVENT_IOC_ENABLE);
	if (c->tally)
		tally_restart(c->tally);
}

void counters_disable(struct counters *c)
{
	if (c->tally)
		tally_stop(c->tally);
	control(c, PERF_EVENT_IOC_DISABLE);
}

/* What a read gives: number of values, time enabled, time running, values. */
static void take_reading(struct counters *c, const struct reading *reading)
{
	ssize_t size = read(reading->fd, c->buffer, (reading->count + 3) * sizeof(*c->buffer));
	/* A pinned group that found no counter reads as end of file: it was not counted. */
	bool valid = size == (ssize_t)((reading->count + 3) * sizeof(*c->buffer)) &&
		     c->buffer[0] == reading->count;

	for (size_t i = 0; i < reading->count; i++) {
		const struct reading_member *m = &c->members.items[reading->first + i];
		struct counter *counter = &c->rows[m->row].counters.items[m->index];

		counter->before = counter->now;
		if (valid)
			counter->now = (struct count){c->buffer[3 + i], c->buffer[1], c->buffer[2]};
	}
}

static void read_tally(struct counters *c)
{
	uint64_t elapsed = tally_read(c->tally);

	for (size_t i = 0; i < c->tally_rows.len; i++)
		vec_each(&c->rows[c->tally_rows.items[i]].counters, counter) {
			if (counter->fd >= 0)
				break; /* the tally left this one to the kernel's own counter */
			counter->before = counter->now;
			counter->now.value = tally_value(c->tally, i, counter->cpu);
			counter->now.enabled_ns = counter->now.running_ns = elapsed;
		}
}

void counters_read(struct counters *c)
{
	vec_each(&c->readings, reading)
		take_reading(c, reading);
	if (c->tally)
		read_tally(c);
}

void counters_close(struct counters *c)
{
	for (size_t i = 0; i < c->row_count; i++) {
		struct counter_row *row = &c->rows[i];

		vec_each(&row->counters, counter)
			if (counter->fd >= 0)
				close(counter->fd);
		vec_release(&row->counters);
		free(row->name);
		free(row->reason);
	}
	if (c->tally)
		tally_free(c->tally);
	vec_release(&c->tally_rows);
	vec_release(&c->readings);
	vec_release(&c->members);
	free(c->rows);
	free(c->buffer);
	free(c->note);
	files_restore(&c->files);
	*c = (struct counters){};
}
