#include "measure/expr.h"
#include "base/number.h"
#include "base/vec.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Operation of a node: the character of an operator, or one of these. */
enum op {
	OP_NUMBER = 256,
	OP_REF,
	OP_NEG,
	OP_ABS,
	OP_LE,
	OP_GE,
	OP_EQ,
	OP_NE,
	OP_MIN,
	OP_MAX,
	OP_D_RATIO,
	OP_IF, /* operands: condition, value, other value */
};

/*
 * Operands always stand before their operation in the array, and the result is the last node: one
 * pass evaluates it all without recursion, however long a chain of additions is.
 */
struct node {
	int op;
	uint32_t kid[3];
	uint32_t ref;
	double number;
};

struct ref {
	enum expr_use use;
	bool needed;
	size_t column;
	char *name;
};

struct expr {
	VEC(struct node) nodes;
	VEC(struct ref) refs;
};

/* A value; or NaN, and, if an unknown name is the reason, the index + 1 of its reference. */
struct cell {
	double value;
	uint32_t missing;
};

struct infix {
	char text[4];
	unsigned char level; /* higher binds tighter */
	int op;
};

/* Longer ones first, so that '<=' is not read as '<'. Intel's files write '< =' with a space. */
static const struct infix infixes[] = {
	{"||", 1, '|'},   {"&&", 3, '&'},   {"< =", 4, OP_LE}, {"> =", 4, OP_GE}, {"<=", 4, OP_LE},
	{">=", 4, OP_GE}, {"==", 4, OP_EQ}, {"!=", 4, OP_NE},  {"|", 1, '|'},     {"^", 2, '^'},
	{"&", 3, '&'},    {"<", 4, '<'},    {">", 4, '>'},     {"+", 5, '+'},     {"-", 5, '-'},
	{"*", 6, '*'},    {"/", 6, '/'},    {"%", 6, '%'},
};

struct function {
	const char *name;
	unsigned operands; /* 0: takes a name, looked up for `use` */
	int op;
	enum expr_use use;
};

#define FUNCTION_NAMES "min, max, d_ratio, abs, has_event, source_count, aggr_nr, strcmp_cpuid_str"

static const struct function functions[] = {
	{"min", 2, OP_MIN, EXPR_VALUE},           {"max", 2, OP_MAX, EXPR_VALUE},
	{"d_ratio", 2, OP_D_RATIO, EXPR_VALUE},   {"abs", 1, OP_ABS, EXPR_VALUE},
	{"has_event", 0, OP_REF, EXPR_HAS_EVENT}, {"source_count", 0, OP_REF, EXPR_SOURCE_COUNT},
	{"aggr_nr", 0, OP_REF, EXPR_AGGR_NR},     {"strcmp_cpuid_str", 0, OP_REF, EXPR_CPUID},
};

/* Beginning of each error message. */
#define AT "column %zu of the formula: "

enum token_kind { TOK_END, TOK_WORD, TOK_INFIX, TOK_IF, TOK_ELSE, TOK_PUNCTUATION };

struct token {
	enum token_kind kind;
	const struct infix *infix;
	size_t at, len;
};

struct parser {
	const char *text;
	struct token tok;
	unsigned depth;
	struct expr *x;
	/* Hash table of refs (index + 1), large enough for every name that fits into the text. */
	uint32_t *slots;
	size_t slot_count;
	struct err *e;
};

#define SPACE   " \t\r\n"
#define DIGITS  "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
/* Brackets for a[0], one of several units that count the same event. */
#define WORD_CHARS DIGITS LETTERS "_.:@?[]"

