#include "resolve/resolve.h"
#include "base/clock.h"
#include "perfdata/chunks.h"
#include "resolve/analysis.h"
#include "resolve/image.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

/* ---- in the order of time ---- */

static bool is_stopped(const struct analysis *a)
{
	return a->options.stop && __atomic_load_n(a->options.stop, __ATOMIC_RELAXED);
}

static bool on_record(void *ctx, const struct stream_record *raw)
{
	return analysis_record(ctx, raw) && !is_stopped(ctx);
}

static void on_user(void *ctx, unsigned char *bytes, uint64_t file_offset, uint64_t *ret_skip)
{
	const struct analysis *a = ctx;

	(void)file_offset;
	(void)ret_skip;
	if (a->options.on_user)
		a->options.on_user(a->options.user_ctx, bytes);
}

static int read_in_order(struct analysis *a, struct err *e)
{
	static const struct stream_visitor visitor = {.record = on_record, .user = on_user};

	return perfdata_read(a->file, &visitor, a, e);
}

/* ---- first what is not a sample, then all samples at once ---- */

/* Records that are not samples, until all of them can be put into the order of time. */
#define ASIDE_BYTES_MAX (512u << 20)

struct aside {
	uint64_t time_ns;
	size_t offset; /* in bytes */
	uint32_t event;
};

struct first_reading {
	struct analysis *analysis;
	struct chunk_list chunks;
	VEC(struct aside) records;
	VEC(unsigned char) bytes;
	bool again; /* it cannot be done this way after all */
};

static bool samples_kernel(const struct stream *s)
{
	vec_each(&s->events, event)
		if (!event->attr.exclude_kernel)
			return true;
	return false;
}

