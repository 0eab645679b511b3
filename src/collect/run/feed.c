#include "collect/run/feed.h"
#include "base/clock.h"
#include "perfdata/format.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* Interval at which chunks are sent if the run is not streamed: a crash loses at most this much time. */
#define QUIET_FLUSH_NS (500 * NS_PER_MSEC)
#define TOTALS_AHEAD   8
/* With more rows than this the feed waits until names are read. Meanwhile records queue up in the sink,
 * whose size is bounded. */
#define NAMELESS_ROWS_MAX 65536u

/* ---- sending ---- */

static void send_dictionary(struct run_feed *f,
			    bool (*encode)(struct dictionary_writer *, const struct profile *,
					   struct buf *))
{
	buf_clear(&f->scratch);
	while (!f->ended && encode(&f->dictionary, &f->profile, &f->scratch)) {
		f->ended |= !runner_send_patiently(f->runner, RUN_DICTIONARY, &f->scratch);
		buf_clear(&f->scratch);
	}
}

void feed_dictionary(struct run_feed *f)
{
	send_dictionary(f, dictionary_encode);
}

/* Prefetches the total of a later row: totals are larger than the caches. */
static void fetch_total(const struct run_feed *f, const struct sample_row *row)
{
	if (row->event < FEED_TOTALS_EVENTS && row->leaf < f->totals[row->event].len)
		__builtin_prefetch(&f->totals[row->event].items[row->leaf], 1);
}

static void add_total(struct run_feed *f, const struct sample_row *row)
{
	__typeof__(&f->totals[0]) totals;

	if (row->event >= FEED_TOTALS_EVENTS)
		return;
	totals = &f->totals[row->event];
	if (row->leaf >= totals->len) {
		size_t before = totals->len;

		vec_reserve(totals, row->leaf + 1u);
		totals->len = row->leaf + 1u;
		memset(totals->items + before, 0, (totals->len - before) * sizeof(*totals->items));
	}
	totals->items[row->leaf].weight += row->weight;
	totals->items[row->leaf].samples++;
}

/* Makes rows of the profile for feed_code(), which looks for the hottest functions. The rows have no call
 * chains: these have been sent, and feed_code() does not need them. */
static void make_rows(struct run_feed *f)
{
	struct profile *p = &f->profile;

	profile_forget_stacks(p);
	p->stacks_forgotten = 0;
	for (uint32_t event = 0; event < FEED_TOTALS_EVENTS; event++)
		for (uint32_t frame = 1; frame < f->totals[event].len; frame++) {
			const struct frame_total *t = &f->totals[event].items[frame];

			if (t->samples)
				vec_push(&p->rows, (struct profile_row){.event = {event},
									.stack = profile_stack_new(
										p, (stack_id){},
										(frame_id){frame}),
									.samples = t->samples,
									.weight = t->weight});
		}
}

static void send_samples(struct run_feed *f)
{
	for (size_t at = 0; at < f->rows.len && !f->ended; at += CHUNK_ROWS_MAX) {
		size_t count = f->rows.len - at;
		struct chunk_info info;

		buf_clear(&f->scratch);
		chunk_encode_samples(f->rows.items + at,
				     count < CHUNK_ROWS_MAX ? count : CHUNK_ROWS_MAX, &f->scratch,
				     &info);
		f->ended |= !runner_send_patiently(f->runner, RUN_CHUNK, &f->scratch);
	}
	for (size_t i = 0; i < f->rows.len; i++) {
		if (i + TOTALS_AHEAD < f->rows.len)
			fetch_total(f, &f->rows.items[i + TOTALS_AHEAD]);
		add_total(f, &f->rows.items[i]);
	}
	f->samples += f->rows.len;
	f->rows.len = 0;
}

static void tell_figures(struct run_feed *f)
{
	struct runner_figures *to = &f->runner->figures;
	uint64_t now = clock_now_ns();

	pthread_mutex_lock(&f->runner->lock);
	to->samples = f->samples;
	to->lost = f->lost;
	to->throttled = f->throttled;
	to->cut_stacks = f->analysis.resolver.report.cut_stacks;
	if (!f->runner->order.import)
		to->behind_ns = f->newest_ns && now > f->newest_ns ? now - f->newest_ns : 0;
	pthread_mutex_unlock(&f->runner->lock);
}

void feed_send(struct run_feed *f, bool all)
{
	if (f->runner->order.import && !f->opened)
		feed_import_opened(f);
	feed_dictionary(f);
	send_samples(f);
	feed_tables_send(f, all);
	feed_slices_send(f, all);
	feed_counts_send(f);
	runner_send_queued(f->runner);
	tell_figures(f);
}

void feed_flush(struct run_feed *f, bool all)
{
	resolver_flush(&f->analysis.resolver);
	if (!f->rows.len && !f->table_rows && !f->counts.waiting)
		return;
	namer_run(&f->analysis.namer, &f->analysis.resolver.report);
	feed_send(f, all);
}

void feed_sample(void *ctx, const struct sample_row *sample)
{
	struct run_feed *f = ctx;

	feed_slices_take(f, sample);
	if (feed_table_take(f, sample))
		add_total(f, sample);
	else
		vec_push(&f->rows, *sample);
	if (sample->time_ns > f->newest_ns)
		f->newest_ns = sample->time_ns;
}

/* ---- reading ---- */

static bool is_ended(struct run_feed *f)
{
	return f->ended || __atomic_load_n(&f->runner->feed_stops, __ATOMIC_RELAXED);
}

