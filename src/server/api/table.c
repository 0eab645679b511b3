/* Answers questions about the rows of any table of a run (query/table.h). */
#include "server/api/table.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define OFFSET_MAX   (1ull << 40)
#define GROUPS       100u
#define GROUPS_MAX   10000u
#define HEAT_COLUMNS 200u
#define HEAT_ROWS    60u
#define HEAT_MAX     2000u

/* ---- which tables there are ---- */

static void write_column(struct json *j, const struct table_column *c)
{
	jw_open(j, '{');
	jw_kv_str(j, "name", c->schema.name);
	jw_kv_str(j, "type", value_type_name(c->schema.type));
	jw_kv_str(j, "role", column_role_name(c->schema.role));
	jw_kv_str(j, "unit", *c->schema.unit ? c->schema.unit : NULL);
	jw_kv_str(j, "meaning", c->schema.meaning);
	jw_kv_u64(j, "bytes", c->schema.bytes);
	jw_kv_bool(j, "derived", c->derived);
	jw_kv_bool(j, "text", table_column_is_text(c));
	jw_kv_bool(j, "number", value_type_is_number(c->schema.type));
	jw_close(j, '}');
}

static void write_columns(const struct table_query *t, struct json *j)
{
	jw_key(j, "columns");
	jw_open(j, '[');
	vec_each(&t->columns, c)
		write_column(j, c);
	jw_close(j, ']');
}

struct listing {
	struct question *q;
	struct err *e;
	int rc;
};

static void write_table(void *ctx, const struct table_schema *table,
			const struct table_rows_known *known)
{
	struct listing *l = ctx;
	struct question *q = l->q;
	struct json *j = &q->answer.j;
	struct table_query t;

	if (l->rc == 0)
		l->rc = table_query_open_schema(&t, q->d, q->api->store, &q->sel, table, l->e);
	if (l->rc < 0)
		return;
	jw_open(j, '{');
	jw_kv_str(j, "name", table->name);
	jw_kv_str(j, "meaning", table->meaning);
	jw_kv_str(j, "shape", table->is_span ? "span" : "point");
	jw_kv_bool(j, "sampled", table->sampled);
	jw_kv_u64(j, "rows", known->rows);
	jw_key(j, "first_ns");
	jw_i64(j, question_since_start(q, known->first_ns));
	jw_key(j, "last_ns");
	jw_i64(j, question_since_start(q, known->last_ns));
	write_columns(&t, j);
	jw_close(j, '}');
	table_query_close(&t);
}

static int tables(struct question *q, struct err *e)
{
	struct listing l = {q, e, 0};

	jw_open(&q->answer.j, '{');
	jw_key(&q->answer.j, "tables");
	jw_open(&q->answer.j, '[');
	tables_each(q->d, write_table, &l);
	jw_close(&q->answer.j, ']');
	jw_close(&q->answer.j, '}');
	return l.rc;
}

int api_table_list(void *worker, const struct http_request *r, struct http_reply *reply,
		   struct err *e)
{
	static const char *const params[] = {NULL};

	return question_ask(worker, r, reply, params, tables, e);
}

/* ---- values ---- */

void table_question_thread(struct table_question *a, uint64_t value)
{
	const struct profile *p = &a->q->d->profile;
	const struct profile_thread *t = profile_thread_at(p, value);

	jw_open(a->j, '[');
	jw_u64(a->j, t->pid);
	jw_u64(a->j, t->tid);
	jw_str(a->j, profile_text(p, t->comm));
	jw_close(a->j, ']');
}

static void write_address(struct json *j, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)value);
	jw_str(j, text);
}

void table_question_value(struct table_question *a, const struct table_column *c, uint64_t value)
{
	if (table_column_is_text(c)) {
		jw_str(a->j, table_text(&a->t, c, value));
		return;
	}
	switch (c->schema.type) {
	case VALUE_TIME:
		jw_i64(a->j, question_since_start(a->q, value));
		break;
	case VALUE_SIGNED:
		jw_i64(a->j, (int64_t)value);
		break;
	case VALUE_FLOAT:
		jw_double(a->j, table_number(c, value));
		break;
	case VALUE_ADDRESS:
		write_address(a->j, value);
		break;
	case VALUE_THREAD:
		table_question_thread(a, value);
		break;
	default:
		jw_u64(a->j, value);
	}
}

/* ---- rows ---- */

