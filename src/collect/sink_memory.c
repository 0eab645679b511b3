/*
 * The flight recorder: rounds are kept in memory and the oldest dropped, by age or by size. Dropped
 * samples are lost; records about processes, mappings and code are set aside, because later samples
 * need them. When these get too many, they are replaced by a description of the system as it is
 * now: older ones belong to dropped samples.
 */
#include "collect/sink.h"
#include "base/clock.h"
#include "base/vec.h"
#include "perf/sampling.h"

#include <linux/perf_event.h>
#include <string.h>

#define ASIDE_BYTES_MAX ((size_t)64 << 20)

/* What was appended between two calls of memory_round(), one buffer for each lane. */
struct kept_round {
	uint64_t time_ns;
	size_t bytes;
	struct buf *lanes;
};

struct memory_sink {
	struct sink sink;
	struct buf aside; /* records that files begin with, then those kept of dropped rounds */
	VEC(struct kept_round) rounds;
	size_t oldest; /* rounds before this one are dropped */
	uint64_t bytes;
	struct kept_round current;
	bool cut; /* the user was told that keep_bytes is too little for keep_ns */
};

static struct kept_round new_round(const struct memory_sink *s)
{
	struct kept_round round = {};

	round.lanes = xcalloc(s->sink.options.lanes, sizeof(*round.lanes));
	return round;
}

static void free_round(const struct memory_sink *s, struct kept_round *round)
{
	for (unsigned i = 0; i < s->sink.options.lanes && round->lanes; i++)
		buf_release(&round->lanes[i]);
	free(round->lanes);
	round->lanes = NULL;
}

static int memory_append(struct sink *sink, unsigned lane, const struct ring_view *view,
			 struct err *e)
{
	struct memory_sink *s = (struct memory_sink *)sink;
	struct buf *to = &s->current.lanes[lane];

	(void)e;
	buf_add_mem(to, view->first, view->first_bytes);
	if (view->second_bytes)
		buf_add_mem(to, view->second, view->second_bytes);
	return 0;
}

static void set_aside(struct memory_sink *s, const struct buf *records)
{
	struct perf_event_header header;

	for (size_t at = 0; records->len - at >= sizeof(header); at += header.size) {
		memcpy(&header, records->s + at, sizeof(header));
		if (header.size < sizeof(header) || header.size > records->len - at)
			return;
		if (record_explains(header.type))
			buf_add_mem(&s->aside, records->s + at, header.size);
	}
}

static void add_span(const struct buf *records, struct sample_span *span)
{
	struct perf_event_header header;
	uint64_t time_ns;

	for (size_t at = 0; records->len - at >= sizeof(header); at += header.size) {
		memcpy(&header, records->s + at, sizeof(header));
		if (header.size < sizeof(header) || header.size > records->len - at)
			return;
		if (header.type != PERF_RECORD_SAMPLE ||
		    header.size < SAMPLE_TIME_OFFSET + sizeof(time_ns))
			continue;
		memcpy(&time_ns, records->s + at + SAMPLE_TIME_OFFSET, sizeof(time_ns));
		span_widen(span, time_ns);
	}
}

/* Tells the user once only: it is likely to go on like this. */
static void tell_cut(struct memory_sink *s, uint64_t age_ns)
{
	const struct sink_options *o = &s->sink.options;
	CLEANUP(free_ptr) char *text = NULL;

	if (s->cut || !o->note)
		return;
	s->cut = true;
	text = xasprintf("%llu MB are not enough for %llu s: only about the last %.1f s are kept; "
			 "a lower rate (-F, -c) keeps more",
			 (unsigned long long)o->keep_bytes >> 20,
			 (unsigned long long)(o->keep_ns / NS_PER_SEC),
			 (double)age_ns / NS_PER_SEC);
	o->note(o->ctx, text);
}

