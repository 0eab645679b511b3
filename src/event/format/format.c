#include "event/format/format.h"
#include "event/format/program.h"
#include "base/cursor.h"
#include "base/number.h"

#include <errno.h>
#include <string.h>

/* A part of the text, not ended by NUL. */
struct part {
	const char *s;
	size_t len;
};

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static struct part trimmed(struct part p)
{
	while (p.len && is_space(p.s[0])) {
		p.s++;
		p.len--;
	}
	while (p.len && is_space(p.s[p.len - 1]))
		p.len--;
	return p;
}

/* Takes the text before @end, and @end itself, off @rest; all of @rest if there is no @end. */
static struct part take(struct part *rest, char end)
{
	const char *found = memchr(rest->s, end, rest->len);
	struct part p = {rest->s, found ? (size_t)(found - rest->s) : rest->len};
	size_t used = p.len + (found ? 1 : 0);

	rest->s += used;
	rest->len -= used;
	return p;
}

static bool begins(struct part p, const char *with)
{
	size_t len = strlen(with);

	return p.len >= len && !memcmp(p.s, with, len);
}

static struct part without(struct part p, const char *prefix)
{
	size_t len = strlen(prefix);

	return trimmed((struct part){p.s + len, p.len - len});
}

static bool part_u32(struct part p, uint32_t *ret)
{
	uint64_t v = 0;

	if (!p.len || p.len > 10)
		return false;
	for (size_t i = 0; i < p.len; i++) {
		if (p.s[i] < '0' || p.s[i] > '9')
			return false;
		v = v * 10 + (uint64_t)(p.s[i] - '0');
	}
	*ret = (uint32_t)v;
	return v <= UINT32_MAX;
}

/* ---- fields ---- */

static struct ctype type_of_words(struct part p, uint8_t long_bytes)
{
	struct ctype_words words = {};
	struct ctype type = {};

	for (size_t i = 0; i < p.len;) {
		size_t start = i;

		while (i < p.len && is_word(p.s[i]))
			i++;
		if (i > start && words.count < ARRAY_LEN(words.word)) {
			words.word[words.count] = p.s + start;
			words.len[words.count++] = i - start;
		}
		if (i == start)
			i++;
	}
	if (!ctype_of(&words, long_bytes, &type))
		type.bytes = 0;
	return type;
}

/* "unsigned long args[6]", "__data_loc char[] name", "struct page *page". */
static bool field_declaration(struct tracepoint_field *f, struct part p, uint8_t long_bytes)
{
	uint32_t array_len = 0;
	struct part type;
	size_t end;

	p = trimmed(p);
	if (p.len && p.s[p.len - 1] == ']') {
		const char *open = memchr(p.s, '[', p.len);
		struct part inside;

		if (!open)
			return false;
		inside = (struct part){open + 1, (size_t)(p.s + p.len - 1 - (open + 1))};
		f->is_array = true;
		if (part_u32(trimmed(inside), &array_len))
			f->array_len = array_len;
		p = trimmed((struct part){p.s, (size_t)(open - p.s)});
	}
	end = p.len;
	while (p.len && is_word(p.s[p.len - 1]))
		p.len--;
	if (p.len == end)
		return false;
	f->name = xstrndup(p.s + p.len, end - p.len);
	type = trimmed(p);
	f->type = xstrndup(type.s, type.len);
	if (begins(type, "__data_loc"))
		f->place = FIELD_DATA_LOC;
	else if (begins(type, "__rel_loc"))
		f->place = FIELD_REL_LOC;
	if (f->place != FIELD_HERE) {
		type = without(type, f->place == FIELD_DATA_LOC ? "__data_loc" : "__rel_loc");
		f->is_array = f->is_array || memchr(type.s, '[', type.len);
	}
	f->is_pointer = memchr(type.s, '*', type.len);
	f->unit_bytes = f->is_pointer ? long_bytes : type_of_words(type, long_bytes).bytes;
	return true;
}

