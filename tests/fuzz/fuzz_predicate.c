/*
 * Conditions on fields: the first bytes are values of the row, the others the condition. What is
 * accepted is tested, also negated and combined with itself, whose results follow from the first one.
 */
#include "base/predicate.h"
#include "base/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NUMBERS    2u
#define TEXT_BYTES 8u
#define ROW_BYTES  (NUMBERS * sizeof(uint64_t) + TEXT_BYTES)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct made_up_row {
	uint64_t numbers[NUMBERS];
	char text[TEXT_BYTES + 1];
};

/* Short names, so that the fuzzer finds them: u, s, f, t and o by their types. */
static const char *const field_names[] = {"u", "s", "f", "t", "o"};
static const enum predicate_type field_types[] = {
	PREDICATE_UNSIGNED, PREDICATE_SIGNED, PREDICATE_FLOAT, PREDICATE_TEXT, PREDICATE_OPAQUE};

static int find(const void *ctx, const char *name, size_t len, enum predicate_type *ret_type)
{
	(void)ctx;
	for (size_t i = 0; i < ARRAY_LEN(field_names); i++)
		if (len == 1 && *name == *field_names[i]) {
			*ret_type = field_types[i];
			return (int)i;
		}
	return -1;
}

static const char *name_at(const void *ctx, size_t n)
{
	(void)ctx;
	return n < ARRAY_LEN(field_names) ? field_names[n] : NULL;
}

static uint64_t number_of(const void *ctx, unsigned field)
{
	const struct made_up_row *row = ctx;

	if (field > 2)
		abort();
	return row->numbers[field % NUMBERS];
}

static const char *text_of(const void *ctx, unsigned field)
{
	const struct made_up_row *row = ctx;

	if (field != 3)
		abort();
	return row->text[0] ? row->text : NULL;
}

static struct predicate_names names = {.find = find, .name = name_at, .subject = "the row"};

/* Returns 1 or 0, or -1 if the text is refused. */
static int result_of(const char *text, const struct made_up_row *row)
{
	const struct predicate_row values = {number_of, text_of, row};
	struct predicate *p = NULL;
	struct err e = {};
	const unsigned *fields;
	size_t count;
	int result;

	if (predicate_parse(&p, text, &names, &e) < 0) {
		if (p || !e.code || !e.text[0])
			abort();
		return -1;
	}
	fields = predicate_fields(p, &count);
	for (size_t i = 0; i < count; i++)
		if (fields[i] >= ARRAY_LEN(field_names) || (i && fields[i] <= fields[i - 1]))
			abort();
	result = count && predicate_test(p, &values);
	predicate_free(p);
	return result;
}

static void expect(const struct made_up_row *row, int wanted, const char *format, const char *text)
{
	char *whole;
	size_t len = strlen(format) + 3 * strlen(text) + 1, at = 0;
	int found;

	whole = xcalloc(1, len);
	/* '$' stands for the condition. */
	for (const char *s = format; *s; s++) {
		size_t n = *s == '$' ? strlen(text) : 1;

		memcpy(whole + at, *s == '$' ? text : s, n);
		at += n;
	}
	whole[at] = '\0';
	found = result_of(whole, row);
	/* It may have become too long, or too deep. */
	if (found != wanted && found >= 0)
		abort();
	if (found < 0 && at < 300)
		abort();
	free(whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct made_up_row row = {};
	struct predicate *p;
	char *text;
	int result;

	if (size < ROW_BYTES)
		return 0;
	memcpy(row.numbers, data, sizeof(row.numbers));
	memcpy(row.text, data + sizeof(row.numbers), TEXT_BYTES);
	text = xcalloc(1, size - ROW_BYTES + 1);
	memcpy(text, data + ROW_BYTES, size - ROW_BYTES);
	text[size - ROW_BYTES] = '\0';
	result = result_of(text, &row);
	if (result >= 0) {
		expect(&row, !result, "!($)", text);
		expect(&row, result, "!(!($))", text);
		expect(&row, result, "($)&&($)", text);
		expect(&row, result, "($)||($)", text);
		expect(&row, 1, "($)||!($)", text);
		expect(&row, 0, "!($)&&($)", text);
		expect(&row, result, "$||$&&$", text);
	}
	/* What only the kernel tests is only parsed. */
	names.for_kernel = true;
	p = NULL;
	if (predicate_parse(&p, text, &names, NULL) < 0 && result >= 0)
		abort();
	predicate_free(p);
	names.for_kernel = false;
	free(text);
	return 0;
}
