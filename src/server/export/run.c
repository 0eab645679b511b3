#include "server/export/run.h"
#include "base/number.h"
#include "profile/schema.h"
#include "server/api/api.h"

#include <errno.h>
#include <string.h>

#define SOURCE 0 /* runs have one collector */

/* ---- the selection ---- */

static bool is_selected(const struct http_request *r)
{
	static const char *const names[] = {SELECTION_PARAMS};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (http_query(r, names[i]))
			return true;
	return false;
}

/* Replaces nodes by stacks. Nodes need the cached run, which a long download must not hold. */
static void keep_stacks(struct export_run *x, const struct run_data *d)
{
	if (!x->selection.nodes)
		return;
	x->stack_count = d->paths.of_stack.len;
	x->stacks = xcalloc(x->stack_count + 1, sizeof(*x->stacks));
	for (uint32_t i = 0; i < x->stack_count; i++)
		x->stacks[i] = x->selection.nodes[call_path_known(&d->paths, i)];
	free(x->selection.nodes);
	x->selection.nodes = NULL;
}

static int choose(struct export_run *x, const struct http_request *r, struct err *e)
{
	struct run_cache *cache = x->api->server->cache;
	struct run_data *d;
	int rc;

	if (!r || !is_selected(r))
		return 0;
	rc = run_cache_get(cache, x->api->store, &x->run, &d, e);
	if (rc < 0)
		return rc;
	rc = api_selection(&x->selection, r, "", d, e);
	if (rc == 0) {
		x->thread_count = d->profile.threads.len;
		keep_stacks(x, d);
	}
	run_cache_put(cache, d);
	return rc;
}

/* ---- the run ---- */

int export_run_open(struct export_run *x, struct api *api, const char *uuid,
		    const struct http_request *request, struct err *e)
{
	int rc;

	*x = (struct export_run){.api = api, .selection = {.to_ns = UINT64_MAX, .event = -1}};
	profile_init(&x->profile);
	rc = api_run_find(api, uuid, &x->run, e);
	if (rc == 0)
		rc = choose(x, request, e);
	/* Load the profile last, so that it has everything that the selection refers to. */
	if (rc == 0)
		rc = run_profile_load(&x->profile, api->store, x->run.id, e);
	if (rc < 0)
		export_run_close(x);
	return rc;
}

void export_run_close(struct export_run *x)
{
	stored_run_release(&x->run);
	profile_release(&x->profile);
	selection_release(&x->selection);
	free(x->stacks);
	*x = (struct export_run){};
}

bool export_run_ended(const struct export_run *x)
{
	return run_state_ended(x->run.state);
}

/* ---- chunks ---- */

static int read_chunk(struct export_run *x, const struct stored_chunk *chunk, struct buf *ret,
		      struct err *e)
{
	int rc = store_chunk_read(x->api->store, chunk->id, ret, NULL, e);

	return rc == -ENOENT ? -ESTALE : rc;
}

/* Those of @which that touch the window. */
static int list_chunks(struct export_run *x, struct chunk_query which, stored_chunks *ret,
		       struct err *e)
{
	which.from_ns = x->selection.from_ns;
	which.to_ns = x->selection.to_ns == UINT64_MAX ? 0 : x->selection.to_ns;
	return store_chunks(x->api->store, x->run.id, &which, ret, e);
}

int export_run_span(struct export_run *x, uint64_t *ret_from_ns, uint64_t *ret_to_ns, struct err *e)
{
	uint64_t from = UINT64_MAX, to = 0;
	stored_chunks chunks = {};
	int rc = list_chunks(x, (struct chunk_query){}, &chunks, e);

	vec_each(&chunks, chunk) {
		from = chunk->info.first_ns < from ? chunk->info.first_ns : from;
		to = chunk->info.last_ns > to ? chunk->info.last_ns : to;
	}
	vec_release(&chunks);
	from = from < x->selection.from_ns ? x->selection.from_ns : from;
	to = to > x->selection.to_ns ? x->selection.to_ns : to;
	/* The first value of a counter marks the end of its first interval, which began earlier. */
	if (!x->selection.from_ns && x->run.start_ns > 0 && (uint64_t)x->run.start_ns < from)
		from = (uint64_t)x->run.start_ns;
	*ret_from_ns = from < to ? from : to;
	*ret_to_ns = to;
	return rc;
}

static bool is_in_window(const struct export_run *x, uint64_t ns)
{
	return ns >= x->selection.from_ns && ns < x->selection.to_ns;
}

/* ---- samples ---- */

/* A chunk that is being read. */
struct open_chunk {
	struct sample_columns columns;
	size_t at;
};

struct sample_walk {
	struct export_run *run;
	stored_chunks chunks; /* by first_ns */
	size_t next;
	VEC(struct open_chunk) open;
};