/* ASCII only, whatever the locale is. */
static bool is_graph(char c)
{
	return c > ' ' && c < 0x7f;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t word_len(const char *s)
{
	size_t len = s[0] == '#';

	len += strspn(s + len, WORD_CHARS);
	while (s[len] == '\\' && is_graph(s[len + 1]))
		len += 2 + strspn(s + len + 2, WORD_CHARS);
	/* 1e-9 is one word, 0x1e-9 and e-9 are not. */
	if (len > 1 && strspn(s, DIGITS ".") == len - 1 && (s[len - 1] | 0x20) == 'e' &&
	    (s[len] == '-' || s[len] == '+') && is_digit(s[len + 1]))
		len += 1 + strspn(s + len + 1, DIGITS);
	return len;
}

static bool token_is(const struct parser *p, const char *text)
{
	return p->tok.len == strlen(text) && !memcmp(p->text + p->tok.at, text, p->tok.len);
}

static int unexpected(struct parser *p)
{
	unsigned char c = (unsigned char)p->text[p->tok.at];
	const char *hint = c == '=' ? " (in an event write '\\=', to compare '==')" : "";

	if (is_graph((char)c))
		return err_set(p->e, EINVAL, AT "unexpected '%c'%s", p->tok.at + 1, c, hint);
	return err_set(p->e, EINVAL, AT "unexpected byte 0x%02x", p->tok.at + 1, c);
}

static int next(struct parser *p)
{
	size_t at = p->tok.at + p->tok.len;
	const char *s;

	at += strspn(p->text + at, SPACE);
	s = p->text + at;
	p->tok = (struct token){.at = at, .len = *s != '\0'};
	if (strchr("(),", *s)) {
		p->tok.kind = *s ? TOK_PUNCTUATION : TOK_END;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_LEN(infixes); i++) {
		size_t len = strlen(infixes[i].text);

		if (strncmp(s, infixes[i].text, len))
			continue;
		p->tok.kind = TOK_INFIX;
		p->tok.infix = &infixes[i];
		p->tok.len = len;
		return 0;
	}
	p->tok.len = word_len(s);
	if (p->tok.len <= (*s == '#') || *s == '[' || *s == ']')
		return unexpected(p);
	p->tok.kind = token_is(p, "if") ? TOK_IF : token_is(p, "else") ? TOK_ELSE : TOK_WORD;
	return 0;
}

/* From here on, every function leaves p->tok at the first token that is not its own. */

static int expected(struct parser *p, const char *what)
{
	if (p->tok.kind == TOK_END)
		return err_set(p->e, EINVAL, AT "expected %s, but it ends", p->tok.at + 1, what);
	return err_set(p->e, EINVAL, AT "expected %s, but found '%.*s'", p->tok.at + 1, what,
		       (int)(p->tok.len < 80 ? p->tok.len : 80), p->text + p->tok.at);
}

static int skip(struct parser *p, const char *text, const char *what)
{
	if (p->tok.kind == TOK_END || !token_is(p, text))
		return expected(p, what);
	return next(p);
}

static uint32_t add_node(struct parser *p, struct node n)
{
	vec_push(&p->x->nodes, n);
	return (uint32_t)p->x->nodes.len - 1;
}

static char *unescape(const char *s, size_t len)
{
	char *name = xcalloc(len + 1, 1);
	bool constant = s[0] == '#';
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		char c = s[i];

		if (c == '\\')
			c = s[++i];
		else if (c == '@')
			c = '/';
		else if (constant)
			c |= c >= 'A' && c <= 'Z' ? 0x20 : 0;
		name[n++] = c;
	}
	return name;
}

