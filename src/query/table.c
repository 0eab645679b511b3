#include "query/table.h"
#include "base/number.h"
#include "base/parallel.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DECODE_THREADS_MAX 4u
#define BATCH_CHUNKS       8u /* read before they are decoded in parallel */

/* ---- columns ---- */

static const struct table_column derived_columns[] = {
	{{"pid", "", "process of the thread", TAG_THREAD, VALUE_UNSIGNED, AS_KEY, 4}, DERIVED_PID},
	{{"tid", "", "number of the thread", TAG_THREAD, VALUE_UNSIGNED, AS_KEY, 4}, DERIVED_TID},
	{{"comm", "", "name of the thread", TAG_THREAD, VALUE_STRING, AS_KEY, 4}, DERIVED_COMM},
	{{"function", "", "innermost function of the stack", TAG_STACK, VALUE_STRING, AS_KEY, 4},
	 DERIVED_FUNCTION},
};

static bool has_tag(const struct table_query *q, uint32_t tag)
{
	for (size_t i = 0; i < q->table.column_count; i++)
		if (q->columns.items[i].schema.tag == tag)
			return true;
	return false;
}

static bool has_name(const struct table_query *q, const char *name)
{
	vec_each(&q->columns, c)
		if (!strcmp(c->schema.name, name))
			return true;
	return false;
}

/* A field of the table's own comes before a derived column of that name. */
static void list_columns(struct table_query *q)
{
	for (size_t i = 0; i < q->table.column_count; i++)
		vec_push(&q->columns,
			 (struct table_column){.schema = profile_schema_column(
						       &q->d->profile, q->table.number, i)});
	for (size_t i = 0; i < ARRAY_LEN(derived_columns); i++)
		if (has_tag(q, derived_columns[i].schema.tag) &&
		    !has_name(q, derived_columns[i].schema.name))
			vec_push(&q->columns, derived_columns[i]);
}

int table_column_find(const struct table_query *q, const char *name, size_t *ret, struct err *e)
{
	CLEANUP(suggest_release) struct suggest nearest = {.wanted = name};
	CLEANUP(buf_release) struct buf text = {};

	for (size_t i = 0; i < q->columns.len; i++) {
		if (!strcmp(q->columns.items[i].schema.name, name)) {
			*ret = i;
			return 0;
		}
		suggest_offer(&nearest, q->columns.items[i].schema.name);
	}
	buf_addf(&text, "The table '%.100s' has no column '", q->table.name);
	text_add_printable(&text, name);
	buf_add(&text, "'");
	suggest_sentence(&nearest, &text);
	return err_set(e, EINVAL, "%s%s", buf_str(&text), nearest.count ? "" : ".");
}

/* ---- opening ---- */

static int find_field(const void *ctx, const char *name, size_t len, enum predicate_type *ret_type)
{
	const struct table_query *q = ctx;

	for (size_t i = 0; i < q->columns.len; i++) {
		const struct column_schema *c = &q->columns.items[i].schema;

		if (strlen(c->name) != len || memcmp(c->name, name, len))
			continue;
		*ret_type = table_column_is_text(&q->columns.items[i])         ? PREDICATE_TEXT
			    : c->type == VALUE_SIGNED || c->type == VALUE_TIME ? PREDICATE_SIGNED
			    : c->type == VALUE_FLOAT                           ? PREDICATE_FLOAT
			    : c->type == VALUE_STACK || c->type == VALUE_THREAD
				    ? PREDICATE_OPAQUE
				    : PREDICATE_UNSIGNED;
		return (int)i;
	}
	return -1;
}

/* Fields of the table's own come first. */
static const char *field_name(const void *ctx, size_t n)
{
	const struct table_query *q = ctx;
	size_t own = 0;

	for (int common = 0; common < 2; common++)
		vec_each(&q->columns, c)
			if ((c->schema.tag < SCHEMA_TAG_OWN) == common && own++ == n)
				return c->schema.name;
	return NULL;
}

/* Rows of counts do not say which counter they are of, their chunk does: questions about counters ask them. */
static bool has_rows_of_its_own(uint32_t schema)
{
	return schema != SCHEMA_COUNTS;
}

static int find_table(struct table_query *q, const char *name, struct err *e)
{
	CLEANUP(suggest_release) struct suggest nearest = {.wanted = name};
	CLEANUP(buf_release) struct buf text = {};

	for (uint32_t n = SCHEMA_SAMPLES; n < profile_schemas_end(&q->d->profile); n++)
		if (has_rows_of_its_own(n) && profile_schema(&q->d->profile, n, &q->table) &&
		    !strcmp(q->table.name, name))
			return 0;
	for (uint32_t n = SCHEMA_SAMPLES; n < profile_schemas_end(&q->d->profile); n++)
		if (has_rows_of_its_own(n) && profile_schema(&q->d->profile, n, &q->table))
			suggest_offer(&nearest, q->table.name);
	buf_add(&text, "The run has no table '");
	text_add_printable(&text, name);
	buf_add(&text, "'");
	suggest_sentence(&nearest, &text);
	return err_set(e, ENOENT, "%s%s", buf_str(&text), nearest.count ? "" : ".");
}

