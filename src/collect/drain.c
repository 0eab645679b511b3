#include "collect/drain.h"
#include "collect/punctual.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#define RINGS_PER_THREAD 16
#define THREADS_MAX      8

struct drainer {
	struct drain *drain;
	unsigned lane;
	struct record_counts counts;
	struct sample_span samples; /* since they were asked for last */
	struct err e;
	int r;
	pthread_t thread;
};

struct drain {
	struct sampling *sampling;
	struct sink *sink;
	mapping_visitor visit;
	void *ctx;
	struct layout layout; /* what the records of all our events have in common */
	pthread_mutex_t visiting;
	struct drainer *drainers; /* the first is the caller's own thread */
	unsigned count, started;
	bool ending;
	pthread_barrier_t begin, end;
};

unsigned drain_threads(size_t rings, unsigned wanted)
{
	size_t fair = (rings + RINGS_PER_THREAD - 1) / RINGS_PER_THREAD;

	if (wanted)
		fair = wanted < rings ? wanted : rings;
	else if (fair > THREADS_MAX)
		fair = THREADS_MAX;
	return fair ? (unsigned)fair : 1;
}

struct drain *drain_new(struct sampling *sampling, unsigned threads, mapping_visitor visit,
			void *ctx)
{
	struct drain *d = xcalloc(1, sizeof(*d));

	d->sampling = sampling;
	/* Samples of all events begin alike; see sampling_attr.c. */
	if (sampling->rows.len)
		layout_init(&d->layout, &sampling->rows.items[0].attr);
	d->visit = visit;
	d->ctx = ctx;
	d->count = threads;
	d->started = 1;
	d->drainers = xcalloc(threads, sizeof(*d->drainers));
	for (unsigned i = 0; i < threads; i++) {
		d->drainers[i].drain = d;
		d->drainers[i].lane = i;
	}
	pthread_mutex_init(&d->visiting, NULL);
	return d;
}

/* ---- one ring ---- */

/* The rare records that say something about the recording itself, through the decoder of all. */
static void look_at(struct drainer *t, const struct ring_view *view, size_t at, size_t size)
{
	uint64_t copy[(RECORD_BYTES_MAX + 8) / 8];
	struct drain *d = t->drain;
	struct record r;
	const char *reason;

	if (!ring_view_copy(view, at, copy, size) ||
	    record_decode(&d->layout, copy, &r, &reason) < 0)
		return;
	switch (r.type) {
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		t->counts.lost += r.lost.lost;
		break;
	case PERF_RECORD_THROTTLE:
		t->counts.throttled++;
		break;
	case PERF_RECORD_MMAP2:
		pthread_mutex_lock(&d->visiting);
		d->visit(d->ctx, &r, copy);
		pthread_mutex_unlock(&d->visiting);
		break;
	default:
		break;
	}
}

static uint64_t sample_time(const struct ring_view *view, size_t at)
{
	uint64_t value = 0;

	ring_view_copy(view, at + SAMPLE_TIME_OFFSET, &value, sizeof(value));
	return value;
}

/*
 * Counts what is there without looking into samples. Returns the bytes of whole records; the
 * kernel writes no others, but it costs nothing to be sure.
 */
static size_t walk(struct drainer *t, const struct ring_view *view)
{
	size_t at = 0, total = view->first_bytes + view->second_bytes;

	while (total - at >= sizeof(struct perf_event_header)) {
		/* Sizes are multiples of eight: a header never goes round the end. */
		const struct perf_event_header *header =
			(const void *)(at < view->first_bytes
					       ? view->first + at
					       : view->second + (at - view->first_bytes));

		if (header->size < sizeof(*header) || header->size > total - at || header->size % 8)
			break;
		switch (header->type) {
		case PERF_RECORD_SAMPLE:
			t->counts.samples++;
			span_widen(&t->samples, sample_time(view, at));
			break;
		case PERF_RECORD_LOST:
		case PERF_RECORD_LOST_SAMPLES:
		case PERF_RECORD_THROTTLE:
		case PERF_RECORD_MMAP2:
			look_at(t, view, at, header->size);
			break;
		default:
			break;
		}
		at += header->size;
	}
	return at;
}

