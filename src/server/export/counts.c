/* Values of counters as intervals: export_counts_each() of export/run.h. */
#include "profile/schema.h"
#include "server/export/run.h"

typedef VEC(struct export_count) export_counts;

struct ticker {
	const struct export_run *run;
	export_tick *tick;
	void *ctx;
	export_counts now;   /* values at one time, by counter */
	export_counts marks; /* losses and throttling since the tick before, by time */
};

/* Intervals that end together may have begun at different times: calls @tick for each length. */
static int give_ticks(const struct ticker *t, export_counts *counts)
{
	export_counts part = {};
	int rc = 0;

	while (counts->len && rc == 0) {
		uint64_t duration_ns = 0;
		size_t rest = 0;

		for (size_t i = 0; i < counts->len && !duration_ns; i++)
			duration_ns = counts->items[i].row.duration_ns;
		part.len = 0;
		vec_each(counts, c) {
			if (c->row.duration_ns && c->row.duration_ns != duration_ns) {
				counts->items[rest++] = *c;
				continue;
			}
			c->row.duration_ns = duration_ns;
			vec_push(&part, *c);
		}
		counts->len = rest;
		rc = t->tick(t->ctx, part.items, part.len);
	}
	vec_release(&part);
	return rc;
}

/*
 * Adds a counter's marks, of which there may be several in an interval, as one value at @now. Their
 * duration is 0: give_ticks() sets it to that of the other counters.
 */
static void add_mark(export_counts *counts, const struct export_count *mark, uint64_t now)
{
	size_t at = 0;

	while (at < counts->len && counts->items[at].counter < mark->counter)
		at++;
	if (at == counts->len || counts->items[at].counter != mark->counter) {
		vec_push(counts, (struct export_count){});
		for (size_t i = counts->len - 1; i > at; i--)
			counts->items[i] = counts->items[i - 1];
		counts->items[at] = (struct export_count){mark->counter, {.time_ns = now}};
	}
	counts->items[at].row.value += mark->row.value;
	counts->items[at].row.running_ppm = mark->row.running_ppm;
}

/* Gives the first @marks marks, as values at @now, with the counters' values at that time. */
static int give(struct ticker *t, uint64_t now, size_t marks)
{
	export_counts counts = {};
	size_t rest = 0;
	int rc;

	/* A counter that has two values at the same time gets a tick for each. */
	vec_each(&t->now, c) {
		if (counts.len && counts.items[counts.len - 1].counter == c->counter)
			t->now.items[rest++] = *c;
		else
			vec_push(&counts, *c);
	}
	t->now.len = rest;
	for (size_t i = 0; i < marks; i++)
		add_mark(&counts, &t->marks.items[i], now);
	for (size_t i = marks; i < t->marks.len; i++)
		t->marks.items[i - marks] = t->marks.items[i];
	t->marks.len -= marks;
	rc = give_ticks(t, &counts);
	vec_release(&counts);
	return rc;
}

static int give_now(struct ticker *t)
{
	int rc = 0;

	while (rc == 0 && t->now.len)
		rc = give(t, t->now.items[0].row.time_ns, t->marks.len);
	return rc;
}

static int take(void *ctx, const struct walked_row *row)
{
	struct ticker *t = ctx;
	struct export_count c = {
		.counter = row->info->partition,
		.row = {row->time_ns, walked_value(row, 0), walked_value(row, 1),
			(uint32_t)walked_value(row, 2)},
	};
	int rc = 0;

	if (!c.counter || c.counter >= t->run->profile.counters.len)
		return 0;
	if (t->now.len && t->now.items[0].row.time_ns != c.row.time_ns)
		rc = give_now(t);
	if (!profile_counter_mark(&t->run->profile, c.counter)) {
		vec_push(&t->now, c);
		return rc;
	}
	c.row.duration_ns = 0;
	vec_push(&t->marks, c);
	return rc;
}

/* Behind the last interval each time of a mark is a tick. */
static int give_last(struct ticker *t)
{
	int rc = give_now(t);

	while (rc == 0 && t->marks.len) {
		uint64_t now = t->marks.items[0].row.time_ns;
		size_t marks = 1;

		while (marks < t->marks.len && t->marks.items[marks].row.time_ns == now)
			marks++;
		rc = give(t, now, marks);
	}
	return rc;
}

int export_counts_each(struct export_run *x, export_tick *tick, void *ctx, struct err *e)
{
	static const uint32_t tags[] = {TAG_DURATION, TAG_VALUE, TAG_RUNNING, 0};
	struct row_walk walk = export_walk(x, (struct chunk_query){.schema = SCHEMA_COUNTS}, tags);
	struct ticker t = {.run = x, .tick = tick, .ctx = ctx};
	int rc;

	walk.any_thread = true;
	rc = row_walk_each(&walk, take, &t, e);
	if (rc == 0)
		rc = give_last(&t);
	vec_release(&t.now);
	vec_release(&t.marks);
	return rc;
}
