/* Columns of fields of tracepoints: which there are, and which a section shows. */
#include "cmd/report/report.h"

#include <string.h>

/* The column of all fields, until the recording tells which these are. */
static bool is_placeholder(const struct column *c)
{
	return c->by_name && !c->title;
}

static void add_field_column(struct report_view *v, size_t cell)
{
	const char *name = v->resolve.trace.fields.items[cell];
	const char *title = strcmp(name, TRACE_KEY_TEXT) ? name : "Trace output";

	vec_each(&v->columns, c)
		if (c->kind == COLUMN_KEY && c->key == REPORT_FIELDS && c->cell == cell &&
		    !c->by_name)
			return;
	vec_push(&v->columns, (struct column){.kind = COLUMN_KEY,
					      .key = REPORT_FIELDS,
					      .title = title,
					      .cell = (uint32_t)cell});
}

static void add_all_fields(struct report_view *v)
{
	vec_each(&v->columns, c)
		if (c->by_name)
			return;
	v->resolve.trace.all_fields = true;
	vec_push(&v->columns,
		 (struct column){.kind = COLUMN_KEY, .key = REPORT_FIELDS, .by_name = true});
}

bool report_view_add_field(struct report_view *v, const char *name, const char *option)
{
	struct trace_key_options *o = &v->resolve.trace;

	if (!strcmp(name, "trace_fields") && (!v->loaded || o->all_fields)) {
		add_all_fields(v);
		return true;
	}
	for (size_t i = 0; i < o->fields.len; i++)
		if (!strcmp(o->fields.items[i], name)) {
			add_field_column(v, i);
			return true;
		}
	if (v->loaded || !*name)
		return false;
	o->option = option;
	vec_push(&o->fields, xstrdup(name));
	add_field_column(v, o->fields.len - 1);
	return true;
}

void report_view_expand_fields(struct report_view *v)
{
	size_t at = 0;

	while (at < v->columns.len && !is_placeholder(&v->columns.items[at]))
		at++;
	if (at == v->columns.len)
		return;
	memmove(&v->columns.items[at], &v->columns.items[at + 1],
		(--v->columns.len - at) * sizeof(v->columns.items[0]));
	if (!v->field_names.len && v->in.file)
		trace_key_names(&v->in.file->facts, &v->in.file->stream, &v->field_names);
	vec_each(&v->field_names, name) {
		struct column c = {.kind = COLUMN_KEY,
				   .key = REPORT_FIELDS,
				   .title = *name,
				   .cell = (uint32_t)v->resolve.trace.fields.len,
				   .by_name = true};

		vec_push(&v->columns, c);
		memmove(&v->columns.items[at + 1], &v->columns.items[at],
			(v->columns.len - 1 - at) * sizeof(c));
		v->columns.items[at++] = c;
	}
}

/* Whether an entry of the list of all events has the field. */
static bool is_in_list(const struct report_view *v, const struct column *c,
		       const struct report_section *s)
{
	struct trace_cell cell;

	vec_each(&s->entries, n)
		if (column_field(v, c, &v->report.entries.items[*n], &cell))
			return true;
	return false;
}

/* Adds the columns of trace_fields for the only event of a section, in the order of its fields. */
static void add_event_fields(struct report_view *v, const struct report_section *s, uint32_t first)
{
	const char *key = "";
	struct trace_cell cell;

	for (size_t i = 0; i < s->entries.len && !*key; i++) {
		const struct report_entry *e = &v->report.entries.items[s->entries.items[i]];

		key = profile_text(&v->in.profile, v->report.groups.items[e->group].fields);
	}
	for (uint32_t i = first; trace_key_cell(key, i, &cell); i++)
		vec_each(&v->all_columns, c)
			if (c->by_name && strlen(c->title) == cell.name_len &&
			    !memcmp(c->title, cell.name, cell.name_len))
				vec_push(&v->columns, *c);
}

void report_view_choose(struct report_view *v, const struct report_section *s)
{
	bool added = false;

	v->columns.len = 0;
	vec_each(&v->all_columns, c) {
		if (!s || !c->by_name || (v->ro.one_section && is_in_list(v, c, s)))
			vec_push(&v->columns, *c);
		else if (!v->ro.one_section && !added) {
			add_event_fields(v, s, c->cell);
			added = true;
		}
	}
}

void report_view_keep(struct report_view *v)
{
	v->all_columns.len = 0;
	vec_each(&v->columns, c)
		vec_push(&v->all_columns, *c);
}

bool report_view_fields_loaded(const struct report_view *v)
{
	const struct trace_key_options *o = &v->resolve.trace;
	size_t count = 0;

	vec_each(&v->columns, c)
		count += c->kind == COLUMN_KEY && c->key == REPORT_FIELDS &&
			 (!c->by_name || is_placeholder(c));
	return !count || count == o->fields.len + o->all_fields;
}
