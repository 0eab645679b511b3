#include "profile/schema.h"
#include "base/text.h"

#include <errno.h>
#include <string.h>

/* Of tables, if one is asked for that does not exist. A sentence has limited room. */
#define NAMES_SHOWN 8
#define NAMES_BYTES 600

/* ---- names ---- */

static const char *const type_names[] = {
	[VALUE_UNSIGNED] = "unsigned", [VALUE_SIGNED] = "signed",     [VALUE_FLOAT] = "float",
	[VALUE_TIME] = "time",         [VALUE_DURATION] = "duration", [VALUE_ADDRESS] = "address",
	[VALUE_STRING] = "string",     [VALUE_STACK] = "stack",       [VALUE_THREAD] = "thread",
	[VALUE_EVENT] = "event",       [VALUE_COUNTER] = "counter",   [VALUE_CPU] = "cpu",
};

static const char *const role_names[] = {
	[AS_VALUE] = "value", [AS_TIME] = "time",   [AS_END] = "end",       [AS_THREAD] = "thread",
	[AS_CPU] = "cpu",     [AS_STACK] = "stack", [AS_WEIGHT] = "weight", [AS_KEY] = "key",
};

const char *value_type_name(unsigned type)
{
	return type < ARRAY_LEN(type_names) ? type_names[type] : NULL;
}

const char *column_role_name(unsigned role)
{
	return role < ARRAY_LEN(role_names) ? role_names[role] : NULL;
}

bool value_type_is_number(enum value_type type)
{
	return type == VALUE_UNSIGNED || type == VALUE_SIGNED || type == VALUE_FLOAT ||
	       type == VALUE_DURATION;
}

/* ---- the tables of every profile ---- */

static const struct column_schema sample_columns[] = {
	{"time", "ns", "when it was taken", TAG_TIME, VALUE_TIME, AS_TIME, 8},
	{"weight", "", "its period: how often the event had happened", TAG_WEIGHT, VALUE_UNSIGNED,
	 AS_WEIGHT, 8},
	{"address", "", "of data, if the event has one", TAG_ADDRESS, VALUE_ADDRESS, AS_VALUE, 8},
	{"event", "", "", TAG_EVENT, VALUE_EVENT, AS_KEY, 4},
	{"thread", "", "", TAG_THREAD, VALUE_THREAD, AS_THREAD, 4},
	{"stack", "", "", TAG_STACK, VALUE_STACK, AS_STACK, 4},
	{"cpu", "", "", TAG_CPU, VALUE_CPU, AS_CPU, 4},
};

static const struct column_schema count_columns[] = {
	{"time", "ns", "the end of the interval", TAG_TIME, VALUE_TIME, AS_TIME, 8},
	{"duration", "ns", "of the interval", TAG_DURATION, VALUE_DURATION, AS_VALUE, 8},
	{"value", "", "by how much the counter grew", TAG_VALUE, VALUE_UNSIGNED, AS_VALUE, 8},
	{"running", "ppm", "part of the interval in which it was counted", TAG_RUNNING,
	 VALUE_UNSIGNED, AS_VALUE, 4},
};

static const struct built_in {
	struct table_schema table;
	const struct column_schema *columns;
} built_in[SCHEMA_FIRST_OWN] = {
	[SCHEMA_SAMPLES] = {{.name = "samples",
			     .meaning = "samples of all events that have no table of their own",
			     .number = SCHEMA_SAMPLES,
			     .sampled = true,
			     .column_count = ARRAY_LEN(sample_columns)},
			    sample_columns},
	[SCHEMA_COUNTS] = {{.name = "counts",
			    .meaning = "values of counters at intervals, a counter in each chunk",
			    .number = SCHEMA_COUNTS,
			    .column_count = ARRAY_LEN(count_columns)},
			   count_columns},
};

/* ---- schemas of a profile ---- */

bool profile_schema(const struct profile *p, uint32_t number, struct table_schema *ret)
{
	const struct profile_schema *s;

	if (!number || number >= profile_schemas_end(p))
		return false;
	if (number < SCHEMA_FIRST_OWN) {
		*ret = built_in[number].table;
		return true;
	}
	s = &p->schemas.items[number - SCHEMA_FIRST_OWN];
	*ret = (struct table_schema){
		.name = profile_text(p, s->name),
		.meaning = profile_text(p, s->meaning),
		.number = number,
		.is_span = s->is_span,
		.sampled = s->sampled,
		.event = s->event,
		.column_count = s->column_count,
	};
	return true;
}

