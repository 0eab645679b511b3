/* Readings of counters become a table of values. */
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

/* Number of the aggregate with that key, the count of them if there is none. */
static size_t find_aggregate(const struct stat_table *t, const int key[3])
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

/* All aggregates that any counter belongs to, sorted; one empty one if there are none. */
static void find_aggregates(struct stat_session *s, struct stat_table *t, const struct counters *c)
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

static void table_begin(struct stat_session *s, struct stat_table *t, const struct counters *c)
{
	t->row_count = c->row_count;
	t->rows = xcalloc(t->row_count, sizeof(*t->rows));
	for (size_t i = 0; i < t->row_count; i++) {
		const struct counter_row *from = &c->rows[i];

		t->rows[i] = (struct stat_row){.event = from->event,
					       .name = xstrdup(from->name),
					       .state = from->state,
					       .whole_machine = from->whole_machine};
		t->rows[i].reason = from->reason ? xstrdup(from->reason) : NULL;
	}
	find_aggregates(s, t, c);
	t->cells = xcalloc(t->row_count * t->aggregate_count, sizeof(*t->cells));
}

static void fill_tool_event(const struct stat_table *t, size_t row, struct cell *cell)
{
	enum tool_event tool = t->rows[row].event->tool;
	double seconds = tool == TOOL_DURATION ? t->duration_s
			 : tool == TOOL_USER   ? t->user_s
					       : t->system_s;

	cell->counted = !isnan(seconds);
	cell->value = cell->counted ? seconds * 1e9 : 0;
	cell->enabled_ns = cell->running_ns = (uint64_t)(t->duration_s * 1e9);
}

/* With multiplexing the event was seen for a part of the time: the rest is taken to be alike. */
static void finish_cell(const struct stat_session *s, const struct event *event, struct cell *cell)
{
	cell->counted = cell->running_ns > 0;
	if (cell->counted && cell->running_ns < cell->enabled_ns && !s->no_scale)
		cell->value *= (double)cell->enabled_ns / (double)cell->running_ns;
	cell->value *= event->scale;
}

void table_build(struct stat_session *s, struct stat_table *t, const struct counters *c,
		 bool deltas)
{
	if (!t->rows)
		table_begin(s, t, c);
	for (size_t i = 0; i < t->row_count; i++) {
		const struct counter_row *row = &c->rows[i];

		for (size_t a = 0; a < t->aggregate_count; a++) {
			struct cell *cell = table_cell(t, i, a);

			cell->counted = false;
			cell->value = 0;
			cell->raw = 0;
			cell->enabled_ns = cell->running_ns = 0;
			if (row->event->tool)
				fill_tool_event(t, i, cell);
		}
		vec_each(&row->counters, counter) {
			struct count zero = {}, *before = deltas ? &counter->before : &zero;
			struct cell *cell;
			int key[3];
			size_t a;

			aggregate_key(s, t->mode, counter, key);
			a = find_aggregate(t, key);
			if (a == t->aggregate_count)
				continue;
			cell = table_cell(t, i, a);
			cell->raw += counter->now.value - before->value;
			cell->value += (double)(counter->now.value - before->value);
			cell->enabled_ns += counter->now.enabled_ns - before->enabled_ns;
			cell->running_ns += counter->now.running_ns - before->running_ns;
		}
		for (size_t a = 0; a < t->aggregate_count && !row->event->tool; a++)
			finish_cell(s, row->event, table_cell(t, i, a));
	}
}

/* Notes a finished run in the statistics; value becomes the mean of the runs so far. */
void table_add_run(struct stat_table *t, double elapsed_s)
{
	t->runs++;
	stats_add(&t->elapsed, elapsed_s);
	stats_add(&t->user, t->user_s);
	stats_add(&t->system, t->system_s);
	for (size_t i = 0; i < t->row_count * t->aggregate_count; i++) {
		struct cell *cell = &t->cells[i];

		if (cell->counted)
			stats_add(&cell->stats, cell->value);
		cell->enabled_sum += (double)cell->enabled_ns;
		cell->running_sum += (double)cell->running_ns;
		if (cell->stats.n) {
			cell->counted = true;
			cell->value = stats_mean(&cell->stats);
		}
		cell->enabled_ns = (uint64_t)(cell->enabled_sum / t->runs);
		cell->running_ns = (uint64_t)(cell->running_sum / t->runs);
	}
	t->duration_s = stats_mean(&t->elapsed);
	t->user_s = stats_mean(&t->user);
	t->system_s = stats_mean(&t->system);
}

void table_visit(struct stat_session *s, const struct stat_table *t, cell_visitor visit)
{
	size_t outer = t->by_aggregate ? t->aggregate_count : t->row_count;
	size_t inner = t->by_aggregate ? t->row_count : t->aggregate_count;

	for (size_t i = 0; i < outer; i++)
		for (size_t k = 0; k < inner; k++) {
			size_t row = t->by_aggregate ? k : i, aggregate = t->by_aggregate ? i : k;

			/* Time passes for all of them alike. */
			if (!t->rows[row].event->tool || !aggregate)
				visit(s, t, row, aggregate);
		}
}

void table_release(struct stat_table *t)
{
	for (size_t i = 0; i < t->row_count; i++) {
		free(t->rows[i].name);
		free(t->rows[i].reason);
	}
	for (size_t i = 0; i < t->aggregate_count; i++)
		free(t->aggregates[i].label);
	free(t->rows);
	free(t->aggregates);
	free(t->cells);
	*t = (struct stat_table){};
}