/* Returns the index of the name in the current token and its use; adds it if it is new. */
static uint32_t intern(struct parser *p, enum expr_use use)
{
	char *name = unescape(p->text + p->tok.at, p->tok.len);
	uint32_t hash = 2166136261u ^ (uint32_t)use;
	uint32_t *slot;

	for (const char *c = name; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 16777619u;
	for (size_t i = hash;; i++) {
		const struct ref *r;

		slot = &p->slots[i & (p->slot_count - 1)];
		if (!*slot)
			break;
		r = &p->x->refs.items[*slot - 1];
		if (r->use == use && !strcmp(r->name, name)) {
			free(name);
			return *slot - 1;
		}
	}
	vec_push(&p->x->refs, (struct ref){use, true, p->tok.at + 1, name});
	*slot = (uint32_t)p->x->refs.len;
	return *slot - 1;
}

static int parse_ternary(struct parser *p, uint32_t *ret_node);

static int parse_call(struct parser *p, const struct function *f, uint32_t *ret_node)
{
	struct node n = {.op = f->op};
	int r = next(p); /* the parenthesis, now current, was seen already */

	r = r ? r : next(p);
	if (r)
		return r;
	if (!f->operands) {
		if (p->tok.kind != TOK_WORD)
			return expected(p, "the name of an event");
		n.ref = intern(p, f->use);
		r = next(p);
	}
	for (unsigned i = 0; !r && i < f->operands; i++) {
		r = i ? skip(p, ",", "','") : 0;
		r = r ? r : parse_ternary(p, &n.kid[i]);
	}
	r = r ? r : skip(p, ")", "')'");
	if (!r)
		*ret_node = add_node(p, n);
	return r;
}

static int parse_number(struct parser *p, uint32_t *ret_node)
{
	char *s = xstrndup(p->text + p->tok.at, p->tok.len);
	struct node n = {.op = OP_NUMBER};
	uint64_t hex = 0;
	bool ok;
	int r;

	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		ok = parse_hex(s + 2, p->tok.len - 2, &hex);
		n.number = (double)hex;
	} else {
		ok = strspn(s, DIGITS ".eE+-") == p->tok.len && parse_double(s, &n.number);
	}
	*ret_node = add_node(p, n);
	r = ok ? next(p) : err_set(p->e, EINVAL, AT "'%.80s' is not a number", p->tok.at + 1, s);
	free(s);
	return r;
}

static int parse_word(struct parser *p, uint32_t *ret_node)
{
	const char *s = p->text + p->tok.at, *after = s + p->tok.len;

	if (is_digit(s[0]) || s[0] == '.')
		return parse_number(p, ret_node);
	if (after[strspn(after, SPACE)] == '(') {
		for (size_t i = 0; i < ARRAY_LEN(functions); i++)
			if (token_is(p, functions[i].name))
				return parse_call(p, &functions[i], ret_node);
		return expected(p, "one of the functions " FUNCTION_NAMES);
	}
	if (token_is(p, "NaN") || token_is(p, "nan"))
		*ret_node = add_node(p, (struct node){.op = OP_NUMBER, .number = NAN});
	else
		*ret_node = add_node(p, (struct node){.op = OP_REF, .ref = intern(p, EXPR_VALUE)});
	return next(p);
}

static int parse_unary(struct parser *p, uint32_t *ret_node)
{
	bool negative = false;
	int r = 0;

	while (!r && p->tok.kind == TOK_INFIX && p->tok.infix->op == '-') {
		negative = !negative;
		r = next(p);
	}
	if (r)
		return r;
	if (p->tok.kind == TOK_WORD) {
		r = parse_word(p, ret_node);
	} else if (p->tok.kind == TOK_PUNCTUATION && token_is(p, "(")) {
		r = next(p);
		r = r ? r : parse_ternary(p, ret_node);
		r = r ? r : skip(p, ")", "an operator or ')'");
	} else {
		r = expected(p, "a number or a name");
	}
	if (!r && negative)
		*ret_node = add_node(p, (struct node){.op = OP_NEG, .kid = {*ret_node}});
	return r;
}

/* Parses operators that bind tighter than @level. */
static int parse_binary(struct parser *p, unsigned level, uint32_t *ret_node)
{
	uint32_t left = 0, right = 0;
	int r = parse_unary(p, &left);

	while (!r && p->tok.kind == TOK_INFIX && p->tok.infix->level > level) {
		const struct infix *o = p->tok.infix;

		r = next(p);
		r = r ? r : parse_binary(p, o->level, &right);
		if (!r)
			left = add_node(p, (struct node){.op = o->op, .kid = {left, right}});
	}
	if (!r)
		*ret_node = left;
	return r;
}