static int open_next(struct sample_walk *w, struct err *e)
{
	CLEANUP(buf_release) struct buf bytes = {};
	const struct stored_chunk *chunk = &w->chunks.items[w->next++];
	struct open_chunk one = {};
	int rc;

	if (chunk->source != SOURCE)
		return 0;
	rc = read_chunk(w->run, chunk, &bytes, e);
	if (rc == 0)
		rc = chunk_decode_samples(buf_str(&bytes), bytes.len, &one.columns, e);
	if (rc == 0)
		vec_push(&w->open, one);
	return rc;
}

/*
 * Gets the open chunk with the oldest next sample, NULL at the end. First opens all chunks that may
 * have an older sample.
 */
static int oldest(struct sample_walk *w, struct open_chunk **ret, struct err *e)
{
	for (;;) {
		struct open_chunk *first = NULL;
		int rc;

		vec_each(&w->open, one)
			if (!first ||
			    one->columns.time_ns[one->at] < first->columns.time_ns[first->at])
				first = one;
		if (w->next == w->chunks.len ||
		    (first &&
		     w->chunks.items[w->next].info.first_ns > first->columns.time_ns[first->at])) {
			*ret = first;
			return 0;
		}
		rc = open_next(w, e);
		if (rc < 0)
			return rc;
	}
}

static bool is_wanted(const struct export_run *x, const struct sample_row *s)
{
	const struct selection *sel = &x->selection;

	return is_in_window(x, s->time_ns) && (sel->event < 0 || s->event == sel->event) &&
	       (!sel->threads || (s->thread < x->thread_count && sel->threads[s->thread])) &&
	       (!sel->cpus || (s->cpu < CPU_LIMIT && sel->cpus[s->cpu])) &&
	       (!x->stacks || (s->stack < x->stack_count && x->stacks[s->stack]));
}

/* Replaces numbers that are out of range, as in damaged chunks, by 0. */
static struct sample_row sample_at(const struct export_run *x, const struct open_chunk *o)
{
	const struct sample_columns *c = &o->columns;
	const struct profile *p = &x->profile;
	size_t i = o->at;

	return (struct sample_row){
		.time_ns = c->time_ns[i],
		.weight = c->weight[i],
		.address = c->address ? c->address[i] : 0,
		.event = c->event[i] < p->events.len ? c->event[i] : 0,
		.thread = c->thread[i] < p->threads.len ? c->thread[i] : 0,
		.stack = c->stack[i] < p->stacks.len ? c->stack[i] : 0,
		.cpu = c->cpu[i],
	};
}

static void advance(struct sample_walk *w, struct open_chunk *o)
{
	if (++o->at < o->columns.rows)
		return;
	sample_columns_release(&o->columns);
	*o = w->open.items[--w->open.len];
}

int export_samples_each(struct export_run *x, export_sample *sample, void *ctx, struct err *e)
{
	struct sample_walk w = {.run = x};
	int rc = list_chunks(x, (struct chunk_query){.sampled = true}, &w.chunks, e);

	while (rc == 0) {
		struct open_chunk *o = NULL;
		struct sample_row row;

		rc = oldest(&w, &o, e);
		if (rc < 0 || !o)
			break;
		row = sample_at(x, o);
		advance(&w, o);
		if (is_wanted(x, &row))
			rc = sample(ctx, &row);
	}
	vec_each(&w.open, one)
		sample_columns_release(&one->columns);
	vec_release(&w.open);
	vec_release(&w.chunks);
	return rc;
}

static int add_row(void *ctx, const struct sample_row *s)
{
	struct export_run *x = ctx;

	if (!x->profile.events.len)
		return 0;
	profile_add(&x->profile, &(struct profile_row){
					 .event.n = s->event,
					 .thread.n = s->thread,
					 .stack.n = s->stack,
					 .samples = 1,
					 .weight = s->weight,
				 });
	return 0;
}

int export_run_rows(struct export_run *x, uint64_t *ret_samples, struct err *e)
{
	uint64_t samples = 0;
	int rc = export_samples_each(x, add_row, x, e);

	vec_each(&x->profile.events, event)
		event->samples = event->weight = 0;
	vec_each(&x->profile.rows, row) {
		struct profile_event *event = &x->profile.events.items[row->event.n];

		event->samples += row->samples;
		event->weight += row->weight;
		samples += row->samples;
	}
	*ret_samples = samples;
	return rc;
}

/* ---- counts ---- */

/* The values of one counter, a chunk at a time. */
struct count_cursor {
	uint32_t counter;
	bool mark; /* counts losses or throttling, at any time; added to the interval it lies in */
	stored_chunks chunks;
	size_t next;
	struct count_columns columns;
	size_t at;
};

typedef VEC(struct count_cursor) count_cursors;

