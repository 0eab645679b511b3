#include "collect/recorder.h"
#include "base/clock.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* How long a round, and the last one, may wait until the keeper has looked at new files. */
#define CATCH_UP_NS      (20 * NS_PER_MSEC)
#define LAST_CATCH_UP_NS NS_PER_SEC

void recorder_say(struct recorder *r, uint16_t type, const char *text)
{
	CLEANUP(buf_release) struct buf body = {};

	buf_add(&body, text);
	channel_send(r->channel, type, 0, &body);
}

static void file_written(void *ctx, const char *path)
{
	recorder_say(ctx, MESSAGE_SWITCHED, path);
}

static void say_note(void *ctx, const char *text)
{
	recorder_say(ctx, MESSAGE_NOTE, text);
}

static bool on_mapping(void *ctx, const struct record *record, struct build_id *ret_id)
{
	struct recorder *r = ctx;

	keeper_see(r->keeper, record);
	if (!ret_id)
		return false;
	if (!keeper_build_id(r->keeper, record, ret_id)) {
		recorder_remember_file(r, record);
		return false;
	}
	build_id_table_add(r->build_ids, -1, record->misc & PERF_RECORD_MISC_CPUMODE_MASK, ret_id,
			   record->mmap.filename);
	return true;
}

/* ---- opening ---- */

static void list_events(struct recorder *r)
{
	size_t i = 0;

	r->event_count = r->sampling.rows.len + counter_stream_events(&r->counting);
	r->events = xcalloc(r->event_count, sizeof(*r->events));
	vec_each(&r->sampling.rows, row) {
		r->events[i] = (struct writer_event){.name = row->name,
						     .attr = row->attr,
						     .ids = row->ids.items,
						     .id_count = row->ids.len};
		/* MMAP_BUILD_ID is right in all our records (drain.c): readers may trust it. */
		r->events[i++].attr.build_id = row->tracking;
	}
	for (size_t k = 0; i < r->event_count; k++)
		r->events[i++] = counter_stream_event(&r->counting, k);
}

static int open_sink(struct recorder *r, unsigned threads, struct err *e)
{
	struct sink_options o = r->plan->output;

	o.writer.events = r->events;
	o.writer.event_count = r->event_count;
	o.writer.features = &r->features;
	o.sampled = r->sampling.rows.len;
	o.lanes = threads;
	o.begin = recorder_begin_file;
	o.end = recorder_end_file;
	o.note = say_note;
	o.written = file_written;
	o.ctx = r;
	return sink_new(&r->sink, &o, e);
}

/* Called after the sampling was opened, so that its rings come first where memory is short. */
static void open_keeper(struct recorder *r)
{
	struct keeper_options o = {.target = &r->target,
				   .topology = r->plan->sampling.topology,
				   .ask_jvms = !r->plan->no_jvm,
				   .told_jvms = !r->plan->no_jvm && r->workload};

	if (!r->drain)
		return;
	/* Copies are found by the recording's clock: without it they are useless. */
	o.no_copies = !recorder_clock(r, &o.wall_ns, &o.clock_ns) || r->plan->no_keep;
	if (!o.no_copies && !r->plan->keep_all)
		o.callers_unknown = !drain_watch_hits(r->drain);
	r->keeper = keeper_new(&o);
	keeper_start(r->keeper);
}

static int open_events(struct recorder *r, unsigned *ret_threads, struct err *e)
{
	const struct recording_plan *plan = r->plan;
	int result = 0;

	*ret_threads = 1;
	if (plan->counted && plan->counted->events.len)
		result = counter_stream_open(&r->counting, plan->counted, &r->target, e);
	if (result == 0 && plan->events->events.len)
		result = sampling_open(&r->sampling, plan->events, &r->target, &plan->sampling, e);
	if (result == 0 && !r->sampling.rows.len)
		result = counter_stream_check(&r->counting, e);
	if (result < 0 || !r->sampling.rows.len)
		return result;
	*ret_threads = drain_threads(r->sampling.rings.len, plan->threads);
	r->drain = drain_new(&r->sampling, *ret_threads, on_mapping, r);
	return 0;
}

int recorder_open(struct recorder *r, const struct recording_plan *plan,
		  const struct target *target, pid_t workload, struct channel *channel,
		  struct err *e)
{
	unsigned threads;
	int result;

	*r = (struct recorder){
		.plan = plan, .target = *target, .workload = workload, .channel = channel};
	result = open_events(r, &threads, e);
	if (result < 0)
		return result;
	list_events(r);
	r->build_ids = build_id_table_new();
	result = recorder_add_features(r, e);
	if (result < 0)
		return result;
	open_keeper(r);
	result = open_sink(r, threads, e);
	return result < 0 || !r->drain ? result : drain_start(r->drain, r->sink, e);
}

/* ---- running ---- */

static int append_counts(struct recorder *r, const struct buf *records, struct err *e)
{
	return r->sink && records->len ? sink_append_counts(r->sink, records->s, records->len, e)
				       : 0;
}

int recorder_start(struct recorder *r, uint64_t now_ns, struct err *e)
{
	CLEANUP(buf_release) struct buf records = {};

	sampling_start(&r->sampling);
	counter_stream_start(&r->counting, now_ns, r->plan->interval_ns, &records);
	r->running = true;
	return append_counts(r, &records, e);
}

int recorder_tick(struct recorder *r, struct err *e)
{
	CLEANUP(buf_release) struct buf records = {};

	counter_stream_tick(&r->counting, &records);
	return append_counts(r, &records, e);
}

