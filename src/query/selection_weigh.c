/* Sums over a selection: whole chunks are added from histograms, edge chunks are decoded. */
#include "query/selection_internal.h"
#include "base/cursor.h"
#include "profile/packed.h"
#include "query/run_derived.h"

#include <errno.h>
#include <string.h>

/* With this few chunks or fewer, the main event is computed as fast as read. */
#define EVENT_CHUNKS_MIN 32u

/* ---- which event ---- */

/* Reads the main event, stored once the run has ended. Without it the first query about a window
 * would have to read all other chunks. */
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

	if (!d->ended || d->chunks.len <= EVENT_CHUNKS_MIN)
		return;
	put_u32(&bytes, event);
	store_derived_put(s, d->id, DERIVED_EVENT, bytes.s, bytes.len, NULL);
}

static int count_events(struct run_data *d, struct store *s, uint32_t *ret, struct err *e)
{
	const struct selection all = {.to_ns = UINT64_MAX, .event = -1};
	size_t events = d->profile.events.len;
	uint64_t *samples = xcalloc(events, sizeof(*samples));
	int rc = selection_histograms(&all, d, s, e);

	for (size_t i = 0; i < d->chunks.len && rc == 0; i++) {
		const struct run_chunk *c = &d->chunks.items[i];

		if (!selection_touches(&all, c))
			continue;
		vec_each(&selection_nodes(c)->segments, segment)
			if (segment->event < events)
				samples[segment->event] += segment->samples;
	}
	*ret = events_busiest(samples, events);
	free(samples);
	return rc;
}

/*
 * The default event is that of the whole run, whatever the window, threads or functions are: so
 * parts of a run are about the same event as the whole run, and add up.
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

static void weigh_rows(void *ctx, struct sample_columns *c)
{
	struct weighing *w = ctx;

	for (size_t i = 0; i < c->rows; i++) {
		uint32_t node = call_path_known(&w->d->paths, c->stack[i]);

		w->to->self[node] += c->weight[i];
		w->to->samples[node]++;
	}
}

static void weigh_histogram(struct weighing *w, const struct node_histogram *h)
{
	uint64_t *self = w->to->self, *samples = w->to->samples;

	vec_each(&h->segments, segment) {
		const struct node_entry *entry = &h->entries.items[segment->start];

		if (segment->event != w->to->event ||
		    !selection_has_thread(w->sel, segment->thread))
			continue;
		for (uint32_t i = 0; i < segment->len; i++, entry++) {
			self[entry->node] += entry->weight;
			samples[entry->node] += entry->samples;
		}
	}
}

/* The filter on functions depends only on the node: apply it once for each node at the end. */
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
	struct selection any_node = *sel; /* see sum_up() */
	struct row_visitor rows = {weigh_rows, &w, -1, ROWS_WEIGHT};
	int rc;

	any_node.nodes = NULL;
	*ret = (struct node_weights){.len = d->paths.nodes.len};
	rc = selection_event(sel, d, s, &ret->event, e);
	if (rc == 0)
		rc = selection_histograms(sel, d, s, e);
	if (rc < 0)
		return rc;
	ret->self = table_alloc(ret->len, sizeof(*ret->self));
	ret->samples = table_alloc(ret->len, sizeof(*ret->samples));
	for (size_t i = 0; i < d->chunks.len; i++) {
		const struct run_chunk *c = &d->chunks.items[i];

		if (selection_touches(sel, c) && selection_whole(sel, c))
			weigh_histogram(&w, selection_nodes(c));
	}
	rows.event = ret->event;
	rc = selection_rows(&any_node, d, s, true, &rows, NULL, e);
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
	struct kind_scratch scratch;
};

static void count_rows(void *ctx, struct sample_columns *c)
{
	struct thread_count *k = ctx;

	for (size_t i = 0; i < c->rows; i++)
		k->samples[c->thread[i]]++;
}

static void count_kind(void *ctx, const struct kind_sum *sum)
{
	struct thread_count *k = ctx;

	k->samples[sum->kind->thread] += sum->samples;
}

static bool count_kinds(void *ctx, const struct run_rows *rows, size_t from, size_t to,
			const bool *wanted)
{
	struct thread_count *k = ctx;

	/* A kind has no stacks: a filter on functions needs single rows. */
	if (k->sel->nodes)
		return false;
	run_rows_sum(rows, from, to, wanted, &k->scratch, count_kind, k);
	return true;
}

