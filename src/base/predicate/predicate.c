#include "base/predicate/predicate.h"
#include "base/predicate/program.h"

#include <string.h>

void predicate_free(struct predicate *p)
{
	if (!p)
		return;
	vec_each(&p->comparisons, c)
		free(c->text);
	vec_release(&p->comparisons);
	vec_release(&p->fields);
	free(p);
}

const unsigned *predicate_fields(const struct predicate *p, size_t *ret_count)
{
	*ret_count = p->fields.len;
	return p->fields.items;
}

/* ---- patterns ---- */

/*
 * Tests @c against the set "[a-z]" or "[!a-z]" at @set. A ']' directly behind the '[' or '!' belongs to
 * the set. Returns the character behind the set, or NULL if the set has no end.
 */
static const char *match_set(const char *set, char c, bool *ret_found)
{
	bool inverted = set[1] == '!', found = false;
	const char *s = set + 1 + inverted;

	do {
		unsigned char from = (unsigned char)*s, to = from;

		if (!*s++)
			return NULL;
		if (s[0] == '-' && s[1] != ']') {
			if (!s[1])
				return NULL;
			to = (unsigned char)s[1];
			s += 2;
		}
		found |= from <= (unsigned char)c && (unsigned char)c <= to;
	} while (*s != ']');
	*ret_found = found != inverted;
	return s + 1;
}

/*
 * Tests @c, which must not be NUL, against one element of a pattern, which must not be '*'. @last is the last
 * ']' of the pattern, or NULL: no '[' behind it has an end, which saves looking for one each time. Returns
 * the next element, or NULL if @c does not match.
 */
static const char *match_one(const char *pattern, const char *last, char c)
{
	const char *end;
	bool found;

	if (*pattern == '?')
		return pattern + 1;
	if (*pattern == '[' && last && pattern < last) {
		end = match_set(pattern, c, &found);
		/* A '[' without an end is an ordinary character. */
		if (end)
			return found ? end : NULL;
	}
	if (*pattern == '\\')
		pattern++;
	return *pattern == c ? pattern + 1 : NULL;
}

static bool match_all(const char *pattern, const char *text)
{
	const char *after_star = NULL, *retry = NULL, *last = strrchr(pattern, ']');

	/* On a mismatch, the last '*' takes one character more. Earlier ones need not change. */
	for (;;) {
		const char *next;

		if (*pattern == '*') {
			after_star = ++pattern;
			retry = text;
			continue;
		}
		if (!*text && !*pattern)
			return true;
		next = *text && *pattern ? match_one(pattern, last, *text) : NULL;
		if (next) {
			pattern = next;
			text++;
		} else if (after_star && *retry) {
			pattern = after_star;
			text = ++retry;
		} else {
			return false;
		}
	}
}

bool predicate_glob(const char *pattern, const char *text)
{
	return *pattern == '!' ? !match_all(pattern + 1, text) : match_all(pattern, text);
}

/* ---- comparisons ---- */

static bool compare_text(const struct comparison *c, const char *text)
{
	text = text ? text : "";
	if (c->op == PREDICATE_GLOB)
		return predicate_glob(c->text, text);
	return !strcmp(text, c->text) == (c->op == PREDICATE_EQ);
}

/* Whether @op holds for a result of strcmp(). */
static bool holds(enum predicate_op op, int order)
{
	switch (op) {
	case PREDICATE_EQ:
		return order == 0;
	case PREDICATE_NE:
		return order != 0;
	case PREDICATE_LT:
		return order < 0;
	case PREDICATE_LE:
		return order <= 0;
	case PREDICATE_GT:
		return order > 0;
	case PREDICATE_GE:
		return order >= 0;
	default:
		return false;
	}
}

static bool compare_float(const struct comparison *c, uint64_t bits)
{
	double a, b;

	memcpy(&a, &bits, sizeof(a));
	memcpy(&b, &c->number, sizeof(b));
	/* NaN is unequal to every number, and neither less nor greater. */
	if (a != a)
		return c->op == PREDICATE_NE;
	return holds(c->op, (a > b) - (a < b));
}

static bool compare_number(const struct comparison *c, uint64_t value)
{
	int64_t a = (int64_t)value, b = (int64_t)c->number;

	if (c->op == PREDICATE_BITS)
		return value & c->number;
	if (c->type == PREDICATE_SIGNED)
		return holds(c->op, (a > b) - (a < b));
	return holds(c->op, (value > c->number) - (value < c->number));
}

static bool compare(const struct comparison *c, const struct predicate_row *row)
{
	switch (c->type) {
	case PREDICATE_TEXT:
		return compare_text(c, row->text(row->ctx, c->field));
	case PREDICATE_FLOAT:
		return compare_float(c, row->number(row->ctx, c->field));
	case PREDICATE_UNSIGNED:
	case PREDICATE_SIGNED:
		return compare_number(c, row->number(row->ctx, c->field));
	default:
		return false;
	}
}

bool predicate_test(const struct predicate *p, const struct predicate_row *row)
{
	int at = 0;

	while (at >= 0) {
		const struct comparison *c = &p->comparisons.items[at];

		at = c->next[compare(c, row)];
	}
	return at == PREDICATE_IS_TRUE;
}
