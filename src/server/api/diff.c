/* Compares two selections, of one run or of two. */
#include "analyze/tree/diff.h"
#include "server/api/question.h"

#include <errno.h>
#include <string.h>

#define DIFF_MIN_SHARE 0.0005
#define DIFF_FUNCTIONS 100u

struct diff_side_data {
	struct stored_run run;
	struct selection sel;
	struct node_weights w;
	strvec events; /* sampled events of the run */
	char *main;    /* event shown if none is named; NULL: the run has no samples */
	char *event;   /* event to compare by */
};

struct diff_question {
	struct api *api;
	const struct http_request *r;
	struct diff_side_data sides[2];
	struct answer answer;
	double min_share;
	uint64_t functions;
};

const char *const diff_prefixes[2] = {"before_", "after_"};

int diff_run_find(struct api *a, const struct http_request *r, int side, struct stored_run *ret,
		  struct err *e)
{
	static const char *const names[] = {"before", "after"};
	const char *uuid = http_query(r, names[side]);

	return uuid ? api_run_find(a, uuid, ret, e)
		    : err_set(e, EINVAL, "Missing parameter '%s': give the UUID of a run.",
			      names[side]);
}

/* ---- the two sides ---- */

static bool has_event(const struct diff_side_data *s, const char *name)
{
	vec_each(&s->events, event)
		if (name && !strcmp(*event, name))
			return true;
	return false;
}

struct listing {
	struct store *store;
	struct diff_side_data *side;
};

static int look_at_events(void *ctx, struct run_data *d, struct err *e)
{
	const struct listing *l = ctx;
	struct diff_side_data *s = l->side;
	const struct selection any = {.to_ns = UINT64_MAX, .event = -1};
	const struct profile *p = &d->profile;
	uint32_t event = 0;
	int rc = selection_event(&any, d, l->store, &event, e);

	for (size_t i = 0; rc == 0 && i < p->events.len; i++)
		vec_push(&s->events, xstrdup(profile_text(p, p->events.items[i].name)));
	if (rc == 0 && event < p->events.len)
		s->main = xstrdup(profile_text(p, p->events.items[event].name));
	return rc;
}

static int list_events(struct diff_question *q, struct diff_side_data *s, struct err *e)
{
	struct listing l = {q->api->store, s};

	return question_hold(q->api, &s->run, look_at_events, &l, e);
}

/*
 * Compares both sides by the same event if possible: by the event that is named, else by the main
 * event of the run after, else by that of the run before. If they have neither in common, each side
 * is compared by its own main event.
 */
static int choose_events(struct diff_question *q, struct err *e)
{
	struct diff_side_data *before = &q->sides[0], *after = &q->sides[1];
	const char *named[2] = {http_query(q->r, "before_event"), http_query(q->r, "after_event")};
	const char *both = named[1] ? named[1] : named[0];
	int rc = list_events(q, before, e);

	if (rc == 0)
		rc = list_events(q, after, e);
	if (rc < 0)
		return rc;
	if (!both && has_event(before, after->main))
		both = after->main;
	else if (!both && has_event(after, before->main))
		both = before->main;
	for (int side = 0; side < 2; side++) {
		struct diff_side_data *s = &q->sides[side];
		const char *event = named[side] ? named[side] : has_event(s, both) ? both : s->main;

		s->event = event ? xstrdup(event) : NULL;
	}
	return 0;
}

static void release_side(struct diff_side_data *s)
{
	stored_run_release(&s->run);
	strvec_release(&s->events);
	free(s->main);
	free(s->event);
}

static int weigh_sides(struct diff_question *q, int first, int last, struct run_data *d,
		       struct err *e)
{
	int rc = 0;

	for (int side = first; side <= last && rc == 0; side++) {
		struct diff_side_data *s = &q->sides[side];

		rc = api_selection(&s->sel, q->r, diff_prefixes[side], d, e);
		if (rc == 0 && s->event)
			rc = selection_name_event(&s->sel, s->event, d, e);
		if (rc == 0)
			rc = selection_weigh(&s->sel, d, q->api->store, &s->w, e);
		selection_release(&s->sel);
	}
	return rc;
}

