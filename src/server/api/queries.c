/* The routes of all questions about a run, and the answers about functions and call paths. */
#include "server/api/question.h"
#include "analyze/paths/path_functions.h"
#include "base/text.h"
#include "runs/ledger_words.h"

#include <errno.h>
#include <string.h>

#define FLAME_MIN_SHARE 0.0005
#define FLAME_LIMIT     100000u

/* ---- flame graphs ---- */

/* Numbers the names that occur in a graph: most names of a run do not. */
struct used_names {
	uint32_t *number; /* by name of the call paths: its number, 0 if not used or the root */
	VEC(uint32_t) names;
};

static void use_names(struct used_names *u, const struct path_flame *f)
{
	vec_each(&f->nodes, node) {
		if (!node->name || u->number[node->name])
			continue;
		vec_push(&u->names, node->name);
		u->number[node->name] = (uint32_t)u->names.len;
	}
}

static void write_names(struct json *j, const struct used_names *u, const struct run_data *d)
{
	jw_key(j, "names");
	jw_open(j, '[');
	question_name(j, "all", "", CODE_UNKNOWN);
	vec_each(&u->names, name) {
		const struct path_name *n = &d->paths.names.items[*name];

		question_name(j, profile_text(&d->profile, n->label),
			      profile_text(&d->profile, n->module), n->kind);
	}
	jw_close(j, ']');
}

/* Writes the members nodes and hidden. */
static void write_nodes(struct answer *a, const struct path_flame *f, const struct used_names *u)
{
	size_t len = f->nodes.len;
	uint32_t *number = xcalloc(len, sizeof(*number));
	double *weight = xcalloc(len, sizeof(*weight));

	jw_key(&a->j, "nodes");
	jw_open(&a->j, '{');
#define WRITE(key, array, function, value)                                                         \
	do {                                                                                       \
		for (size_t i = 0; i < len; i++) {                                                 \
			const struct flame_node *node = &f->nodes.items[i];                        \
			(array)[i] = (value);                                                      \
		}                                                                                  \
		function(a, key, array, len);                                                      \
	} while (0)
	WRITE("parent", number, answer_u32, node->parent);
	WRITE("name", number, answer_u32, u->number[node->name]);
	WRITE("self", weight, answer_f64, (double)node->self);
	WRITE("total", weight, answer_f64, (double)node->total);
	WRITE("inlined", number, answer_u32, node->inlined);
#undef WRITE
	jw_close(&a->j, '}');
	jw_key(&a->j, "hidden");
	jw_open(&a->j, '{');
	jw_kv_u64(&a->j, "nodes", f->hidden_nodes);
	jw_kv_u64(&a->j, "weight", f->hidden_weight);
	jw_close(&a->j, '}');
	free(number);
	free(weight);
}

static void write_event(struct question *q, const struct node_weights *w,
			const struct flame_column *column)
{
	struct json *j = &q->answer.j;

	if (column) {
		jw_kv_str(j, "event", column->table);
		jw_kv_str(j, "unit", *column->unit ? column->unit : NULL);
		jw_kv_str(j, "column", column->column);
		jw_kv_u64(j, "rows_left_out", column->left_out);
	} else {
		question_event(q, w->event);
	}
	jw_kv_u64(j, "total", w->total);
	jw_kv_u64(j, "samples", w->total_samples);
}

/* Sets @wanted for the names of the call paths that are this function. Returns false if none is. */
static bool find_function(const struct question *q, const char *function, bool *wanted)
{
	const struct run_data *d = q->d;
	const char *module = http_query(q->r, "module");
	bool found = false;

	for (size_t i = 1; i < d->paths.names.len; i++) {
		const struct path_name *n = &d->paths.names.items[i];

		wanted[i] = !strcmp(profile_text(&d->profile, n->label), function) &&
			    (!module || !strcmp(profile_text(&d->profile, n->module), module));
		found = found || wanted[i];
	}
	return found;
}

static void answer_sandwich(struct question *q, const struct flame_asked *asked,
			    const struct node_weights *w, const struct flame_column *column)
{
	struct used_names u = {.number = xcalloc(q->d->paths.names.len, sizeof(uint32_t))};
	static const char *const keys[] = {"callers", "callees"};
	struct path_flame trees[2];
	struct answer *a = &q->answer;

	path_flame_callers(&trees[0], &q->d->paths, w->self, asked->wanted, &asked->options);
	path_flame_callees(&trees[1], &q->d->paths, w->self, asked->wanted, &asked->options);
	answer_time(a, "tree");
	jw_open(&a->j, '{');
	write_event(q, w, column);
	for (int i = 0; i < 2; i++)
		use_names(&u, &trees[i]);
	write_names(&a->j, &u, q->d);
	for (int i = 0; i < 2; i++) {
		jw_key(&a->j, keys[i]);
		jw_open(&a->j, '{');
		jw_kv_u64(&a->j, "total", trees[i].nodes.items[0].total);
		write_nodes(a, &trees[i], &u);
		jw_close(&a->j, '}');
		path_flame_release(&trees[i]);
	}
	jw_close(&a->j, '}');
	free(u.number);
	vec_release(&u.names);
}