static int find_texts(struct table_query *q, struct err *e)
{
	bool own = false;

	vec_each(&q->columns, c)
		own |= c->schema.type == VALUE_STRING && !c->derived;
	q->texts = &q->d->profile;
	return own && !q->d->whole ? run_cache_addresses(q->s, q->d, &q->texts, e) : 0;
}

int table_query_open_schema(struct table_query *q, struct run_data *d, struct store *s,
			    const struct selection *sel, const struct table_schema *table,
			    struct err *e)
{
	int rc;

	*q = (struct table_query){.d = d, .s = s, .sel = sel, .table = *table};
	list_columns(q);
	rc = find_texts(q, e);
	if (rc < 0)
		table_query_close(q);
	return rc;
}

int table_query_open(struct table_query *q, struct run_data *d, struct store *s,
		     const struct selection *sel, const char *table, const char *where,
		     struct err *e)
{
	struct predicate_names names = {.find = find_field, .name = field_name, .ctx = q};
	struct table_query found = {.d = d};
	int rc = find_table(&found, table, e);

	if (rc == 0)
		rc = table_query_open_schema(q, d, s, sel, &found.table, e);
	if (rc < 0)
		return rc;
	names.subject = q->table.name;
	if (rc == 0 && where && *where)
		rc = predicate_parse(&q->where, where, &names, e);
	if (rc < 0)
		table_query_close(q);
	return rc;
}

void table_query_close(struct table_query *q)
{
	predicate_free(q->where);
	vec_release(&q->columns);
	*q = (struct table_query){};
}

void tables_each(const struct run_data *d,
		 void (*table)(void *ctx, const struct table_schema *t,
			       const struct table_rows_known *rows),
		 void *ctx)
{
	uint32_t end = profile_schemas_end(&d->profile);
	CLEANUP(free_ptr) struct table_rows_known *known = xcalloc(end, sizeof(*known));
	struct table_schema t;

	vec_each(&d->chunks, chunk) {
		const struct chunk_info *info = &chunk->stored.info;
		struct table_rows_known *k = info->schema < end ? &known[info->schema] : &known[0];

		if (!k->rows || info->first_ns < k->first_ns)
			k->first_ns = info->first_ns;
		k->last_ns = info->last_ns > k->last_ns ? info->last_ns : k->last_ns;
		k->rows += info->rows;
	}
	for (uint32_t n = SCHEMA_SAMPLES; n < end; n++)
		if (known[n].rows && has_rows_of_its_own(n) && profile_schema(&d->profile, n, &t))
			table(ctx, &t, &known[n]);
}

/* ---- values ---- */

bool table_column_is_text(const struct table_column *c)
{
	return c->schema.type == VALUE_STRING || c->schema.type == VALUE_EVENT ||
	       c->schema.type == VALUE_COUNTER;
}

static const struct profile_thread *thread_of(const struct profile *p, uint64_t n)
{
	return &p->threads.items[n < p->threads.len ? n : 0];
}

static uint64_t derive(const struct table_query *q, enum table_derived derived, uint64_t value)
{
	const struct run_data *d = q->d;
	const struct profile *p = &d->profile;

	switch (derived) {
	case DERIVED_PID:
		return thread_of(p, value)->pid;
	case DERIVED_TID:
		return thread_of(p, value)->tid;
	case DERIVED_COMM:
		return thread_of(p, value)->comm.n;
	case DERIVED_FUNCTION: {
		uint32_t node = call_path_known(&d->paths, (uint32_t)value);

		return d->paths.names.items[d->paths.nodes.items[node].name].label.n;
	}
	default:
		return value;
	}
}

static uint64_t value_at(const struct table_query *q, const struct table_column *c,
			 const uint64_t *values, uint32_t row)
{
	uint64_t value = values ? values[row] : 0;

	return c->derived ? derive(q, c->derived, value) : value;
}

uint64_t table_value(const struct table_query *q, const struct table_column *c,
		     const struct chunk_columns *columns, uint32_t row)
{
	return value_at(q, c, chunk_column(columns, c->schema.tag), row);
}

/* Names of threads and functions are texts of the run as it is kept in memory. */
static const struct profile *texts_of(const struct table_query *q, const struct table_column *c)
{
	return c->schema.type == VALUE_STRING && !c->derived ? q->texts : &q->d->profile;
}