/* The sides that belong to one run. */
struct sides {
	struct diff_question *q;
	int first, last;
	struct diff *diff;
};

static int look_at_sides(void *ctx, struct run_data *d, struct err *e)
{
	const struct sides *s = ctx;
	struct diff_question *q = s->q;
	struct diff_weights weights[2] = {};
	int first = s->first, last = s->last;
	int rc = weigh_sides(q, first, last, d, e);

	for (int side = first; side <= last; side++)
		weights[side] =
			(struct diff_weights){q->sides[side].w.self, q->sides[side].w.samples};
	if (rc == 0)
		diff_add_paths(s->diff, &d->paths, &d->profile, weights);
	for (int side = first; side <= last; side++)
		node_weights_release(&q->sides[side].w);
	return rc;
}

static int add_sides(struct diff_question *q, int first, int last, struct diff *d, struct err *e)
{
	struct sides s = {q, first, last, d};

	return question_hold(q->api, &q->sides[first].run, look_at_sides, &s, e);
}

/*
 * Adds two runs one after the other: their names are copied, so that no run is held while waiting
 * for the other. Adds two selections of one run together, so that its call paths are walked only
 * once.
 */
static int add_both(struct diff_question *q, struct diff *d, struct err *e)
{
	int rc;

	if (!strcmp(q->sides[0].run.uuid, q->sides[1].run.uuid))
		return add_sides(q, 0, 1, d, e);
	rc = add_sides(q, 0, 0, d, e);
	return rc < 0 ? rc : add_sides(q, 1, 1, d, e);
}

/* ---- the answer ---- */

/* For each node: its number in the answer + 1, or 0 if it is below @min_share on both sides. */
static uint32_t *choose_nodes(const struct diff *d, double min_share, uint32_t *ret_count)
{
	uint32_t *to = xcalloc(d->nodes.len, sizeof(*to));
	const struct diff_node *root = &d->nodes.items[0];

	*ret_count = 0;
	for (size_t i = 0; i < d->nodes.len; i++) {
		const struct diff_node *n = &d->nodes.items[i];
		bool shown = !i;

		for (int side = 0; side < 2 && !shown; side++)
			shown = n->total[side] &&
				(double)n->total[side] >= min_share * (double)root->total[side];
		if (shown && (!i || to[n->parent]))
			to[i] = ++*ret_count;
	}
	return to;
}

static void write_nodes(struct answer *a, const struct diff *d, double min_share)
{
	uint32_t count, *to = choose_nodes(d, min_share, &count);
	uint32_t *number = xcalloc(count, sizeof(*number));
	double *weight = xcalloc(count, sizeof(*weight));

	jw_key(&a->j, "nodes");
	jw_open(&a->j, '{');
#define WRITE(key, array, function, value)                                                         \
	do {                                                                                       \
		for (size_t i = 0; i < d->nodes.len; i++) {                                        \
			const struct diff_node *n = &d->nodes.items[i];                            \
			if (to[i])                                                                 \
				(array)[to[i] - 1] = (value);                                      \
		}                                                                                  \
		function(a, key, array, count);                                                    \
	} while (0)
	WRITE("parent", number, answer_u32, i ? to[n->parent] - 1 : 0);
	WRITE("name", number, answer_u32, n->name);
	WRITE("self_before", weight, answer_f64, (double)n->self[DIFF_BEFORE]);
	WRITE("self_after", weight, answer_f64, (double)n->self[DIFF_AFTER]);
	WRITE("total_before", weight, answer_f64, (double)n->total[DIFF_BEFORE]);
	WRITE("total_after", weight, answer_f64, (double)n->total[DIFF_AFTER]);
#undef WRITE
	jw_close(&a->j, '}');
	free(to);
	free(number);
	free(weight);
}

static const char *module_of(const struct diff *d, uint32_t name)
{
	return d->text.s + d->names.items[name].module;
}

