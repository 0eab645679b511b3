/* Import: a recording is read instead of made. */
#include "collect/run/environment.h"
#include "collect/run/feed.h"

#include <string.h>

static void on_progress(void *ctx, uint64_t done, uint64_t total)
{
	struct run_feed *f = ctx;

	pthread_mutex_lock(&f->runner->lock);
	f->runner->figures.done_part = total ? (double)done / (double)total : 0;
	pthread_mutex_unlock(&f->runner->lock);
}

/* Names are sent at the end, once for all: nobody watches. */
static void on_sample(void *ctx, const struct sample_row *sample)
{
	struct run_feed *f = ctx;

	feed_sample(f, sample);
	if (f->rows.len + f->table_rows >= CHUNK_ROWS_MAX)
		feed_send(f, true);
}

static void on_user(void *ctx, const unsigned char *bytes)
{
	struct run_feed *f = ctx;

	feed_counts_take(f, bytes);
	if (f->counts.waiting >= CHUNK_ROWS_MAX)
		feed_send(f, true);
}

/* Replaces the path of the file on the server, which means nothing to users, by the name that they
 * know. */
static void tell_name(const struct runner_order *o, struct err *e)
{
	const char *at = e ? strstr(e->text, o->import) : NULL;
	CLEANUP(buf_release) struct buf text = {};

	if (!at || !o->import_name)
		return;
	buf_add_mem(&text, e->text, (size_t)(at - e->text));
	buf_addf(&text, at > e->text && at[-1] == '\'' ? "%.100s%s" : "'%.100s'%s", o->import_name,
		 at + strlen(o->import));
	err_set(e, e->code, "%s", buf_str(&text));
}

int feed_import_read(struct run_feed *f, struct err *e)
{
	struct resolve_options o = {
		.precision = RESOLVE_ADDRESSES,
		.no_counted = true,
		.on_sample = on_sample,
		.sample_ctx = f,
		.raw = true,
		.on_loss = feed_loss,
		.loss_ctx = f,
		.on_user = on_user,
		.user_ctx = f,
		.stop = &f->runner->feed_stops,
		.progress = on_progress,
		.ctx = f,
	};
	int r = perfdata_open(&f->file, f->runner->order.import, NULL, e);

	if (r == 0) {
		o.in_order = feed_slices_wanted(f);
		r = feed_analysis(f, &o, e);
	}
	if (r == 0)
		r = analysis_read(&f->analysis, e);
	if (r < 0)
		tell_name(&f->runner->order, e);
	return r;
}

void feed_import_finish(struct run_feed *f)
{
	feed_place_losses(f);
	f->lost = f->profile.lost;
	f->throttled = f->file->stream.counts[PERF_RECORD_THROTTLE];
	/* Send names, for which samples did not wait, and everything if there were none. */
	namer_run(&f->analysis.namer, &f->analysis.resolver.report);
	feed_send(f, true);
}

static const char *clock_name(const struct run_feed *f)
{
	const struct perfdata_facts *facts = &f->file->facts;
	const struct stream *s = &f->file->stream;
	int clock = -1;

	if (facts->has_clock)
		clock = (int)facts->clock_id;
	else if (s->events.len && s->events.items[0].attr.use_clockid)
		clock = s->events.items[0].attr.clockid;
	switch (clock) {
	case CLOCK_MONOTONIC:
		return "monotonic";
	case CLOCK_MONOTONIC_RAW:
		return "monotonic_raw";
	case CLOCK_REALTIME:
		return "realtime";
	case CLOCK_BOOTTIME:
		return "boottime";
	case CLOCK_TAI:
		return "tai";
	default:
		return "perf"; /* the kernel's own clock, which cannot be compared with others */
	}
}

static uint64_t first_time(const struct run_feed *f)
{
	uint64_t first = f->file->facts.first_sample_ns, loss = feed_first_loss(f);
	uint64_t row_of_table = feed_tables_first(f);

	/* The first samples may be among the lost ones. */
	if (loss && (loss < first || !first))
		first = loss;
	if (row_of_table && (row_of_table < first || !first))
		first = row_of_table;
	vec_each(&f->rows, row)
		if (row->time_ns && (!first || row->time_ns < first))
			first = row->time_ns;
	vec_each(&f->counts.counters, c)
		if (c->rows.len && !f->rows.len) {
			uint64_t start = c->rows.items[0].time_ns - c->rows.items[0].duration_ns;

			first = !first || start < first ? start : first;
		}
	return first;
}

static void put_events(const struct stream *s, struct json *j)
{
	jw_key(j, "events");
	jw_open(j, '[');
	vec_each(&s->events, event) {
		const struct perf_event_attr *attr = &event->attr;
		bool sampled = attr->freq ? attr->sample_freq : attr->sample_period;

		jw_open(j, '{');
		jw_kv_str(j, "name", perfdata_event_name(event));
		jw_kv_bool(j, "counted", !sampled);
		jw_kv_bool(j, "sampled", sampled);
		jw_kv_u64(j, "type", attr->type);
		jw_kv_word(j, "config", attr->config);
		jw_kv_word(j, "period", attr->freq ? 0 : attr->sample_period);
		jw_kv_word(j, "frequency", attr->freq ? attr->sample_freq : 0);
		jw_kv_bool(j, "supported", true);
		jw_kv_str(j, "problem", NULL);
		jw_close(j, '}');
	}
	jw_close(j, ']');
}

void feed_import_opened(struct run_feed *f)
{
	const struct perfdata_facts *facts = &f->file->facts;
	uint64_t start = first_time(f);
	CLEANUP(buf_release) struct buf body = {};
	struct json j = jw_to(&body);

	/* Samples from before the first record with a time get the start time. */
	vec_each(&f->rows, row)
		if (!row->time_ns)
			row->time_ns = start;
	feed_tables_place(f, start);
	f->opened = true;
	jw_open(&j, '{');
	jw_kv_word(&j, "start_ns", start);
	jw_kv_word(&j, "start_wall_ns",
		   facts->has_clock ? facts->wall_ns + (start - facts->clock_ns) : 0);
	jw_kv_str(&j, "clock", clock_name(f));
	jw_kv_u64(&j, "pid", 0);
	put_events(&f->file->stream, &j);
	jw_key(&j, "environment");
	run_environment_of_file(facts, &j);
	jw_close(&j, '}');
	runner_send_first(f->runner, &body);
}