static int drain_ring(struct drainer *t, struct ring *ring)
{
	struct ring_view view = ring_view(ring), whole = view;
	size_t size;
	int r;

	if (!view.first_bytes)
		return 0;
	size = walk(t, &view);
	whole.first_bytes = size < view.first_bytes ? size : view.first_bytes;
	whole.second_bytes = size - whole.first_bytes;
	r = sink_append(t->drain->sink, t->lane, &whole, &t->e);
	ring_consume(ring, &view);
	if (r == 0 && size < view.first_bytes + view.second_bytes)
		r = err_set(&t->e, EIO, "the kernel's buffer holds what is no record");
	return r;
}

/* Every count-th ring is one of ours, so that neighbours have different threads. */
static void drain_own(struct drainer *t)
{
	struct sampling *s = t->drain->sampling;

	t->r = 0;
	for (size_t i = t->lane; i < s->rings.len && t->r == 0; i += t->drain->count)
		t->r = drain_ring(t, &s->rings.items[i].ring);
}

/* ---- in step ---- */

static void *thread_main(void *arg)
{
	struct drainer *t = arg;
	struct punctual punctual;

	be_punctual(&punctual);
	for (;;) {
		pthread_barrier_wait(&t->drain->begin);
		if (t->drain->ending)
			return NULL;
		drain_own(t);
		pthread_barrier_wait(&t->drain->end);
	}
}

int drain_start(struct drain *d, struct sink *sink, struct err *e)
{
	sigset_t all, before;
	int code = 0;

	d->sink = sink;
	if (d->count == 1)
		return 0;
	pthread_barrier_init(&d->begin, NULL, d->count);
	pthread_barrier_init(&d->end, NULL, d->count);
	/* Signals are for the first thread. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (d->started < d->count && !code) {
		struct drainer *t = &d->drainers[d->started];

		code = pthread_create(&t->thread, NULL, thread_main, t);
		if (!code)
			d->started++;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return code ? err_set(e, code, "cannot start %u threads: %s", d->count, strerror(code)) : 0;
}

int drain_round(struct drain *d, struct err *e)
{
	if (d->count > 1)
		pthread_barrier_wait(&d->begin);
	drain_own(&d->drainers[0]);
	if (d->count > 1)
		pthread_barrier_wait(&d->end);
	for (unsigned i = 0; i < d->count; i++)
		if (d->drainers[i].r < 0) {
			if (e)
				*e = d->drainers[i].e;
			return d->drainers[i].r;
		}
	return 0;
}

void drain_counts(const struct drain *d, struct record_counts *ret)
{
	ret->samples = ret->lost = ret->throttled = 0;
	for (unsigned i = 0; i < d->count; i++) {
		ret->samples += d->drainers[i].counts.samples;
		ret->lost += d->drainers[i].counts.lost;
		ret->throttled += d->drainers[i].counts.throttled;
	}
}

struct sample_span drain_take_span(struct drain *d)
{
	struct sample_span all = {};

	for (unsigned i = 0; i < d->count; i++) {
		struct sample_span *own = &d->drainers[i].samples;

		if (own->last_ns) {
			span_widen(&all, own->first_ns);
			span_widen(&all, own->last_ns);
		}
		*own = (struct sample_span){};
	}
	return all;
}

void drain_free(struct drain *d)
{
	/* If not all could be started, the others wait for ever; the process ends with them. */
	if (d->count > 1 && d->started == d->count) {
		d->ending = true;
		pthread_barrier_wait(&d->begin);
		for (unsigned i = 1; i < d->count; i++)
			pthread_join(d->drainers[i].thread, NULL);
		pthread_barrier_destroy(&d->begin);
		pthread_barrier_destroy(&d->end);
	}
	pthread_mutex_destroy(&d->visiting);
	free(d->drainers);
	free(d);
}
