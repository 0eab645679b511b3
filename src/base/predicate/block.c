/*
 * Conditions on many rows at once. Each comparison has a mask of the rows that reach it. Comparisons are
 * evaluated in order, because they only lead to later ones, and each passes its rows on to the masks of its
 * two successors.
 */
#include "base/predicate/predicate.h"
#include "base/predicate/program.h"

#include <string.h>

/* Slots of the cache with results of a text comparison, by the number of the text. A collision replaces an
 * entry. */
#define KNOWN_TEXTS 4096u

struct known_text {
	uint64_t number;
	bool known, holds;
};

typedef bool row_mask[PREDICATE_BLOCK];

struct predicate_scratch {
	row_mask *masks; /* by comparison */
	row_mask held;
	struct known_text **texts; /* caches by comparison; NULL: not used yet */
	size_t len;
};

struct predicate_scratch *predicate_scratch_new(const struct predicate *p)
{
	struct predicate_scratch *s = xcalloc(1, sizeof(*s));

	s->len = p->comparisons.len;
	s->masks = xcalloc(s->len, sizeof(*s->masks));
	s->texts = xcalloc(s->len, sizeof(struct known_text *));
	return s;
}

void predicate_scratch_free(struct predicate_scratch *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->len; i++)
		free(s->texts[i]);
	free(s->texts);
	free(s->masks);
	free(s);
}

/* ---- comparisons ---- */

#define EACH(type, condition)                                                                      \
	for (size_t i = 0; i < rows; i++) {                                                        \
		type v;                                                                            \
		memcpy(&v, &values[i], sizeof(v));                                                 \
		held[i] = (condition);                                                             \
	}

#define ORDERED(type, constant)                                                                    \
	switch (c->op) {                                                                           \
	case PREDICATE_EQ:                                                                         \
		EACH(type, v == (constant))                                                        \
		break;                                                                             \
	case PREDICATE_NE:                                                                         \
		EACH(type, v != (constant))                                                        \
		break;                                                                             \
	case PREDICATE_LT:                                                                         \
		EACH(type, v < (constant))                                                         \
		break;                                                                             \
	case PREDICATE_LE:                                                                         \
		EACH(type, v <= (constant))                                                        \
		break;                                                                             \
	case PREDICATE_GT:                                                                         \
		EACH(type, v > (constant))                                                         \
		break;                                                                             \
	case PREDICATE_GE:                                                                         \
		EACH(type, v >= (constant))                                                        \
		break;                                                                             \
	default:                                                                                   \
		memset(held, 0, rows);                                                             \
	}

static void compare_unsigned(const struct comparison *c, const uint64_t *values, size_t rows,
			     bool *held)
{
	ORDERED(uint64_t, c->number)
}

static void compare_signed(const struct comparison *c, const uint64_t *values, size_t rows,
			   bool *held)
{
	ORDERED(int64_t, (int64_t)c->number)
}

/* As in C, NaN is unequal to every number, and neither less nor greater. */
static void compare_float(const struct comparison *c, const uint64_t *values, size_t rows,
			  bool *held)
{
	double constant;

	memcpy(&constant, &c->number, sizeof(constant));
	ORDERED(double, constant)
}

static void compare_bits(const struct comparison *c, const uint64_t *values, size_t rows,
			 bool *held)
{
	for (size_t i = 0; i < rows; i++)
		held[i] = (values[i] & c->number) != 0;
}

static bool compare_text(const struct comparison *c, const char *text)
{
	text = text ? text : "";
	if (c->op == PREDICATE_GLOB)
		return predicate_glob(c->text, text);
	return !strcmp(text, c->text) == (c->op == PREDICATE_EQ);
}

static void compare_texts(const struct comparison *c, struct known_text *known,
			  const struct predicate_block *b, const uint64_t *values, const bool *mask,
			  bool *held)
{
	for (size_t i = 0; i < b->rows; i++) {
		struct known_text *k = &known[values[i] % KNOWN_TEXTS];

		if ((!k->known || k->number != values[i]) && mask[i])
			*k = (struct known_text){
				values[i], true,
				compare_text(c, b->text(b->ctx, c->field, values[i]))};
		held[i] = k->holds;
	}
}

