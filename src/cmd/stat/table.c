/* Makes a table of values from readings of counters. */
#include "cmd/stat/stat.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Which aggregate a counter belongs to. */
static void aggregate_key(const struct stat_session *s, enum aggregation mode,
			  const struct counter *c, int key[3])
{
	struct cpu_place place = topology_of(&s->topology, c->cpu);

	memset(key, 0, 3 * sizeof(*key));
	switch (mode) {
	case AGGR_ALL:
		break;
	case AGGR_CPU:
		key[0] = c->cpu;
		break;
	case AGGR_CORE:
		key[2] = place.core;
		/* fall through */
	case AGGR_DIE:
		key[1] = place.die;
		/* fall through */
	case AGGR_SOCKET:
		key[0] = place.socket;
		break;
	case AGGR_THREAD:
		key[0] = c->task;
		break;
	case AGGR_CGROUP:
		key[0] = c->cgroup;
		break;
	}
}

static char *aggregate_label(const struct stat_session *s, enum aggregation mode, const int key[3])
{
	switch (mode) {
	case AGGR_ALL:
		break;
	case AGGR_CPU:
		return xasprintf("CPU%d", key[0]);
	case AGGR_CORE:
		return xasprintf("S%d-D%d-C%d", key[0], key[1], key[2]);
	case AGGR_DIE:
		return xasprintf("S%d-D%d", key[0], key[1]);
	case AGGR_SOCKET:
		return xasprintf("S%d", key[0]);
	case AGGR_THREAD:
		if (key[0] >= 0 && (size_t)key[0] < s->task_names.len)
			return xstrdup(s->task_names.items[key[0]]);
		break;
	case AGGR_CGROUP:
		if (key[0] >= 0 && (size_t)key[0] < s->plan.target.cgroups.len)
			return xstrdup(s->plan.target.cgroups.items[key[0]].name);
		break;
	}
	return xstrdup("");
}

static int by_key(const void *a, const void *b)
{
	const struct aggregate *x = a, *y = b;

	for (int i = 0; i < 3; i++)
		if (x->key[i] != y->key[i])
			return x->key[i] < y->key[i] ? -1 : 1;
	return 0;
}

/* Returns the index of the aggregate with this key, or aggregate_count if there is none. */
static size_t find_aggregate(const struct counter_table *t, const int key[3])
{
	struct aggregate wanted = {.key = {key[0], key[1], key[2]}};
	const struct aggregate *found =
		bsearch(&wanted, t->aggregates, t->aggregate_count, sizeof(wanted), by_key);

	return found ? (size_t)(found - t->aggregates) : t->aggregate_count;
}

static unsigned cpus_in(const struct stat_session *s, enum aggregation mode, const int key[3])
{
	unsigned count = 0;

	vec_each(&s->plan.target.cpus, cpu) {
		struct counter c = {.cpu = *cpu};
		int other[3];

		aggregate_key(s, mode, &c, other);
		count += !memcmp(other, key, sizeof(other));
	}
	return count;
}

/* Collects the aggregates of all counters, sorted; one empty aggregate if there are no counters. */
static void find_aggregates(struct stat_session *s, struct counter_table *t,
			    const struct counters *c)
{
	VEC(struct aggregate) all = {};
	size_t kept = 0;

	for (size_t i = 0; i < c->row_count; i++)
		vec_each(&c->rows[i].counters, counter) {
			struct aggregate a = {};

			aggregate_key(s, t->mode, counter, a.key);
			vec_push(&all, a);
			if (t->mode == AGGR_ALL)
				break;
		}
	if (!all.len)
		vec_push(&all, (struct aggregate){});
	qsort(all.items, all.len, sizeof(*all.items), by_key);
	for (size_t i = 0; i < all.len; i++)
		if (!i || by_key(&all.items[kept - 1], &all.items[i]))
			all.items[kept++] = all.items[i];
	t->aggregates = all.items;
	t->aggregate_count = kept;
	for (size_t i = 0; i < kept; i++) {
		struct aggregate *a = &t->aggregates[i];

		a->label = aggregate_label(s, t->mode, a->key);
		a->cpu_count = cpus_in(s, t->mode, a->key);
	}
}

static enum row_state state_of(enum event_state state)
{
	switch (state) {
	case EVENT_UNSUPPORTED:
		return ROW_UNSUPPORTED;
	case EVENT_REFUSED:
		return ROW_REFUSED;
	case EVENT_COUNTED:
		break;
	}
	return ROW_COUNTED;
}

static enum row_timer timer_of(const struct event *event)
{
	switch (event->tool) {
	case TOOL_DURATION:
		return ROW_DURATION;
	case TOOL_USER:
		return ROW_USER_TIME;
	case TOOL_SYSTEM:
		return ROW_SYSTEM_TIME;
	case TOOL_NONE:
		break;
	}
	return ROW_NO_TIMER;
}

static struct table_row row_of(const struct counter_row *from)
{
	const struct event *event = from->event;
	struct table_row row = {
		.name = xstrdup(from->name),
		.unit = xstrdup(event->unit_text ? event->unit_text : ""),
		.reason = from->reason ? xstrdup(from->reason) : NULL,
		.scale = event->scale,
		.state = state_of(from->state),
		.timer = timer_of(event),
		.whole_machine = from->whole_machine,
	};

	if (event->units.len)
		row.identity = (struct row_identity){.known = true,
						     .type = event->units.items[0].type,
						     .config = event->attr.config,
						     .exclude_user = event->attr.exclude_user,
						     .exclude_kernel = event->attr.exclude_kernel,
						     .pmu = event->units.items[0].pmu};
	return row;
}

static void table_begin(struct stat_session *s, struct counter_table *t, const struct counters *c)
{
	t->row_count = c->row_count;
	t->rows = xcalloc(t->row_count, sizeof(*t->rows));
	for (size_t i = 0; i < t->row_count; i++)
		t->rows[i] = row_of(&c->rows[i]);
	find_aggregates(s, t, c);
	t->cells = xcalloc(t->row_count * t->aggregate_count, sizeof(*t->cells));
}

static void add_counter(struct stat_session *s, struct counter_table *t, size_t row,
			const struct counter *counter, bool deltas)
{
	const struct count zero = {}, *before = deltas ? &counter->before : &zero;
	struct cell *cell;
	int key[3];
	size_t a;

	aggregate_key(s, t->mode, counter, key);
	a = find_aggregate(t, key);
	if (a == t->aggregate_count)
		return;
	cell = table_cell(t, row, a);
	cell->raw += counter->now.value - before->value;
	cell->value += (double)(counter->now.value - before->value);
	cell->enabled_ns += counter->now.enabled_ns - before->enabled_ns;
	cell->running_ns += counter->now.running_ns - before->running_ns;
}

void table_build(struct stat_session *s, struct counter_table *t, const struct counters *c,
		 bool deltas)
{
	if (!t->rows)
		table_begin(s, t, c);
	for (size_t i = 0; i < t->row_count; i++) {
		counter_table_clear_row(t, i);
		vec_each(&c->rows[i].counters, counter)
			add_counter(s, t, i, counter, deltas);
		for (size_t a = 0; a < t->aggregate_count; a++)
			counter_table_finish_cell(t, i, a, s->no_scale);
	}
}
