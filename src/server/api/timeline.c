/* Questions about time: counters and rates at any resolution, sub-second heat maps. */
#include "analyze/plot/heat.h"
#include "analyze/plot/timeline.h"
#include "server/api/question.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define PIXELS    2000u
#define HEAT_ROWS 50u

/* ---- timeline ---- */

/* The start of each pixel, relative to the run's start. The caller frees the array. */
static int64_t *pixel_times(const struct question *q, uint64_t from_ns, double pixel_ns,
			    uint32_t pixels)
{
	int64_t *t = xcalloc(pixels, sizeof(*t));

	/* A recording may have any times: a difference may wrap around, which does no harm. */
	for (uint32_t i = 0; i < pixels; i++)
		t[i] = question_since_start(q, from_ns + (uint64_t)(i * pixel_ns + 0.5));
	return t;
}

static void write_counter(struct question *q, uint32_t number, const struct timeline *t,
			  const int64_t *times)
{
	const struct profile *p = &q->d->profile;
	const struct profile_counter *counter = &p->counters.items[number];
	struct answer *a = &q->answer;

	jw_open(&a->j, '{');
	jw_kv_str(&a->j, "name", profile_text(p, counter->name));
	jw_kv_str(&a->j, "unit", counter->unit.n ? profile_text(p, counter->unit) : NULL);
	jw_kv_double(&a->j, "scale", counter->scale);
	jw_key(&a->j, "cpu");
	if (counter->cpu < 0)
		jw_null(&a->j);
	else
		jw_i64(&a->j, counter->cpu);
	jw_key(&a->j, "thread");
	if (counter->thread.n && counter->thread.n < p->threads.len)
		jw_u64(&a->j, p->threads.items[counter->thread.n].tid);
	else
		jw_null(&a->j);
	answer_i64(a, "t", times, t->pixels);
	answer_f64(a, "min", t->min, t->pixels);
	answer_f64(a, "max", t->max, t->pixels);
	answer_f64(a, "mean", t->mean, t->pixels);
	answer_f64(a, "sum", t->sum, t->pixels);
	answer_u32(a, "running_ppm", t->running_ppm, t->pixels);
	jw_close(&a->j, '}');
}

static int write_counters(struct question *q, const bool *wanted, uint64_t from_ns, uint64_t to_ns,
			  uint32_t pixels, const int64_t *times, struct err *e)
{
	size_t counters = q->d->profile.counters.len;
	struct timeline *by_counter = xcalloc(counters, sizeof(*by_counter));
	int rc;

	for (uint32_t i = 0; i < counters; i++)
		if (wanted[i])
			timeline_init(&by_counter[i], from_ns, to_ns, pixels);
	rc = counters_draw(q->d, q->api->store, wanted, from_ns, to_ns, by_counter, e);
	answer_time(&q->answer, "counters");
	jw_key(&q->answer.j, "counters");
	jw_open(&q->answer.j, '[');
	for (uint32_t i = 0; i < counters; i++) {
		if (!wanted[i])
			continue;
		timeline_finish(&by_counter[i]);
		if (rc == 0)
			write_counter(q, i, &by_counter[i], times);
		timeline_release(&by_counter[i]);
	}
	jw_close(&q->answer.j, ']');
	answer_time(&q->answer, "write");
	free(by_counter);
	return rc;
}

static void write_mark_counts(struct json *j, const char *kind, const struct timeline *t,
			      const int64_t *times)
{
	for (uint32_t i = 0; i < t->pixels; i++) {
		if (!(t->sum[i] >= 0.5))
			continue;
		jw_open(j, '{');
		jw_key(j, "ns");
		jw_i64(j, times[i]);
		jw_kv_str(j, "kind", kind);
		jw_kv_u64(j, "count", (uint64_t)llround(t->sum[i]));
		jw_close(j, '}');
	}
}

/* Writes a mark for each pixel in which samples were lost or events were throttled. */
static int write_losses(struct question *q, uint64_t from_ns, uint64_t to_ns, uint32_t pixels,
			const int64_t *times, struct err *e)
{
	const struct profile *p = &q->d->profile;
	CLEANUP(free_ptr) bool *wanted = xcalloc(p->counters.len, sizeof(*wanted));
	struct timeline *by_counter = xcalloc(p->counters.len, sizeof(*by_counter));
	int rc;

	for (uint32_t i = 1; i < p->counters.len; i++) {
		wanted[i] = profile_counter_mark(p, i) != NULL;
		if (wanted[i])
			timeline_init(&by_counter[i], from_ns, to_ns, pixels);
	}
	rc = counters_draw(q->d, q->api->store, wanted, from_ns, to_ns, by_counter, e);
	for (uint32_t i = 1; i < p->counters.len; i++) {
		if (!wanted[i])
			continue;
		timeline_finish(&by_counter[i]);
		if (rc == 0)
			write_mark_counts(&q->answer.j, profile_counter_mark(p, i), &by_counter[i],
					  times);
		timeline_release(&by_counter[i]);
	}
	free(by_counter);
	return rc;
}

