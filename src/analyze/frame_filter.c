#include "analyze/frame_filter.h"

#include <errno.h>
#include <regex.h>
#include <string.h>

#define PARTS_MAX 500u
/* Repetitions of what is repeated already: beyond a few of these the C library takes seconds, however
 * short the expression is. */
#define NESTED_MAX 3u

/*
 * How large an expression becomes: the C library writes repetitions out, "x+" as "xx*" and "x{9}" nine
 * times, also those of what is repeated already.
 */
struct size_count {
	unsigned long sums[FRAME_FILTER_BYTES_MAX + 1]; /* of the groups that are open */
	unsigned long atom;                             /* the last part, which may be repeated */
	unsigned nested[FRAME_FILTER_BYTES_MAX + 1]; /* repetitions in each other, in the groups */
	unsigned atom_nested;                        /* in the last part */
	size_t depth;
};

static void add_atom(struct size_count *c, unsigned long size, unsigned nested)
{
	c->sums[c->depth] += size;
	c->atom = size;
	c->atom_nested = nested;
	if (nested > c->nested[c->depth])
		c->nested[c->depth] = nested;
}

static void repeat_atom(struct size_count *c, unsigned long times)
{
	unsigned long size = c->atom * times;

	if (times > PARTS_MAX || size > PARTS_MAX)
		size = 2 * PARTS_MAX;
	if (++c->atom_nested > NESTED_MAX)
		size = 2 * PARTS_MAX;
	if (c->atom_nested > c->nested[c->depth])
		c->nested[c->depth] = c->atom_nested;
	c->sums[c->depth] += size - c->atom;
	c->atom = size;
}

/* "[a-z]", "[]x]", "[[:alpha:]_]": to its end, or to the last character. */
static const char *skip_set(const char *s)
{
	const char *at = s + 1;

	at += *at == '^';
	at += *at == ']';
	for (; *at && *at != ']'; at++) {
		const char *end;

		if (*at != '[' || (at[1] != ':' && at[1] != '.' && at[1] != '='))
			continue;
		end = strchr(at + 2, at[1]);
		while (end && end[1] != ']')
			end = strchr(end + 1, at[1]);
		if (end)
			at = end + 1;
	}
	return *at ? at : at - 1;
}

/* "{3,20}" at @s: how often at most. Gives where it ends; what is no bound is one in any case. */
static const char *bound_at(const char *s, unsigned long *ret)
{
	char *end;
	unsigned long low = strtoul(s + 1, &end, 10), high = low;

	if (*end == ',')
		high = strtoul(end + 1, &end, 10);
	*ret = (high > low ? high : low) + 1;
	return *end == '}' ? end : s;
}

static unsigned long size_of(const char *s)
{
	struct size_count c = {};

	for (; *s; s++) {
		unsigned long inner = c.sums[c.depth], times;
		unsigned inner_nested = c.nested[c.depth];

		switch (*s) {
		case '\\':
			s += s[1] != '\0';
			add_atom(&c, 1, 0);
			break;
		case '[':
			s = skip_set(s);
			add_atom(&c, 1, 0);
			break;
		case '(':
			c.sums[++c.depth] = 0;
			c.nested[c.depth] = 0;
			c.atom = 0;
			c.atom_nested = 0;
			break;
		case ')':
			c.depth -= c.depth > 0;
			add_atom(&c, inner + 1, inner_nested);
			break;
		case '*':
		case '?':
			repeat_atom(&c, 1);
			break;
		case '+':
			repeat_atom(&c, 2);
			break;
		case '{':
			s = bound_at(s, &times);
			repeat_atom(&c, times);
			break;
		default:
			add_atom(&c, 1, 0);
		}
		if (c.sums[c.depth] > PARTS_MAX)
			return c.sums[c.depth];
	}
	for (size_t i = 0; i < c.depth; i++)
		c.sums[c.depth] += c.sums[i];
	return c.sums[c.depth];
}

static int check_expression(const char *s, struct err *e)
{
	if (strlen(s) > FRAME_FILTER_BYTES_MAX)
		return err_set(e, EINVAL,
			       "The regular expression has %zu characters; at most %u are taken.",
			       strlen(s), FRAME_FILTER_BYTES_MAX);
	for (const char *at = s; (at = strchr(at, '\\')); at += 1 + (at[1] != '\0'))
		if (at[1] >= '1' && at[1] <= '9')
			return err_set(
				e, EINVAL,
				"Back references (\\%c) are not taken in regular expressions "
				"on functions.",
				at[1]);
	if (size_of(s) > PARTS_MAX)
		return err_set(e, EINVAL,
			       "The regular expression repeats too much: written out it has more "
			       "than %u parts, or more than %u repetitions in each other.",
			       PARTS_MAX, NESTED_MAX);
	return 0;
}

int frame_filter_make(bool **ret, const struct call_paths *c, const struct profile *p,
		      const char *expression, struct err *e)
{
	CLEANUP(free_ptr) bool *names = NULL;
	bool *nodes;
	regex_t regex;
	int code = check_expression(expression, e);

	if (code)
		return code;
	code = regcomp(&regex, expression, REG_EXTENDED | REG_NOSUB);
	if (code) {
		char why[128];

		regerror(code, &regex, why, sizeof(why));
		return err_set(e, EINVAL, "'%.200s' is no regular expression: %s.", expression,
			       why);
	}
	names = xcalloc(c->names.len, sizeof(*names));
	for (size_t i = 1; i < c->names.len; i++)
		names[i] = !regexec(&regex, profile_text(p, c->names.items[i].label), 0, NULL, 0);
	regfree(&regex);
	nodes = xcalloc(c->nodes.len, sizeof(*nodes));
	for (size_t i = 1; i < c->nodes.len; i++) {
		const struct call_path *n = &c->nodes.items[i];

		nodes[i] = nodes[n->parent] || names[n->name];
	}
	*ret = nodes;
	return 0;
}