static bool on_record(void *ctx, const struct stream_record *raw)
{
	struct run_feed *f = ctx;

	/* Begin reading the kernel's symbols before the first sample: live views would wait for them. */
	if (raw->event && !f->analysis.history.kernel_image &&
	    (raw->header->type == PERF_RECORD_MMAP || raw->header->type == PERF_RECORD_MMAP2))
		analysis_prepare_kernel(&f->analysis, raw);
	analysis_record(&f->analysis, raw);
	if (raw->time_ns > f->record_ns)
		f->record_ns = raw->time_ns;
	return !is_ended(f);
}

/* Whether symbols are being read, which takes about 0.1 s for the kernel and for each new program. */
static bool waits_for_names(struct run_feed *f)
{
	uint32_t kernel = f->analysis.history.kernel_image;
	struct namer *namer = &f->analysis.namer;

	if (f->rows.len + f->table_rows > NAMELESS_ROWS_MAX)
		return false;
	return (kernel && module_is_being_read(resolver_module(&f->analysis.resolver, kernel))) ||
	       namer_is_busy(namer) || namer_start(namer);
}

static void on_user(void *ctx, unsigned char *bytes, uint64_t file_offset, uint64_t *ret_skip)
{
	const struct perf_event_header *h = (const void *)bytes;
	struct run_feed *f = ctx;
	uint64_t now;

	(void)file_offset;
	(void)ret_skip;
	feed_counts_take(f, bytes);
	if (h->type != USER_FINISHED_ROUND)
		return;
	now = clock_now_ns();
	if (!f->runner->order.plan.streaming && now < f->next_flush_ns)
		return;
	f->next_flush_ns = now + QUIET_FLUSH_NS;
	if (waits_for_names(f)) {
		/* Send counters at once. Stacks wait for names: live views could not add names later. */
		if (f->dictionary.counters < f->profile.counters.len)
			send_dictionary(f, dictionary_encode_stackless);
		feed_counts_send(f);
		runner_send_queued(f->runner);
		return;
	}
	feed_flush(f, false);
	feed_forget(f, now);
	feed_jit_look(f, now);
}

static int read_live(struct run_feed *f, struct err *e)
{
	static const struct stream_visitor visitor = {.record = on_record, .user = on_user};
	struct resolve_options o = {
		.precision = RESOLVE_ADDRESSES,
		.threads = 1, /* leave the other CPUs to the workload */
		.no_counted = true,
		.fine_frames = FEED_FINE_FRAMES,
		.on_sample = feed_sample,
		.sample_ctx = f,
		.raw = true,
		.on_loss = feed_loss,
		.loss_ctx = f,
	};
	int r;

	alloc_return_freed();
	/* The reader takes ownership of data_fd. */
	r = perfdata_open_fd(&f->file, f->data_fd, "the ring collector", NULL, e);
	if (r < 0)
		return r;
	r = feed_analysis(f, &o, e);
	if (r < 0)
		return r;
	f->analysis.history.threads_on_demand = true;
	return perfdata_read(f->file, &visitor, f, e);
}

int feed_analysis(struct run_feed *f, const struct resolve_options *o, struct err *e)
{
	int r;

	f->modules = modules_new(&o->symbols);
	r = analysis_init(&f->analysis, f->file, f->modules, o, &f->profile, e);
	f->ready = r == 0;
	return r;
}

static int read_all(struct run_feed *f, struct err *e)
{
	int r = f->runner->order.import ? feed_import_read(f, e) : read_live(f, e);

	if (!f->ready)
		return r;
	feed_slices_end(f);
	feed_flush(f, true);
	if (f->runner->order.import)
		feed_import_finish(f);
	feed_jit_finish(f);
	make_rows(f);
	feed_code(f);
	return r;
}

static void release(struct run_feed *f)
{
	if (f->ready)
		analysis_release(&f->analysis);
	if (f->modules)
		modules_free(f->modules);
	if (f->file)
		perfdata_close(f->file);
	dictionary_writer_release(&f->dictionary);
	profile_release(&f->profile);
	feed_counts_release(&f->counts);
	feed_tables_release(f);
	feed_slices_release(f);
	vec_release(&f->rows);
	for (size_t i = 0; i < FEED_TOTALS_EVENTS; i++)
		vec_release(&f->totals[i]);
	buf_release(&f->scratch);
	free(f);
}

/* Reports an error. If reading had begun, it is only a note, as all readable records were processed. Else the
 * run fails. */
static void tell_problem(struct run_feed *f, const struct err *e, bool read)
{
	struct runner *r = f->runner;

	if (read) {
		runner_note(r, e->text);
		return;
	}
	pthread_mutex_lock(&r->lock);
	r->feed_error = *e;
	pthread_mutex_unlock(&r->lock);
}

static void *feed_main(void *arg)
{
	struct run_feed *f = arg;
	struct runner *r = f->runner;
	struct err e = {};

	if (read_all(f, &e) < 0 && !is_ended(f))
		tell_problem(f, &e, f->ready);
	release(f);
	runner_send_queued(r);
	pthread_mutex_lock(&r->lock);
	r->fed = true;
	pthread_mutex_unlock(&r->lock);
	runner_wake(r);
	return NULL;
}

int runner_feed_start(struct runner *r, int data_fd, struct err *e)
{
	struct run_feed *f = xcalloc(1, sizeof(*f));
	sigset_t all, before;
	int code;

	f->runner = r;
	f->data_fd = data_fd;
	profile_init(&f->profile);
	dictionary_writer_init(&f->dictionary);
	/* Signals are handled by the first thread. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	code = pthread_create(&r->feed, NULL, feed_main, f);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!code)
		return 0;
	if (data_fd >= 0)
		close(data_fd);
	release(f);
	return err_set(e, code, "cannot start a thread: %s", strerror(code));
}

void runner_feed_join(struct runner *r)
{
	pthread_join(r->feed, NULL);
}