uint64_t table_text_number(const struct table_query *q, const struct table_column *c,
			   uint64_t value)
{
	const struct profile *p = texts_of(q, c);
	size_t limit = c->schema.type == VALUE_STRING  ? p->strings.starts.len
		       : c->schema.type == VALUE_EVENT ? p->events.len
						       : p->counters.len;

	return value < limit ? value : 0;
}

const char *table_text(const struct table_query *q, const struct table_column *c, uint64_t value)
{
	const struct profile *p = texts_of(q, c);
	uint64_t n = table_text_number(q, c, value);
	string_id text = {};

	if (c->schema.type == VALUE_STRING)
		text.n = (uint32_t)n;
	else if (c->schema.type == VALUE_EVENT && p->events.len)
		text = p->events.items[n].name;
	else if (c->schema.type == VALUE_COUNTER && p->counters.len)
		text = p->counters.items[n].name;
	return profile_text(p, text);
}

static double double_of(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

uint64_t table_order(const struct table_column *c, uint64_t value)
{
	const uint64_t sign = 1ull << 63;

	if (c->schema.type == VALUE_SIGNED)
		return value ^ sign;
	if (c->schema.type == VALUE_FLOAT)
		return value & sign ? ~value : value | sign;
	return value;
}

double table_number(const struct table_column *c, uint64_t value)
{
	if (c->schema.type == VALUE_SIGNED)
		return (double)(int64_t)value;
	return c->schema.type == VALUE_FLOAT ? double_of(value) : (double)value;
}

/* ---- rows ---- */

struct table_job {
	uint32_t chunk;
	struct buf bytes;
	struct chunk_columns *columns;
	uint32_t *row;
	size_t count;
	struct err e;
	int rc;
};

struct table_batch {
	const struct table_query *q;
	const uint32_t *tags; /* to decode; NULL: all */
	struct table_job jobs[BATCH_CHUNKS];
	size_t count;
};

/* Columns of a chunk, for the condition. */
struct field_values {
	const struct table_query *q;
	const uint64_t **values; /* by column of the table; only of those that it uses */
	uint32_t row;
};

static uint64_t field_number(const void *ctx, unsigned field)
{
	const struct field_values *f = ctx;
	const struct table_column *c = &f->q->columns.items[field];
	uint64_t value = value_at(f->q, c, f->values[field], f->row);

	/* People know times since the run began, as answers have them. */
	return c->schema.type == VALUE_TIME ? value - f->q->d->start_ns : value;
}

static const char *field_text(const void *ctx, unsigned field)
{
	const struct field_values *f = ctx;

	return table_text(f->q, &f->q->columns.items[field], field_number(ctx, field));
}

static void choose_where(const struct table_query *q, struct table_job *j)
{
	CLEANUP(free_ptr)
	const uint64_t **values = xcalloc(q->columns.len, sizeof(const uint64_t *));
	struct field_values f = {.q = q, .values = values};
	const struct predicate_row row = {field_number, field_text, &f};
	size_t count, kept = 0;
	const unsigned *fields = predicate_fields(q->where, &count);

	for (size_t i = 0; i < count; i++)
		values[fields[i]] =
			chunk_column(j->columns, q->columns.items[fields[i]].schema.tag);
	for (size_t i = 0; i < j->count; i++) {
		f.row = j->row[i];
		if (predicate_test(q->where, &row))
			j->row[kept++] = f.row;
	}
	j->count = kept;
}

static bool is_selected(const struct selection *sel, const struct run_data *d, uint64_t thread,
			uint64_t cpu, uint64_t stack)
{
	return (!sel->threads || sel->threads[thread < d->profile.threads.len ? thread : 0]) &&
	       (!sel->cpus || (cpu < CPU_LIMIT && sel->cpus[cpu])) &&
	       (!sel->nodes || sel->nodes[call_path_known(&d->paths, (uint32_t)stack)]);
}

/* Whether a span or point lies in the window: a span if any part of it does. */
static bool in_window(const struct selection *sel, uint64_t start_ns, uint64_t end_ns)
{
	return start_ns < sel->to_ns && end_ns >= sel->from_ns;
}

static void choose_rows(const struct table_query *q, struct table_job *j)
{
	const struct selection *sel = q->sel;
	const uint64_t *time_ns = j->columns->columns[0].values;
	const uint64_t *end_ns = chunk_column(j->columns, TAG_END);
	const uint64_t *thread = chunk_column(j->columns, TAG_THREAD);
	const uint64_t *cpu = chunk_column(j->columns, TAG_CPU);
	const uint64_t *stack = chunk_column(j->columns, TAG_STACK);
	const uint64_t *event = chunk_column(j->columns, TAG_EVENT);

	j->row = xrealloc(NULL, j->columns->rows, sizeof(*j->row));
	for (uint32_t i = 0; i < j->columns->rows; i++)
		if (in_window(sel, time_ns[i], end_ns ? end_ns[i] : time_ns[i]) &&
		    (sel->event < 0 || (event ? event[i] : 0) == (uint64_t)sel->event) &&
		    is_selected(sel, q->d, thread ? thread[i] : 0, cpu ? cpu[i] : 0,
				stack ? stack[i] : 0))
			j->row[j->count++] = i;
	if (q->where && j->count)
		choose_where(q, j);
}

static void decode_job(void *ctx, size_t item, unsigned thread)
{
	struct table_batch *b = ctx;
	struct table_job *j = &b->jobs[item];

	(void)thread;
	j->columns = xcalloc(1, sizeof(*j->columns));
	j->rc = chunk_decode(buf_str(&j->bytes), j->bytes.len, b->tags, j->columns, &j->e);
	buf_release(&j->bytes);
	if (j->rc == 0)
		choose_rows(b->q, j);
}

static void batch_clear(struct table_batch *b)
{
	for (size_t i = 0; i < b->count; i++) {
		struct table_job *j = &b->jobs[i];

		buf_release(&j->bytes);
		if (j->columns)
			chunk_columns_release(j->columns);
		free(j->columns);
		free(j->row);
		*j = (struct table_job){};
	}
	b->count = 0;
}

static int visit_batch(struct table_batch *b, table_visitor visit, void *ctx, struct err *e)
{
	int rc = 0;

	parallel_each(b->count, parallel_cpus(DECODE_THREADS_MAX), decode_job, b);
	for (size_t i = 0; i < b->count && rc == 0; i++) {
		struct table_job *j = &b->jobs[i];
		struct table_rows rows = {j->columns, j->row, j->count, j->chunk};

		if (j->rc < 0)
			rc = err_set(e, -j->rc, "%s", j->e.text);
		else if (j->count)
			rc = visit(ctx, &rows, e);
	}
	batch_clear(b);
	return rc;
}

/* Tags of the wanted columns, and of those that decide whether a row is selected, ended by 0. */
static uint32_t *list_tags(const struct table_query *q, const int *columns)
{
	const unsigned *fields = NULL;
	size_t count = 0, field_count = 0, wanted = 0;
	uint32_t *tags;

	if (!columns)
		return NULL;
	if (q->where)
		fields = predicate_fields(q->where, &field_count);
	while (columns[wanted] >= 0)
		wanted++;
	tags = xcalloc(wanted + field_count + 6, sizeof(*tags));
	for (size_t i = 0; i < wanted; i++)
		tags[count++] = q->columns.items[columns[i]].schema.tag;
	for (size_t i = 0; i < field_count; i++)
		tags[count++] = q->columns.items[fields[i]].schema.tag;
	tags[count++] = TAG_END;
	if (q->sel->threads)
		tags[count++] = TAG_THREAD;
	if (q->sel->cpus)
		tags[count++] = TAG_CPU;
	if (q->sel->nodes)
		tags[count++] = TAG_STACK;
	if (q->sel->event >= 0)
		tags[count++] = TAG_EVENT;
	return tags;
}

static bool touches(const struct table_query *q, const struct run_chunk *c)
{
	return c->stored.info.schema == q->table.number &&
	       in_window(q->sel, c->stored.info.first_ns, c->stored.info.last_ns);
}

/* @only UINT32_MAX: all chunks. */
static int each(const struct table_query *q, uint32_t only, const int *columns, table_visitor visit,
		void *ctx, struct err *e)
{
	struct table_batch *b = xcalloc(1, sizeof(*b));
	uint32_t *tags = list_tags(q, columns);
	int rc = 0;

	b->q = q;
	b->tags = tags;
	for (uint32_t i = 0; i < q->d->chunks.len && rc == 0; i++) {
		const struct run_chunk *c = &q->d->chunks.items[i];
		struct table_job *j = &b->jobs[b->count];

		if ((only != UINT32_MAX && i != only) || !touches(q, c))
			continue;
		j->chunk = i;
		b->count++;
		rc = store_chunk_read(q->s, c->stored.id, &j->bytes, NULL, e);
		/* The chunk was merged into another one meanwhile. */
		rc = rc == -ENOENT ? -ESTALE : rc;
		if (rc == 0 && b->count == BATCH_CHUNKS)
			rc = visit_batch(b, visit, ctx, e);
	}
	if (rc == 0)
		rc = visit_batch(b, visit, ctx, e);
	batch_clear(b);
	free(tags);
	free(b);
	return rc;
}

int table_each(const struct table_query *q, const int *columns, table_visitor visit, void *ctx,
	       struct err *e)
{
	return each(q, UINT32_MAX, columns, visit, ctx, e);
}

int table_each_of(const struct table_query *q, uint32_t chunk, const int *columns,
		  table_visitor visit, void *ctx, struct err *e)
{
	return each(q, chunk, columns, visit, ctx, e);
}
