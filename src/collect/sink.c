/* What all sinks share, and the file sink: one file for the whole recording. */
#include "collect/sink.h"
#include "base/clock.h"

#include <errno.h>
#include <time.h>

struct lost_record lost_record_of(uint64_t event_id, uint64_t lost, uint64_t time_ns)
{
	return (struct lost_record){
		.header = {.type = PERF_RECORD_LOST, .size = sizeof(struct lost_record)},
		.event_id = event_id,
		.lost = lost,
		.time_ns = time_ns,
		.cpu = ~0u,
		.id = event_id,
	};
}

bool record_explains(uint32_t type)
{
	switch (type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_NAMESPACES:
	case PERF_RECORD_KSYMBOL:
	case PERF_RECORD_BPF_EVENT:
	case PERF_RECORD_CGROUP:
	case PERF_RECORD_TEXT_POKE:
		return true;
	default:
		return false;
	}
}

/* ---- one file ---- */

static void free_lanes(struct output *o)
{
	for (unsigned i = 0; i < o->lane_count; i++)
		writer_lane_free(o->lanes[i]);
	free(o->lanes);
	o->lanes = NULL;
	o->lane_count = 0;
}

int output_open(struct output *o, const struct sink_options *options, const char *path,
		const struct buf *begin, struct err *e)
{
	struct writer_options writer = options->writer;
	CLEANUP(buf_release) struct buf fresh = {};
	int r;

	*o = (struct output){};
	writer.path = path;
	if (!begin) {
		r = options->begin(options->ctx, &fresh, e);
		if (r < 0)
			return r;
		begin = &fresh;
	}
	r = writer_open(&o->writer, &writer, e);
	if (r < 0)
		return r;
	o->lanes = xcalloc(options->lanes, sizeof(struct writer_lane *));
	while (o->lane_count < options->lanes)
		o->lanes[o->lane_count++] = writer_lane_new(o->writer);
	r = writer_append(o->lanes[0], begin->s, begin->len, NULL, 0, e);
	if (r == 0)
		r = writer_round(o->writer, e);
	if (r < 0)
		output_finish(o, options, NULL, NULL);
	return r;
}

int output_finish(struct output *o, const struct sink_options *options,
		  const struct sample_span *samples, struct err *e)
{
	int r = writer_round(o->writer, e), closed;

	free_lanes(o);
	if (options->end)
		options->end(options->ctx, samples);
	closed = writer_finish(o->writer, r < 0 ? NULL : e);
	o->writer = NULL;
	return r < 0 ? r : closed;
}

char *output_stamped(const char *path)
{
	struct timespec now;
	struct tm local;
	char text[32];

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &local);
	strftime(text, sizeof(text), "%Y%m%d%H%M%S", &local);
	return xasprintf("%s.%s%02ld", path, text, now.tv_nsec / 10000000);
}

/* ---- the file sink ---- */

struct file_sink {
	struct sink sink;
	struct output output;
};

static int file_append(struct sink *sink, unsigned lane, const struct ring_view *view,
		       struct err *e)
{
	struct file_sink *s = (struct file_sink *)sink;

	return writer_append(s->output.lanes[lane], view->first, view->first_bytes, view->second,
			     view->second_bytes, e);
}

static int file_round(struct sink *sink, uint64_t now_ns, struct err *e)
{
	struct file_sink *s = (struct file_sink *)sink;

	(void)now_ns;
	return writer_round(s->output.writer, e);
}

static uint64_t file_bytes(const struct sink *sink)
{
	return writer_bytes(((const struct file_sink *)sink)->output.writer);
}

static int file_finish(struct sink *sink, struct err *e)
{
	struct file_sink *s = (struct file_sink *)sink;
	int r = output_finish(&s->output, &sink->options, NULL, e);

	free(s);
	return r;
}

static const struct sink_ops file_ops = {
	.append = file_append,
	.round = file_round,
	.bytes = file_bytes,
	.finish = file_finish,
};

static int file_new(struct sink **ret, const struct sink_options *options, struct err *e)
{
	struct file_sink *s = xcalloc(1, sizeof(*s));
	int r;

	s->sink = (struct sink){.ops = &file_ops, .options = *options};
	r = output_open(&s->output, &s->sink.options, options->writer.path, NULL, e);
	if (r < 0) {
		free(s);
		return r;
	}
	*ret = &s->sink;
	return 0;
}

/* ---- the interface ---- */

int sink_new(struct sink **ret, const struct sink_options *options, struct err *e)
{
	switch (options->kind) {
	case SINK_SWITCH:
		return sink_switch_new(ret, options, e);
	case SINK_MEMORY:
		return sink_memory_new(ret, options, e);
	case SINK_LIVE:
		return sink_live_new(ret, options, e);
	case SINK_FILE:
		break;
	}
	return file_new(ret, options, e);
}

int sink_append(struct sink *s, unsigned lane, const struct ring_view *view, struct err *e)
{
	return s->ops->append(s, lane, view, e);
}

int sink_append_bytes(struct sink *s, const void *records, size_t size, struct err *e)
{
	struct ring_view view = {.first = records, .first_bytes = size};

	return s->ops->append(s, 0, &view, e);
}

int sink_append_counts(struct sink *s, const void *records, size_t size, struct err *e)
{
	struct ring_view view = {.first = records, .first_bytes = size};

	return s->ops->counts ? s->ops->counts(s, &view, e) : s->ops->append(s, 0, &view, e);
}

int sink_round(struct sink *s, uint64_t now_ns, struct err *e)
{
	return s->ops->round(s, now_ns, e);
}

int sink_snapshot(struct sink *s, struct err *e)
{
	return s->ops->snapshot ? s->ops->snapshot(s, e) : 0;
}

uint64_t sink_bytes(const struct sink *s)
{
	return s->ops->bytes(s);
}

int sink_finish(struct sink *s, struct err *e)
{
	return s->ops->finish(s, e);
}