struct rates {
	uint64_t from_ns;
	double pixels_a_ns;
	uint32_t pixels;
	uint32_t *count; /* [event * pixels + pixel] */
};

static uint32_t pixel_at(const void *ctx, uint64_t ns)
{
	const struct rates *k = ctx;
	uint32_t pixel = (uint32_t)((double)(ns - k->from_ns) * k->pixels_a_ns);

	return pixel < k->pixels ? pixel : k->pixels - 1;
}

static void count_cell(void *ctx, const struct cell_sum *sum)
{
	struct rates *k = ctx;

	k->count[(size_t)sum->event * k->pixels + sum->cell] += (uint32_t)sum->samples;
}

static int write_rates(struct question *q, uint64_t from_ns, uint64_t to_ns, uint32_t pixels,
		       const int64_t *times, struct err *e)
{
	size_t events = q->d->profile.events.len;
	double pixel_ns = (double)(to_ns - from_ns) / pixels;
	struct rates k = {from_ns, 1 / pixel_ns, pixels, NULL};
	double *rate = xcalloc(pixels, sizeof(*rate));
	struct selection window = q->sel;
	int rc;

	k.count = xcalloc(events * pixels + 1, sizeof(*k.count));
	window.from_ns = from_ns;
	window.to_ns = to_ns;
	rc = selection_each_cell(&window, q->d, q->api->store,
				 &(struct cell_visitor){pixel_at, count_cell, &k, q->sel.event}, e);
	answer_time(&q->answer, "samples");
	for (size_t event = 0; event < events && rc == 0; event++) {
		const uint32_t *count = k.count + event * pixels;

		if (q->sel.event >= 0 && (size_t)q->sel.event != event)
			continue;
		for (uint32_t i = 0; i < pixels; i++)
			rate[i] = count[i] / pixel_ns * 1e9;
		jw_open(&q->answer.j, '{');
		jw_kv_str(&q->answer.j, "event",
			  profile_text(&q->d->profile, q->d->profile.events.items[event].name));
		answer_i64(&q->answer, "t", times, pixels);
		answer_f64(&q->answer, "rate", rate, pixels);
		answer_u32(&q->answer, "count", count, pixels);
		jw_close(&q->answer.j, '}');
	}
	free(k.count);
	free(rate);
	return rc;
}

struct marks {
	const struct question *q;
	struct json *j;
	uint64_t from_ns, to_ns;
};

static int write_mark(void *ctx, uint64_t time_ns, const char *text)
{
	struct marks *m = ctx;

	if (time_ns < m->from_ns || time_ns >= m->to_ns)
		return 0;
	jw_open(m->j, '{');
	jw_key(m->j, "ns");
	jw_i64(m->j, question_since_start(m->q, time_ns));
	jw_kv_str(m->j, "kind", "note");
	jw_kv_str(m->j, "text", text);
	jw_close(m->j, '}');
	return 0;
}

static int timeline(struct question *q, struct err *e)
{
	CLEANUP(free_ptr) bool *wanted = xcalloc(q->d->profile.counters.len, sizeof(*wanted));
	CLEANUP(free_ptr) int64_t *times = NULL;
	struct marks marks = {.q = q, .j = &q->answer.j};
	uint64_t pixels = PIXELS, from, to;
	bool samples = false;
	int rc = api_param_u64(q->r, "pixels", TIMELINE_PIXELS_MAX, &pixels, e);

	if (rc == 0)
		rc = api_param_bool(q->r, "samples", &samples, e);
	if (rc == 0)
		rc = counters_choose(&q->d->profile, http_query(q->r, "counters"), wanted, e);
	if (rc < 0)
		return rc;
	if (!pixels)
		return err_set(e, EINVAL, "The parameter pixels is at least 1.");
	question_window(q, &from, &to);
	times = pixel_times(q, from, (double)(to - from) / (double)pixels, (uint32_t)pixels);
	jw_open(&q->answer.j, '{');
	jw_key(&q->answer.j, "from_ns");
	jw_i64(&q->answer.j, question_since_start(q, from));
	jw_key(&q->answer.j, "to_ns");
	jw_i64(&q->answer.j, question_since_start(q, to));
	rc = write_counters(q, wanted, from, to, (uint32_t)pixels, times, e);
	jw_key(&q->answer.j, "samples");
	jw_open(&q->answer.j, '[');
	if (rc == 0 && samples)
		rc = write_rates(q, from, to, (uint32_t)pixels, times, e);
	jw_close(&q->answer.j, ']');
	jw_key(&q->answer.j, "marks");
	jw_open(&q->answer.j, '[');
	marks.from_ns = from;
	marks.to_ns = to;
	if (rc == 0)
		rc = write_losses(q, from, to, (uint32_t)pixels, times, e);
	if (rc == 0)
		rc = store_notes(q->api->store, q->run.id, write_mark, &marks, e);
	jw_close(&q->answer.j, ']');
	jw_close(&q->answer.j, '}');
	return rc;
}

