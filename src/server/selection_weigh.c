/* Selections against the chunks of a run: what is whole is added from histograms, edges are decoded. */
#include "server/selection.h"
#include "base/cursor.h"
#include "base/parallel.h"
#include "profile/packed.h"
#include "server/run_derived.h"

#include <errno.h>
#include <string.h>

#define DECODE_THREADS_MAX 4u
#define BATCH_CHUNKS       32u /* read before they are decoded side by side */
#define BATCH_ROWS_CHUNKS  8u  /* the same where all rows are wanted: they take more memory */

/* ---- reading ---- */

/* A chunk of a batch on its way from the store to what is decoded of it. */
struct job {
	struct run_chunk *chunk;
	struct buf bytes; /* of its summary if that is enough, else of itself */
	bool summary;
	struct sample_columns columns;
	struct err e;
	int rc;
};

struct batch {
	struct run_data *d;
	struct job jobs[BATCH_CHUNKS];
	size_t count;
	struct node_scratch scratch[DECODE_THREADS_MAX];
};

static int read_job(struct job *j, struct store *s, struct err *e)
{
	int rc = store_chunk_read(s, j->chunk->stored.id, j->summary ? NULL : &j->bytes,
				  j->summary ? &j->bytes : NULL, e);

	/* Merged meanwhile: it is in another one now. */
	return rc == -ENOENT ? -ESTALE : rc;
}

static void batch_clear(struct batch *b)
{
	for (size_t i = 0; i < b->count; i++) {
		buf_release(&b->jobs[i].bytes);
		sample_columns_release(&b->jobs[i].columns);
		b->jobs[i] = (struct job){};
	}
	b->count = 0;
}

static void batch_release(struct batch *b)
{
	batch_clear(b);
	for (size_t i = 0; i < DECODE_THREADS_MAX; i++)
		node_scratch_release(&b->scratch[i]);
}

static int batch_error(const struct batch *b, struct err *e)
{
	for (size_t i = 0; i < b->count; i++)
		if (b->jobs[i].rc < 0)
			return err_set(e, -b->jobs[i].rc, "%s", b->jobs[i].e.text);
	return 0;
}

static void decode_histogram(void *ctx, size_t item, unsigned thread)
{
	struct batch *b = ctx;
	struct job *j = &b->jobs[item];
	struct node_histogram *made, *known = NULL;
	struct sample_columns columns = {};
	struct histogram h = {};

	if (j->summary) {
		j->rc = histogram_decode(buf_str(&j->bytes), j->bytes.len, &h, &j->e);
	} else {
		j->rc = chunk_decode_samples(buf_str(&j->bytes), j->bytes.len, &columns, &j->e);
		if (j->rc == 0)
			histogram_make(&columns, &h);
		sample_columns_release(&columns);
	}
	if (j->rc < 0)
		return;
	made = xcalloc(1, sizeof(*made));
	node_histogram_make(made, &h, &b->d->paths, &b->scratch[thread]);
	histogram_release(&h);
	if (__atomic_compare_exchange_n(&j->chunk->nodes, &known, made, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE)) {
		__atomic_add_fetch(&b->d->bytes, node_histogram_bytes(made), __ATOMIC_RELAXED);
		return;
	}
	node_histogram_release(made);
	free(made);
}

static void decode_columns(void *ctx, size_t item, unsigned thread)
{
	struct batch *b = ctx;
	struct job *j = &b->jobs[item];

	(void)thread;
	j->rc = chunk_decode_samples(buf_str(&j->bytes), j->bytes.len, &j->columns, &j->e);
}

static int batch_decode(struct batch *b, void (*work)(void *, size_t, unsigned), struct err *e)
{
	parallel_each(b->count, parallel_cpus(DECODE_THREADS_MAX), work, b);
	return batch_error(b, e);
}

/* ---- windows ---- */

static bool touches(const struct selection *sel, const struct run_chunk *c)
{
	return c->stored.info.kind == CHUNK_SAMPLES && c->stored.info.last_ns >= sel->from_ns &&
	       c->stored.info.first_ns < sel->to_ns;
}

/* All its samples are meant, and its histogram can say which thread they are of. */
static bool is_whole(const struct selection *sel, const struct run_chunk *c)
{
	return !sel->cpus && c->stored.info.first_ns >= sel->from_ns &&
	       c->stored.info.last_ns < sel->to_ns;
}

static const struct node_histogram *nodes_of(const struct run_chunk *c)
{
	return __atomic_load_n(&c->nodes, __ATOMIC_ACQUIRE);
}

