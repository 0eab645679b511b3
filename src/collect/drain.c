#include "collect/drain.h"
#include "collect/punctual.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#define RINGS_PER_THREAD 16
#define THREADS_MAX      8

/* Offsets in MMAP2 records. Device, inode and generation begin at the first; in records with a
 * build id, its size is at the first and its bytes are at the second. */
#define MMAP2_FILE_OFFSET 40
#define MMAP2_ID_OFFSET   44

struct drainer {
	struct drain *drain;
	unsigned lane;
	struct record_counts counts;
	struct sample_span samples; /* since the last drain_take_span() */
	struct hits hits;
	struct buf copy; /* of a ring's contents, if records in it were changed */
	struct buf left; /* what drain_limit() leaves of a ring's contents, if not all */
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
	bool watch_hits;
	size_t chain_at; /* offset of the call stack in a sample; 0: stacks are not read */
	bool limited;
	_Atomic uint64_t room; /* bytes that the sink may still get, if limited */
	atomic_bool cut;
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

/* ---- hits ---- */

bool drain_watch_hits(struct drain *d)
{
	bool first = true, unknown = false;

	d->watch_hits = true;
	vec_each(&d->sampling->rows, row) {
		uint64_t type = row->attr.sample_type;
		struct layout layout;
		size_t at;

		if (!row->event)
			continue;
		layout_init(&layout, &row->attr);
		at = type & PERF_SAMPLE_CALLCHAIN
			     ? sizeof(struct perf_event_header) + layout.fixed_bytes
			     : 0;
		/* Values of a group come before the stack, whose offset then varies. */
		unknown |= (type & PERF_SAMPLE_READ && at) || (!first && at != d->chain_at) ||
			   row->attr.exclude_callchain_user;
		d->chain_at = at;
		first = false;
	}
	if (unknown)
		d->chain_at = 0;
	return !unknown;
}

static uint64_t word_at(const unsigned char *bytes, size_t at)
{
	uint64_t word;

	memcpy(&word, bytes + at, sizeof(word));
	return word;
}

static void note_hits(struct drainer *t, const unsigned char *sample, size_t size)
{
	size_t chain = t->drain->chain_at;
	uint64_t depth;

	hits_add(&t->hits, word_at(sample, SAMPLE_IP_OFFSET));
	if (!chain || size < chain + 8)
		return;
	depth = word_at(sample, chain);
	if (depth > (size - chain - 8) / 8)
		return;
	for (uint64_t i = 1; i <= depth; i++)
		hits_add(&t->hits, word_at(sample, chain + 8 * i));
}

void drain_hits(const struct drain *d, struct hits *ret)
{
	for (unsigned i = 0; i < d->count; i++)
		hits_merge(ret, &d->drainers[i].hits);
}

/* ---- one ring ---- */

/* Returns the record at @at in a copy of the ring, to be changed: the kernel's pages are read-only.
 * The copy is made only when needed, because most rings have no such records. */
static unsigned char *changed(struct drainer *t, const struct ring_view *view, size_t at)
{
	if (!t->copy.len) {
		buf_add_mem(&t->copy, view->first, view->first_bytes);
		buf_add_mem(&t->copy, view->second, view->second_bytes);
	}
	return (unsigned char *)t->copy.s + at;
}

/*
 * Replaces device and inode by the build id, for which the record has the same room. MMAP_BUILD_ID
 * may be set already, wrongly: if one watcher of the process asks for build ids, the kernel sets
 * the flag for all of them, but gives the ids to that one only.
 */
static void visit_mapping(struct drainer *t, const struct ring_view *view, size_t at,
			  const struct record *r)
{
	struct drain *d = t->drain;
	uint16_t misc = r->misc & (uint16_t)~PERF_RECORD_MISC_MMAP_BUILD_ID;
	struct build_id id = {};
	unsigned char *record;

	pthread_mutex_lock(&d->visiting);
	if (d->visit(d->ctx, r, &id))
		misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
	pthread_mutex_unlock(&d->visiting);
	if (!id.size && misc == r->misc)
		return;
	record = changed(t, view, at);
	memcpy(record + offsetof(struct perf_event_header, misc), &misc, sizeof(misc));
	if (!id.size)
		return;
	memset(record + MMAP2_FILE_OFFSET, 0, MMAP2_ID_OFFSET - MMAP2_FILE_OFFSET);
	record[MMAP2_FILE_OFFSET] = id.size;
	memcpy(record + MMAP2_ID_OFFSET, id.bytes, sizeof(id.bytes));
}

/* Decodes without MMAP_BUILD_ID, which cannot be right: we do not ask for build ids. */
static bool decode_mapping(const struct drain *d, uint64_t *copy, struct record *r)
{
	struct perf_event_header *header = (struct perf_event_header *)copy;
	uint16_t misc = header->misc;
	const char *reason;
	bool good;

	header->misc &= (uint16_t)~PERF_RECORD_MISC_MMAP_BUILD_ID;
	good = record_decode(&d->layout, copy, r, &reason) == 0;
	r->misc = misc;
	return good;
}

/* Decodes the rare records that concern the recording itself: mappings, losses, throttling. */
static void look_at(struct drainer *t, const struct ring_view *view, size_t at, size_t size)
{
	uint64_t copy[(RECORD_BYTES_MAX + 8) / 8];
	struct drain *d = t->drain;
	struct record r;
	const char *reason;

	if (!ring_view_copy(view, at, copy, size))
		return;
	if (((struct perf_event_header *)copy)->type == PERF_RECORD_MMAP2) {
		if (decode_mapping(d, copy, &r))
			visit_mapping(t, view, at, &r);
		return;
	}
	if (record_decode(&d->layout, copy, &r, &reason) < 0)
		return;
	switch (r.type) {
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		t->counts.lost += r.lost.lost;
		break;
	case PERF_RECORD_THROTTLE:
		t->counts.throttled++;
		break;
	default:
		break;
	}
}

/* The record is read where it lies, unless it goes around the end of the ring. */
static void note_sample(struct drainer *t, const struct ring_view *view, size_t at, size_t size)
{
	uint64_t copy[(RECORD_BYTES_MAX + 8) / 8];
	const unsigned char *sample = (const unsigned char *)copy;

	t->counts.samples++;
	if (size < SAMPLE_TIME_OFFSET + sizeof(uint64_t))
		return;
	if (at >= view->first_bytes)
		sample = view->second + (at - view->first_bytes);
	else if (size <= view->first_bytes - at)
		sample = view->first + at;
	else if (!ring_view_copy(view, at, copy, size))
		return;
	span_widen(&t->samples, word_at(sample, SAMPLE_TIME_OFFSET));
	if (t->drain->watch_hits)
		note_hits(t, sample, size);
}

/*
 * Counts the records in a ring. Returns the bytes of whole records; the kernel writes no others,
 * but it costs nothing to be sure.
 */
static size_t walk(struct drainer *t, const struct ring_view *view)
{
	size_t at = 0, total = view->first_bytes + view->second_bytes;

	while (total - at >= sizeof(struct perf_event_header)) {
		/* Sizes are multiples of eight, so a header never wraps around. */
		const unsigned char *bytes = at < view->first_bytes ? view->first : view->second;
		const struct perf_event_header *header;

		if (!bytes)
			break;
		header = (const void *)(bytes +
					(at < view->first_bytes ? at : at - view->first_bytes));
		if (header->size < sizeof(*header) || header->size > total - at || header->size % 8)
			break;
		switch (header->type) {
		case PERF_RECORD_SAMPLE:
			note_sample(t, view, at, header->size);
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

static void peek_ring(struct drain *d, struct ring *ring)
{
	struct ring_view view = ring_view(ring);
	size_t at = 0, total = view.first_bytes + view.second_bytes;
	uint64_t copy[(RECORD_BYTES_MAX + 8) / 8];
	struct perf_event_header header;
	struct record r;

	for (; ring_view_copy(&view, at, &header, sizeof(header)); at += header.size) {
		if (header.size < sizeof(header) || header.size > total - at)
			return;
		if (header.type == PERF_RECORD_MMAP2 &&
		    ring_view_copy(&view, at, copy, header.size) && decode_mapping(d, copy, &r))
			d->visit(d->ctx, &r, NULL);
	}
}

void drain_peek(struct drain *d)
{
	vec_each(&d->sampling->rings, ring)
		peek_ring(d, &ring->ring);
}

void drain_limit(struct drain *d, uint64_t bytes)
{
	d->limited = true;
	atomic_store(&d->room, bytes);
}

bool drain_is_cut(const struct drain *d)
{
	return atomic_load(&d->cut);
}

/* Takes @size bytes of the room that is left. Returns false if there is less. */
static bool take_room(struct drain *d, size_t size)
{
	uint64_t room = atomic_load(&d->room);

	while (room >= size)
		if (atomic_compare_exchange_weak(&d->room, &room, room - size))
			return true;
	return false;
}

/* Copies records while the limit permits, and from then on only those that explain others. */
static void cut_ring(struct drainer *t, const struct ring_view *view)
{
	size_t at = 0, total = view->first_bytes + view->second_bytes;
	uint64_t copy[(RECORD_BYTES_MAX + 8) / 8];
	struct perf_event_header header;
	bool room = true;

	atomic_store(&t->drain->cut, true);
	for (; ring_view_copy(view, at, &header, sizeof(header)); at += header.size) {
		if (header.size < sizeof(header) || header.size > total - at)
			return;
		room = room && take_room(t->drain, header.size);
		if ((room || record_explains(header.type)) &&
		    ring_view_copy(view, at, copy, header.size))
			buf_add_mem(&t->left, copy, header.size);
	}
}

/* The part of the ring's contents that goes to the sink. */
static struct ring_view within_limit(struct drainer *t, const struct ring_view *view)
{
	buf_clear(&t->left);
	if (!t->drain->limited || take_room(t->drain, view->first_bytes + view->second_bytes))
		return *view;
	cut_ring(t, view);
	return (struct ring_view){.first = (unsigned char *)t->left.s, .first_bytes = t->left.len};
}

static int drain_ring(struct drainer *t, struct ring *ring)
{
	struct ring_view all = ring_view(ring), view, whole;
	size_t size;
	int r;

	if (!all.first_bytes)
		return 0;
	view = whole = within_limit(t, &all);
	size = walk(t, &view);
	whole.first_bytes = size < view.first_bytes ? size : view.first_bytes;
	whole.second_bytes = size - whole.first_bytes;
	if (t->copy.len)
		whole = (struct ring_view){.first = (unsigned char *)t->copy.s,
					   .first_bytes = size};
	r = whole.first_bytes ? sink_append(t->drain->sink, t->lane, &whole, &t->e) : 0;
	buf_clear(&t->copy);
	ring_consume(ring, &all);
	if (r == 0 && size < view.first_bytes + view.second_bytes)
		r = err_set(&t->e, EIO,
			    "the kernel's ring buffer contains an invalid record; recording stops "
			    "here");
	return r;
}

/* Drains every count-th ring, so that neighbouring rings have different threads. */
static void drain_own(struct drainer *t)
{
	struct sampling *s = t->drain->sampling;

	t->r = 0;
	for (size_t i = t->lane; i < s->rings.len && t->r == 0; i += t->drain->count)
		t->r = drain_ring(t, &s->rings.items[i].ring);
}

/* ---- rounds and threads ---- */

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
	/* If not all threads were started, they wait at the barrier until the process ends. */
	if (d->count > 1 && d->started == d->count) {
		d->ending = true;
		pthread_barrier_wait(&d->begin);
		for (unsigned i = 1; i < d->count; i++)
			pthread_join(d->drainers[i].thread, NULL);
		pthread_barrier_destroy(&d->begin);
		pthread_barrier_destroy(&d->end);
	}
	pthread_mutex_destroy(&d->visiting);
	for (unsigned i = 0; i < d->count; i++) {
		hits_release(&d->drainers[i].hits);
		buf_release(&d->drainers[i].copy);
		buf_release(&d->drainers[i].left);
	}
	free(d->drainers);
	free(d);
}
