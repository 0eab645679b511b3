#include "base/option.h"
#include "base/number.h"
#include "base/text.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

struct parser {
	const struct option_def *table;
	char *values;
	int argc, at;
	char **argv;
	struct err *e;
};

static bool takes_value(const struct option_def *d)
{
	return d->kind == OPT_STR || d->kind == OPT_LIST || d->kind == OPT_UINT ||
	       (d->kind == OPT_ORDERED && d->arg);
}

static int store(struct parser *p, const struct option_def *d, const char *shown, const char *value)
{
	void *target = p->values + d->offset;
	uint64_t number;

	switch (d->kind) {
	case OPT_FLAG:
		*(bool *)target = true;
		break;
	case OPT_COUNT:
		++*(unsigned *)target;
		break;
	case OPT_STR:
		*(const char **)target = value;
		break;
	case OPT_OPTIONAL:
		*(const char **)target = value ? value : "";
		break;
	case OPT_LIST:
		vec_push((option_list *)target, value);
		break;
	case OPT_ORDERED:
		vec_push((option_items *)target, (struct option_item){d, value});
		break;
	case OPT_UINT:
		if (!parse_u64(value, &number) || number > UINT_MAX)
			return err_set(p->e, EINVAL, "option %s takes a number, not '%s'", shown,
				       value);
		*(unsigned *)target = (unsigned)number;
		break;
	case OPT_END:
	case OPT_HEADING:
		break;
	}
	return 0;
}

static int next_value(struct parser *p, const char *shown, const char **ret_value)
{
	if (p->at + 1 >= p->argc)
		return err_set(p->e, EINVAL, "option %s needs a value", shown);
	*ret_value = p->argv[++p->at];
	return 0;
}

static int unknown_long(struct parser *p, const char *name)
{
	struct suggest near = {.wanted = name};
	CLEANUP(buf_release) struct buf hint = {};

	for (const struct option_def *d = p->table; d->kind; d++)
		if (d->name && d->help)
			suggest_offer(&near, d->name);
	for (size_t i = 0; i < near.count; i++)
		buf_addf(&hint, "%s --%s", i ? " or" : "; did you mean", near.names[i]);
	if (near.count)
		buf_add_char(&hint, '?');
	suggest_release(&near);
	return err_set(p->e, EINVAL, "unknown option --%s%s", name, buf_str(&hint));
}

/* Exact name, or the only one of those shown that begins so. */
static int find_long(struct parser *p, const char *name, const struct option_def **ret_def)
{
	const struct option_def *found = NULL;

	for (const struct option_def *d = p->table; d->kind; d++) {
		if (!d->name || strncmp(d->name, name, strlen(name)))
			continue;
		if (!strcmp(d->name, name)) {
			*ret_def = d;
			return 0;
		}
		if (!d->help)
			continue;
		if (found)
			return err_set(p->e, EINVAL, "option --%s could be --%s or --%s", name,
				       found->name, d->name);
		found = d;
	}
	if (!found)
		return unknown_long(p, name);
	*ret_def = found;
	return 0;
}

static int parse_long(struct parser *p, const char *word)
{
	const char *equals = strchr(word, '='), *value = equals ? equals + 1 : NULL;
	CLEANUP(free_ptr)
	char *name = xstrndup(word, equals ? (size_t)(equals - word) : strlen(word));
	CLEANUP(free_ptr) char *shown = NULL;
	const struct option_def *d = NULL;
	int r = find_long(p, name, &d);

	if (r < 0 || !d)
		return r;
	shown = xasprintf("--%s", d->name);
	if (takes_value(d) && !value)
		r = next_value(p, shown, &value);
	else if (!takes_value(d) && d->kind != OPT_OPTIONAL && value)
		r = err_set(p->e, EINVAL, "option %s takes no value", shown);
	return r < 0 ? r : store(p, d, shown, value);
}

static const struct option_def *find_letter(const struct option_def *table, char letter)
{
	for (const struct option_def *d = table; d->kind; d++)
		if (d->letter == letter)
			return d;
	return NULL;
}

/* "-x,", "-x ,", "-aA": letters may be joined, a value may follow its letter directly. */
static int parse_letters(struct parser *p, const char *word, bool *ret_help)
{
	for (; *word; word++) {
		char shown[] = {'-', *word, '\0'};
		const struct option_def *d = find_letter(p->table, *word);
		const char *value = NULL;
		int r = 0;

		if (!d && *word == 'h') {
			*ret_help = true;
			continue;
		}
		if (!d)
			return err_set(p->e, EINVAL, "unknown option %s", shown);
		if (takes_value(d)) {
			value = word + 1;
			if (!*value)
				r = next_value(p, shown, &value);
			return r < 0 ? r : store(p, d, shown, value);
		}
		/* "-z5": no letter of an option is a digit. */
		if (d->kind == OPT_OPTIONAL && word[1] >= '0' && word[1] <= '9')
			return store(p, d, shown, word + 1);
		r = store(p, d, shown, NULL);
		if (r < 0)
			return r;
	}
	return 0;
}

int option_parse(const struct option_def *table, void *values, int argc, char **argv, int *ret_used,
		 bool *ret_help, struct err *e)
{
	struct parser p = {.table = table, .values = values, .argc = argc, .argv = argv, .e = e};

	for (; p.at < argc; p.at++) {
		const char *word = argv[p.at];
		int r;

		if (word[0] != '-' || !word[1])
			break;
		if (!strcmp(word, "--")) {
			p.at++;
			break;
		}
		if (!strcmp(word, "--help")) {
			*ret_help = true;
			continue;
		}
		r = word[1] == '-' ? parse_long(&p, word + 2)
				   : parse_letters(&p, word + 1, ret_help);
		if (r < 0)
			return r;
	}
	*ret_used = p.at;
	return 0;
}