static void answer_tree(struct question *q, const struct flame_asked *asked,
			const struct node_weights *w, const struct flame_column *column)
{
	struct used_names u = {.number = xcalloc(q->d->paths.names.len, sizeof(uint32_t))};
	struct answer *a = &q->answer;
	struct path_flame f;

	if (!strcmp(asked->mode, "inverted"))
		path_flame_inverted(&f, &q->d->paths, w->self, &asked->options);
	else
		path_flame_plain(&f, &q->d->paths, w->self, &asked->options);
	answer_time(a, "tree");
	use_names(&u, &f);
	jw_open(&a->j, '{');
	write_event(q, w, column);
	write_names(&a->j, &u, q->d);
	write_nodes(a, &f, &u);
	jw_close(&a->j, '}');
	path_flame_release(&f);
	free(u.number);
	vec_release(&u.names);
}

static int parse_mode(const struct http_request *r, struct flame_options *o, const char **ret_mode,
		      struct err *e)
{
	uint64_t limit = FLAME_LIMIT;
	int rc;

	*o = (struct flame_options){.min_share = FLAME_MIN_SHARE};
	rc = api_param_double(r, "min", 0, 1, &o->min_share, e);
	if (rc == 0)
		rc = api_param_u64(r, "limit", FLAME_LIMIT, &limit, e);
	o->limit = limit;
	*ret_mode = http_query(r, "mode");
	if (!*ret_mode)
		*ret_mode = "plain";
	if (rc == 0 && strcmp(*ret_mode, "plain") && strcmp(*ret_mode, "inverted") &&
	    strcmp(*ret_mode, "sandwich") && strcmp(*ret_mode, "ordered"))
		rc = err_set(e, EINVAL,
			     "The parameter mode is plain, inverted, sandwich or ordered.");
	if (rc == 0 && !strcmp(*ret_mode, "sandwich") && !http_query(r, "function"))
		rc = err_set(e, EINVAL,
			     "A sandwich is about one function: the parameter function names it.");
	return rc;
}

int flame_parse(const struct question *q, struct flame_asked *ret, struct err *e)
{
	const char *function = http_query(q->r, "function");
	int rc;

	*ret = (struct flame_asked){};
	rc = parse_mode(q->r, &ret->options, &ret->mode, e);
	if (rc < 0 || strcmp(ret->mode, "sandwich"))
		return rc;
	ret->wanted = xcalloc(q->d->paths.names.len, sizeof(*ret->wanted));
	if (find_function(q, function, ret->wanted))
		return 0;
	flame_asked_release(ret);
	return err_set(e, ENOENT, "The run has no function '%.200s'.", function);
}

void flame_asked_release(struct flame_asked *f)
{
	free(f->wanted);
	f->wanted = NULL;
}

void flame_answer(struct question *q, const struct flame_asked *f, const struct node_weights *w,
		  const struct flame_column *column)
{
	if (f->wanted)
		answer_sandwich(q, f, w, column);
	else
		answer_tree(q, f, w, column);
}

static int flame(struct question *q, struct err *e)
{
	CLEANUP(flame_asked_release) struct flame_asked asked = {};
	struct node_weights w;
	int rc = flame_parse(q, &asked, e);

	if (rc < 0)
		return rc;
	if (!strcmp(asked.mode, "ordered"))
		return flame_ordered(q, e);
	rc = selection_weigh(&q->sel, q->d, q->api->store, &w, e);
	if (rc < 0)
		return rc;
	answer_time(&q->answer, "weigh");
	flame_answer(q, &asked, &w, NULL);
	node_weights_release(&w);
	return 0;
}

static int get_flame(void *worker, const struct http_request *r, struct http_reply *reply,
		     struct err *e)
{
	static const char *const params[] = {SELECTION_PARAMS, "format", "mode",
					     "function",       "module", "min",
					     "limit",          "pixels", NULL};

	return question_ask(worker, r, reply, params, flame, e);
}

/* ---- functions ---- */

static int by_total(const void *a, const void *b)
{
	const struct path_function *x = a, *y = b;

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return x->self > y->self ? -1 : x->self < y->self;
}

static void write_function(struct json *j, const struct run_data *d, const struct path_function *f)
{
	const struct path_name *n = &d->paths.names.items[f->name];

	jw_open(j, '{');
	jw_kv_str(j, "name", profile_text(&d->profile, n->label));
	jw_kv_str(j, "module", profile_text(&d->profile, n->module));
	jw_kv_str(j, "kind", code_kind_name(n->kind));
	jw_kv_u64(j, "self", f->self);
	jw_kv_u64(j, "total", f->total);
	jw_kv_u64(j, "self_samples", f->self_samples);
	jw_kv_u64(j, "total_samples", f->total_samples);
	jw_close(j, '}');
}

