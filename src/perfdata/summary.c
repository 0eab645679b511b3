#include "perfdata/summary.h"
#include "perf/record.h"

static struct event_summary *event_of(struct summary *s, uint32_t index)
{
	while (s->events.len <= index)
		vec_push(&s->events, (struct event_summary){});
	return &s->events.items[index];
}

static void widen(uint64_t time_ns, uint64_t *first_ns, uint64_t *last_ns)
{
	if (!time_ns)
		return;
	if (!*first_ns || time_ns < *first_ns)
		*first_ns = time_ns;
	if (time_ns > *last_ns)
		*last_ns = time_ns;
}

/* Addresses, without the marks between them. */
static uint64_t frames_of(const struct sample *sample)
{
	uint64_t frames = 0;

	for (uint64_t i = 0; i < sample->chain_len; i++)
		frames += sample->chain[i] < (uint64_t)PERF_CONTEXT_MAX;
	return frames;
}

static void add_lost_samples(struct summary *s, const struct stream_record *from, uint64_t lost)
{
	/* What a filter of perf record has left out is counted by the same record. */
	if (from->header->misc & MISC_LOST_BY_FILTER)
		return;
	s->lost_samples += lost;
	event_of(s, from->event_index)->lost += lost;
}

static void add_sample(struct summary *s, const struct stream_record *from, const struct record *r)
{
	struct event_summary *event = event_of(s, from->event_index);
	const struct perf_event_attr *attr = &from->event->attr;

	event->samples++;
	/* Without a period in the sample it is the fixed one of the event. */
	event->period +=
		attr->sample_type & PERF_SAMPLE_PERIOD ? r->sample.period : attr->sample_period;
	event->frames += frames_of(&r->sample);
	widen(from->time_ns, &event->first_ns, &event->last_ns);
}

static bool add_record(void *ctx, const struct stream_record *from)
{
	struct summary *s = ctx;
	struct record r;
	const char *reason;

	widen(from->time_ns, &s->first_ns, &s->last_ns);
	if (!from->event)
		return true;
	if (record_decode(&from->event->layout, from->header, &r, &reason) < 0) {
		s->undecodable++;
		stream_damage(&s->file->stream, from->file_offset, "%s", reason);
		return true;
	}
	switch (r.type) {
	case PERF_RECORD_SAMPLE:
		add_sample(s, from, &r);
		break;
	case PERF_RECORD_LOST:
		s->lost_records += r.lost.lost;
		break;
	case PERF_RECORD_LOST_SAMPLES:
		add_lost_samples(s, from, r.lost.lost);
		break;
	case PERF_RECORD_THROTTLE:
		s->throttled++;
		break;
	case PERF_RECORD_UNTHROTTLE:
		s->unthrottled++;
		break;
	default:
		break;
	}
	return true;
}

const struct stream_visitor summary_visitor = {.record = add_record};

uint64_t summary_samples(const struct summary *s)
{
	uint64_t sum = 0;

	vec_each(&s->events, event)
		sum += event->samples;
	return sum;
}

void summary_release(struct summary *s)
{
	vec_release(&s->events);
}