static void write_row(void *ctx, const struct chunk_columns *columns, uint32_t row)
{
	struct table_question *a = ctx;

	jw_open(a->j, '[');
	vec_each(&a->t.columns, c)
		table_question_value(a, c, table_value(&a->t, c, columns, row));
	jw_close(a->j, ']');
}

static int find_order(const struct table_question *a, struct table_order_by *ret, struct err *e)
{
	const char *sort = http_query(a->q->r, "sort"), *order = http_query(a->q->r, "order");
	size_t column;
	int rc = 0;

	*ret = (struct table_order_by){.column = -1};
	if (order && strcmp(order, "asc") && strcmp(order, "desc"))
		return err_set(e, EINVAL, "The parameter order is asc or desc.");
	ret->descending = order && !strcmp(order, "desc");
	if (sort)
		rc = table_column_find(&a->t, sort, &column, e);
	if (rc == 0 && sort)
		ret->column = (int)column;
	return rc;
}

static int answer_rows(struct table_question *a, struct err *e)
{
	uint64_t offset = 0, limit = API_LIMIT;
	struct table_order_by by;
	struct table_page page = {};
	int rc = find_order(a, &by, e);

	if (rc == 0)
		rc = api_param_u64(a->q->r, "offset", OFFSET_MAX, &offset, e);
	if (rc == 0)
		rc = api_param_u64(a->q->r, "limit", API_LIMIT_MAX, &limit, e);
	if (rc == 0)
		rc = table_page_find(&a->t, &by, offset, limit, &page, e);
	if (rc < 0)
		return rc;
	answer_time(&a->q->answer, "find");
	jw_open(a->j, '{');
	jw_kv_str(a->j, "table", a->t.table.name);
	jw_kv_u64(a->j, "matched", page.matched);
	jw_kv_u64(a->j, "offset", offset);
	write_columns(&a->t, a->j);
	jw_key(a->j, "rows");
	jw_open(a->j, '[');
	rc = table_page_each(&a->t, &page, write_row, a, e);
	jw_close(a->j, ']');
	jw_close(a->j, '}');
	table_page_release(&page);
	return rc;
}

/* ---- groups ---- */

/* Writes the sum of a group, as a floating point number if it does not fit into 64 bits. */
static void write_sum(struct json *j, const struct table_column *c, const struct table_group *g)
{
	if (c->schema.type == VALUE_FLOAT)
		jw_double(j, g->sum_float);
	else if (g->sum < INT64_MIN || g->sum > UINT64_MAX)
		jw_double(j, (double)g->sum);
	else if (g->sum < 0)
		jw_i64(j, (int64_t)g->sum);
	else
		jw_u64(j, (uint64_t)g->sum);
}

static double mean_of(const struct table_column *c, const struct table_group *g)
{
	double sum = c->schema.type == VALUE_FLOAT ? g->sum_float : (double)g->sum;

	return sum / (double)g->count;
}

static void write_group(struct table_question *a, const size_t *keys, size_t key_count,
			const struct table_column *value, const struct table_group *g)
{
	struct json *j = a->j;

	jw_open(j, '{');
	jw_key(j, "keys");
	jw_open(j, '[');
	for (size_t i = 0; i < key_count; i++)
		table_question_value(a, &a->t.columns.items[keys[i]], g->keys[i]);
	jw_close(j, ']');
	jw_kv_u64(j, "count", g->count);
	if (value) {
		jw_key(j, "sum");
		write_sum(j, value, g);
		jw_key(j, "min");
		table_question_value(a, value, g->min);
		jw_kv_double(j, "mean", mean_of(value, g));
		jw_key(j, "max");
		table_question_value(a, value, g->max);
		jw_kv_double(j, "p50", g->p50);
		jw_kv_double(j, "p90", g->p90);
		jw_kv_double(j, "p99", g->p99);
	}
	jw_close(j, '}');
}

static int find_keys(const struct table_question *a, const char *list, size_t *ret,
		     size_t *ret_count, struct err *e)
{
	CLEANUP(strvec_release) strvec names = {};
	int rc = 0;

	text_split(list, ",", &names);
	if (!names.len || names.len > TABLE_KEYS_MAX)
		return err_set(e, EINVAL, "The parameter by names 1 to %u columns, as comm,cpu.",
			       TABLE_KEYS_MAX);
	for (size_t i = 0; i < names.len && rc == 0; i++)
		rc = table_column_find(&a->t, names.items[i], &ret[i], e);
	*ret_count = names.len;
	return rc;
}