static void unit_from_length(struct tracepoint_field *f)
{
	uint32_t unit = f->array_len ? f->size / f->array_len : 0;

	if (f->place == FIELD_HERE && (unit == 1 || unit == 2 || unit == 4 || unit == 8))
		f->unit_bytes = (uint8_t)unit;
	if (!f->unit_bytes)
		f->unit_bytes = 1;
}

/* "field:DECLARATION;\toffset:N;\tsize:N;\tsigned:N;" */
static int field_parse(struct tracepoint_format *fmt, struct part line, struct err *e)
{
	struct part whole = line, declaration;
	bool has_offset = false, has_size = false;
	struct tracepoint_field f = {};

	take(&line, ':');
	declaration = take(&line, ';');
	while (line.len) {
		struct part item = trimmed(take(&line, ';'));
		uint32_t number = 0;

		if (begins(item, "offset:"))
			has_offset = part_u32(without(item, "offset:"), &f.offset);
		else if (begins(item, "size:"))
			has_size = part_u32(without(item, "size:"), &f.size);
		else if (begins(item, "signed:") && part_u32(without(item, "signed:"), &number))
			f.is_signed = number;
	}
	if (!has_offset || !has_size || !field_declaration(&f, declaration, fmt->abi.long_bytes)) {
		free(f.name);
		free(f.type);
		return err_set(e, EINVAL, "not a field of a tracepoint format: '%.*s'",
			       (int)(whole.len < 100 ? whole.len : 100), whole.s);
	}
	unit_from_length(&f);
	if (fmt->common_count == fmt->fields.len && !strncmp(f.name, "common_", 7))
		fmt->common_count++;
	vec_push(&fmt->fields, f);
	return 0;
}

/* ---- the whole text ---- */

static int print_fmt_parse(struct tracepoint_format *fmt, struct part text)
{
	struct err why = {};

	if (print_program_parse(fmt, text.s, text.len, &why)) {
		free(fmt->problem);
		fmt->problem = xstrdup(why.text);
	}
	return 0;
}

static int lines_parse(struct tracepoint_format *fmt, struct part rest, struct err *e)
{
	bool has_id = false;
	uint32_t id = 0;

	while (rest.len) {
		struct part from_here = rest, line = trimmed(take(&rest, '\n'));

		if (begins(line, "name:") && !fmt->name) {
			line = without(line, "name:");
			fmt->name = xstrndup(line.s, line.len);
		} else if (begins(line, "ID:")) {
			has_id = part_u32(without(line, "ID:"), &id) && id <= UINT16_MAX;
		} else if (begins(line, "field:") || begins(line, "field special:")) {
			int err = fmt->fields.len < FORMAT_FIELD_LIMIT
					  ? field_parse(fmt, line, e)
					  : err_set(e, E2BIG,
						    "a tracepoint format has more than %d fields",
						    FORMAT_FIELD_LIMIT);

			if (err)
				return err;
		} else if (begins(line, "print fmt:")) {
			/* Strings may span lines, so "print fmt" extends to the end of the text. */
			from_here = trimmed(from_here);
			if (fmt->name && has_id)
				print_fmt_parse(fmt, without(from_here, "print fmt:"));
			break;
		}
	}
	if (!fmt->name || !has_id)
		return err_set(e, EINVAL, "not a tracepoint format: it has no %s",
			       fmt->name ? "number" : "name");
	fmt->id = (uint16_t)id;
	return 0;
}

int tracepoint_format_parse(struct tracepoint_format *ret, const char *system, const char *text,
			    size_t len, struct tracepoint_abi abi, struct err *e)
{
	int err;

	*ret = (struct tracepoint_format){.abi = abi};
	if (len > FORMAT_TEXT_LIMIT)
		return err_set(e, EFBIG,
			       "a tracepoint format of %zu bytes is too long; the limit is %u", len,
			       FORMAT_TEXT_LIMIT);
	if (abi.long_bytes != 4 && abi.long_bytes != 8)
		return err_set(e, EINVAL, "a machine with a 'long' of %u bytes is not known",
			       abi.long_bytes);
	ret->system = xstrdup(system);
	ret->problem = xstrdup("there is no print fmt");
	err = lines_parse(ret, (struct part){text, len}, e);
	if (err)
		tracepoint_format_release(ret);
	return err;
}

