/* Compares counters of two selections: rates, sums, and whether the difference may be chance. */
#include "base/clock.h"
#include "measure/significance.h"
#include "server/api/question.h"

#include <math.h>
#include <string.h>

/* A counter on one side. If it was read per CPU or per thread, its lines are added up. */
struct counter_side {
	uint64_t readings;          /* of the line that has the most readings */
	uint64_t first_ns, last_ns; /* of all its intervals, within the window */
	struct stats rates;         /* values per second, one for each slice of time */
	double sum;                 /* of all values */
};

struct counter_row {
	char *name, *unit; /* unit NULL: a plain count */
	double scale;
	struct counter_side sides[2];
};

struct counters_question {
	struct api *api;
	const struct http_request *r;
	struct stored_run runs[2];
	int side; /* the side that is being read */
	struct answer answer;
	VEC(struct counter_row)
	rows; /* in the order of the first side, then those of the second side only */
};

static void rows_release(struct counters_question *q)
{
	vec_each(&q->rows, row) {
		free(row->name);
		free(row->unit);
	}
	vec_release(&q->rows);
}

/* Returns the index of the counter's row, which is added if missing. */
static size_t row_of(struct counters_question *q, const struct profile *p,
		     const struct profile_counter *counter)
{
	const char *name = profile_text(p, counter->name);

	for (size_t i = 0; i < q->rows.len; i++)
		if (!strcmp(q->rows.items[i].name, name))
			return i;
	vec_push(&q->rows,
		 ((struct counter_row){
			 .name = xstrdup(name),
			 .unit = counter->unit.n ? xstrdup(profile_text(p, counter->unit)) : NULL,
			 .scale = counter->scale,
		 }));
	return q->rows.len - 1;
}

/* ---- one side ---- */

/* State while one side is read. */
struct looking {
	struct counters_question *q;
	struct run_data *d;
	const struct selection *sel;
	const bool *wanted;   /* by counter of the run */
	const size_t *row_of; /* by counter: its row */
	uint64_t *readings;   /* by counter */
};

static struct counter_side *side_of(const struct looking *l, size_t counter)
{
	return &l->q->rows.items[l->row_of[counter]].sides[l->q->side];
}

/* Counts the readings of a counter and finds the time range that they cover. */
static int measure_chunk(void *ctx, struct run_chunk *c, struct err *e)
{
	struct looking *l = ctx;
	uint32_t counter = c->stored.info.partition;
	struct counter_side *side = side_of(l, counter);
	const count_blocks *blocks;
	int rc = run_blocks(l->d, l->q->api->store, c, &blocks, e);

	for (size_t i = 0; rc == 0 && i < blocks->len; i++) {
		const struct count_block *b = &blocks->items[i];
		uint64_t from = b->first_ns > l->sel->from_ns ? b->first_ns : l->sel->from_ns;
		uint64_t to = b->last_ns < l->sel->to_ns ? b->last_ns : l->sel->to_ns;

		if (from >= to)
			continue;
		if (!side->last_ns || from < side->first_ns)
			side->first_ns = from;
		if (to > side->last_ns)
			side->last_ns = to;
		/* A block that the window cuts counts in part: slices need only an estimate. */
		l->readings[counter] += (uint64_t)((double)b->rows * (double)(to - from) /
						   (double)(b->last_ns - b->first_ns));
		if (l->readings[counter] > side->readings)
			side->readings = l->readings[counter];
	}
	return rc;
}

/*
 * Adds up the lines of one counter, slice by slice. The rate of a slice is the sum over all lines,
 * divided by the longest time that any of them counted. For lines per CPU that is the time of each
 * line, for lines per thread the time of the slice.
 */
static void add_up(struct counter_side *side, const struct timeline *const *lines, size_t count)
{
	for (uint32_t slice = 0; slice < lines[0]->pixels; slice++) {
		double sum = 0, longest_ns = 0;

		for (size_t i = 0; i < count; i++) {
			sum += lines[i]->sum[slice];
			if (lines[i]->duration_ns[slice] > longest_ns)
				longest_ns = lines[i]->duration_ns[slice];
		}
		side->sum += sum;
		if (longest_ns > 0)
			stats_add(&side->rates, sum / longest_ns * NS_PER_SEC);
	}
}

static void add_up_rows(struct looking *l, const bool *drawn, const struct timeline *by_counter)
{
	size_t counters = l->d->profile.counters.len, count;
	const struct timeline **lines = xcalloc(counters + 1, sizeof(*lines));

	for (size_t row = 0; row < l->q->rows.len; row++) {
		count = 0;
		for (size_t i = 0; i < counters; i++)
			if (drawn[i] && l->row_of[i] == row)
				lines[count++] = &by_counter[i];
		if (count)
			add_up(&l->q->rows.items[row].sides[l->q->side], lines, count);
	}
	free(lines);
}

