#include "analyze/frame_filter.h"

#include <errno.h>
#include <regex.h>
#include <string.h>

#define REPEAT_MAX 500u /* all bounds of an expression multiplied */

/* "{3,20}" at @s: the larger number, or 0 if that is no bound. */
static unsigned long bound_at(const char *s)
{
	char *end;
	unsigned long low = strtoul(s + 1, &end, 10), high = low;

	if (*end == ',')
		high = strtoul(end + 1, &end, 10);
	return *end == '}' ? (high > low ? high : low) : 0;
}

static int check_expression(const char *s, struct err *e)
{
	unsigned long product = 1;

	if (strlen(s) > FRAME_FILTER_BYTES_MAX)
		return err_set(e, EINVAL,
			       "The regular expression has %zu characters; at most %u are taken.",
			       strlen(s), FRAME_FILTER_BYTES_MAX);
	for (; *s; s++) {
		if (*s == '\\') {
			if (s[1] >= '1' && s[1] <= '9')
				return err_set(e, EINVAL,
					       "Back references (\\%c) are not taken in regular "
					       "expressions on functions.",
					       s[1]);
			s += s[1] != '\0';
		} else if (*s == '{') {
			unsigned long bound = bound_at(s);

			product *= bound > 1 ? bound : 1;
			if (bound > REPEAT_MAX || product > REPEAT_MAX)
				return err_set(e, EINVAL,
					       "The regular expression repeats more than %u times.",
					       REPEAT_MAX);
		}
	}
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