/* The kernel's names take a while to be read, so that begins as soon as it is known which. */
void analysis_prepare_kernel(struct analysis *a, const struct stream_record *raw)
{
	const char *reason;
	struct record r;

	if (a->options.no_names || a->history.kernel_image || !samples_kernel(&a->file->stream) ||
	    (raw->header->misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_KERNEL ||
	    record_decode(&raw->event->layout, raw->header, &r, &reason) < 0)
		return;
	image_of_mmap(&a->history, &r);
	if (a->history.kernel_image)
		module_prepare(resolver_module(&a->resolver, a->history.kernel_image));
}

static bool on_first(void *ctx, const struct stream_record *raw)
{
	struct first_reading *f = ctx;
	size_t size = raw->header->size, room = (size + 7) & ~(size_t)7;

	chunks_note(&f->chunks, raw->header, raw->file_offset);
	if (!raw->event)
		return true;
	if (raw->header->type == PERF_RECORD_MMAP || raw->header->type == PERF_RECORD_MMAP2)
		analysis_prepare_kernel(f->analysis, raw);
	if (f->bytes.len + room > ASIDE_BYTES_MAX) {
		f->again = true;
		return false;
	}
	vec_push(&f->records, (struct aside){raw->time_ns, f->bytes.len, raw->event_index});
	vec_reserve(&f->bytes, f->bytes.len + room);
	memcpy(f->bytes.items + f->bytes.len, raw->header, size);
	f->bytes.len += room;
	return !f->again && !is_stopped(f->analysis);
}

static bool on_first_sample(void *ctx, const struct perf_event_header *header, uint64_t file_offset)
{
	struct first_reading *f = ctx;

	chunks_note(&f->chunks, header, file_offset);
	return !f->again;
}

/* What stands between the records and is none; it also tells that records inside are compressed. */
static void on_first_user(void *ctx, unsigned char *bytes, uint64_t file_offset, uint64_t *ret_skip)
{
	const struct perf_event_header *h = (const void *)bytes;
	struct first_reading *f = ctx;

	on_user(f->analysis, bytes, file_offset, ret_skip);
	if (*ret_skip || h->type == USER_COMPRESSED || h->type == USER_COMPRESSED2)
		f->again = true;
}

static int by_time(const void *a, const void *b)
{
	const struct aside *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void take_aside(struct first_reading *f)
{
	struct analysis *a = f->analysis;
	const char *reason = "";

	if (f->records.len)
		qsort(f->records.items, f->records.len, sizeof(*f->records.items), by_time);
	vec_each(&f->records, aside) {
		const struct stream_event *event = &a->file->stream.events.items[aside->event];
		struct record r;

		if (record_decode(&event->layout, f->bytes.items + aside->offset, &r, &reason) < 0)
			stream_damage(&a->file->stream, 0, "%s", reason);
		else
			history_record(&a->history, &r, aside->time_ns);
	}
	history_catch_up(&a->history, UINT64_MAX);
	vec_release(&f->records);
	vec_release(&f->bytes);
}

struct worker {
	struct resolver resolver;
	struct profile profile;
	struct chunk_reader reader;
	struct pool *pool;
	pthread_t thread;
	uint64_t damaged;
	const char *reason;
	bool unreadable;                /* the file has become shorter */
	VEC(struct sample_row) samples; /* not handed on yet; with our own numbers */
	struct buf raw; /* the events' own data of all of them, one after the other */
};

struct pool {
	struct analysis *analysis;
	struct chunk_list *chunks;
	size_t next;   /* chunk, taken by whoever is free */
	uint64_t done; /* bytes */
	struct worker *workers;
	unsigned count;
	pthread_mutex_t lock; /* of the profile of all, while samples are handed on */
};

static void resolve_chunk(struct worker *w)
{
	const struct stream *s = &w->pool->analysis->file->stream;
	const struct perf_event_header *h;

	while ((h = chunk_next(&w->reader))) {
		const struct stream_event *event;
		uint64_t time_ns;
		uint32_t number;
		struct record r;

		if (h->type != PERF_RECORD_SAMPLE || !stream_locate(s, h, &number, &time_ns))
			continue;
		event = &s->events.items[number];
		if (record_decode(&event->layout, h, &r, &w->reason) < 0) {
			w->damaged++;
			continue;
		}
		resolver_sample(&w->resolver, &r, event, number, time_ns,
				analysis_weight(&r, event));
	}
}

static void keep_sample(void *ctx, const struct sample_row *sample)
{
	struct worker *w = ctx;

	vec_push(&w->samples, *sample);
	if (sample->raw_size)
		buf_add_mem(&w->raw, sample->raw, sample->raw_size);
}

/* What was found in a chunk, in the numbers of all. */
static void hand_on(struct worker *w)
{
	struct analysis *a = w->pool->analysis;
	const char *raw;

	if (!w->resolver.puts_off)
		return;
	resolver_flush(&w->resolver);
	pthread_mutex_lock(&w->pool->lock);
	resolver_translate(&w->resolver, &a->resolver, w->samples.items, w->samples.len);
	raw = buf_str(&w->raw);
	vec_each(&w->samples, sample) {
		sample->raw = raw;
		raw += sample->raw_size;
		a->options.on_sample(a->options.sample_ctx, sample);
	}
	pthread_mutex_unlock(&w->pool->lock);
	w->samples.len = 0;
	buf_clear(&w->raw);
}

static void show_progress(struct pool *pool, uint64_t *next_ns)
{
	const struct analysis *a = pool->analysis;
	uint64_t now = clock_now_ns();

	if (!a->options.progress || now < *next_ns)
		return;
	*next_ns = now + 100 * NS_PER_MSEC;
	a->options.progress(a->options.ctx,
			    a->file->data_size + __atomic_load_n(&pool->done, __ATOMIC_RELAXED),
			    2 * a->file->data_size);
}

static void *work(void *ctx)
{
	struct worker *w = ctx;
	struct pool *pool = w->pool;
	uint64_t next_ns = 0;

	for (;;) {
		size_t n = __atomic_fetch_add(&pool->next, 1, __ATOMIC_RELAXED);

		if (n >= pool->chunks->chunks.len || is_stopped(pool->analysis))
			return NULL;
		if (!chunk_open(&w->reader, pool->analysis->file, &pool->chunks->chunks.items[n]))
			w->unreadable = true;
		resolve_chunk(w);
		hand_on(w);
		__atomic_fetch_add(&pool->done, pool->chunks->chunks.items[n].size,
				   __ATOMIC_RELAXED);
		if (w == pool->workers)
			show_progress(pool, &next_ns);
	}
}

static void add_report(struct resolve_report *to, const struct resolve_report *from)
{
	to->cut_stacks += from->cut_stacks;
	to->unmapped_frames += from->unmapped_frames;
	to->unnamed_frames += from->unnamed_frames;
	to->no_field += from->no_field;
	to->negative += from->negative;
}

static void init_worker(struct pool *pool, struct worker *w)
{
	struct analysis *a = pool->analysis;

	w->pool = pool;
	profile_init(&w->profile);
	resolver_init(&w->resolver, &a->shared, &w->profile);
	if (a->options.on_sample) {
		w->resolver.puts_off = true;
		w->resolver.on_sample = keep_sample;
		w->resolver.sample_ctx = w;
	}
	resolver_know_threads(&w->resolver);
}

static void release_worker(struct worker *w)
{
	resolver_release(&w->resolver);
	profile_release(&w->profile);
	vec_release(&w->samples);
	buf_release(&w->raw);
}

static void add_seen(struct resolver *to, const struct resolver *from)
{
	vec_grow(&to->wanted_events, from->wanted_events.len);
	for (size_t i = 0; i < from->wanted_events.len; i++) {
		const struct wanted_event *w = &from->wanted_events.items[i];

		to->wanted_events.items[i].seen += w->seen;
		if (w->wanted)
			to->wanted_events.items[i].wanted = w->wanted;
	}
}

static void deliver(struct analysis *a, struct worker *w)
{
	add_seen(&a->resolver, &w->resolver);
	resolver_deliver(&w->resolver, a->profile);
	add_report(&a->resolver.report, &w->resolver.report);
	release_worker(w);
}

/* The first worker is ourselves, and writes into the profile itself, unless others do meanwhile. */
static void run_workers(struct pool *pool)
{
	struct analysis *a = pool->analysis;
	struct worker *first = &pool->workers[0];
	bool apart = a->options.on_sample && pool->count > 1;
	unsigned started = 1;

	if (apart)
		init_worker(pool, first);
	for (; started < pool->count; started++) {
		struct worker *w = &pool->workers[started];

		init_worker(pool, w);
		if (pthread_create(&w->thread, NULL, work, w)) {
			release_worker(w);
			break;
		}
	}
	first->pool = pool;
	if (!apart)
		first->resolver = a->resolver;
	work(first);
	if (!apart)
		a->resolver = first->resolver;
	for (unsigned i = 1; i < started; i++)
		pthread_join(pool->workers[i].thread, NULL);
	resolver_deliver(&a->resolver, a->profile);
	for (unsigned i = apart ? 0 : 1; i < started; i++)
		deliver(a, &pool->workers[i]);
}

static int resolve_samples(struct analysis *a, struct chunk_list *chunks, struct err *e)
{
	struct pool pool = {.analysis = a, .chunks = chunks, .count = a->options.threads};
	uint64_t damaged = 0;
	const char *reason = "";
	bool unreadable = false;

	if (pool.count > chunks->chunks.len)
		pool.count = chunks->chunks.len ? (unsigned)chunks->chunks.len : 1;
	pool.workers = xcalloc(pool.count, sizeof(*pool.workers));
	pthread_mutex_init(&pool.lock, NULL);
	resolver_know_threads(&a->resolver);
	run_workers(&pool);
	pthread_mutex_destroy(&pool.lock);
	for (unsigned i = 0; i < pool.count; i++) {
		struct worker *w = &pool.workers[i];

		damaged += w->damaged;
		if (w->damaged)
			reason = w->reason;
		unreadable |= w->unreadable;
		chunk_reader_release(&w->reader);
	}
	free(pool.workers);
	if (unreadable)
		return err_set(e, EBADMSG, "%s has become shorter while it was read",
			       a->file->path);
	if (damaged)
		return err_set(e, EBADMSG, "%s: %llu samples are damaged: %s", a->file->path,
			       (unsigned long long)damaged, reason);
	return 0;
}

/* Samples of groups are counted from one to the next; without times there is no order to restore. */
static bool order_matters(const struct stream *s)
{
	vec_each(&s->events, event)
		if ((event->attr.sample_type & PERF_SAMPLE_READ) || !event->attr.sample_id_all ||
		    !(event->attr.sample_type & PERF_SAMPLE_TIME))
			return true;
	return false;
}

static int read_twice(struct analysis *a, bool *ret_again, struct err *e)
{
	static const struct stream_visitor visitor = {
		.record = on_first, .user = on_first_user, .sample = on_first_sample};
	struct first_reading first = {.analysis = a};
	struct err samples_err = {};
	int r, samples;

	a->file->stream.unordered = true;
	r = perfdata_read(a->file, &visitor, &first, e);
	a->file->stream.unordered = false;
	*ret_again = first.again;
	if (first.again || (r < 0 && r != -EBADMSG)) {
		vec_release(&first.records);
		vec_release(&first.bytes);
		chunks_release(&first.chunks);
		return r;
	}
	chunks_finish(&first.chunks);
	take_aside(&first);
	/* Before several workers look at the history. */
	if (samples_kernel(&a->file->stream))
		history_need_kernel(&a->history);
	samples = resolve_samples(a, &first.chunks, &samples_err);
	chunks_release(&first.chunks);
	if (r < 0 || samples == 0)
		return r;
	if (e)
		*e = samples_err;
	return samples;
}

/* ---- the whole ---- */

static void first_progress(void *ctx, uint64_t done, uint64_t total)
{
	const struct analysis *a = ctx;

	a->options.progress(a->options.ctx, done, a->twice ? 2 * total : total);
}

static uint32_t main_event(const struct resolver *r)
{
	size_t count = r->wanted_events.len;
	CLEANUP(free_ptr) uint64_t *seen = xcalloc(count + 1, sizeof(*seen));

	for (size_t i = 0; i < count; i++)
		if (r->wanted_events.items[i].wanted == 2)
			seen[i] = r->wanted_events.items[i].seen;
	return events_busiest(seen, count);
}

static void finish(struct analysis *a, struct resolve_report *ret)
{
	struct profile *p = a->profile;

	analysis_name(a);
	*ret = a->resolver.report;
	ret->main_event = main_event(&a->resolver);
	ret->lost = p->lost;
	vec_each(&p->events, event) {
		ret->samples += event->samples;
		ret->weight += event->weight;
	}
}

int analysis_read(struct analysis *a, struct err *e)
{
	bool again = false;
	int r = 0;

	if (a->options.progress) {
		a->file->options.progress = first_progress;
		a->file->options.ctx = a;
	}
	a->twice = !a->options.in_order && chunks_possible(a->file) &&
		   !order_matters(&a->file->stream);
	a->shared.grows = !a->twice;
	if (a->twice)
		r = read_twice(a, &again, e);
	if (again) {
		perfdata_rewind(a->file);
		a->twice = false;
		a->shared.grows = true;
	}
	if (!a->twice)
		r = read_in_order(a, e);
	history_end(&a->history);
	return r;
}

int resolve_file(struct perfdata *file, struct modules *modules, const struct resolve_options *o,
		 struct profile *profile, struct resolve_report *ret, struct err *e)
{
	struct analysis a;
	int r = analysis_init(&a, file, modules, o, profile, e);

	*ret = (struct resolve_report){};
	if (r == 0) {
		r = analysis_read(&a, e);
		finish(&a, ret);
	}
	analysis_release(&a);
	return r;
}
