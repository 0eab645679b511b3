#include "resolve/trace_fields.h"

#include <errno.h>
#include <string.h>

#define ARRAY_TEXT_MAX 4096u /* of an array that is shown as text */

/* How a field becomes the value of a column. */
enum field_way {
	WAY_NUMBER,
	WAY_TEXT,  /* characters up to NUL */
	WAY_ARRAY, /* numbers as text: {1,2,3} */
	WAY_BYTES, /* as text: hexadecimal digits */
};

struct trace_field {
	const struct tracepoint_field *field;
	bool is_address; /* if it is a number */
	enum field_way way;
};

struct trace_fields {
	struct tracepoint_format format;
	VEC(struct trace_field) fields;
	size_t bytes_min; /* that a sample must have */
};

/* ---- which there are ---- */

static bool is_number(const struct tracepoint_field *f)
{
	return !f->is_array && f->place == FIELD_HERE &&
	       (f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8);
}

static enum field_way way_of(const struct tracepoint_field *f)
{
	/* Bytes that are not characters: addresses of networks, UUIDs. */
	bool small =
		strstr(f->type, "u8") || strstr(f->type, "unsigned char") || strstr(f->type, "s8");

	if (is_number(f))
		return WAY_NUMBER;
	if (!f->is_array)
		return WAY_BYTES;
	if (f->unit_bytes > 1)
		return WAY_ARRAY;
	return small ? WAY_BYTES : WAY_TEXT;
}

static void list_fields(struct trace_fields *f)
{
	for (size_t i = f->format.common_count; i < f->format.fields.len; i++) {
		const struct tracepoint_field *field = &f->format.fields.items[i];
		size_t end = (size_t)field->offset + field->size;

		if (f->fields.len == SCHEMA_COLUMNS_MAX)
			break;
		/* A flexible array at the end has no bytes of its own. */
		f->bytes_min = end > f->bytes_min ? end : f->bytes_min;
		vec_push(&f->fields,
			 (struct trace_field){field, tracepoint_field_is_address(&f->format, i),
					      way_of(field)});
	}
}

struct trace_fields *trace_fields_new(const struct perfdata_facts *facts,
				      const struct stream_event *event)
{
	const struct tracepoint_fact *fact = event->attr.type == PERF_TYPE_TRACEPOINT
						     ? facts_tracepoint(facts, event->attr.config)
						     : NULL;
	struct tracepoint_abi abi = {
		.swap = facts->tracing_swap,
		.long_bytes = (uint8_t)(facts->tracing_long_size ? facts->tracing_long_size : 8),
	};
	struct trace_fields *f;

	if (!fact || !fact->format)
		return NULL;
	f = xcalloc(1, sizeof(*f));
	if (tracepoint_format_parse(&f->format, fact->system, fact->format, strlen(fact->format),
				    abi, NULL) < 0) {
		free(f);
		return NULL;
	}
	list_fields(f);
	return f;
}

void trace_fields_free(struct trace_fields *f)
{
	if (!f)
		return;
	tracepoint_format_release(&f->format);
	vec_release(&f->fields);
	free(f);
}

size_t trace_fields_count(const struct trace_fields *f)
{
	return f->fields.len;
}

static enum value_type type_of(const struct trace_field *t)
{
	if (t->way != WAY_NUMBER)
		return VALUE_STRING;
	if (t->is_address)
		return VALUE_ADDRESS;
	return t->field->is_signed ? VALUE_SIGNED : VALUE_UNSIGNED;
}

struct column_schema trace_fields_column(const struct trace_fields *f, size_t n)
{
	const struct trace_field *t = &f->fields.items[n];

	return (struct column_schema){
		.name = t->field->name,
		.unit = "",
		.meaning = t->field->type,
		.tag = SCHEMA_TAG_OWN + (uint32_t)n,
		.type = type_of(t),
		.role = AS_VALUE,
		.bytes = t->way == WAY_NUMBER ? (uint8_t)t->field->size : 8,
	};
}

/* ---- values ---- */

static void add_array(const struct trace_fields *f, const struct tracepoint_field *field,
		      const unsigned char *bytes, size_t len, struct buf *out)
{
	size_t unit = field->unit_bytes;
	struct tracepoint_field one = {.size = (uint32_t)unit, .is_signed = field->is_signed};
	uint64_t value;

	buf_add_char(out, '{');
	for (size_t at = 0; at + unit <= len && out->len < ARRAY_TEXT_MAX; at += unit) {
		one.offset = (uint32_t)at;
		if (!tracepoint_field_value(&f->format, &one, bytes, len, &value))
			break;
		if (at)
			buf_add_char(out, ',');
		if (field->is_signed)
			buf_addf(out, "%lld", (long long)value);
		else
			buf_addf(out, "%llu", (unsigned long long)value);
	}
	buf_add_char(out, '}');
}

/* Appends the text of a field that is no number; false if it is not inside the sample. */
static bool add_text(const struct trace_fields *f, const struct trace_field *t, const void *raw,
		     size_t raw_size, struct buf *out)
{
	const unsigned char *bytes;
	size_t len;

	if (t->way == WAY_TEXT) {
		const char *s = tracepoint_field_text(&f->format, t->field, raw, raw_size, &len);

		if (s)
			buf_add_mem(out, s, len);
		return s;
	}
	bytes = tracepoint_field_bytes(&f->format, t->field, raw, raw_size, &len);
	if (!bytes)
		return false;
	if (t->way == WAY_ARRAY)
		add_array(f, t->field, bytes, len, out);
	else
		for (size_t i = 0; i < len && out->len < ARRAY_TEXT_MAX; i++)
			buf_addf(out, "%02x", bytes[i]);
	return true;
}

static uint64_t text_of(const struct trace_fields *f, const struct trace_field *t, const void *raw,
			size_t raw_size, struct profile *p, bool add)
{
	CLEANUP(buf_release) struct buf text = {};

	if (!add_text(f, t, raw, raw_size, &text))
		return 0;
	return add ? profile_string_n(p, buf_str(&text), text.len).n
		   : profile_string_known(p, buf_str(&text), text.len).n;
}

bool trace_fields_get(const struct trace_fields *f, size_t n, const void *raw, size_t raw_size,
		      uint64_t *ret, struct buf *text)
{
	const struct trace_field *t = &f->fields.items[n];

	if (!raw_size || raw_size < f->bytes_min)
		return false;
	if (t->way == WAY_NUMBER)
		return tracepoint_field_value(&f->format, t->field, raw, raw_size, ret);
	return !text || add_text(f, t, raw, raw_size, text);
}

void trace_fields_print(const struct trace_fields *f, size_t n, const void *raw, size_t raw_size,
			struct buf *out)
{
	tracepoint_format_print_field(&f->format, f->fields.items[n].field, raw, raw_size, out);
}

const struct tracepoint_format *trace_fields_format(const struct trace_fields *f)
{
	return &f->format;
}

bool trace_fields_read(const struct trace_fields *f, const void *raw, size_t raw_size,
		       struct profile *p, bool add_texts, uint64_t *ret)
{
	if (!raw_size || raw_size < f->bytes_min)
		return false;
	for (size_t i = 0; i < f->fields.len; i++) {
		const struct trace_field *t = &f->fields.items[i];

		ret[i] = 0;
		if (t->way == WAY_NUMBER)
			tracepoint_field_value(&f->format, t->field, raw, raw_size, &ret[i]);
		else
			ret[i] = text_of(f, t, raw, raw_size, p, add_texts);
	}
	return true;
}
