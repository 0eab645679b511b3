/* Questions about single samples: points, and threads over time. */
#include "analyze/plot/points.h"
#include "server/api/question.h"

#include <errno.h>
#include <string.h>

#define POINTS            20000u
#define POINTS_MAX        200000u
#define POINTS_HELD       (512u << 10) /* points collected before thinning */
#define POINTS_CERTAIN    16u          /* points of each function that are always collected */
#define THREAD_PIXELS     200u
#define THREAD_PIXELS_MAX 5000u
#define THREADS_SHOWN     1000u

/* ---- points ---- */

struct pointing {
	struct question *q;
	const struct leaf_addresses *leaves;
	point_list points;
	uint32_t *seen; /* by name: points collected */
	uint64_t matched, stride;
	uint64_t until; /* samples to skip before the next one that is always taken */
	bool data;      /* some samples have data addresses */
};

static uint64_t address_of(struct pointing *k, const struct sample_columns *c, size_t row)
{
	uint32_t stack = c->stack[row];

	if (c->address && c->address[row]) {
		k->data = true;
		return c->address[row];
	}
	return stack < k->leaves->len ? k->leaves->by_stack[stack] : 0;
}

static void gather_points(void *ctx, struct sample_columns *c)
{
	struct pointing *k = ctx;
	const struct call_paths *paths = &k->q->d->paths;

	for (size_t i = 0; i < c->rows; i++) {
		uint32_t name = paths->nodes.items[call_path_known(paths, c->stack[i])].name;

		/* Take every stride-th sample, and some of each function, however rare. */
		k->matched++;
		k->until = k->until ? k->until - 1 : k->stride - 1;
		if (k->until != k->stride - 1 && k->seen[name] >= POINTS_CERTAIN)
			continue;
		k->seen[name]++;
		vec_push(&k->points,
			 (struct point){c->time_ns[i], address_of(k, c, i), c->event[i], name});
	}
}