/* Moves to the next value in the window; columns.rows is 0 if there is none. */
static int settle(struct export_run *x, struct count_cursor *c, struct err *e)
{
	for (;;) {
		CLEANUP(buf_release) struct buf bytes = {};
		int rc;

		while (c->at < c->columns.rows && !is_in_window(x, c->columns.time_ns[c->at]))
			c->at++;
		if (c->at < c->columns.rows)
			return 0;
		count_columns_release(&c->columns);
		c->columns = (struct count_columns){};
		c->at = 0;
		if (c->next == c->chunks.len)
			return 0;
		rc = read_chunk(x, &c->chunks.items[c->next++], &bytes, e);
		if (rc == 0)
			rc = chunk_decode_counts(buf_str(&bytes), bytes.len, &c->columns, e);
		if (rc < 0) {
			c->columns = (struct count_columns){};
			return rc;
		}
	}
}

static int open_counters(struct export_run *x, count_cursors *ret, struct err *e)
{
	stored_chunks all = {};
	int rc = list_chunks(x, (struct chunk_query){.schema = SCHEMA_COUNTS}, &all, e);

	for (uint32_t i = 1; rc == 0 && i < x->profile.counters.len; i++)
		vec_push(ret, (struct count_cursor){.counter = i,
						    .mark = profile_counter_mark(&x->profile, i)});
	vec_each(&all, chunk)
		if (chunk->source == SOURCE && chunk->info.partition &&
		    chunk->info.partition <= ret->len)
			vec_push(&ret->items[chunk->info.partition - 1].chunks, *chunk);
	vec_each(ret, cursor)
		if (rc == 0)
			rc = settle(x, cursor, e);
	vec_release(&all);
	return rc;
}

typedef VEC(struct export_count) export_counts;

/* When the next interval of any counter ends; after the last one, the time of the next mark. */
static uint64_t next_time(const count_cursors *cursors)
{
	uint64_t first[2] = {UINT64_MAX, UINT64_MAX};

	vec_each(cursors, c)
		if (c->columns.rows && c->columns.time_ns[c->at] < first[c->mark])
			first[c->mark] = c->columns.time_ns[c->at];
	return first[0] != UINT64_MAX ? first[0] : first[1];
}

/*
 * Takes a counter's value at @now, or the sum of its marks until @now. The duration of marks is 0:
 * give_ticks() sets it to that of the other counters.
 */
static int take_values(struct export_run *x, struct count_cursor *c, uint64_t now,
		       export_counts *ret, struct err *e)
{
	struct count_row row = {.time_ns = now};
	const struct count_columns *v = &c->columns;
	bool found = false;
	int rc = 0;

	while (rc == 0 && v->rows && v->time_ns[c->at] <= now && (c->mark || !found)) {
		row.value += v->value[c->at];
		row.running_ppm = v->running_ppm[c->at];
		row.duration_ns = c->mark ? 0 : v->duration_ns[c->at];
		found = true;
		c->at++;
		rc = settle(x, c, e);
	}
	if (found)
		vec_push(ret, (struct export_count){c->counter, row});
	return rc;
}

/* Intervals that end together may have begun at different times: calls @tick for each length. */
static int give_ticks(export_counts *counts, export_tick *tick, void *ctx)
{
	export_counts part = {};
	int rc = 0;

	while (counts->len && rc == 0) {
		uint64_t duration_ns = 0;
		size_t rest = 0;

		for (size_t i = 0; i < counts->len && !duration_ns; i++)
			duration_ns = counts->items[i].row.duration_ns;
		part.len = 0;
		vec_each(counts, c) {
			if (c->row.duration_ns && c->row.duration_ns != duration_ns) {
				counts->items[rest++] = *c;
				continue;
			}
			c->row.duration_ns = duration_ns;
			vec_push(&part, *c);
		}
		counts->len = rest;
		rc = tick(ctx, part.items, part.len);
	}
	vec_release(&part);
	return rc;
}

int export_counts_each(struct export_run *x, export_tick *tick, void *ctx, struct err *e)
{
	export_counts counts = {};
	count_cursors cursors = {};
	int rc = open_counters(x, &cursors, e);
	uint64_t now;

	while (rc == 0 && (now = next_time(&cursors)) != UINT64_MAX) {
		counts.len = 0;
		vec_each(&cursors, c)
			if (rc == 0)
				rc = take_values(x, c, now, &counts, e);
		if (rc == 0)
			rc = give_ticks(&counts, tick, ctx);
	}
	vec_each(&cursors, c) {
		count_columns_release(&c->columns);
		vec_release(&c->chunks);
	}
	vec_release(&cursors);
	vec_release(&counts);
	return rc;
}

void export_counter_name(const struct export_run *x, uint32_t counter, struct buf *out)
{
	const struct profile *p = &x->profile;
	const struct profile_counter *c = &p->counters.items[counter];

	buf_add(out, profile_text(p, c->name));
	if (c->cpu >= 0)
		buf_addf(out, "@cpu%d", (int)c->cpu);
	if (c->thread.n && c->thread.n < p->threads.len)
		buf_addf(out, "@%s:%u", profile_text(p, p->threads.items[c->thread.n].comm),
			 p->threads.items[c->thread.n].tid);
}
