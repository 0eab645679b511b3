/* Parses conditions by recursive descent, with a limit of nested parentheses. */
#include "base/number.h"
#include "base/predicate/program.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_SHOWN       12u
#define NUMBER_BYTES_MAX  23u /* the kernel's limit */
#define NUMBER_OPERATORS  "== != < <= > >= &"
#define FLOAT_OPERATORS   "== != < <= > >="
#define NO_SLOT           (-1)
#define NEEDED_COMPARISON "a comparison is needed here, such as FIELD == VALUE"

struct predicate_parser {
	const char *text, *at;
	const struct predicate_names *names;
	struct predicate *p;
	struct err *e;
	unsigned depth;
};

/*
 * A part of the program. Slot 2 * N + B stands for next[B] of comparison N. Until the target of a jump is
 * known, all slots with that target form a linked list: each contains the number of the next slot.
 */
struct fragment {
	int start;
	int lists[2]; /* first slots for the results false and true, or NO_SLOT */
};

static int *slot_at(struct predicate_parser *x, int slot)
{
	return &x->p->comparisons.items[slot / 2].next[slot % 2];
}

static void set_slots(struct predicate_parser *x, int list, int target)
{
	while (list != NO_SLOT) {
		int *slot = slot_at(x, list);

		list = *slot;
		*slot = target;
	}
}

/* Appends @list to @first. Walks to the end of @first, which should be the shorter one. */
static int join_slots(struct predicate_parser *x, int first, int list)
{
	int *end;

	if (first == NO_SLOT)
		return list;
	for (end = slot_at(x, first); *end != NO_SLOT;)
		end = slot_at(x, *end);
	*end = list;
	return first;
}

/* ---- errors ---- */

static int fail(struct predicate_parser *x, const char *at, const char *fmt, ...) PRINTF_LIKE(3, 4);

static int fail(struct predicate_parser *x, const char *at, const char *fmt, ...)
{
	CLEANUP(buf_release) struct buf sentence = {};
	va_list ap;

	va_start(ap, fmt);
	buf_addv(&sentence, fmt, ap);
	va_end(ap);
	return text_error(x->e, x->text, at, buf_str(&sentence));
}

static void add_names(const struct predicate_names *names, struct buf *out)
{
	const char *name;
	size_t n = 0;

	for (; n < NAMES_SHOWN && (name = names->name(names->ctx, n)); n++)
		buf_addf(out, "%s%s", n ? ", " : " Its fields are ", name);
	if (n)
		buf_add(out, names->name(names->ctx, n) ? " and others" : ".");
}

static int fail_unknown(struct predicate_parser *x, const char *at, size_t len)
{
	CLEANUP(free_ptr) char *word = xstrndup(at, len);
	CLEANUP(buf_release) struct buf hint = {};
	CLEANUP(suggest_release) struct suggest near = {.wanted = word};
	const struct predicate_names *names = x->names;
	const char *name;

	for (size_t n = 0; (name = names->name(names->ctx, n)); n++)
		suggest_offer(&near, name);
	suggest_sentence(&near, &hint);
	if (!near.count)
		buf_add_char(&hint, '.');
	add_names(names, &hint);
	return fail(x, at, "%s has no field '%s'%s", names->subject, word, buf_str(&hint));
}

/* ---- words ---- */

