/* The distribution of values: of a counter's intervals, or of the weights of samples. */
#include "analyze/plot/value_histogram.h"
#include "server/api/question.h"

#include <errno.h>
#include <string.h>

#define VALUE_BINS 60u
#define VALUES_MAX (64u << 20)

struct gathering {
	struct question *q;
	struct value_list values;
	uint32_t event;
	uint64_t from_ns, to_ns;
};

static void gather_weight(void *ctx, uint64_t weight, uint64_t samples)
{
	struct gathering *g = ctx;

	if (g->values.values.len < VALUES_MAX)
		value_list_add(&g->values, (double)weight, samples);
}

static int add_rows(void *ctx, struct run_chunk *c, struct err *e)
{
	(void)e;
	*(size_t *)ctx += c->stored.info.rows;
	return 0;
}

/* Adds the values of intervals that end in the window, in the counter's unit. */
static int gather_counts(void *ctx, struct run_chunk *c, struct err *e)
{
	struct gathering *g = ctx;
	const struct chunk_info *info = &c->stored.info;
	double scale = g->q->d->profile.counters.items[info->partition].scale, *to;
	bool inside = info->first_ns >= g->from_ns && info->last_ns < g->to_ns;
	struct kept_counts rows = {};
	int rc;

	if (g->values.values.len + info->rows > g->values.values.cap)
		return 0;
	rc = run_counts(g->q->d, g->q->api->store, c, &rows, e);
	if (rc < 0)
		return rc;
	to = g->values.values.items + g->values.values.len;
	for (size_t i = 0; i < rows.columns->rows; i++)
		if (inside ||
		    (rows.columns->time_ns[i] >= g->from_ns && rows.columns->time_ns[i] < g->to_ns))
			*to++ = (double)rows.columns->value[i] * scale;
	g->values.values.len = (size_t)(to - g->values.values.items);
	kept_counts_release(&rows);
	return 0;
}

static int gather(struct question *q, struct gathering *g, struct err *e)
{
	CLEANUP(free_ptr) bool *wanted = xcalloc(q->d->profile.counters.len, sizeof(*wanted));
	const char *counter = http_query(q->r, "counter"), *weight = http_query(q->r, "weight");
	const struct profile *p = &q->d->profile;
	size_t rows = 0;
	int rc;

	if (!counter == !weight)
		return err_set(e, EINVAL, "Give exactly one of counter=NAME and weight=EVENT.");
	if (counter) {
		rc = counters_choose(p, counter, wanted, e);
		if (rc < 0)
			return rc;
		/* Reserve all memory at once: growing a large array faults it in repeatedly. */
		counters_each_chunk(q->d, wanted, g->from_ns, g->to_ns, add_rows, &rows, e);
		vec_reserve(&g->values.values, rows < VALUES_MAX ? rows : VALUES_MAX);
		return counters_each_chunk(q->d, wanted, g->from_ns, g->to_ns, gather_counts, g, e);
	}
	for (; g->event < p->events.len; g->event++)
		if (!strcmp(profile_text(p, p->events.items[g->event].name), weight))
			return selection_each_weight(&q->sel, q->d, q->api->store, g->event,
						     gather_weight, g, e);
	return err_set(e, EINVAL, "The run has no samples of an event '%.100s'.", weight);
}

int question_scale(const struct http_request *r, bool *ret_log, struct err *e)
{
	const char *scale = http_query(r, "scale");

	if (scale && strcmp(scale, "linear") && strcmp(scale, "log"))
		return err_set(e, EINVAL, "The parameter scale is linear or log.");
	*ret_log = scale && !strcmp(scale, "log");
	return 0;
}

int question_bins(const struct http_request *r, uint32_t *ret, struct err *e)
{
	uint64_t bins = VALUE_BINS;
	int rc = api_param_u64(r, "bins", VALUE_BINS_MAX, &bins, e);

	*ret = (uint32_t)bins;
	return rc < 0 || bins ? rc : err_set(e, EINVAL, "The parameter bins is at least 1.");
}

void question_spread(struct json *j, const struct value_list *values, uint32_t bins, bool log)
{
	struct value_histogram h;

	value_histogram_make(&h, values, bins, log);
	jw_open(j, '{');
	jw_key(j, "bins");
	jw_open(j, '[');
	vec_each(&h.bins, bin) {
		jw_open(j, '{');
		jw_kv_double(j, "from", bin->from);
		jw_kv_double(j, "to", bin->to);
		jw_kv_u64(j, "count", bin->count);
		jw_close(j, '}');
	}
	jw_close(j, ']');
	jw_kv_double(j, "min", h.min);
	jw_kv_double(j, "max", h.max);
	jw_kv_double(j, "mean", h.mean);
	jw_kv_double(j, "p50", h.p50);
	jw_kv_double(j, "p90", h.p90);
	jw_kv_double(j, "p99", h.p99);
	jw_kv_double(j, "p999", h.p999);
	jw_kv_u64(j, "count", h.count);
	jw_close(j, '}');
	value_histogram_release(&h);
}

static int histogram(struct question *q, struct err *e)
{
	struct gathering g = {.q = q};
	bool log = false;
	uint32_t bins;
	int rc = question_bins(q->r, &bins, e);

	if (rc == 0)
		rc = question_scale(q->r, &log, e);
	if (rc < 0)
		return rc;
	question_window(q, &g.from_ns, &g.to_ns);
	rc = gather(q, &g, e);
	answer_time(&q->answer, "read");
	if (rc == 0)
		question_spread(&q->answer.j, &g.values, bins, log);
	value_list_release(&g.values);
	return rc;
}

int api_histogram(void *worker, const struct http_request *r, struct http_reply *reply,
		  struct err *e)
{
	static const char *const params[] = {SELECTION_PARAMS, "counter", "weight",
					     "bins",           "scale",   NULL};

	return question_ask(worker, r, reply, params, histogram, e);
}