static int drop_old(struct memory_sink *s, uint64_t now_ns, struct err *e)
{
	const struct sink_options *o = &s->sink.options;

	while (s->oldest < s->rounds.len) {
		struct kept_round *round = &s->rounds.items[s->oldest];

		if (round->time_ns + o->keep_ns >= now_ns && s->bytes <= o->keep_bytes)
			break;
		if (round->time_ns + o->keep_ns >= now_ns)
			tell_cut(s, now_ns - round->time_ns);
		for (unsigned i = 0; i < o->lanes; i++)
			set_aside(s, &round->lanes[i]);
		s->bytes -= round->bytes;
		free_round(s, round);
		s->oldest++;
	}
	if (s->oldest > 64 && s->oldest * 2 > s->rounds.len) {
		s->rounds.len -= s->oldest;
		memmove(s->rounds.items, s->rounds.items + s->oldest,
			s->rounds.len * sizeof(*s->rounds.items));
		s->oldest = 0;
	}
	if (s->aside.len <= ASIDE_BYTES_MAX)
		return 0;
	buf_clear(&s->aside);
	return o->begin_late ? 0 : o->begin(o->ctx, &s->aside, e);
}

static int memory_round(struct sink *sink, uint64_t now_ns, struct err *e)
{
	struct memory_sink *s = (struct memory_sink *)sink;

	s->current.time_ns = now_ns;
	s->current.bytes = 0;
	for (unsigned i = 0; i < sink->options.lanes; i++)
		s->current.bytes += s->current.lanes[i].len;
	if (s->current.bytes) {
		s->bytes += s->current.bytes;
		vec_push(&s->rounds, s->current);
		s->current = new_round(s);
	}
	return drop_old(s, now_ns, e);
}

static int write_file(struct memory_sink *s, const char *path, struct err *e)
{
	const struct sink_options *o = &s->sink.options;
	struct sample_span span = {};
	CLEANUP(buf_release) struct buf late = {};
	struct output output;
	int r = 0, closed;

	if (o->begin_late) {
		r = o->begin(o->ctx, &late, e);
		buf_add_mem(&late, s->aside.s, s->aside.len);
	}
	if (r == 0)
		r = output_open(&output, o, path, o->begin_late ? &late : &s->aside, e);
	if (r < 0)
		return r;
	for (size_t i = s->oldest; i < s->rounds.len && r == 0; i++) {
		const struct kept_round *round = &s->rounds.items[i];

		for (unsigned lane = 0; lane < o->lanes && r == 0; lane++) {
			add_span(&round->lanes[lane], &span);
			r = writer_append(output.lanes[lane], round->lanes[lane].s,
					  round->lanes[lane].len, NULL, 0, e);
		}
		if (r == 0)
			r = writer_round(output.writer, e);
	}
	closed = output_finish(&output, o, &span, r < 0 ? NULL : e);
	return r < 0 ? r : closed;
}

static int memory_snapshot(struct sink *sink, struct err *e)
{
	struct memory_sink *s = (struct memory_sink *)sink;
	CLEANUP(free_ptr) char *path = output_stamped(sink->options.writer.path);
	int r = memory_round(sink, clock_now_ns(), e);

	if (r == 0)
		r = write_file(s, path, e);
	if (r == 0 && sink->options.written)
		sink->options.written(sink->options.ctx, path);
	return r;
}

static uint64_t memory_bytes(const struct sink *sink)
{
	const struct memory_sink *s = (const struct memory_sink *)sink;

	return s->bytes + s->aside.len;
}

static int memory_finish(struct sink *sink, struct err *e)
{
	struct memory_sink *s = (struct memory_sink *)sink;
	int r = memory_round(sink, clock_now_ns(), e);

	if (r == 0 && !sink->options.on_request)
		r = write_file(s, sink->options.writer.path, e);
	for (size_t i = s->oldest; i < s->rounds.len; i++)
		free_round(s, &s->rounds.items[i]);
	vec_release(&s->rounds);
	free_round(s, &s->current);
	buf_release(&s->aside);
	free(s);
	return r;
}

static const struct sink_ops memory_ops = {
	.append = memory_append,
	.round = memory_round,
	.snapshot = memory_snapshot,
	.bytes = memory_bytes,
	.finish = memory_finish,
};

int sink_memory_new(struct sink **ret, const struct sink_options *options, struct err *e)
{
	struct memory_sink *s = xcalloc(1, sizeof(*s));
	int r;

	s->sink = (struct sink){.ops = &memory_ops, .options = *options};
	s->current = new_round(s);
	r = options->begin_late ? 0 : options->begin(options->ctx, &s->aside, e);
	if (r < 0) {
		buf_release(&s->aside);
		free_round(s, &s->current);
		free(s);
		return r;
	}
	*ret = &s->sink;
	return 0;
}