static int parse_ternary(struct parser *p, uint32_t *ret_node)
{
	struct node n = {.op = OP_IF};
	int r;

	if (p->depth >= EXPR_DEPTH_MAX)
		return err_set(p->e, E2BIG, AT "nested more than %d levels deep", p->tok.at + 1,
			       EXPR_DEPTH_MAX);
	p->depth++;
	r = parse_binary(p, 0, &n.kid[1]);
	if (!r && p->tok.kind == TOK_IF) {
		r = next(p);
		r = r ? r : parse_binary(p, 0, &n.kid[0]);
		r = r ? r : skip(p, "else", "an operator or 'else'");
		r = r ? r : parse_ternary(p, &n.kid[2]);
		if (!r)
			*ret_node = add_node(p, n);
	} else if (!r) {
		*ret_node = n.kid[1];
	}
	p->depth--;
	return r;
}

int expr_parse(const char *text, struct expr **ret_expr, struct err *e)
{
	struct parser p = {.text = text, .slot_count = 4, .e = e};
	size_t len = strnlen(text, EXPR_TEXT_MAX + 1);
	uint32_t root; /* always the last node */
	int r;

	if (len > EXPR_TEXT_MAX)
		return err_set(e, E2BIG, "the formula is longer than %d bytes", EXPR_TEXT_MAX);
	/* Names are at least one character apart: the table is never more than half full. */
	while (p.slot_count < len + 2)
		p.slot_count *= 2;
	p.slots = xcalloc(p.slot_count, sizeof(*p.slots));
	p.x = xcalloc(1, sizeof(*p.x));
	r = next(&p);
	r = r ? r : parse_ternary(&p, &root);
	if (!r && p.tok.kind != TOK_END)
		r = expected(&p, "an operator or the end");
	free(p.slots);
	if (r) {
		expr_free(p.x);
		return r;
	}
	*ret_expr = p.x;
	return 0;
}

void expr_free(struct expr *x)
{
	if (!x)
		return;
	vec_each(&x->refs, r)
		free(r->name);
	vec_release(&x->refs);
	vec_release(&x->nodes);
	free(x);
}

static bool is_true(double v)
{
	return v != 0 && !isnan(v);
}

static double apply(int op, double a, double b)
{
	/* The operations that one operand may decide alone, even if the other has no value. */
	if (op == '&' && (a == 0 || b == 0))
		return 0;
	if (op == '|' && (is_true(a) || is_true(b)))
		return 1;
	if (op == OP_D_RATIO && b == 0)
		return 0;
	if (isnan(a) || isnan(b))
		return NAN;
	switch (op) {
	case OP_NEG:
		return -a;
	case OP_ABS:
		return fabs(a);
	case '+':
		return a + b;
	case '-':
		return a - b;
	case '*':
		return a * b;
	case '/':
	case OP_D_RATIO:
		return b == 0 ? NAN : a / b;
	case '%':
		return trunc(b) == 0 ? NAN : fmod(trunc(a), trunc(b));
	case '<':
		return a < b;
	case '>':
		return a > b;
	case OP_LE:
		return a <= b;
	case OP_GE:
		return a >= b;
	case OP_EQ:
		return a == b;
	case OP_NE:
		return a != b;
	case OP_MIN:
		return a < b ? a : b;
	case OP_MAX:
		return a > b ? a : b;
	case '^':
		return is_true(a) != is_true(b);
	default:
		return op == '&'; /* not decided above: '&' of true values, '|' of zeros */
	}
}

static struct cell combine(int op, struct cell a, struct cell b)
{
	double v = apply(op, a.value, b.value);

	return (struct cell){v, !isnan(v) ? 0 : a.missing ? a.missing : b.missing};
}