/* Writes a page of the matching functions; the cursor is the number of matches before the page. */
static void write_functions(struct question *q, const path_functions *functions,
			    const struct page *page)
{
	struct json *j = &q->answer.j;
	const struct profile *p = &q->d->profile;
	int64_t at = 0, next = 0;
	unsigned shown = 0;

	jw_key(j, "functions");
	jw_open(j, '[');
	vec_each(functions, f) {
		const struct path_name *n = &q->d->paths.names.items[f->name];

		if (page->search && !text_contains(profile_text(p, n->label), page->search) &&
		    !text_contains(profile_text(p, n->module), page->search))
			continue;
		if (at++ < page->before)
			continue;
		if (shown == page->limit) {
			next = at - 1;
			break;
		}
		write_function(j, q->d, f);
		shown++;
	}
	jw_close(j, ']');
	api_json_next(j, next);
}

static int functions(struct question *q, struct err *e)
{
	const char *sort = http_query(q->r, "sort");
	path_functions found = {};
	struct node_weights w = {};
	struct page page = {};
	int rc = api_page(q->r, &page, e);

	if (rc == 0 && sort && strcmp(sort, "self") && strcmp(sort, "total"))
		rc = err_set(e, EINVAL, "The parameter sort is self or total.");
	if (rc == 0)
		rc = selection_weigh(&q->sel, q->d, q->api->store, &w, e);
	if (rc < 0)
		return rc;
	answer_time(&q->answer, "weigh");
	path_functions_make(&found, &q->d->paths, w.self, w.samples);
	if (sort && !strcmp(sort, "total") && found.len)
		qsort(found.items, found.len, sizeof(*found.items), by_total);
	answer_time(&q->answer, "table");
	jw_open(&q->answer.j, '{');
	write_event(q, &w, NULL);
	write_functions(q, &found, &page);
	jw_close(&q->answer.j, '}');
	vec_release(&found);
	node_weights_release(&w);
	return 0;
}

static int get_functions(void *worker, const struct http_request *r, struct http_reply *reply,
			 struct err *e)
{
	static const char *const params[] = {SELECTION_PARAMS, "limit", "before",
					     "search",         "sort",  NULL};

	return question_ask(worker, r, reply, params, functions, e);
}

/* ---- the ledger ---- */

struct notes {
	struct json *j;
	uint64_t start_ns;
};

static int write_note(void *ctx, uint64_t time_ns, const char *text)
{
	struct notes *n = ctx;

	jw_open(n->j, '{');
	jw_key(n->j, "ns");
	jw_i64(n->j, (int64_t)(time_ns - n->start_ns));
	jw_kv_str(n->j, "text", text);
	jw_close(n->j, '}');
	return 0;
}

static int get_ledger(void *worker, const struct http_request *r, struct http_reply *reply,
		      struct err *e)
{
	static const char *const params[] = {NULL};
	CLEANUP(stored_run_release) struct stored_run run = {};
	struct api *a = worker;
	struct json j = jw_to(&reply->body);
	struct notes notes = {.j = &j};
	struct ledger_run about;
	json_t *ledger, *opened;
	int rc = api_params_known(r, params, e);

	if (rc == 0)
		rc = api_run_find(a, r->args[0], &run, e);
	if (rc < 0)
		return rc;
	notes.start_ns = (uint64_t)run.start_ns;
	ledger = run.ledger ? json_loads(run.ledger, 0, NULL) : NULL;
	jw_open(&j, '{');
	opened = run.opened ? json_loads(run.opened, 0, NULL) : NULL;
	about = ledger_run_of(&run);
	jw_key(&j, "ledger");
	ledger_json(&j, ledger);
	ledger_json_words(&j, ledger, opened, &about);
	json_decref(ledger);
	json_decref(opened);
	jw_key(&j, "notes");
	jw_open(&j, '[');
	rc = store_notes(a->store, run.id, write_note, &notes, e);
	reply->immutable = run_state_ended(run.state);
	jw_close(&j, ']');
	jw_close(&j, '}');
	return rc;
}

#define RUN API_PREFIX "/benchmark/{id}"

#define ASK(p, h)                                                                                  \
	{                                                                                          \
		.method = "GET", .path = (p), .role = ROLE_LOOK, .slow = true, .handle = (h)       \
	}

const struct http_route query_routes[] = {
	ASK(RUN "/timeline", api_timeline),
	ASK(RUN "/flame", get_flame),
	ASK(RUN "/functions", get_functions),
	ASK(RUN "/points", api_points),
	ASK(RUN "/heatmap", api_heatmap),
	ASK(RUN "/histogram", api_histogram),
	ASK(RUN "/threads", api_threads),
	ASK(RUN "/table", api_table_list),
	ASK(RUN "/table/{name}", api_table_rows),
	ASK(RUN "/table/{name}/group", api_table_group),
	ASK(RUN "/table/{name}/histogram", api_table_histogram),
	ASK(RUN "/table/{name}/heatmap", api_table_heatmap),
	ASK(RUN "/table/{name}/flame", api_table_flame),
	ASK(RUN "/table/{name}/lanes", api_table_lanes),
	{.method = "GET", .path = RUN "/ledger", .role = ROLE_LOOK, .handle = get_ledger},
	ASK(RUN "/annotate", api_annotate),
	ASK(API_PREFIX "/diff", api_diff),
	ASK(API_PREFIX "/diff/counters", api_diff_counters),
	{},
};