static void count_histogram(struct thread_count *k, const struct node_histogram *h)
{
	const bool *nodes = k->sel->nodes;

	vec_each(&h->segments, segment) {
		const struct node_entry *entry = &h->entries.items[segment->start];
		uint32_t thread = profile_thread_number(&k->d->profile, segment->thread);

		if (segment->event != k->event || !selection_has_thread(k->sel, thread))
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
	struct thread_count k = {sel, d, event, xcalloc(count, sizeof(*k.samples)), {}};
	const struct row_visitor rows = {count_rows, &k, event, ROWS_KIND};
	uint64_t most = 0;
	int rc = selection_histograms(sel, d, s, e);

	for (size_t i = 0; i < d->chunks.len && rc == 0; i++) {
		const struct run_chunk *c = &d->chunks.items[i];

		if (selection_touches(sel, c) && selection_whole(sel, c))
			count_histogram(&k, selection_nodes(c));
	}
	if (rc == 0)
		rc = selection_rows(sel, d, s, true, &rows, count_kinds, e);
	*ret = UINT32_MAX;
	for (uint32_t i = 0; i < count; i++)
		if (k.samples[i] > most) {
			most = k.samples[i];
			*ret = i;
		}
	free(k.samples);
	kind_scratch_release(&k.scratch);
	return rc;
}

/* ---- single weights ---- */

struct weight_visit {
	const struct selection *sel;
	void (*visit)(void *ctx, uint64_t weight, uint64_t samples);
	void *ctx;
	struct kind_scratch scratch;
};

static void visit_weights(void *ctx, struct sample_columns *c)
{
	struct weight_visit *v = ctx;

	for (size_t i = 0; i < c->rows; i++)
		v->visit(v->ctx, c->weight[i], 1);
}

static void visit_kind(void *ctx, const struct kind_sum *sum)
{
	struct weight_visit *v = ctx;

	v->visit(v->ctx, sum->kind->weight, sum->samples);
}

static bool visit_kinds(void *ctx, const struct run_rows *rows, size_t from, size_t to,
			const bool *wanted)
{
	struct weight_visit *v = ctx;

	if (v->sel->nodes || run_rows_weights_differ(rows))
		return false;
	run_rows_sum(rows, from, to, wanted, &v->scratch, visit_kind, v);
	return true;
}

int selection_each_weight(const struct selection *sel, struct run_data *d, struct store *s,
			  uint32_t event,
			  void (*visit)(void *ctx, uint64_t weight, uint64_t samples), void *ctx,
			  struct err *e)
{
	struct weight_visit v = {sel, visit, ctx, {}};
	const struct row_visitor rows = {visit_weights, &v, event, ROWS_WEIGHT};
	int rc = selection_rows(sel, d, s, false, &rows, visit_kinds, e);

	kind_scratch_release(&v.scratch);
	return rc;
}

/* ---- stacks ---- */

struct stack_visit {
	const struct selection *sel;
	struct run_data *d;
	uint32_t event;
	void (*visit)(void *ctx, const struct stack_sum *sum);
	void *ctx;
};

static void visit_stacks(void *ctx, struct sample_columns *c)
{
	struct stack_visit *v = ctx;

	for (size_t i = 0; i < c->rows; i++)
		v->visit(v->ctx, &(struct stack_sum){c->stack[i], c->thread[i], 1, c->weight[i]});
}

static void visit_histogram(struct stack_visit *v, const struct histogram *h)
{
	const struct selection *sel = v->sel;

	for (size_t i = 0; i < h->len; i++) {
		uint32_t thread = profile_thread_number(&v->d->profile, h->thread[i]);

		if (h->event[i] == v->event && selection_has_thread(sel, thread) &&
		    selection_has_stack(sel, &v->d->paths, h->stack[i]))
			v->visit(v->ctx, &(struct stack_sum){h->stack[i], thread, h->samples[i],
							     h->weight[i]});
	}
}

static int visit_whole(struct stack_visit *v, struct store *s, struct run_chunk *c, struct err *e)
{
	struct histogram h = {};
	int rc = selection_summary(s, c, &h, e);

	if (rc == 0)
		visit_histogram(v, &h);
	histogram_release(&h);
	return rc;
}

int selection_each_stack(const struct selection *sel, struct run_data *d, struct store *s,
			 uint32_t event, void (*visit)(void *ctx, const struct stack_sum *sum),
			 void *ctx, struct err *e)
{
	struct stack_visit v = {sel, d, event, visit, ctx};
	const struct row_visitor rows = {visit_stacks, &v, event, ROWS_WEIGHT | ROWS_KIND};
	int rc = 0;

	for (size_t i = 0; i < d->chunks.len && rc == 0; i++) {
		struct run_chunk *c = &d->chunks.items[i];

		if (!selection_touches(sel, c))
			continue;
		rc = selection_whole(sel, c) && c->stored.merged
			     ? visit_whole(&v, s, c, e)
			     : selection_chunk(sel, d, s, c, &rows, e);
	}
	return rc;
}

void node_weights_release(struct node_weights *w)
{
	table_free(w->self, w->len, sizeof(*w->self));
	table_free(w->samples, w->len, sizeof(*w->samples));
	*w = (struct node_weights){};
}