/* Histograms of all chunks that are whole are there afterwards. */
static int need_histograms(const struct selection *sel, struct run_data *d, struct store *s,
			   struct err *e)
{
	struct batch *b = xcalloc(1, sizeof(*b));
	int rc = 0;

	b->d = d;
	for (size_t i = 0; i < d->chunks.len && rc == 0; i++) {
		struct run_chunk *c = &d->chunks.items[i];
		struct job *j = &b->jobs[b->count];

		if (!touches(sel, c) || !is_whole(sel, c) || nodes_of(c))
			continue;
		*j = (struct job){.chunk = c, .summary = c->stored.merged};
		rc = read_job(j, s, e);
		b->count++;
		if (rc == 0 && b->count == BATCH_CHUNKS) {
			rc = batch_decode(b, decode_histogram, e);
			batch_clear(b);
		}
	}
	if (rc == 0)
		rc = batch_decode(b, decode_histogram, e);
	batch_release(b);
	free(b);
	return rc;
}

/* First row at or behind a time. */
static size_t row_at(const struct sample_columns *c, uint64_t ns)
{
	size_t low = 0, high = c->rows;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (c->time_ns[middle] < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Numbers of a chunk may be anything; what is looked up by them is in the tables. */
static void check_numbers(const struct run_data *d, struct sample_columns *c)
{
	for (size_t i = 0; i < c->rows; i++) {
		if (c->thread[i] >= d->profile.threads.len)
			c->thread[i] = 0;
		if (c->event[i] >= d->profile.events.len)
			c->event[i] = 0;
	}
}

static int visit_batch(const struct selection *sel, struct batch *b, selection_visitor visit,
		       void *ctx, struct err *e)
{
	int rc = batch_decode(b, decode_columns, e);

	for (size_t i = 0; i < b->count && rc == 0; i++) {
		struct sample_columns *c = &b->jobs[i].columns;
		size_t from = row_at(c, sel->from_ns), to = row_at(c, sel->to_ns);

		check_numbers(b->d, c);
		if (from < to)
			rc = visit(ctx, c, from, to);
	}
	batch_clear(b);
	return rc;
}

/* Visits rows of chunks; with @edges only of those that are not whole. */
static int each_row(const struct selection *sel, struct run_data *d, struct store *s, bool edges,
		    selection_visitor visit, void *ctx, struct err *e)
{
	struct batch *b = xcalloc(1, sizeof(*b));
	int rc = 0;

	b->d = d;
	for (size_t i = 0; i < d->chunks.len && rc == 0; i++) {
		struct run_chunk *c = &d->chunks.items[i];

		if (!touches(sel, c) || (edges && is_whole(sel, c)))
			continue;
		b->jobs[b->count] = (struct job){.chunk = c};
		rc = read_job(&b->jobs[b->count++], s, e);
		if (rc == 0 && b->count == BATCH_ROWS_CHUNKS)
			rc = visit_batch(sel, b, visit, ctx, e);
	}
	if (rc == 0)
		rc = visit_batch(sel, b, visit, ctx, e);
	batch_release(b);
	free(b);
	return rc;
}

int selection_each(const struct selection *sel, struct run_data *d, struct store *s,
		   selection_visitor visit, void *ctx, struct err *e)
{
	return each_row(sel, d, s, false, visit, ctx, e);
}

/* ---- which event ---- */

/* Written once, when the run has ended: cold questions about a window need not read all the others. */
static bool stored_event(const struct run_data *d, struct store *s, uint32_t *ret)
{
	CLEANUP(buf_release) struct buf bytes = {};
	struct cursor c;

	if (!d->ended || store_derived_get(s, d->id, DERIVED_EVENT, &bytes, NULL))
		return false;
	c = cursor_of(buf_str(&bytes), bytes.len);
	*ret = cursor_u32(&c);
	return !c.failed && *ret < d->profile.events.len;
}

/* Best effort, and only where it saves something. */
static void store_event(const struct run_data *d, struct store *s, uint32_t event)
{
	CLEANUP(buf_release) struct buf bytes = {};

	if (!d->ended || d->chunks.len <= BATCH_CHUNKS)
		return;
	put_u32(&bytes, event);
	store_derived_put(s, d->id, DERIVED_EVENT, bytes.s, bytes.len, NULL);
}

static int count_events(struct run_data *d, struct store *s, uint32_t *ret, struct err *e)
{
	const struct selection all = {.to_ns = UINT64_MAX, .event = -1};
	size_t events = d->profile.events.len;
	uint64_t *samples = xcalloc(events, sizeof(*samples));
	int rc = need_histograms(&all, d, s, e);

	for (size_t i = 0; i < d->chunks.len && rc == 0; i++) {
		const struct run_chunk *c = &d->chunks.items[i];

		if (!touches(&all, c))
			continue;
		vec_each(&nodes_of(c)->segments, segment)
			if (segment->event < events)
				samples[segment->event] += segment->samples;
	}
	*ret = 0;
	for (uint32_t i = 1; i < events; i++)
		if (samples[i] > samples[*ret])
			*ret = i;
	free(samples);
	return rc;
}

/*
 * Of the run, whatever the window, threads or functions are: parts of a run are about the same event
 * as the whole of it, and add up.
 */
int selection_event(const struct selection *sel, struct run_data *d, struct store *s, uint32_t *ret,
		    struct err *e)
{
	uint32_t known = __atomic_load_n(&d->main_event, __ATOMIC_ACQUIRE);
	int rc = 0;

	*ret = sel->event >= 0 ? (uint32_t)sel->event : 0;
	if (sel->event >= 0 || d->profile.events.len < 2)
		return 0;
	if (known) {
		*ret = known - 1;
		return 0;
	}
	if (!stored_event(d, s, ret)) {
		rc = count_events(d, s, ret, e);
		if (rc == 0)
			store_event(d, s, *ret);
	}
	if (rc == 0 && d->ended)
		__atomic_store_n(&d->main_event, *ret + 1, __ATOMIC_RELEASE);
	return rc;
}

/* ---- weights ---- */

struct weighing {
	const struct selection *sel;
	const struct run_data *d;
	struct node_weights *to;
};

static int weigh_rows(void *ctx, const struct sample_columns *c, size_t from, size_t to)
{
	struct weighing *w = ctx;

	for (size_t i = from; i < to; i++) {
		uint32_t node;

		if (c->event[i] != w->to->event || !selection_has(w->sel, &w->d->paths, c, i))
			continue;
		node = call_path_known(&w->d->paths, c->stack[i]);
		w->to->self[node] += c->weight[i];
		w->to->samples[node]++;
	}
	return 0;
}

static void weigh_histogram(struct weighing *w, const struct node_histogram *h)
{
	uint64_t *self = w->to->self, *samples = w->to->samples;
	size_t threads = w->d->profile.threads.len;

	vec_each(&h->segments, segment) {
		const struct node_entry *entry = &h->entries.items[segment->start];
		uint32_t thread = segment->thread < threads ? segment->thread : 0;

		if (segment->event != w->to->event || (w->sel->threads && !w->sel->threads[thread]))
			continue;
		for (uint32_t i = 0; i < segment->len; i++, entry++) {
			self[entry->node] += entry->weight;
			samples[entry->node] += entry->samples;
		}
	}
}

/* The filter on functions holds for nodes, so it is asked once for each at the end. */
static void sum_up(struct node_weights *w, const bool *keep)
{
	for (size_t i = 0; i < w->len; i++) {
		if (keep && !keep[i])
			w->self[i] = w->samples[i] = 0;
		w->total += w->self[i];
		w->total_samples += w->samples[i];
	}
}

int selection_weigh(const struct selection *sel, struct run_data *d, struct store *s,
		    struct node_weights *ret, struct err *e)
{
	struct weighing w = {sel, d, ret};
	int rc;

	*ret = (struct node_weights){.len = d->paths.nodes.len};
	rc = selection_event(sel, d, s, &ret->event, e);
	if (rc == 0)
		rc = need_histograms(sel, d, s, e);
	if (rc < 0)
		return rc;
	ret->self = table_alloc(ret->len, sizeof(*ret->self));
	ret->samples = table_alloc(ret->len, sizeof(*ret->samples));
	for (size_t i = 0; i < d->chunks.len; i++) {
		const struct run_chunk *c = &d->chunks.items[i];

		if (touches(sel, c) && is_whole(sel, c))
			weigh_histogram(&w, nodes_of(c));
	}
	rc = each_row(sel, d, s, true, weigh_rows, &w, e);
	if (rc < 0)
		node_weights_release(ret);
	else
		sum_up(ret, sel->nodes);
	return rc;
}

/* ---- which thread ---- */

struct thread_count {
	const struct selection *sel;
	const struct run_data *d;
	uint32_t event;
	uint64_t *samples; /* by thread */
};

static int count_rows(void *ctx, const struct sample_columns *c, size_t from, size_t to)
{
	struct thread_count *k = ctx;

	for (size_t i = from; i < to; i++)
		if (c->event[i] == k->event && selection_has(k->sel, &k->d->paths, c, i))
			k->samples[c->thread[i]]++;
	return 0;
}

static void count_histogram(struct thread_count *k, const struct node_histogram *h)
{
	const bool *nodes = k->sel->nodes;

	vec_each(&h->segments, segment) {
		const struct node_entry *entry = &h->entries.items[segment->start];
		uint32_t thread = segment->thread < k->d->profile.threads.len ? segment->thread : 0;

		if (segment->event != k->event || (k->sel->threads && !k->sel->threads[thread]))
			continue;
		for (uint32_t i = 0; i < segment->len; i++, entry++)
			if (!nodes || nodes[entry->node])
				k->samples[thread] += entry->samples;
	}
}

int selection_busiest(const struct selection *sel, struct run_data *d, struct store *s,
		      uint32_t event, uint32_t *ret, struct err *e)
{
	size_t count = d->profile.threads.len;
	struct thread_count k = {sel, d, event, xcalloc(count, sizeof(*k.samples))};
	uint64_t most = 0;
	int rc = need_histograms(sel, d, s, e);

	for (size_t i = 0; i < d->chunks.len && rc == 0; i++) {
		const struct run_chunk *c = &d->chunks.items[i];

		if (touches(sel, c) && is_whole(sel, c))
			count_histogram(&k, nodes_of(c));
	}
	if (rc == 0)
		rc = each_row(sel, d, s, true, count_rows, &k, e);
	*ret = UINT32_MAX;
	for (uint32_t i = 0; i < count; i++)
		if (k.samples[i] > most) {
			most = k.samples[i];
			*ret = i;
		}
	free(k.samples);
	return rc;
}

/* ---- stacks ---- */

struct stack_visit {
	const struct selection *sel;
	struct run_data *d;
	uint32_t event;
	void (*visit)(void *ctx, uint32_t stack, uint64_t samples, uint64_t weight);
	void *ctx;
};

static int visit_stacks(void *ctx, const struct sample_columns *c, size_t from, size_t to)
{
	struct stack_visit *v = ctx;

	for (size_t i = from; i < to; i++)
		if (c->event[i] == v->event && selection_has(v->sel, &v->d->paths, c, i))
			v->visit(v->ctx, c->stack[i], 1, c->weight[i]);
	return 0;
}

static void visit_histogram(struct stack_visit *v, const struct histogram *h)
{
	const struct selection *sel = v->sel;

	for (size_t i = 0; i < h->len; i++) {
		uint32_t thread = h->thread[i] < v->d->profile.threads.len ? h->thread[i] : 0;

		if (h->event[i] == v->event && (!sel->threads || sel->threads[thread]) &&
		    (!sel->nodes || sel->nodes[call_path_known(&v->d->paths, h->stack[i])]))
			v->visit(v->ctx, h->stack[i], h->samples[i], h->weight[i]);
	}
}

static int visit_whole(struct stack_visit *v, struct store *s, struct run_chunk *c, struct err *e)
{
	struct job j = {.chunk = c, .summary = true};
	struct histogram h = {};
	int rc = read_job(&j, s, e);

	if (rc == 0)
		rc = histogram_decode(buf_str(&j.bytes), j.bytes.len, &h, e);
	if (rc == 0)
		visit_histogram(v, &h);
	histogram_release(&h);
	buf_release(&j.bytes);
	return rc;
}

int selection_each_stack(const struct selection *sel, struct run_data *d, struct store *s,
			 uint32_t event,
			 void (*visit)(void *ctx, uint32_t stack, uint64_t samples,
				       uint64_t weight),
			 void *ctx, struct err *e)
{
	struct stack_visit v = {sel, d, event, visit, ctx};
	struct batch *b = xcalloc(1, sizeof(*b));
	int rc = 0;

	b->d = d;
	for (size_t i = 0; i < d->chunks.len && rc == 0; i++) {
		struct run_chunk *c = &d->chunks.items[i];

		if (!touches(sel, c))
			continue;
		if (is_whole(sel, c) && c->stored.merged) {
			rc = visit_whole(&v, s, c, e);
			continue;
		}
		b->jobs[0] = (struct job){.chunk = c};
		b->count = 1;
		rc = read_job(&b->jobs[0], s, e);
		if (rc == 0)
			rc = visit_batch(sel, b, visit_stacks, &v, e);
	}
	batch_release(b);
	free(b);
	return rc;
}

void node_weights_release(struct node_weights *w)
{
	table_free(w->self, w->len, sizeof(*w->self));
	table_free(w->samples, w->len, sizeof(*w->samples));
	*w = (struct node_weights){};
}