/* Adds "; it has A, B and C." */
static void list_names(const struct profile *p, const char *other, struct buf *out)
{
	VEC(const char *) names = {};
	size_t shown = 0, limit;

	if (other)
		vec_push(&names, other);
	for (uint32_t n = SCHEMA_SAMPLES; n < profile_schemas_end(p); n++) {
		struct table_schema table;

		if (schema_is_listed(n) && profile_schema(p, n, &table))
			vec_push(&names, table.name);
	}
	/* "and 1 more" would be longer than most names. */
	limit = names.len > NAMES_SHOWN + 1 ? NAMES_SHOWN : names.len;
	buf_add(out, "; it has ");
	for (; shown < limit && out->len < NAMES_BYTES; shown++) {
		if (shown)
			buf_add(out, shown + 1 == names.len ? " and " : ", ");
		text_add_printable(out, names.items[shown]);
	}
	if (shown < names.len)
		buf_addf(out, " and %zu more", names.len - shown);
	buf_add(out, ".");
	vec_release(&names);
}

int profile_schema_find(const struct profile *p, const char *name, const char *other,
			struct table_schema *ret, struct err *e)
{
	CLEANUP(suggest_release) struct suggest nearest = {.wanted = name};
	CLEANUP(buf_release) struct buf text = {};
	struct table_schema table;

	for (uint32_t n = SCHEMA_SAMPLES; n < profile_schemas_end(p); n++) {
		if (!schema_is_listed(n) || !profile_schema(p, n, &table))
			continue;
		if (!strcmp(table.name, name)) {
			*ret = table;
			return 0;
		}
		suggest_offer(&nearest, table.name);
	}
	buf_add(&text, "The run has no table '");
	text_add_printable(&text, name);
	buf_add(&text, "'");
	suggest_sentence(&nearest, &text);
	if (!nearest.count)
		list_names(p, other, &text);
	return err_set(e, ENOENT, "%s", buf_str(&text));
}

struct column_schema profile_schema_column(const struct profile *p, uint32_t number, size_t n)
{
	const struct profile_column *c;

	if (number < SCHEMA_FIRST_OWN)
		return built_in[number].columns[n];
	c = &p->columns.items[p->schemas.items[number - SCHEMA_FIRST_OWN].columns + n];
	return (struct column_schema){
		.name = profile_text(p, c->name),
		.unit = profile_text(p, c->unit),
		.meaning = profile_text(p, c->meaning),
		.tag = c->tag,
		.type = (enum value_type)c->type,
		.role = (enum column_role)c->role,
		.bytes = c->bytes,
	};
}

uint32_t profile_schema_add(struct profile *p, const struct table_schema *table,
			    const struct column_schema *columns)
{
	struct profile_schema added = {
		.name = profile_string(p, table->name),
		.meaning = profile_string(p, table->meaning),
		.event = table->event,
		.columns = (uint32_t)p->columns.len,
		.column_count = (uint32_t)table->column_count,
		.is_span = table->is_span,
		.sampled = table->sampled,
	};

	if (p->schemas.len >= SCHEMAS_MAX || table->column_count > SCHEMA_COLUMNS_MAX) {
		p->refused++;
		return 0;
	}
	for (size_t i = 0; i < table->column_count; i++) {
		const struct column_schema *c = &columns[i];

		vec_push(&p->columns, (struct profile_column){
					      .name = profile_string(p, c->name),
					      .unit = profile_string(p, c->unit),
					      .meaning = profile_string(p, c->meaning),
					      .tag = c->tag,
					      .type = (uint8_t)c->type,
					      .role = (uint8_t)c->role,
					      .bytes = c->bytes,
				      });
	}
	vec_push(&p->schemas, added);
	return profile_schemas_end(p) - 1;
}

/* ---- texts ---- */

size_t profile_text_limit(const struct profile *p, enum value_type type)
{
	return type == VALUE_STRING  ? p->strings.starts.len
	       : type == VALUE_EVENT ? p->events.len
				     : p->counters.len;
}

const char *profile_value_text(const struct profile *p, enum value_type type, uint64_t value)
{
	size_t limit = profile_text_limit(p, type), n = value < limit ? value : 0;
	string_id text = {};

	if (type == VALUE_STRING)
		text.n = (uint32_t)n;
	else if (type == VALUE_EVENT && limit)
		text = p->events.items[n].name;
	else if (type == VALUE_COUNTER && limit)
		text = p->counters.items[n].name;
	return profile_text(p, text);
}
