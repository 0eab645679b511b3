/*
 * Conditions on fields: the first bytes are values of the row, the others the condition. What is
 * accepted is tested, also negated and combined with itself, whose results follow from the first one; and
 * as a block of rows, whose ranges must not rule out what the row is.
 */
#include "base/predicate/predicate.h"
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

/* ---- as a block ---- */

/* Two rows: the one of the fuzzer, and one of zeros with no text. */
#define BLOCK_ROWS 2u

struct made_up_block {
	const struct made_up_row *row;
	uint64_t values[BLOCK_ROWS];
};

static const uint64_t *numbers_of(const void *ctx, unsigned field)
{
	struct made_up_block *b = (struct made_up_block *)ctx;

	if (field > 3)
		abort();
	/* Any number may stand for a text. */
	b->values[0] = field == 3 ? UINT64_MAX : b->row->numbers[field % NUMBERS];
	b->values[1] = 0;
	return b->values;
}

static const char *text_of_number(const void *ctx, unsigned field, uint64_t number)
{
	const struct made_up_block *b = ctx;

	return number ? text_of(b->row, field) : NULL;
}

static bool range_of(const void *ctx, unsigned field, struct predicate_range *ret)
{
	const uint64_t *v = numbers_of(ctx, field);

	*ret = (struct predicate_range){0, v[0], (int64_t)v[0] < 0 ? (int64_t)v[0] : 0,
					(int64_t)v[0] > 0 ? (int64_t)v[0] : 0};
	return true;
}

static void check_block(const struct predicate *p, const struct made_up_row *row)
{
	static const struct made_up_row zeros;
	const struct predicate_row rows[BLOCK_ROWS] = {{number_of, text_of, row},
						       {number_of, text_of, &zeros}};
	struct made_up_block made = {.row = row};
	const struct predicate_block b = {BLOCK_ROWS, numbers_of, text_of_number, &made};
	struct predicate_scratch *s = predicate_scratch_new(p);
	unsigned may = predicate_may(p, range_of, &made);
	bool keep[PREDICATE_BLOCK] = {true, true};

	predicate_test_block(p, s, &b, keep);
	for (size_t i = 0; i < BLOCK_ROWS; i++) {
		bool holds = predicate_test(p, &rows[i]);

		if (keep[i] != holds || !(may & (holds ? PREDICATE_MAY_HOLD : PREDICATE_MAY_FAIL)))
			abort();
	}
	predicate_scratch_free(s);
}

/* ---- conditions ---- */

/* The text of the row is in an array of fixed size, or not. */
static bool in_array(const void *ctx, unsigned field)
{
	(void)ctx;
	if (field >= ARRAY_LEN(field_names))
		abort();
	return true;
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
	if (count)
		check_block(p, row);
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

/* What only the kernel tests is only parsed. Of what others can test it refuses some patterns, more of them
 * where texts are in arrays. */
static void check_for_kernel(const char *text, bool accepted)
{
	bool parsed[2];

	names.for_kernel = true;
	for (int array = 0; array < 2; array++) {
		struct predicate *p = NULL;
		struct err e = {};

		names.in_array = array ? in_array : NULL;
		parsed[array] = predicate_parse(&p, text, &names, &e) == 0;
		if (!parsed[array] && (p || !e.text[0]))
			abort();
		predicate_free(p);
	}
	if ((accepted && !parsed[0] && !strchr(text, '~')) || (parsed[1] && !parsed[0]))
		abort();
	names.for_kernel = false;
	names.in_array = NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct made_up_row row = {};
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
	check_for_kernel(text, result >= 0);
	free(text);
	return 0;
}
