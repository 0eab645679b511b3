/* Turns STAT records into rows: the growth of a counter in an interval. */
#include "collect/run/feed.h"
#include "perfdata/format.h"

#define PPM 1000000u

static struct feed_counter *counter_of(struct run_feed *f, uint64_t id)
{
	struct feed_counts *c = &f->counts;
	struct stream_event *event = stream_find_id(&f->file->stream, id);
	struct profile *p = &f->profile;
	struct feed_counter added = {};
	struct profile_counter counter = {.scale = 1, .cpu = -1};

	if (!event)
		return NULL;
	added.event = (uint32_t)(event - f->file->stream.events.items);
	while (c->by_event.len <= added.event)
		vec_push(&c->by_event, 0);
	if (c->by_event.items[added.event])
		return &c->counters.items[c->by_event.items[added.event] - 1];
	counter.name = profile_string(p, perfdata_event_name(event));
	if (event->unit && *event->unit) {
		counter.unit = profile_string(p, event->unit);
		counter.scale = event->scale ? event->scale : 1;
	}
	added.number = profile_counter(p, &counter);
	vec_push(&c->counters, added);
	c->by_event.items[added.event] = (uint32_t)c->counters.len;
	return &c->counters.items[c->counters.len - 1];
}

static void take_value(struct run_feed *f, struct cursor *body)
{
	struct feed_counter *counter = counter_of(f, cursor_u64(body));
	struct feed_count value;

	cursor_u64(body); /* CPU and thread: not used, places are summed up */
	value.value = cursor_u64(body);
	value.enabled_ns = cursor_u64(body);
	value.running_ns = cursor_u64(body);
	if (!counter || body->failed)
		return;
	if (!counter->seen)
		counter->sum = (struct feed_count){};
	counter->seen = true;
	counter->sum.value += value.value;
	counter->sum.enabled_ns += value.enabled_ns;
	counter->sum.running_ns += value.running_ns;
}

/*
 * If there are more events than the CPU has counters, they take turns of some milliseconds. An
 * event without a turn in an interval gets a longer interval, so that its intervals together cover
 * the whole time. One without a turn for longer than this was not counted, and leaves a gap.
 */
#define TURNS_NS (100 * NS_PER_MSEC)

/* While a task does not run, no time passes for its counters: the row then has the value 0. */
static void add_row(struct run_feed *f, struct feed_counter *c, uint64_t time_ns)
{
	uint64_t from_ns = c->waits ? c->waits_from_ns : f->counts.last_round_ns;
	uint64_t value = c->sum.value - c->before.value;
	uint64_t enabled = c->sum.enabled_ns - c->before.enabled_ns;
	uint64_t running = c->sum.running_ns - c->before.running_ns;
	struct count_row row = {time_ns, time_ns - from_ns, value, PPM};
	bool backwards = c->sum.value < c->before.value ||
			 c->sum.enabled_ns < c->before.enabled_ns ||
			 c->sum.running_ns < c->before.running_ns;

	if (!backwards && enabled && !running && time_ns - from_ns < TURNS_NS) {
		c->waits_from_ns = from_ns;
		c->waits = true;
		return;
	}
	c->waits = false;
	c->before = c->sum;
	if (backwards || (enabled && !running))
		return;
	if (running < enabled) {
		double share = (double)running / (double)enabled;

		row.value = (uint64_t)((double)value / share + 0.5);
		row.running_ppm = (uint32_t)(share * PPM);
	}
	vec_push(&c->rows, row);
	f->counts.waiting++;
}

static void take_round(struct run_feed *f, struct cursor *body)
{
	struct feed_counts *c = &f->counts;
	uint64_t time_ns;

	cursor_u64(body); /* kind */
	time_ns = cursor_u64(body);
	if (body->failed)
		return;
	vec_each(&c->counters, counter) {
		if (counter->seen && time_ns > c->last_round_ns)
			add_row(f, counter, time_ns);
		counter->seen = false;
	}
	if (time_ns > c->last_round_ns)
		c->last_round_ns = time_ns;
	if (time_ns > f->newest_ns)
		f->newest_ns = time_ns;
}