static void skip_space(struct predicate_parser *x)
{
	while (isspace((unsigned char)*x->at))
		x->at++;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool begins(const struct predicate_parser *x, const char *with)
{
	return !strncmp(x->at, with, strlen(with));
}

static bool skip(struct predicate_parser *x, const char *word)
{
	if (!begins(x, word))
		return false;
	x->at += strlen(word);
	return true;
}

/* The name of a field as a part of the condition, not terminated by NUL. */
struct named {
	const char *name;
	int len;
};

/* ---- values ---- */

static int fail_number(struct predicate_parser *x, struct named field)
{
	if (*x->at == '"' || *x->at == '\'')
		return fail(x, x->at, "'%.*s' is a number: it cannot be compared with a text",
			    field.len, field.name);
	return fail(x, x->at, "a number is needed here, to compare '%.*s' with", field.len,
		    field.name);
}

static int parse_float(struct predicate_parser *x, struct comparison *c, struct named field)
{
	const char *end = x->at + (*x->at == '-');
	CLEANUP(free_ptr) char *word = NULL;
	double value;

	if (!isdigit((unsigned char)*end) && *end != '.')
		return fail_number(x, field);
	while (is_word(*end) || *end == '.' || ((*end == '-' || *end == '+') && end[-1] == 'e'))
		end++;
	word = xstrndup(x->at, (size_t)(end - x->at));
	if (!parse_double(word, &value))
		return fail(x, x->at, "'%s' is no number", word);
	memcpy(&c->number, &value, sizeof(value));
	x->at = end;
	return 0;
}

static int parse_integer(struct predicate_parser *x, struct comparison *c, struct named field)
{
	bool negative = *x->at == '-';
	const char *end = x->at + negative;
	CLEANUP(free_ptr) char *word = NULL;
	uint64_t value,
		max = c->type == PREDICATE_SIGNED ? (uint64_t)INT64_MAX + negative : UINT64_MAX;

	if (!negative && !isdigit((unsigned char)*end))
		return fail_number(x, field);
	while (isalnum((unsigned char)*end))
		end++;
	word = xstrndup(x->at, (size_t)(end - x->at));
	if (strlen(word) > NUMBER_BYTES_MAX)
		return fail(x, x->at, "a number has at most %u characters", NUMBER_BYTES_MAX);
	errno = 0;
	if (!parse_u64(word + negative, &value) && errno != ERANGE)
		return fail(x, x->at,
			    "'%s' is no number: decimal, hexadecimal (0x1f) and octal "
			    "(017) ones are possible",
			    word);
	if (negative && c->type == PREDICATE_UNSIGNED)
		return fail(x, x->at, "'%.*s' is never negative: its type has no sign", field.len,
			    field.name);
	if (errno == ERANGE || value > max)
		return fail(x, x->at, "'%s' does not fit into %s number of 64 bits", word,
			    c->type == PREDICATE_SIGNED ? "a signed" : "an unsigned");
	c->number = negative ? 0 - value : value;
	x->at = end;
	return 0;
}

/*
 * Refuses patterns to which the kernel gives another meaning (filter_parse_regex()): it would silently take
 * no samples.
 */
static int check_pattern(struct predicate_parser *x, const struct comparison *c, const char *at)
{
	const char *pattern = c->text + (*c->text == '!'), *not = *c->text == '!' ? "!" : "";
	bool in_array = x->names->in_array && x->names->in_array(x->names->ctx, c->field);

	if (isdigit((unsigned char)*pattern) && strpbrk(pattern, "*?[\\"))
		return fail(x, at,
			    "the kernel takes a pattern that begins with a digit for the text "
			    "itself: write ~ \"%s[%c]%s\"",
			    not, *pattern, pattern + 1);
	if (in_array && *pattern == '*' && pattern[1] && !strpbrk(pattern + 1, "*?[\\"))
		return fail(x, at,
			    "the kernel looks for \"%s\" at the end of the array, not of the "
			    "text in it: write ~ \"%s*%s\"",
			    pattern + 1, not, pattern);
	return 0;
}

static int parse_text(struct predicate_parser *x, struct comparison *c, struct named field)
{
	const char *open = x->at, *end;

	if (*open != '"' && *open != '\'')
		return fail(x, open,
			    "'%.*s' is a text: what it is compared with must be quoted, "
			    "as in %.*s == \"word\"",
			    field.len, field.name, field.len, field.name);
	end = strchr(open + 1, *open);
	if (!end)
		return fail(x, open, "this quote is not closed");
	if ((size_t)(end - open - 1) > PREDICATE_TEXT_MAX)
		return fail(x, open, "this text is longer than %u bytes", PREDICATE_TEXT_MAX);
	c->text = xstrndup(open + 1, (size_t)(end - open - 1));
	x->at = end + 1;
	if (x->names->for_kernel && c->op == PREDICATE_GLOB && check_pattern(x, c, open) < 0) {
		free(c->text);
		return -EINVAL;
	}
	return 0;
}

/* Parses "CPUS{0-3,8}". Only finds the end: the list is checked by the kernel, which knows its CPUs. */
static int parse_cpus(struct predicate_parser *x, struct comparison *c)
{
	const char *open = x->at + strlen("CPUS"), *end = strchr(open, '}');

	if (c->type == PREDICATE_TEXT)
		return fail(x, x->at, "a text cannot be compared with a list of CPUs");
	if (c->op != PREDICATE_EQ && c->op != PREDICATE_NE && c->op != PREDICATE_BITS)
		return fail(x, x->at, "a list of CPUs can be compared by & == or != only");
	if (*open != '{')
		return fail(x, open, "a list of CPUs is needed here, as in CPUS{0-3,8}");
	if (!end)
		return fail(x, open, "this '{' is not closed by '}'");
	if (end == open + 1)
		return fail(x, end, "the list of CPUs is empty: it must be as in CPUS{0-3,8}");
	c->type = PREDICATE_OPAQUE;
	x->at = end + 1;
	return 0;
}

/* Parses the name or address of a kernel function, which the kernel looks up. */
static int parse_function(struct predicate_parser *x, struct comparison *c)
{
	if (c->op != PREDICATE_EQ && c->op != PREDICATE_NE)
		return fail(x, x->at, "a function can be compared by == or != only");
	if (!*x->at)
		return fail(x, x->at, "the name or the address of a function is missing here");
	if (isdigit((unsigned char)*x->at))
		while (isalnum((unsigned char)*x->at))
			x->at++;
	else
		while (*x->at && !isspace((unsigned char)*x->at))
			x->at++;
	c->type = PREDICATE_OPAQUE;
	return 0;
}

static int parse_value(struct predicate_parser *x, struct comparison *c, struct named field,
		       bool function)
{
	skip_space(x);
	if (function)
		return parse_function(x, c);
	if (x->names->for_kernel && begins(x, "CPUS"))
		return parse_cpus(x, c);
	switch (c->type) {
	case PREDICATE_TEXT:
		return parse_text(x, c, field);
	case PREDICATE_FLOAT:
		return parse_float(x, c, field);
	case PREDICATE_UNSIGNED:
	case PREDICATE_SIGNED:
		return parse_integer(x, c, field);
	default:
		return fail(x, field.name,
			    "'%.*s' is neither a number nor a text: %s cannot be filtered by it",
			    field.len, field.name, x->names->subject);
	}
}

/* ---- operators ---- */

static const struct operator
{
	const char *text;
	enum predicate_op op;
}
operators[] = {
	{"==", PREDICATE_EQ}, {"!=", PREDICATE_NE}, {"<=", PREDICATE_LE},  {">=", PREDICATE_GE},
	{"<", PREDICATE_LT},  {">", PREDICATE_GT},  {"&", PREDICATE_BITS}, {"~", PREDICATE_GLOB},
};

static const char *operators_of(enum predicate_type type)
{
	return type == PREDICATE_TEXT    ? "== != ~"
	       : type == PREDICATE_FLOAT ? FLOAT_OPERATORS
					 : NUMBER_OPERATORS;
}

static int fail_operator(struct predicate_parser *x, const struct comparison *c, struct named field)
{
	if (*x->at == '=')
		return fail(x, x->at, "there is no operator '=': write == to compare");
	if (begins(x, "!~"))
		return fail(x, x->at, "there is no operator '!~': write !(%.*s ~ \"…\")", field.len,
			    field.name);
	return fail(x, x->at,
		    "'%.*s' is not compared with anything: an operator is needed here (%s)",
		    field.len, field.name, operators_of(c->type));
}

static bool has_operator(enum predicate_type type, enum predicate_op op)
{
	if (type == PREDICATE_TEXT)
		return op == PREDICATE_EQ || op == PREDICATE_NE || op == PREDICATE_GLOB;
	return op != PREDICATE_GLOB && (type != PREDICATE_FLOAT || op != PREDICATE_BITS);
}

static int parse_operator(struct predicate_parser *x, struct comparison *c, struct named field,
			  bool function)
{
	const char *start;
	size_t i = 0;

	skip_space(x);
	start = x->at;
	if (begins(x, "&&"))
		return fail_operator(x, c, field);
	while (i < ARRAY_LEN(operators) && !skip(x, operators[i].text))
		i++;
	if (i == ARRAY_LEN(operators))
		return fail_operator(x, c, field);
	c->op = operators[i].op;
	if (function || c->type == PREDICATE_OPAQUE || has_operator(c->type, c->op))
		return 0;
	return fail(x, start, "'%.*s' is a %s, which cannot be compared by %s, only by %s%s",
		    field.len, field.name, c->type == PREDICATE_TEXT ? "text" : "number",
		    operators[i].text, operators_of(c->type),
		    c->type == PREDICATE_TEXT ? " (a pattern with * ? [set])" : "");
}

/* ---- comparisons ---- */

static int fail_name(struct predicate_parser *x)
{
	char c = *x->at;

	if (!c)
		return fail(x, x->at, "a comparison is missing at the end");
	if (c == '"' || c == '\'' || c == '-' || isdigit((unsigned char)c))
		return fail(x, x->at,
			    "a comparison begins with the name of a field, as in "
			    "FIELD == VALUE");
	return fail(x, x->at, NEEDED_COMPARISON);
}

static int parse_comparison(struct predicate_parser *x, struct fragment *ret)
{
	struct comparison c = {.next = {NO_SLOT, NO_SLOT}};
	struct named field = {x->at, 0};
	bool function = false;
	int r, number;

	while (is_word(field.name[field.len]))
		field.len++;
	if (!field.len || isdigit((unsigned char)*field.name))
		return fail_name(x);
	number = x->names->find(x->names->ctx, field.name, (size_t)field.len, &c.type);
	if (number < 0)
		return fail_unknown(x, field.name, (size_t)field.len);
	c.field = (unsigned)number;
	x->at += field.len;
	if (x->names->for_kernel) {
		skip(x, ".ustring");
		function = skip(x, ".function");
	}
	r = parse_operator(x, &c, field, function);
	if (r == 0)
		r = parse_value(x, &c, field, function);
	if (r < 0)
		return r;
	ret->start = (int)x->p->comparisons.len;
	ret->lists[0] = 2 * ret->start;
	ret->lists[1] = 2 * ret->start + 1;
	vec_push(&x->p->comparisons, c);
	return 0;
}

/* ---- && || ! ( ) ---- */

static int parse_any(struct predicate_parser *x, struct fragment *ret);

static int parse_parenthesis(struct predicate_parser *x, struct fragment *ret)
{
	const char *open = x->at++;
	int r;

	if (x->depth == PREDICATE_DEPTH_MAX)
		return fail(x, open, "more than %u parentheses in each other", PREDICATE_DEPTH_MAX);
	x->depth++;
	r = parse_any(x, ret);
	x->depth--;
	if (r < 0)
		return r;
	if (!*x->at)
		return fail(x, open, "this '(' is not closed by ')'");
	x->at++;
	return 0;
}

static int parse_negated(struct predicate_parser *x, struct fragment *ret)
{
	bool inverted = false;
	int r;

	for (skip_space(x); *x->at == '!' && x->at[1] != '=' && x->at[1] != '~'; skip_space(x)) {
		inverted = !inverted;
		x->at++;
	}
	r = *x->at == '(' ? parse_parenthesis(x, ret) : parse_comparison(x, ret);
	if (r == 0 && inverted) {
		int list = ret->lists[0];

		ret->lists[0] = ret->lists[1];
		ret->lists[1] = list;
	}
	return r;
}

static int parse_next(struct predicate_parser *x, struct fragment *ret, bool either);

/* Parses conditions joined by || (if @either is set) or by &&. */
static int parse_chain(struct predicate_parser *x, struct fragment *ret, bool either)
{
	int r = parse_next(x, ret, either);

	for (skip_space(x); r == 0 && skip(x, either ? "||" : "&&"); skip_space(x)) {
		struct fragment right;

		r = parse_next(x, &right, either);
		if (r < 0)
			break;
		/* If the left side does not decide the result, the right side is next. */
		set_slots(x, ret->lists[!either], right.start);
		ret->lists[!either] = right.lists[!either];
		ret->lists[either] = join_slots(x, right.lists[either], ret->lists[either]);
	}
	return r;
}

static int parse_next(struct predicate_parser *x, struct fragment *ret, bool either)
{
	return either ? parse_chain(x, ret, false) : parse_negated(x, ret);
}

/* Parses up to the end, or to a ')' that the caller handles. */
static int parse_any(struct predicate_parser *x, struct fragment *ret)
{
	int r = parse_chain(x, ret, true);

	if (r < 0 || !*x->at)
		return r;
	if (*x->at == ')')
		return x->depth ? 0 : fail(x, x->at, "there is no '(' that this ')' closes");
	if (*x->at == '&' || *x->at == '|')
		return fail(x, x->at, "there is no operator '%c' between conditions: write %c%c",
			    *x->at, *x->at, *x->at);
	return fail(x, x->at, "expected && or || here, or the end of the condition");
}

static int compare_numbers(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return (x > y) - (x < y);
}

static void list_fields(struct predicate *p)
{
	size_t count = 0;

	vec_each(&p->comparisons, c)
		vec_push(&p->fields, c->field);
	qsort(p->fields.items, p->fields.len, sizeof(*p->fields.items), compare_numbers);
	vec_each(&p->fields, field)
		if (!count || p->fields.items[count - 1] != *field)
			p->fields.items[count++] = *field;
	p->fields.len = count;
}

int predicate_parse(struct predicate **ret, const char *text, const struct predicate_names *names,
		    struct err *e)
{
	struct predicate_parser x = {.text = text, .at = text, .names = names, .e = e};
	struct fragment all;
	int r;

	if (strlen(text) > PREDICATE_BYTES_MAX)
		return err_set(e, EINVAL, "the condition has %zu bytes, at most %u are possible",
			       strlen(text), PREDICATE_BYTES_MAX);
	skip_space(&x);
	if (!*x.at)
		return err_set(e, EINVAL,
			       "the condition is empty: it must have a comparison, such as "
			       "FIELD == VALUE");
	x.p = xcalloc(1, sizeof(*x.p));
	r = parse_any(&x, &all);
	if (r < 0) {
		predicate_free(x.p);
		return r;
	}
	set_slots(&x, all.lists[0], PREDICATE_IS_FALSE);
	set_slots(&x, all.lists[1], PREDICATE_IS_TRUE);
	list_fields(x.p);
	*ret = x.p;
	return 0;
}