int api_timeline(void *worker, const struct http_request *r, struct http_reply *reply,
		 struct err *e)
{
	static const char *const params[] = {SELECTION_PARAMS, "format",  "pixels",
					     "counters",       "samples", NULL};

	return question_ask(worker, r, reply, params, timeline, e);
}

/* ---- heat map ---- */

struct warming {
	struct question *q;
	struct heat *h;
	uint64_t from_ns, to_ns;
};

static uint32_t heat_cell_at(const void *ctx, uint64_t ns)
{
	return heat_cell(((const struct warming *)ctx)->h, ns);
}

static void warm_cell(void *ctx, const struct cell_sum *sum)
{
	struct warming *w = ctx;

	heat_add(w->h, sum->first_ns, (double)sum->samples);
}

/* Most blocks lie in one cell: their sum is added without reading the values. */
static int warm_counts(void *ctx, struct run_chunk *c, struct err *e)
{
	struct warming *w = ctx;
	struct run_data *d = w->q->d;
	struct kept_counts rows = {};
	const count_blocks *blocks;
	int rc = run_blocks(d, w->q->api->store, c, &blocks, e);

	for (size_t i = 0; rc == 0 && i < blocks->len; i++) {
		const struct count_block *b = &blocks->items[i];

		if (b->last_ns <= w->from_ns || b->first_ns >= w->to_ns)
			continue;
		if (b->first_ns >= w->from_ns && b->last_ns <= w->to_ns &&
		    heat_cell(w->h, b->first_ns) == heat_cell(w->h, b->last_ns)) {
			heat_add(w->h, b->first_ns, (double)b->sum);
			continue;
		}
		if (!rows.columns)
			rc = run_counts(d, w->q->api->store, c, &rows, e);
		if (rc == 0)
			heat_add_counts(w->h, rows.columns, i * SUMMARY_BLOCK_ROWS,
					(i + 1) * SUMMARY_BLOCK_ROWS, w->from_ns, w->to_ns);
	}
	kept_counts_release(&rows);
	return rc;
}

static int warm(struct question *q, struct heat *h, uint64_t from, uint64_t to, struct err *e)
{
	CLEANUP(free_ptr) bool *wanted = xcalloc(q->d->profile.counters.len, sizeof(*wanted));
	const char *counter = http_query(q->r, "counter");
	struct warming w = {.q = q, .h = h, .from_ns = from, .to_ns = to};
	uint32_t event;
	int rc;

	if (!counter) {
		rc = selection_event(&q->sel, q->d, q->api->store, &event, e);
		return rc < 0 ? rc
			      : selection_each_cell(
					&q->sel, q->d, q->api->store,
					&(struct cell_visitor){heat_cell_at, warm_cell, &w, event},
					e);
	}
	rc = counters_choose(&q->d->profile, counter, wanted, e);
	return rc < 0 ? rc : counters_each_chunk(q->d, wanted, from, to, warm_counts, &w, e);
}

static int heatmap(struct question *q, struct err *e)
{
	uint64_t rows = HEAT_ROWS, from, to, start = q->d->start_ns;
	struct heat h;
	int rc = api_param_u64(q->r, "rows", HEAT_ROWS_MAX, &rows, e);

	if (rc < 0)
		return rc;
	if (!rows)
		return err_set(e, EINVAL, "The parameter rows is at least 1.");
	question_window(q, &from, &to);
	/* If there are data before the run's start, begin whole seconds earlier. */
	if (from < start)
		start -= (start - from + NS_PER_SEC - 1) / NS_PER_SEC * NS_PER_SEC;
	if (!heat_init(&h, start, from, to, (uint32_t)rows))
		return err_set(e, EINVAL,
			       "The window has too many seconds for %u rows: choose a shorter one, "
			       "or fewer rows.",
			       (unsigned)rows);
	rc = warm(q, &h, from, to, e);
	answer_time(&q->answer, "heat");
	if (rc == 0) {
		struct json *j = &q->answer.j;

		jw_open(j, '{');
		jw_kv_u64(j, "seconds", h.seconds);
		jw_kv_u64(j, "rows", h.rows);
		jw_key(j, "first_s");
		jw_i64(j, (int64_t)h.first_s - (int64_t)((q->d->start_ns - start) / NS_PER_SEC));
		answer_f64(&q->answer, "cells", h.cells, (size_t)h.seconds * h.rows);
		jw_kv_double(j, "max", heat_max(&h));
		jw_close(j, '}');
	}
	heat_release(&h);
	return rc;
}

int api_heatmap(void *worker, const struct http_request *r, struct http_reply *reply, struct err *e)
{
	static const char *const params[] = {SELECTION_PARAMS, "format", "rows", "counter", NULL};

	return question_ask(worker, r, reply, params, heatmap, e);
}