/* Sets *ret to the column named by the parameter @name, which must be numeric. */
static int find_number(const struct table_question *a, const char *name, size_t *ret, struct err *e)
{
	const char *column = http_query(a->q->r, name);
	int rc;

	if (!column)
		return err_set(e, EINVAL, "The parameter %s names a column with numbers.", name);
	rc = table_column_find(&a->t, column, ret, e);
	if (rc == 0 && !value_type_is_number(a->t.columns.items[*ret].schema.type))
		rc = err_set(e, EINVAL, "The column '%s' has no numbers that can be added up.",
			     column);
	return rc;
}

static int answer_groups(struct table_question *a, struct err *e)
{
	const char *by = http_query(a->q->r, "by");
	size_t keys[TABLE_KEYS_MAX], key_count = 0, value = 0;
	uint64_t limit = GROUPS, shown = 0;
	bool valued = http_query(a->q->r, "value");
	struct table_groups groups = {};
	int rc = by ? find_keys(a, by, keys, &key_count, e)
		    : err_set(e, EINVAL, "Groups need the parameter by: columns, as comm,cpu.");

	if (rc == 0 && valued)
		rc = find_number(a, "value", &value, e);
	if (rc == 0)
		rc = api_param_u64(a->q->r, "limit", GROUPS_MAX, &limit, e);
	if (rc == 0)
		rc = table_group(&a->t, keys, key_count, valued ? (int)value : -1, true, &groups,
				 e);
	if (rc < 0)
		return rc;
	answer_time(&a->q->answer, "group");
	jw_open(a->j, '{');
	jw_kv_u64(a->j, "matched", groups.matched);
	jw_kv_u64(a->j, "groups_in_all", groups.groups.len);
	jw_kv_u64(a->j, "rows_left_out", groups.left_out);
	jw_kv_double(a->j, "percentile_error", TABLE_BIN_WIDTH / 2);
	jw_key(a->j, "groups");
	jw_open(a->j, '[');
	vec_each(&groups.groups, g)
		if (shown++ < limit)
			write_group(a, keys, key_count, valued ? &a->t.columns.items[value] : NULL,
				    g);
	jw_close(a->j, ']');
	jw_close(a->j, '}');
	table_groups_release(&groups);
	return 0;
}

/* ---- distributions ---- */

static int answer_histogram(struct table_question *a, struct err *e)
{
	struct value_list values = {};
	bool log = false;
	size_t column = 0;
	uint32_t bins;
	int rc = find_number(a, "value", &column, e);

	if (rc == 0)
		rc = question_bins(a->q->r, &bins, e);
	if (rc == 0)
		rc = question_scale(a->q->r, &log, e);
	if (rc == 0)
		rc = table_values(&a->t, column, &values, e);
	if (rc == 0) {
		answer_time(&a->q->answer, "read");
		question_spread(a->j, &values, bins, log);
	}
	value_list_release(&values);
	return rc;
}

static int parse_heat(struct table_question *a, struct table_heat *h, struct err *e)
{
	uint64_t columns = HEAT_COLUMNS, rows = HEAT_ROWS;
	int rc = api_param_u64(a->q->r, "pixels", HEAT_MAX, &columns, e);

	if (rc == 0)
		rc = api_param_u64(a->q->r, "rows", HEAT_MAX, &rows, e);
	if (rc == 0)
		rc = question_scale(a->q->r, &h->log, e);
	if (rc == 0 && (!columns || !rows))
		rc = err_set(e, EINVAL, "The parameters pixels and rows are at least 1.");
	h->columns = (uint32_t)columns;
	h->rows = (uint32_t)rows;
	question_window(a->q, &h->from_ns, &h->to_ns);
	return rc;
}

