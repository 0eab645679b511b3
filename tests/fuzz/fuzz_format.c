/*
 * Tracepoint formats: the first byte tells byte order and size of a long, then comes the text, a NUL
 * and the data of a sample. Both are at the end of memory of their own.
 */
#include "event/format/format.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *symbol(void *arg, uint64_t address, uint64_t *ret_offset)
{
	(void)arg;
	*ret_offset = address & 0xff;
	return address & 0x100 ? "symbol" : NULL;
}

static const char *string(void *arg, uint64_t address)
{
	(void)arg;
	return address & 1 ? "string" : NULL;
}

/* A copy of exactly that size, so that a read behind it is seen. */
static void *copy_of(const void *mem, size_t size)
{
	void *copy = malloc(size ? size : 1);

	if (!copy)
		abort();
	memcpy(copy, mem, size);
	return copy;
}

static void check_fields(const struct tracepoint_format *f, const unsigned char *raw, size_t size)
{
	vec_each(&f->fields, field) {
		size_t len = 0;
		uint64_t value;
		const unsigned char *bytes = tracepoint_field_bytes(f, field, raw, size, &len);

		if (bytes &&
		    (bytes < raw || bytes > raw + size || len > size - (size_t)(bytes - raw)))
			abort();
		tracepoint_field_text(f, field, raw, size, &len);
		tracepoint_field_value(f, field, raw, size, &value);
		if (!tracepoint_format_field(f, field->name) || !field->unit_bytes)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct format_context ctx = {.symbol = symbol, .string = string};
	struct tracepoint_abi abi = {.long_bytes = 8};
	const uint8_t *end;
	struct tracepoint_format f;
	size_t text_len, raw_len;
	unsigned char *raw;
	struct err e = {};
	char *text;

	if (!size)
		return 0;
	abi.swap = data[0] & 1;
	abi.long_bytes = data[0] & 2 ? 4 : 8;
	data++;
	size--;
	end = memchr(data, '\0', size);
	text_len = end ? (size_t)(end - data) : size;
	raw_len = end ? size - text_len - 1 : 0;
	text = copy_of(data, text_len);
	raw = copy_of(end ? end + 1 : data, raw_len);
	if (tracepoint_format_parse(&f, "fuzz", text, text_len, abi, &e)) {
		if (!e.code || !e.text[0])
			abort();
	} else {
		struct buf out = {};

		check_fields(&f, raw, raw_len);
		tracepoint_format_print(&f, raw, raw_len, &ctx, &out);
		if (out.len > FORMAT_OUTPUT_LIMIT || (!f.print && !f.problem[0]))
			abort();
		buf_clear(&out);
		tracepoint_format_print_fields(&f, raw, raw_len, &out);
		if (out.len > FORMAT_OUTPUT_LIMIT)
			abort();
		buf_release(&out);
		tracepoint_format_release(&f);
	}
	free(text);
	free(raw);
	return 0;
}