void tracepoint_format_release(struct tracepoint_format *f)
{
	vec_each(&f->fields, field) {
		free(field->name);
		free(field->type);
	}
	vec_release(&f->fields);
	print_program_free(f->print);
	free(f->system);
	free(f->name);
	free(f->problem);
	*f = (struct tracepoint_format){};
}

const struct tracepoint_field *tracepoint_format_field(const struct tracepoint_format *f,
						       const char *name)
{
	vec_each(&f->fields, field)
		if (!strcmp(field->name, name))
			return field;
	return NULL;
}

/* ---- data ---- */

static struct cursor data_of(const struct tracepoint_format *f, const void *raw, size_t raw_size)
{
	struct cursor c = cursor_of(raw, raw_size);

	c.swap = f->abi.swap;
	return c;
}

bool tracepoint_field_value(const struct tracepoint_format *f, const struct tracepoint_field *field,
			    const void *raw, size_t raw_size, uint64_t *ret_value)
{
	struct cursor c = data_of(f, raw, raw_size);
	uint64_t v;

	cursor_skip(&c, field->offset);
	switch (field->size) {
	case 1:
		v = cursor_u8(&c);
		v = field->is_signed ? (uint64_t)(int8_t)v : v;
		break;
	case 2:
		v = cursor_u16(&c);
		v = field->is_signed ? (uint64_t)(int16_t)v : v;
		break;
	case 4:
		v = cursor_u32(&c);
		v = field->is_signed ? (uint64_t)(int32_t)v : v;
		break;
	case 8:
		v = cursor_u64(&c);
		break;
	default:
		return false;
	}
	*ret_value = v;
	return !c.failed;
}

const unsigned char *tracepoint_field_bytes(const struct tracepoint_format *f,
					    const struct tracepoint_field *field, const void *raw,
					    size_t raw_size, size_t *ret_len)
{
	uint64_t offset = field->offset, size = field->size;
	struct cursor c = data_of(f, raw, raw_size);

	*ret_len = 0;
	if (field->place != FIELD_HERE) {
		uint32_t word;

		cursor_skip(&c, offset);
		word = cursor_u32(&c);
		if (c.failed || field->size != 4)
			return NULL;
		offset = (field->place == FIELD_REL_LOC ? offset + 4 : 0) + (word & 0xffff);
		size = word >> 16;
	} else if (!size && field->is_array && offset <= raw_size) {
		/* "char buf[]" takes all remaining bytes. */
		size = raw_size - offset;
	}
	if (!raw || offset > raw_size || size > raw_size - offset)
		return NULL;
	*ret_len = size;
	return (const unsigned char *)raw + offset;
}

const char *tracepoint_field_text(const struct tracepoint_format *f,
				  const struct tracepoint_field *field, const void *raw,
				  size_t raw_size, size_t *ret_len)
{
	const unsigned char *bytes = tracepoint_field_bytes(f, field, raw, raw_size, ret_len);

	if (bytes)
		*ret_len = strnlen((const char *)bytes, *ret_len);
	return (const char *)bytes;
}

/* Many addresses are unsigned long, and only printed as pointers: kmalloc's call_site by %pS. */
bool tracepoint_field_is_address(const struct tracepoint_format *f, size_t n)
{
	const struct print_program *p = f->print;

	if (f->fields.items[n].is_pointer || !p)
		return f->fields.items[n].is_pointer;
	vec_each(&p->pieces, piece) {
		const struct node *node;

		if (piece->kind != PIECE_POINTER || piece->arg == PIECE_NO_ARG)
			continue;
		for (node = &p->nodes.items[piece->arg]; node->kind == NODE_CAST;)
			node = &p->nodes.items[node->kid[0]];
		if (node->kind == NODE_FIELD && node->field == n)
			return true;
	}
	return false;
}