static int answer_heat(struct table_question *a, struct err *e)
{
	struct table_heat h = {};
	size_t column = 0;
	int rc = find_number(a, "value", &column, e);

	if (rc == 0)
		rc = parse_heat(a, &h, e);
	if (rc == 0)
		rc = table_heat_make(&a->t, column, &h, e);
	if (rc == 0) {
		answer_time(&a->q->answer, "heat");
		jw_open(a->j, '{');
		jw_kv_u64(a->j, "matched", h.matched);
		jw_key(a->j, "from_ns");
		jw_i64(a->j, question_since_start(a->q, h.from_ns));
		jw_key(a->j, "to_ns");
		jw_i64(a->j, question_since_start(a->q, h.to_ns));
		jw_kv_u64(a->j, "pixels", h.columns);
		jw_kv_u64(a->j, "rows", h.rows);
		jw_kv_double(a->j, "min", h.min);
		jw_kv_double(a->j, "max", h.max);
		answer_u32(&a->q->answer, "cells", h.cells, (size_t)h.columns * h.rows);
		jw_close(a->j, '}');
	}
	free(h.cells);
	return rc;
}

/* ---- flame graphs ---- */

static int answer_flame(struct table_question *a, struct err *e)
{
	CLEANUP(flame_asked_release) struct flame_asked asked = {};
	const char *name = http_query(a->q->r, "weight");
	struct flame_column about = {.table = a->t.table.name};
	struct table_weights w = {};
	size_t column = 0;
	int rc = flame_parse(a->q, &asked, e);

	if (rc == 0 && !strcmp(asked.mode, "ordered"))
		rc = err_set(e, EINVAL, "The parameter mode is plain, inverted or sandwich.");
	if (rc == 0 && !name)
		rc = err_set(e, EINVAL,
			     "The parameter weight names the column whose numbers are added up.");
	if (rc == 0)
		rc = table_column_find(&a->t, name, &column, e);
	if (rc == 0)
		rc = table_weigh(&a->t, column, &w, e);
	if (rc < 0)
		return rc;
	answer_time(&a->q->answer, "weigh");
	about.column = a->t.columns.items[column].schema.name;
	about.unit = a->t.columns.items[column].schema.unit;
	about.left_out = w.left_out;
	flame_answer(a->q, &asked, &w.nodes, &about);
	node_weights_release(&w.nodes);
	return 0;
}

/* ---- requests ---- */

int table_question_ask(struct question *q, int (*answer)(struct table_question *a, struct err *e),
		       struct err *e)
{
	struct table_question a = {.q = q, .j = &q->answer.j};
	int rc = table_query_open(&a.t, q->d, q->api->store, &q->sel, q->r->args[1],
				  http_query(q->r, "where"), e);

	if (rc < 0)
		return rc;
	rc = answer(&a, e);
	table_query_close(&a.t);
	return rc;
}

static int rows(struct question *q, struct err *e)
{
	return table_question_ask(q, answer_rows, e);
}

static int group(struct question *q, struct err *e)
{
	return table_question_ask(q, answer_groups, e);
}

static int histogram(struct question *q, struct err *e)
{
	return table_question_ask(q, answer_histogram, e);
}

static int heatmap(struct question *q, struct err *e)
{
	return table_question_ask(q, answer_heat, e);
}

static int table_flame(struct question *q, struct err *e)
{
	return table_question_ask(q, answer_flame, e);
}

int api_table_rows(void *worker, const struct http_request *r, struct http_reply *reply,
		   struct err *e)
{
	static const char *const params[] = {SELECTION_PARAMS, "where", "sort", "order",
					     "offset",         "limit", NULL};

	return question_ask(worker, r, reply, params, rows, e);
}

int api_table_group(void *worker, const struct http_request *r, struct http_reply *reply,
		    struct err *e)
{
	static const char *const params[] = {SELECTION_PARAMS, "where", "by",
					     "value",          "limit", NULL};

	return question_ask(worker, r, reply, params, group, e);
}

int api_table_histogram(void *worker, const struct http_request *r, struct http_reply *reply,
			struct err *e)
{
	static const char *const params[] = {SELECTION_PARAMS, "where", "value",
					     "bins",           "scale", NULL};

	return question_ask(worker, r, reply, params, histogram, e);
}

int api_table_heatmap(void *worker, const struct http_request *r, struct http_reply *reply,
		      struct err *e)
{
	static const char *const params[] = {SELECTION_PARAMS, "format", "where", "value",
					     "pixels",         "rows",   "scale", NULL};

	return question_ask(worker, r, reply, params, heatmap, e);
}

int api_table_flame(void *worker, const struct http_request *r, struct http_reply *reply,
		    struct err *e)
{
	static const char *const params[] = {SELECTION_PARAMS, "format", "where", "weight", "mode",
					     "function",       "module", "min",   "limit",  NULL};

	return question_ask(worker, r, reply, params, table_flame, e);
}
