#include "collect/counter_stream.h"
#include "base/clock.h"
#include "perf/sampling.h"
#include "perfdata/format.h"

#include <errno.h>

/* The kernel numbers events from 1 up: ours begin so high that they never collide. */
#define FIRST_ID (1ull << 62)

int counter_stream_open(struct counter_stream *s, const struct event_list *events,
			const struct target *target, struct err *e)
{
	int r = counters_open(&s->counters, events, target, e);

	if (r < 0)
		return r;
	s->open = true;
	s->ids = xcalloc(s->counters.row_count, sizeof(*s->ids));
	for (size_t i = 0; i < s->counters.row_count; i++)
		s->ids[i] = FIRST_ID + i;
	return 0;
}

size_t counter_stream_events(const struct counter_stream *s)
{
	return s->open ? s->counters.row_count : 0;
}

/* All events of a file must begin their samples with the same fields: those of SAMPLE_ALWAYS. */
struct writer_event counter_stream_event(const struct counter_stream *s, size_t i)
{
	const struct counter_row *row = &s->counters.rows[i];
	const struct event *event = row->event;
	struct writer_event added = {.name = row->name,
				     .attr = event->attr,
				     .ids = &s->ids[i],
				     .id_count = 1,
				     .unit = event->unit_text,
				     .scale = event->scale};

	if (event->units.len)
		added.attr.type = event->units.items[0].type;
	else
		added.attr = (struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,
						      .config = PERF_COUNT_SW_DUMMY};
	added.attr.size = sizeof(added.attr);
	added.attr.sample_period = 0;
	added.attr.freq = 0;
	added.attr.sample_type = SAMPLE_ALWAYS;
	added.attr.sample_id_all = 1;
	added.attr.use_clockid = 1;
	added.attr.clockid = CLOCK_MONOTONIC;
	return added;
}

/* ---- records ---- */

static void add_round(uint64_t now_ns, bool last, struct buf *out)
{
	struct stat_round_record round = {
		.header = {.type = USER_STAT_ROUND, .size = sizeof(round)},
		.kind = last ? STAT_ROUND_FINAL : STAT_ROUND_INTERVAL,
		.time_ns = now_ns,
	};

	buf_add_mem(out, &round, sizeof(round));
}

void counter_stream_start(struct counter_stream *s, uint64_t now_ns, uint64_t interval_ns,
			  struct buf *out)
{
	if (!s->open)
		return;
	counters_start(&s->counters);
	s->start_ns = now_ns;
	ticker_start(&s->ticker, &system_clock, now_ns, now_ns, interval_ns);
	add_round(now_ns, false, out);
}

static bool is_counted(const struct counter_row *row)
{
	return row->state == EVENT_COUNTED &&
	       (row->counters.len || row->event->tool == TOOL_DURATION);
}

static struct count sum_of(const struct counter_stream *s, const struct counter_row *row,
			   uint64_t now_ns)
{
	struct count sum = {};

	if (row->event->tool) {
		uint64_t elapsed = now_ns - s->start_ns;

		return (struct count){elapsed, elapsed, elapsed};
	}
	vec_each(&row->counters, counter) {
		sum.value += counter->now.value;
		sum.enabled_ns += counter->now.enabled_ns;
		sum.running_ns += counter->now.running_ns;
	}
	return sum;
}

static void add_records(const struct counter_stream *s, uint64_t now_ns, bool last, struct buf *out)
{
	for (size_t i = 0; i < s->counters.row_count; i++) {
		const struct counter_row *row = &s->counters.rows[i];
		struct count sum;
		struct stat_record record = {
			.header = {.type = USER_STAT, .size = sizeof(record)},
			.id = s->ids[i],
			.cpu = UINT32_MAX, /* all */
		};

		if (!is_counted(row))
			continue;
		sum = sum_of(s, row, now_ns);
		record.value = sum.value;
		record.enabled_ns = sum.enabled_ns;
		record.running_ns = sum.running_ns;
		buf_add_mem(out, &record, sizeof(record));
	}
	add_round(now_ns, last, out);
}

void counter_stream_tick(struct counter_stream *s, struct buf *out)
{
	uint64_t now = ticker_begin(&s->ticker);

	counters_read(&s->counters);
	add_records(s, now, false, out);
	ticker_end(&s->ticker);
}

void counter_stream_finish(struct counter_stream *s, struct buf *out)
{
	if (!s->open)
		return;
	counters_disable(&s->counters);
	counters_read(&s->counters);
	s->end_ns = clock_now_ns();
	add_records(s, s->end_ns, true, out);
	s->ticker.next_ns = 0;
}

void counter_stream_close(struct counter_stream *s)
{
	if (s->open)
		counters_close(&s->counters);
	free(s->ids);
	*s = (struct counter_stream){};
}

/* ---- which events are counted ---- */

/* Why an event is not counted; NULL if it is. */
static const char *problem_of(const struct counter_row *row)
{
	if (is_counted(row))
		return NULL;
	if (row->reason)
		return row->reason;
	return row->event->tool ? "only tacho stat counts this, at the end of the program"
				: "nothing is counted for the chosen target";
}

int counter_stream_check(const struct counter_stream *s, struct err *e)
{
	for (size_t i = 0; i < counter_stream_events(s); i++)
		if (is_counted(&s->counters.rows[i]))
			return 0;
	return err_set(e, EOPNOTSUPP, "none of the events can be counted; '%s': %s",
		       s->counters.rows[0].name, problem_of(&s->counters.rows[0]));
}

void counter_stream_describe(const struct counter_stream *s, struct json *j)
{
	for (size_t i = 0; i < counter_stream_events(s); i++) {
		const struct counter_row *row = &s->counters.rows[i];
		struct writer_event event = counter_stream_event(s, i);

		jw_open(j, '{');
		jw_kv_str(j, "name", row->name);
		jw_kv_bool(j, "counted", true);
		jw_kv_bool(j, "sampled", false);
		jw_kv_u64(j, "type", event.attr.type);
		jw_kv_word(j, "config", event.attr.config);
		jw_kv_word(j, "period", 0);
		jw_kv_word(j, "frequency", 0);
		jw_kv_bool(j, "supported", is_counted(row));
		jw_kv_str(j, "problem", problem_of(row));
		jw_kv_bool(j, "user_only", row->user_only);
		jw_close(j, '}');
	}
}
