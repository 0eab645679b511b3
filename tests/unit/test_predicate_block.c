/*
 * Conditions on blocks of rows are the same as on each row, and what ranges say of a block holds for its
 * rows: random conditions on random values. TACHO_SEED repeats them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "support.h"
#include "base/bits.h"
#include "base/predicate/predicate.h"
#include "base/vec.h"

#define ROUNDS 3000u
#define FIELDS 5u

static const struct {
	const char *name;
	enum predicate_type type;
} fields[FIELDS] = {
	{"size", PREDICATE_UNSIGNED}, {"result", PREDICATE_SIGNED}, {"ratio", PREDICATE_FLOAT},
	{"path", PREDICATE_TEXT},     {"other", PREDICATE_SIGNED},
};

/* Any number may stand for a text, the largest of all, too. */
#define LAST_TEXT 4u
static const char *const texts[] = {"", "a", "bash", "/usr/lib", "cash"};

static uint64_t values[FIELDS][PREDICATE_BLOCK];
static size_t rows;

static int find(const void *ctx, const char *name, size_t len, enum predicate_type *ret_type)
{
	(void)ctx;
	for (size_t i = 0; i < FIELDS; i++)
		if (strlen(fields[i].name) == len && !memcmp(fields[i].name, name, len)) {
			*ret_type = fields[i].type;
			return (int)i;
		}
	return -1;
}

static const char *name_at(const void *ctx, size_t n)
{
	(void)ctx;
	return n < FIELDS ? fields[n].name : NULL;
}

/* ---- random rows and conditions ---- */

static void make_rows(void)
{
	static const double floats[] = {0.0, -0.0, __builtin_inf(), -__builtin_inf(), 5e-324};
	bool edges = !dice(4);
	uint64_t spread = 1 + dice(12), base = dice(3) ? dice(10) : UINT64_MAX - 30;
	int64_t signed_base = (int64_t)dice(20) - 10;

	rows = 1 + dice(PREDICATE_BLOCK);
	for (size_t i = 0; i < rows; i++) {
		values[0][i] = base + dice(spread);
		values[1][i] = (uint64_t)(signed_base + (int64_t)dice(spread));
		values[2][i] = dice(9) ? bits_of_double(((double)dice(10) - 5) / 2)
				       : bits_of_double(__builtin_nan(""));
		values[3][i] = dice(sizeof(texts) / sizeof(texts[0]));
		values[3][i] = values[3][i] == LAST_TEXT ? UINT64_MAX : values[3][i];
		values[4][i] = (uint64_t)((int64_t)dice(6) - 3);
		/* Edges of signed numbers, zeros with a sign and infinities. */
		if (edges && !dice(6)) {
			values[0][i] = (1ull << 63) - 1 + dice(3);
			values[1][i] = (1ull << 63) - 1 + dice(3);
			values[2][i] = bits_of_double(floats[dice(5)]);
		}
	}
}

static void add_comparison(struct buf *out)
{
	static const char *const numbers[] = {"==", "!=", "<", "<=", ">", ">=", "&"};
	static const char *const patterns[] = {"*ash", "b*", "", "!b*", "/usr/*", "a"};

	switch (dice(5)) {
	case 0:
		buf_addf(out, "size %s %llu", numbers[dice(7)],
			 (unsigned long long)(!dice(4)   ? UINT64_MAX - dice(40)
					      : !dice(4) ? (1ull << 63) - 1 + dice(3)
							 : dice(20)));
		break;
	case 1:
		buf_addf(out, "result %s %lld", numbers[dice(7)],
			 dice(4)   ? (long long)dice(24) - 12
			 : dice(2) ? INT64_MIN
				   : INT64_MAX);
		break;
	case 2:
		buf_addf(out, "ratio %s %g", numbers[dice(6)], ((double)dice(12) - 6) / 2);
		break;
	case 3:
		buf_addf(out, "path %s \"%s\"",
			 dice(2)   ? "~"
			 : dice(2) ? "=="
				   : "!=",
			 patterns[dice(6)]);
		break;
	default:
		buf_addf(out, "other %s %d", numbers[dice(7)], (int)dice(8) - 4);
	}
}