static int look_closer(struct looking *l, struct err *e)
{
	size_t counters = l->d->profile.counters.len;
	CLEANUP(free_ptr) bool *drawn = xcalloc(counters + 1, sizeof(*drawn));
	struct timeline *by_counter = xcalloc(counters + 1, sizeof(*by_counter));
	int rc;

	for (size_t i = 0; i < counters; i++) {
		const struct counter_side *side = l->wanted[i] ? side_of(l, i) : NULL;

		/* Includes a counter of which the window has only part of one reading. */
		drawn[i] = side && side->last_ns > side->first_ns;
		if (drawn[i])
			timeline_init(&by_counter[i], side->first_ns, side->last_ns,
				      significance_slices(side->readings ? side->readings : 1));
	}
	rc = counters_draw(l->d, l->q->api->store, drawn, l->sel->from_ns, l->sel->to_ns,
			   by_counter, e);
	if (rc == 0)
		add_up_rows(l, drawn, by_counter);
	for (size_t i = 0; i < counters; i++)
		if (drawn[i])
			timeline_release(&by_counter[i]);
	free(by_counter);
	return rc;
}

static int look_at_side(void *ctx, struct run_data *d, struct err *e)
{
	struct counters_question *q = ctx;
	const struct profile *p = &d->profile;
	size_t counters = p->counters.len;
	CLEANUP(free_ptr) bool *wanted = xcalloc(counters + 1, sizeof(*wanted));
	CLEANUP(free_ptr) size_t *rows = xcalloc(counters + 1, sizeof(*rows));
	CLEANUP(free_ptr) uint64_t *readings = xcalloc(counters + 1, sizeof(*readings));
	CLEANUP(selection_release) struct selection sel = {};
	struct looking l = {q, d, &sel, wanted, rows, readings};
	int rc = api_selection(&sel, q->r, diff_prefixes[q->side], d, e);

	if (rc == 0)
		rc = counters_choose(p, NULL, wanted, e);
	if (rc < 0)
		return rc;
	vec_each(&q->rows, row)
		row->sides[q->side] = (struct counter_side){};
	for (size_t i = 0; i < counters; i++)
		if (wanted[i])
			rows[i] = row_of(q, p, &p->counters.items[i]);
	rc = counters_each_chunk(d, wanted, sel.from_ns, sel.to_ns, measure_chunk, &l, e);
	return rc < 0 ? rc : look_closer(&l, e);
}

/* ---- the answer ---- */

/* Rounds a sum that should be whole: adding fractions of whole values leaves rounding errors. */
static double without_dust(double sum)
{
	double whole = round(sum);

	return fabs(sum - whole) <= fabs(whole) * 1e-12 ? whole : sum;
}

static void write_side(struct json *j, const char *key, const struct counter_side *side)
{
	jw_key(j, key);
	if (!side->rates.n) {
		jw_null(j);
		return;
	}
	jw_open(j, '{');
	jw_kv_double(j, "mean", stats_mean(&side->rates));
	jw_kv_double(j, "stddev", stats_stddev(&side->rates));
	jw_kv_double(j, "sum", without_dust(side->sum));
	jw_kv_u64(j, "slices", side->rates.n);
	jw_close(j, '}');
}

static void write_row(struct json *j, const struct counter_row *row)
{
	struct significance s;

	significance_compare(&row->sides[0].rates, &row->sides[1].rates, &s);
	jw_open(j, '{');
	jw_kv_str(j, "name", row->name);
	jw_kv_str(j, "unit", row->unit);
	jw_kv_double(j, "scale", row->scale);
	write_side(j, "before", &row->sides[0]);
	write_side(j, "after", &row->sides[1]);
	jw_kv_double(j, "difference", s.difference);
	jw_kv_double(j, "low", s.low);
	jw_kv_double(j, "high", s.high);
	jw_kv_str(j, "verdict", significance_name(s.verdict));
	jw_close(j, '}');
}

static void write_rows(struct counters_question *q)
{
	struct json *j = &q->answer.j;

	jw_open(j, '{');
	jw_kv_double(j, "confidence", SIGNIFICANCE_CONFIDENCE);
	jw_key(j, "counters");
	jw_open(j, '[');
	vec_each(&q->rows, row)
		write_row(j, row);
	jw_close(j, ']');
	jw_close(j, '}');
}

int api_diff_counters(void *worker, const struct http_request *r, struct http_reply *reply,
		      struct err *e)
{
	static const char *const params[] = {"before",     "after",    "before_from", "before_to",
					     "after_from", "after_to", NULL};
	struct counters_question q = {.api = worker, .r = r};
	int rc = api_params_known(r, params, e);

	if (rc == 0)
		rc = answer_begin(&q.answer, r, e);
	for (int side = 0; side < 2 && rc == 0; side++)
		rc = diff_run_find(q.api, r, side, &q.runs[side], e);
	for (q.side = 0; q.side < 2 && rc == 0; q.side++)
		rc = question_hold(q.api, &q.runs[q.side], look_at_side, &q, e);
	if (rc == 0) {
		answer_time(&q.answer, "counters");
		write_rows(&q);
		answer_send(&q.answer, reply,
			    run_state_ended(q.runs[0].state) && run_state_ended(q.runs[1].state));
	} else {
		answer_release(&q.answer);
	}
	rows_release(&q);
	stored_run_release(&q.runs[0]);
	stored_run_release(&q.runs[1]);
	return rc;
}
