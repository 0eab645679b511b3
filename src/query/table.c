#include "query/table.h"
#include "base/bits.h"
#include "base/number.h"
#include "base/text.h"
#include "query/table_scan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- columns ---- */

static const struct table_column derived_columns[] = {
	{{"pid", "", "process of the thread", TAG_THREAD, VALUE_UNSIGNED, AS_KEY, 4}, DERIVED_PID},
	{{"tid", "", "number of the thread", TAG_THREAD, VALUE_UNSIGNED, AS_KEY, 4}, DERIVED_TID},
	{{"comm", "", "name of the thread", TAG_THREAD, VALUE_STRING, AS_KEY, 4}, DERIVED_COMM},
	{{"function", "", "innermost function of the stack", TAG_STACK, VALUE_STRING, AS_KEY, 4},
	 DERIVED_FUNCTION},
	{{"duration", "ns", "of the span", TAG_END, VALUE_DURATION, AS_VALUE, 8}, DERIVED_DURATION},
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

/* Lists all columns. A column of the schema hides a derived one of the same name. */
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

/* Returns the names of columns for messages: those of the schema first. */
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
	struct table_schema found;
	int rc = profile_schema_find(&d->profile, table, NULL, &found, e);

	if (rc == 0)
		rc = table_query_open_schema(q, d, s, sel, &found, e);
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
		if (known[n].rows && schema_is_listed(n) && profile_schema(&d->profile, n, &t))
			table(ctx, &t, &known[n]);
}

/* ---- values ---- */

bool table_column_is_text(const struct table_column *c)
{
	return value_type_is_text(c->schema.type);
}

static uint64_t derive(const struct table_query *q, enum table_derived derived, uint64_t value)
{
	const struct run_data *d = q->d;
	const struct profile *p = &d->profile;

	switch (derived) {
	case DERIVED_PID:
		return profile_thread_at(p, value)->pid;
	case DERIVED_TID:
		return profile_thread_at(p, value)->tid;
	case DERIVED_COMM:
		return profile_thread_at(p, value)->comm.n;
	case DERIVED_FUNCTION: {
		uint32_t node = call_path_known(&d->paths, value);

		return d->paths.names.items[d->paths.nodes.items[node].name].label.n;
	}
	default:
		return value;
	}
}

/* Returns the value of a column in @row; @values is the stored column with its tag. */
static uint64_t value_at(const struct table_query *q, const struct table_column *c,
			 const struct chunk_columns *columns, const uint64_t *values, uint32_t row)
{
	uint64_t value = values ? values[row] : 0, start_ns = columns->columns[0].values[row];

	if (c->derived == DERIVED_DURATION)
		return value > start_ns ? value - start_ns : 0;
	return c->derived ? derive(q, c->derived, value) : value;
}

uint64_t table_value(const struct table_query *q, const struct table_column *c,
		     const struct chunk_columns *columns, uint32_t row)
{
	return value_at(q, c, columns, chunk_column(columns, c->schema.tag), row);
}

bool table_column_maps(const struct table_column *c)
{
	return c->derived == DERIVED_PID || c->derived == DERIVED_TID ||
	       c->derived == DERIVED_COMM || c->derived == DERIVED_FUNCTION;
}

void table_derive(const struct table_query *q, const struct table_column *c, const uint64_t *raw,
		  size_t count, uint64_t *ret)
{
	for (size_t i = 0; i < count; i++)
		ret[i] = derive(q, c->derived, raw[i]);
}

/* Names of threads and functions are strings of the run's profile, other texts those of the stored dictionary. */
static const struct profile *texts_of(const struct table_query *q, const struct table_column *c)
{
	return c->schema.type == VALUE_STRING && !c->derived ? q->texts : &q->d->profile;
}

size_t table_text_limit(const struct table_query *q, const struct table_column *c)
{
	return profile_text_limit(texts_of(q, c), c->schema.type);
}

uint64_t table_text_number(const struct table_query *q, const struct table_column *c,
			   uint64_t value)
{
	return value < table_text_limit(q, c) ? value : 0;
}

const char *table_text(const struct table_query *q, const struct table_column *c, uint64_t value)
{
	return profile_value_text(texts_of(q, c), c->schema.type, value);
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
	return c->schema.type == VALUE_FLOAT ? double_of_bits(value) : (double)value;
}