static void compare(const struct predicate *p, struct predicate_scratch *s, size_t n,
		    const struct predicate_block *b)
{
	const struct comparison *c = &p->comparisons.items[n];
	const uint64_t *values;

	if (c->type == PREDICATE_OPAQUE) {
		memset(s->held, 0, sizeof(s->held));
		return;
	}
	values = b->numbers(b->ctx, c->field);
	if (c->type == PREDICATE_TEXT) {
		if (!s->texts[n])
			s->texts[n] = xcalloc(KNOWN_TEXTS, sizeof(*s->texts[n]));
		compare_texts(c, s->texts[n], b, values, s->masks[n], s->held);
	} else if (c->op == PREDICATE_BITS) {
		compare_bits(c, values, b->rows, s->held);
	} else if (c->type == PREDICATE_SIGNED) {
		compare_signed(c, values, b->rows, s->held);
	} else if (c->type == PREDICATE_FLOAT) {
		compare_float(c, values, b->rows, s->held);
	} else {
		compare_unsigned(c, values, b->rows, s->held);
	}
}

/* ---- the whole ---- */

/* Adds the rows of @mask for which the comparison gave @result to @to. */
static void hand_on(bool *to, const bool *mask, const bool *held, bool result, size_t rows)
{
	for (size_t i = 0; i < rows; i++)
		to[i] |= mask[i] & (held[i] == result);
}

void predicate_test_block(const struct predicate *p, struct predicate_scratch *s,
			  const struct predicate_block *b, bool *keep)
{
	row_mask met = {};

	for (size_t n = 1; n < s->len; n++)
		memset(s->masks[n], 0, b->rows);
	memcpy(s->masks[0], keep, b->rows);
	for (size_t n = 0; n < s->len; n++) {
		const struct comparison *c = &p->comparisons.items[n];

		if (!memchr(s->masks[n], true, b->rows))
			continue;
		compare(p, s, n, b);
		for (int result = 0; result < 2; result++)
			if (c->next[result] != PREDICATE_IS_FALSE)
				hand_on(c->next[result] == PREDICATE_IS_TRUE
						? met
						: s->masks[c->next[result]],
					s->masks[n], s->held, result, b->rows);
	}
	memcpy(keep, met, b->rows);
}

/* ---- ranges ---- */

#define MAY(holds, fails) (((holds) ? PREDICATE_MAY_HOLD : 0) | ((fails) ? PREDICATE_MAY_FAIL : 0))
#define MAY_BE_BOTH       (PREDICATE_MAY_HOLD | PREDICATE_MAY_FAIL)

#define MAY_OF(min, max, constant)                                                                 \
	switch (c->op) {                                                                           \
	case PREDICATE_EQ:                                                                         \
		return MAY((min) <= (constant) && (constant) <= (max),                             \
			   (min) != (constant) || (max) != (constant));                            \
	case PREDICATE_NE:                                                                         \
		return MAY((min) != (constant) || (max) != (constant),                             \
			   (min) <= (constant) && (constant) <= (max));                            \
	case PREDICATE_LT:                                                                         \
		return MAY((min) < (constant), (max) >= (constant));                               \
	case PREDICATE_LE:                                                                         \
		return MAY((min) <= (constant), (max) > (constant));                               \
	case PREDICATE_GT:                                                                         \
		return MAY((max) > (constant), (min) <= (constant));                               \
	case PREDICATE_GE:                                                                         \
		return MAY((max) >= (constant), (min) < (constant));                               \
	default:                                                                                   \
		return MAY_BE_BOTH;                                                                \
	}

static unsigned comparison_may(const struct comparison *c, const struct predicate_range *r)
{
	if (c->type == PREDICATE_UNSIGNED)
		MAY_OF(r->min, r->max, c->number)
	if (c->type == PREDICATE_SIGNED)
		MAY_OF(r->signed_min, r->signed_max, (int64_t)c->number)
	return MAY_BE_BOTH;
}

unsigned predicate_may(const struct predicate *p,
		       bool (*range)(const void *ctx, unsigned field, struct predicate_range *ret),
		       const void *ctx)
{
	bool *reached = xcalloc(p->comparisons.len, sizeof(*reached));
	unsigned ret = 0;

	reached[0] = true;
	for (size_t n = 0; n < p->comparisons.len; n++) {
		const struct comparison *c = &p->comparisons.items[n];
		struct predicate_range r;
		unsigned may;

		if (!reached[n])
			continue;
		may = range(ctx, c->field, &r) ? comparison_may(c, &r) : MAY_BE_BOTH;
		for (int result = 0; result < 2; result++) {
			if (!(may & (result ? PREDICATE_MAY_HOLD : PREDICATE_MAY_FAIL)))
				continue;
			if (c->next[result] >= 0)
				reached[c->next[result]] = true;
			else
				ret |= c->next[result] == PREDICATE_IS_TRUE ? PREDICATE_MAY_HOLD
									    : PREDICATE_MAY_FAIL;
		}
	}
	free(reached);
	return ret;
}