/* Returns the operand that is the result of an 'if': the condition, if that has no value. */
static unsigned taken(const struct node *n, const struct cell *cells)
{
	double cond = cells[n->kid[0]].value;

	return isnan(cond) ? 0 : cond != 0 ? 1 : 2;
}

static struct cell eval_node(const struct node *n, const struct cell *cells,
			     const struct cell *refs)
{
	switch (n->op) {
	case OP_NUMBER:
		return (struct cell){.value = n->number};
	case OP_REF:
		return refs[n->ref];
	case OP_NEG:
	case OP_ABS:
		return combine(n->op, cells[n->kid[0]], (struct cell){});
	case OP_IF:
		return cells[n->kid[taken(n, cells)]];
	default:
		return combine(n->op, cells[n->kid[0]], cells[n->kid[1]]);
	}
}

/* Returns a cell for each node, to be freed by the caller. EXPR_TEXT_MAX bounds their number. */
static struct cell *eval_all(const struct expr *x, expr_lookup *lookup, void *arg)
{
	struct cell *cells = xcalloc(x->nodes.len + x->refs.len, sizeof(*cells));
	struct cell *refs = cells + x->nodes.len;

	for (size_t i = 0; i < x->refs.len; i++) {
		const struct ref *r = &x->refs.items[i];
		bool known = false;

		if (r->needed)
			refs[i].value = lookup(arg, r->use, r->name, &known);
		if (!known)
			refs[i] = (struct cell){NAN, (uint32_t)i + 1};
	}
	for (size_t i = 0; i < x->nodes.len; i++)
		cells[i] = eval_node(&x->nodes.items[i], cells, refs);
	return cells;
}

static unsigned kid_count(int op)
{
	if (op == OP_NUMBER || op == OP_REF)
		return 0;
	return op == OP_IF ? 3 : op == OP_NEG || op == OP_ABS ? 1 : 2;
}

/* Parents stand after their operands, so one pass from the end finds all that is still used. */
static void find_needed(struct expr *x)
{
	bool *used = xcalloc(x->nodes.len, sizeof(*used));

	vec_each(&x->refs, r)
		r->needed = false;
	used[x->nodes.len - 1] = true;
	for (size_t i = x->nodes.len; i--;) {
		const struct node *n = &x->nodes.items[i];

		if (!used[i])
			continue;
		if (n->op == OP_REF)
			x->refs.items[n->ref].needed = true;
		for (unsigned k = 0; k < kid_count(n->op); k++)
			used[n->kid[k]] = true;
	}
	free(used);
}

void expr_fold(struct expr *x, expr_lookup *lookup, void *arg)
{
	struct cell *cells = eval_all(x, lookup, arg);

	for (size_t i = 0; i < x->nodes.len; i++) {
		struct node *n = &x->nodes.items[i];
		unsigned kid = n->op == OP_IF ? taken(n, cells) : 0;

		if (!cells[i].missing)
			*n = (struct node){.op = OP_NUMBER, .number = cells[i].value};
		else if (kid)
			*n = x->nodes.items[n->kid[kid]];
	}
	free(cells);
	find_needed(x);
}

void expr_names(const struct expr *x, void (*fn)(void *arg, enum expr_use use, const char *name),
		void *arg)
{
	for (size_t i = 0; i < x->refs.len; i++)
		if (x->refs.items[i].needed)
			fn(arg, x->refs.items[i].use, x->refs.items[i].name);
}

int expr_eval(const struct expr *x, expr_lookup *lookup, void *arg, double *ret_value,
	      struct err *e)
{
	struct cell *cells = eval_all(x, lookup, arg);
	struct cell result = cells[x->nodes.len - 1];
	const struct ref *r;

	free(cells);
	if (result.missing) {
		r = &x->refs.items[result.missing - 1];
		return err_set(e, ENOENT, AT "'%.200s' is not known", r->column, r->name);
	}
	*ret_value = isfinite(result.value) ? result.value : NAN;
	return 0;
}