/* @kind: 0 for lost samples, 1 for throttling. */
static void add_loss(struct run_feed *f, uint64_t time_ns, int kind, uint64_t count)
{
	struct feed_counts *c = &f->counts;
	uint32_t *number = &c->losses[kind];

	if (!*number) {
		struct profile_counter counter = {.scale = 1, .cpu = -1};
		struct feed_counter added = {.event = UINT32_MAX};

		counter.name = profile_string(&f->profile, kind ? COUNTER_THROTTLED : COUNTER_LOST);
		added.number = profile_counter(&f->profile, &counter);
		vec_push(&c->counters, added);
		*number = (uint32_t)c->counters.len;
	}
	vec_push(&c->counters.items[*number - 1].rows, (struct count_row){time_ns, 1, count, PPM});
	c->waiting++;
	if (time_ns > f->newest_ns)
		f->newest_ns = time_ns;
}

void feed_loss(void *ctx, uint64_t time_ns, uint32_t cpu, uint64_t count)
{
	struct run_feed *f = ctx;

	feed_slices_lost(f, cpu);
	if (time_ns)
		add_loss(f, time_ns, !count, count ? count : 1);
	else
		f->counts.timeless[!count] += count ? count : 1;
}

void feed_place_losses(struct run_feed *f)
{
	/* Without any times there is no beginning of the run that this could move. */
	uint64_t time_ns = f->newest_ns ? f->newest_ns : 1;

	for (int kind = 0; kind < 2; kind++) {
		uint64_t count = f->counts.timeless[kind];

		f->counts.timeless[kind] = 0;
		if (count)
			add_loss(f, time_ns, kind, count);
	}
}

uint64_t feed_first_loss(const struct run_feed *f)
{
	uint64_t first = 0;

	for (int kind = 0; kind < 2; kind++) {
		uint32_t number = f->counts.losses[kind];
		const struct feed_counter *c =
			number ? &f->counts.counters.items[number - 1] : NULL;

		for (size_t i = 0; c && i < c->rows.len; i++)
			if (!first || c->rows.items[i].time_ns < first)
				first = c->rows.items[i].time_ns;
	}
	return first;
}

void feed_counts_take(struct run_feed *f, const unsigned char *bytes)
{
	const struct perf_event_header *h = (const void *)bytes;
	struct cursor body = cursor_of(bytes + sizeof(*h), h->size - sizeof(*h));

	body.swap = f->file->stream.swap;
	if (h->type == USER_STAT)
		take_value(f, &body);
	else if (h->type == USER_STAT_ROUND)
		take_round(f, &body);
}

static void tell_figures(struct run_feed *f)
{
	struct runner_figures *figures = &f->runner->figures;

	pthread_mutex_lock(&f->runner->lock);
	for (size_t i = 0; i < f->counts.counters.len; i++) {
		const struct feed_counter *c = &f->counts.counters.items[i];

		if (i >= figures->counters.len) {
			string_id name = f->profile.counters.items[c->number].name;

			vec_push(&figures->counters,
				 (struct multiplexed){
					 .event = xstrdup(profile_text(&f->profile, name))});
		}
		figures->counters.items[i].enabled_ns = c->before.enabled_ns;
		figures->counters.items[i].running_ns = c->before.running_ns;
	}
	pthread_mutex_unlock(&f->runner->lock);
}

void feed_counts_send(struct run_feed *f)
{
	if (!f->counts.waiting)
		return;
	vec_each(&f->counts.counters, c) {
		struct chunk_info info;

		for (size_t at = 0; at < c->rows.len && !f->ended; at += CHUNK_ROWS_MAX) {
			size_t count = c->rows.len - at;

			buf_clear(&f->scratch);
			chunk_encode_counts(c->number, c->rows.items + at,
					    count < CHUNK_ROWS_MAX ? count : CHUNK_ROWS_MAX,
					    &f->scratch, &info);
			f->ended |= !runner_send_patiently(f->runner, RUN_CHUNK, &f->scratch);
		}
		c->rows.len = 0;
	}
	f->counts.waiting = 0;
	tell_figures(f);
}

void feed_counts_release(struct feed_counts *c)
{
	vec_each(&c->counters, counter)
		vec_release(&counter->rows);
	vec_release(&c->counters);
	vec_release(&c->by_event);
}