static void add_condition(struct buf *out, unsigned depth)
{
	unsigned terms = 1 + (unsigned)dice(3);

	for (unsigned i = 0; i < terms; i++) {
		if (i)
			buf_add(out, dice(2) ? " && " : " || ");
		if (!dice(4))
			buf_add_char(out, '!');
		if (depth && !dice(2)) {
			buf_add_char(out, '(');
			add_condition(out, depth - 1);
			buf_add_char(out, ')');
		} else {
			buf_add_char(out, '(');
			add_comparison(out);
			buf_add_char(out, ')');
		}
	}
}

/* ---- the same, row by row and as a block ---- */

static uint64_t number_of(const void *ctx, unsigned field)
{
	return values[field][*(const size_t *)ctx];
}

static const char *text_of_number(const void *ctx, unsigned field, uint64_t number)
{
	(void)ctx;
	(void)field;
	return texts[number == UINT64_MAX ? LAST_TEXT : number];
}

static const char *text_of(const void *ctx, unsigned field)
{
	return text_of_number(ctx, field, values[field][*(const size_t *)ctx]);
}

static const uint64_t *numbers_of(const void *ctx, unsigned field)
{
	(void)ctx;
	return values[field];
}

static bool range_of(const void *ctx, unsigned field, struct predicate_range *ret)
{
	(void)ctx;
	*ret = (struct predicate_range){values[field][0], values[field][0],
					(int64_t)values[field][0], (int64_t)values[field][0]};
	for (size_t i = 1; i < rows; i++) {
		uint64_t v = values[field][i];

		ret->min = v < ret->min ? v : ret->min;
		ret->max = v > ret->max ? v : ret->max;
		ret->signed_min = (int64_t)v < ret->signed_min ? (int64_t)v : ret->signed_min;
		ret->signed_max = (int64_t)v > ret->signed_max ? (int64_t)v : ret->signed_max;
	}
	return field != 4;
}

/* Returns what the ranges have said. */
static unsigned compare(const struct predicate *p, struct predicate_scratch *s, const char *text)
{
	const struct predicate_block block = {rows, numbers_of, text_of_number, NULL};
	bool keep[PREDICATE_BLOCK], before[PREDICATE_BLOCK];
	unsigned may = predicate_may(p, range_of, NULL);

	for (size_t i = 0; i < rows; i++)
		keep[i] = before[i] = dice(8);
	predicate_test_block(p, s, &block, keep);
	for (size_t i = 0; i < rows; i++) {
		const struct predicate_row row = {number_of, text_of, &i};
		bool holds = predicate_test(p, &row);

		if (keep[i] != (before[i] && holds))
			fail_msg("row %zu of %zu is %s: %s", i, rows, holds ? "true" : "false",
				 text);
		if (!(may & (holds ? PREDICATE_MAY_HOLD : PREDICATE_MAY_FAIL)))
			fail_msg("row %zu is %s against its range: %s", i, holds ? "true" : "false",
				 text);
	}
	return may;
}

static void blocks_are_as_their_rows(void **state)
{
	const struct predicate_names names = {.find = find, .name = name_at, .subject = "a row"};
	unsigned sure = 0;

	(void)state;
	seed_from_environment(ROUNDS);
	for (unsigned round = 0; round < ROUNDS; round++) {
		CLEANUP(buf_release) struct buf text = {};
		struct predicate_scratch *s;
		struct predicate *p;
		struct err e = {};

		add_condition(&text, 2);
		if (predicate_parse(&p, buf_str(&text), &names, &e) < 0)
			fail_msg("%s", e.text);
		s = predicate_scratch_new(p);
		/* The scratch keeps what it knows of texts from block to block. */
		for (int block = 0; block < 3; block++) {
			make_rows();
			sure += compare(p, s, buf_str(&text)) !=
				(PREDICATE_MAY_HOLD | PREDICATE_MAY_FAIL);
		}
		predicate_scratch_free(s);
		predicate_free(p);
	}
	/* Ranges would be of no use if they never said anything. */
	assert_true(sure > ROUNDS / 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_are_as_their_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