static int by_time(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

/* Chunks are visited by start time and seldom overlap, so the points are mostly in order. */
static void sort_points(point_list *points)
{
	for (size_t i = 1; i < points->len; i++)
		if (points->items[i].time_ns < points->items[i - 1].time_ns) {
			qsort(points->items, points->len, sizeof(*points->items), by_time);
			return;
		}
}

static uint64_t rows_in(const struct run_data *d, const struct selection *sel)
{
	uint64_t rows = 0;

	vec_each(&d->chunks, c)
		if (c->stored.info.sampled && c->stored.info.last_ns >= sel->from_ns &&
		    c->stored.info.first_ns < sel->to_ns)
			rows += c->stored.info.rows;
	return rows;
}

/* Numbers the names in order of first occurrence. */
static void write_point_names(struct pointing *k, uint32_t *function)
{
	const struct run_data *d = k->q->d;
	struct json *j = &k->q->answer.j;
	uint32_t *number = xcalloc(d->paths.names.len, sizeof(*number)), count = 0;

	jw_key(j, "names");
	jw_open(j, '[');
	for (size_t i = 0; i < k->points.len; i++) {
		uint32_t name = k->points.items[i].function;
		const struct path_name *n = &d->paths.names.items[name];

		if (!number[name]) {
			number[name] = ++count;
			question_name(j, profile_text(&d->profile, n->label),
				      profile_text(&d->profile, n->module), n->kind);
		}
		function[i] = number[name] - 1;
	}
	jw_close(j, ']');
	free(number);
}

static void write_points(struct pointing *k)
{
	struct answer *a = &k->q->answer;
	size_t len = k->points.len;
	int64_t *wide = xcalloc(len, sizeof(*wide));
	uint32_t *narrow = xcalloc(len, sizeof(*narrow));

	jw_open(&a->j, '{');
	write_point_names(k, narrow);
	answer_u32(a, "function", narrow, len);
	for (size_t i = 0; i < len; i++)
		wide[i] = question_since_start(k->q, k->points.items[i].time_ns);
	answer_i64(a, "t", wide, len);
	jw_key(&a->j, "events");
	jw_open(&a->j, '[');
	vec_each(&k->q->d->profile.events, event)
		jw_str(&a->j, profile_text(&k->q->d->profile, event->name));
	jw_close(&a->j, ']');
	for (size_t i = 0; i < len; i++)
		narrow[i] = k->points.items[i].event;
	answer_u32(a, "event", narrow, len);
	for (size_t i = 0; i < len; i++)
		wide[i] = (int64_t)k->points.items[i].address;
	answer_u64(a, "address", (const uint64_t *)wide, len);
	jw_kv_str(&a->j, "address_of", k->data ? "data" : "code");
	jw_kv_u64(&a->j, "thinned_from", k->matched);
	jw_close(&a->j, '}');
	free(wide);
	free(narrow);
}

static int points(struct question *q, struct err *e)
{
	struct pointing k = {.q = q};
	const struct row_visitor rows = {gather_points, &k, q->sel.event, ROWS_TIME | ROWS_KIND};
	uint64_t max = POINTS;
	int rc = api_param_u64(q->r, "max", POINTS_MAX, &max, e);

	if (rc == 0)
		rc = run_cache_leaves(q->api->store, q->d, &k.leaves, e);
	if (rc < 0)
		return rc;
	k.seen = xcalloc(q->d->paths.names.len, sizeof(*k.seen));
	k.stride = rows_in(q->d, &q->sel) / POINTS_HELD + 1;
	rc = selection_each(&q->sel, q->d, q->api->store, &rows, e);
	answer_time(&q->answer, "read");
	if (rc == 0) {
		sort_points(&k.points);
		points_thin(&k.points, max, (uint32_t)q->d->paths.names.len);
		answer_time(&q->answer, "thin");
		write_points(&k);
	}
	free(k.seen);
	vec_release(&k.points);
	return rc;
}

int api_points(void *worker, const struct http_request *r, struct http_reply *reply, struct err *e)
{
	static const char *const params[] = {SELECTION_PARAMS, "format", "max", NULL};

	return question_ask(worker, r, reply, params, points, e);
}

/* ---- threads ---- */

struct thread_line {
	uint32_t thread;
	uint64_t samples, weight, first_ns, last_ns;
	double *cells;
};

struct weaving {
	struct question *q;
	struct thread_line *lines; /* by thread of the profile */
	uint32_t event;
	uint32_t pixels;
	uint64_t from_ns;
	double pixels_a_ns;
};

static uint32_t pixel_at(const void *ctx, uint64_t ns)
{
	const struct weaving *w = ctx;
	uint32_t pixel = (uint32_t)((double)(ns - w->from_ns) * w->pixels_a_ns);

	return pixel < w->pixels ? pixel : w->pixels - 1;
}

static void weave(void *ctx, const struct cell_sum *sum)
{
	struct weaving *w = ctx;
	struct thread_line *line = &w->lines[sum->thread];

	if (!line->cells)
		line->cells = xcalloc(w->pixels, sizeof(*line->cells));
	if (!line->samples || sum->first_ns < line->first_ns)
		line->first_ns = sum->first_ns;
	if (sum->last_ns > line->last_ns)
		line->last_ns = sum->last_ns;
	line->samples += sum->samples;
	line->weight += sum->weight;
	line->cells[sum->cell] += (double)sum->weight;
}

static int by_weight(const void *a, const void *b)
{
	const struct thread_line *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static void write_threads(struct weaving *w, size_t count)
{
	const struct profile *p = &w->q->d->profile;
	struct json *j = &w->q->answer.j;
	size_t present = 0;

	jw_key(j, "threads");
	jw_open(j, '[');
	for (size_t i = 0; i < count && w->lines[i].samples; i++) {
		const struct thread_line *line = &w->lines[i];
		const struct profile_thread *t = &p->threads.items[line->thread];

		if (present++ >= THREADS_SHOWN)
			continue;
		jw_open(j, '{');
		jw_kv_u64(j, "pid", t->pid);
		jw_kv_u64(j, "tid", t->tid);
		jw_kv_str(j, "comm", profile_text(p, t->comm));
		jw_key(j, "first_ns");
		jw_i64(j, question_since_start(w->q, line->first_ns));
		jw_key(j, "last_ns");
		jw_i64(j, question_since_start(w->q, line->last_ns));
		jw_kv_u64(j, "samples", line->samples);
		jw_kv_u64(j, "weight", line->weight);
		answer_f64(&w->q->answer, "cells", line->cells, w->pixels);
		jw_close(j, '}');
	}
	jw_close(j, ']');
	jw_kv_u64(j, "threads_in_all", present);
}

static int threads(struct question *q, struct err *e)
{
	struct weaving w = {.q = q};
	uint64_t pixels = THREAD_PIXELS, to;
	size_t count = q->d->profile.threads.len;
	int rc = api_param_u64(q->r, "pixels", THREAD_PIXELS_MAX, &pixels, e);

	if (rc == 0 && !pixels)
		return err_set(e, EINVAL, "The parameter pixels is at least 1.");
	if (rc == 0)
		rc = selection_event(&q->sel, q->d, q->api->store, &w.event, e);
	if (rc < 0)
		return rc;
	question_window(q, &w.from_ns, &to);
	w.pixels = (uint32_t)pixels;
	w.pixels_a_ns = (double)pixels / (double)(to - w.from_ns);
	w.lines = xcalloc(count, sizeof(*w.lines));
	for (uint32_t i = 0; i < count; i++)
		w.lines[i].thread = i;
	rc = selection_each_cell(&q->sel, q->d, q->api->store,
				 &(struct cell_visitor){pixel_at, weave, &w, w.event}, e);
	answer_time(&q->answer, "read");
	if (rc == 0) {
		qsort(w.lines, count, sizeof(*w.lines), by_weight);
		jw_open(&q->answer.j, '{');
		jw_key(&q->answer.j, "from_ns");
		jw_i64(&q->answer.j, question_since_start(q, w.from_ns));
		jw_key(&q->answer.j, "to_ns");
		jw_i64(&q->answer.j, question_since_start(q, to));
		write_threads(&w, count);
		jw_close(&q->answer.j, '}');
	}
	for (size_t i = 0; i < count; i++)
		free(w.lines[i].cells);
	free(w.lines);
	return rc;
}

int api_threads(void *worker, const struct http_request *r, struct http_reply *reply, struct err *e)
{
	static const char *const params[] = {SELECTION_PARAMS, "format", "pixels", NULL};

	return question_ask(worker, r, reply, params, threads, e);
}