/* Mapping records get their build ids when they leave the rings, so the keeper must have looked at
 * the files by then. Those that it has not reached get theirs at the end of the file, see
 * recorder_end_file(). */
static int drain(struct recorder *r, bool patient, struct err *e)
{
	if (!r->drain)
		return 0;
	if (r->plan->max_bytes)
		drain_limit(r->drain, recorder_room(r));
	if (keeper_must_be_told(r->keeper))
		drain_peek(r->drain);
	keeper_catch_up(r->keeper, patient ? LAST_CATCH_UP_NS : CATCH_UP_NS, patient);
	return drain_round(r->drain, e);
}

static void take_counts(struct recorder *r)
{
	if (r->drain)
		drain_counts(r->drain, &r->counts);
	r->counts.bytes = sink_bytes(r->sink);
	if (r->plan->output.kind == SINK_LIVE)
		sink_live_counts(r->sink, &r->counts.live);
	r->counts.ticks = r->counting.ticker.ledger;
}

int recorder_round(struct recorder *r, struct err *e)
{
	int result;

	if (!r->sink)
		return 0;
	result = drain(r, false, e);
	if (result == 0)
		result = sink_round(r->sink, clock_now_ns(), e);
	take_counts(r);
	return result;
}

bool recorder_is_full(const struct recorder *r)
{
	if (!r->plan->max_bytes || !r->sink)
		return false;
	return (r->drain && drain_is_cut(r->drain)) || !recorder_room(r);
}

int recorder_snapshot(struct recorder *r, struct err *e)
{
	int result = recorder_round(r, e);

	return result < 0 || !r->sink ? result : sink_snapshot(r->sink, e);
}

/* ---- the end ---- */

/*
 * Appends the losses that the rings have not reported: a ring reports a loss only with the next
 * record that fits. The kernel counts losses for each event, a ring for all of its events, so what
 * the rings reported is subtracted from one event after the other. These are LOST records, because
 * a LOST_SAMPLES record stands for all that an event has lost, including what was reported before.
 */
static int append_lost(struct recorder *r, struct err *e)
{
	uint64_t told = r->counts.lost;
	int result = 0;

	vec_each(&r->sampling.rows, row) {
		uint64_t lost = sampling_lost(row), said = lost < told ? lost : told;
		uint64_t id = row->ids.len ? row->ids.items[0] : 0;
		struct lost_record record = lost_record_of(id, lost - said, clock_now_ns());

		told -= said;
		if (!record.lost)
			continue;
		r->counts.lost += record.lost;
		if (result == 0)
			result = sink_append_bytes(r->sink, &record, sizeof(record), e);
	}
	return result;
}

static void tell_gaps(struct recorder *r)
{
	CLEANUP(strvec_release) strvec notes = {};

	sampling_note_gaps(&r->sampling, &notes);
	vec_each(&notes, note)
		recorder_say(r, MESSAGE_NOTE, *note);
}

int recorder_finish(struct recorder *r, struct err *e)
{
	CLEANUP(buf_release) struct buf last = {};
	int result, closed;

	sampling_disable(&r->sampling);
	tell_gaps(r);
	if (!r->sink)
		return 0;
	/* Read the counters first: the work below is not part of the last interval. */
	counter_stream_finish(&r->counting, &last);
	/* Not recorder_round(): that might begin another file. */
	result = drain(r, true, e);
	take_counts(r);
	if (result == 0)
		result = append_lost(r, e);
	if (result == 0)
		result = append_counts(r, &last, e);
	closed = sink_finish(r->sink, result < 0 ? NULL : e);
	r->sink = NULL;
	return result < 0 ? result : closed;
}

void recorder_keep(struct recorder *r, bool hurried)
{
	CLEANUP(strvec_release) strvec notes = {};
	struct hits hits = {};
	struct keeper_end end = {.hurried = hurried, .hits = r->plan->keep_all ? NULL : &hits};

	if (!r->keeper)
		return;
	drain_hits(r->drain, &hits);
	keeper_finish(r->keeper, &end, &notes);
	hits_release(&hits);
	r->keeper = NULL;
	vec_each(&notes, note)
		recorder_say(r, MESSAGE_NOTE, *note);
}

void recorder_close(struct recorder *r)
{
	if (r->sink)
		sink_finish(r->sink, NULL);
	if (r->drain)
		drain_free(r->drain);
	sampling_close(&r->sampling);
	counter_stream_close(&r->counting);
	feature_set_release(&r->features);
	if (r->build_ids)
		build_id_table_free(r->build_ids);
	vec_each(&r->later, file)
		free(file->name);
	vec_release(&r->later);
	free(r->events);
	*r = (struct recorder){};
}

void recorder_describe(const struct recorder *r, struct buf *out)
{
	struct json j = jw_to(out);

	jw_open(&j, '[');
	vec_each(&r->sampling.rows, row) {
		const struct perf_event_attr *attr = &row->attr;

		if (!row->event)
			continue;
		jw_open(&j, '{');
		jw_kv_str(&j, "name", row->name);
		jw_kv_bool(&j, "counted", false);
		jw_kv_bool(&j, "sampled", true);
		jw_kv_u64(&j, "type", attr->type);
		jw_kv_word(&j, "config", attr->config);
		jw_kv_word(&j, "period", attr->freq ? 0 : attr->sample_period);
		jw_kv_word(&j, "frequency", attr->freq ? attr->sample_freq : 0);
		jw_kv_bool(&j, "supported", true);
		jw_kv_str(&j, "problem", NULL);
		jw_kv_bool(&j, "user_only", row->user_only);
		jw_close(&j, '}');
	}
	counter_stream_describe(&r->counting, &j);
	jw_close(&j, ']');
}