static void write_functions(struct json *j, const struct diff *d, uint64_t limit)
{
	struct diff_table table;

	diff_table_make(&table, d);
	jw_key(j, "functions");
	jw_open(j, '[');
	for (size_t i = 0; i < table.functions.len && i < limit; i++) {
		const struct diff_function *f = &table.functions.items[i];

		jw_open(j, '{');
		jw_kv_str(j, "name", diff_text(d, f->name));
		jw_kv_str(j, "module", module_of(d, f->name));
		jw_kv_str(j, "kind", code_kind_name(d->names.items[f->name].kind));
		jw_kv_double(j, "self_before", f->self[DIFF_BEFORE]);
		jw_kv_double(j, "self_after", f->self[DIFF_AFTER]);
		jw_kv_double(j, "total_before", f->total[DIFF_BEFORE]);
		jw_kv_double(j, "total_after", f->total[DIFF_AFTER]);
		jw_close(j, '}');
	}
	jw_close(j, ']');
	diff_table_release(&table);
}

static void write_diff(struct diff_question *q, struct diff *d)
{
	const struct diff_node *root = &d->nodes.items[0];
	struct json *j = &q->answer.j;

	jw_open(j, '{');
	jw_kv_str(j, "event_before", q->sides[0].event);
	jw_kv_str(j, "event_after", q->sides[1].event);
	jw_kv_u64(j, "total_before", root->total[DIFF_BEFORE]);
	jw_kv_u64(j, "total_after", root->total[DIFF_AFTER]);
	jw_kv_u64(j, "samples_before", root->samples[DIFF_BEFORE]);
	jw_kv_u64(j, "samples_after", root->samples[DIFF_AFTER]);
	jw_key(j, "names");
	jw_open(j, '[');
	question_name(j, "all", "", CODE_UNKNOWN);
	for (uint32_t i = 1; i < d->names.len; i++)
		question_name(j, diff_text(d, i), module_of(d, i), d->names.items[i].kind);
	jw_close(j, ']');
	write_nodes(&q->answer, d, q->min_share);
	write_functions(j, d, q->functions);
	jw_close(j, '}');
}

static int parse(struct diff_question *q, struct err *e)
{
	int rc = api_param_double(q->r, "min", 0, 1, &q->min_share, e);

	if (rc == 0)
		rc = api_param_u64(q->r, "limit", API_LIMIT_MAX, &q->functions, e);
	for (int side = 0; side < 2 && rc == 0; side++)
		rc = diff_run_find(q->api, q->r, side, &q->sides[side].run, e);
	return rc;
}

int api_diff(void *worker, const struct http_request *r, struct http_reply *reply, struct err *e)
{
	static const char *const params[] = {
		"before",        "after",         "min",         "limit",          "format",
		"before_from",   "before_to",     "before_pids", "before_threads", "before_cpus",
		"before_event",  "before_frames", "after_from",  "after_to",       "after_pids",
		"after_threads", "after_cpus",    "after_event", "after_frames",   NULL};
	struct diff_question q = {
		.api = worker, .r = r, .min_share = DIFF_MIN_SHARE, .functions = DIFF_FUNCTIONS};
	struct diff d;
	int rc = api_params_known(r, params, e);

	if (rc == 0)
		rc = answer_begin(&q.answer, r, e);
	if (rc == 0)
		rc = parse(&q, e);
	if (rc == 0)
		rc = choose_events(&q, e);
	diff_init(&d);
	if (rc == 0)
		rc = add_both(&q, &d, e);
	if (rc == 0) {
		answer_time(&q.answer, "weigh");
		diff_finish(&d, true);
		write_diff(&q, &d);
		answer_send(&q.answer, reply,
			    run_state_ended(q.sides[0].run.state) &&
				    run_state_ended(q.sides[1].run.state));
	} else {
		answer_release(&q.answer);
	}
	diff_release(&d);
	release_side(&q.sides[0]);
	release_side(&q.sides[1]);
	return rc;
}
