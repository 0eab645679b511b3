#include "event/format/expr.h"

#include <errno.h>
#include <string.h>

int print_expr_unexpected(struct print_expr_parser *x)
{
	const struct token *tok = &x->lex.tok;
	size_t column = (size_t)(tok->s - x->start) + 1;
	int len = tok->len < 40 ? (int)tok->len : 40;

	if (tok->kind == TOKEN_END)
		return err_set(x->e, EINVAL, "print fmt ends too early");
	if (tok->kind == TOKEN_BAD)
		return err_set(x->e, EINVAL, "print fmt has a string without an end");
	return err_set(x->e, EINVAL, "column %zu of print fmt: unexpected '%.*s'", column, len,
		       tok->s);
}

int print_expr_expect(struct print_expr_parser *x, int op)
{
	return lexer_skip(&x->lex, op) ? 0 : print_expr_unexpected(x);
}

/* ---- nodes ---- */

/* Evaluates operations on constants: masks of flags are written as long sums of shifts. */
static bool folded(const struct print_program *p, const struct node *n, unsigned kids,
		   struct value *ret)
{
	const struct node *kid[3] = {};

	for (unsigned i = 0; i < kids; i++) {
		kid[i] = &p->nodes.items[n->kid[i]];
		if (kid[i]->kind != NODE_NUMBER)
			return false;
	}
	if (n->kind == NODE_UNARY)
		*ret = format_unary(n->op, kid[0]->number);
	else if (n->kind == NODE_BINARY)
		*ret = format_binary(n->op, kid[0]->number, kid[1]->number);
	else if (n->kind == NODE_CAST)
		*ret = format_cast(n->type, kid[0]->number);
	else
		return false;
	return true;
}

int print_expr_node(struct print_expr_parser *x, struct node n, unsigned kids, uint32_t *ret)
{
	struct print_program *p = x->p;
	struct value constant;

	n.is_unknown = n.kind == NODE_UNKNOWN;
	for (unsigned i = 0; i < kids; i++) {
		const struct node *kid = &p->nodes.items[n.kid[i]];

		n.is_unknown = n.is_unknown || kid->is_unknown;
		if (kid->height >= n.height)
			n.height = kid->height + 1;
	}
	if (kids && folded(p, &n, kids, &constant)) {
		/* Remove the operands: each constant is one node, so they are the last nodes. */
		if (n.kid[0] + kids == p->nodes.len)
			p->nodes.len -= kids;
		n = (struct node){.kind = NODE_NUMBER, .number = constant};
	}
	if (n.height > FORMAT_DEPTH_LIMIT || p->nodes.len >= FORMAT_NODE_LIMIT)
		return err_set(x->e, E2BIG, "print fmt is too large");
	*ret = (uint32_t)p->nodes.len;
	vec_push(&p->nodes, n);
	return 0;
}

int print_expr_text(struct print_expr_parser *x, uint32_t *ret_text, uint32_t *ret_len)
{
	if (x->lex.tok.kind != TOKEN_TEXT)
		return print_expr_unexpected(x);
	*ret_text = (uint32_t)x->p->text.len;
	for (; x->lex.tok.kind == TOKEN_TEXT; lexer_next(&x->lex))
		lexer_unescape(x->lex.tok.s, x->lex.tok.len, &x->p->text);
	*ret_len = (uint32_t)x->p->text.len - *ret_text;
	return 0;
}

/* ---- operands ---- */

static int number_token(struct print_expr_parser *x, uint32_t *ret)
{
	unsigned base = 10, longs = 0, bits = 32, long_bits = x->fmt->abi.long_bytes * 8u;
	const char *s = x->lex.tok.s, *end = s + x->lex.tok.len;
	bool is_unsigned = false;
	uint64_t v = 0;

	while (end > s && strchr("uUlL", end[-1])) {
		is_unsigned = is_unsigned || (end[-1] | 0x20) == 'u';
		longs += (end[-1] | 0x20) == 'l';
		end--;
	}
	if (end - s > 2 && s[0] == '0' && (s[1] | 0x20) == 'x')
		base = 16;
	else if (end - s > 2 && s[0] == '0' && (s[1] | 0x20) == 'b')
		base = 2;
	else if (end - s > 1 && s[0] == '0')
		base = 8;
	for (s += base == 16 || base == 2 ? 2 : 0; s < end; s++) {
		unsigned d = *s <= '9' ? (unsigned)(*s - '0') : ((unsigned)*s | 0x20) - 'a' + 10;

		if (d >= base || __builtin_mul_overflow(v, base, &v) ||
		    __builtin_add_overflow(v, d, &v))
			return print_expr_unexpected(x);
	}
	if (longs)
		bits = longs > 1 ? 64 : long_bits;
	if (bits == 32 && v > (is_unsigned || base != 10 ? UINT32_MAX : INT32_MAX))
		bits = 64;
	/* As in C, a constant that is not decimal becomes unsigned before it becomes wider. */
	if (base != 10 && v >> (bits - 1))
		is_unsigned = true;
	lexer_next(&x->lex);
	return print_expr_node(x, (struct node){.number = format_number(v, bits, !is_unsigned)}, 0,
			       ret);
}

static int char_token(struct print_expr_parser *x, uint32_t *ret)
{
	CLEANUP(buf_release) struct buf b = {};

	lexer_unescape(x->lex.tok.s, x->lex.tok.len, &b);
	if (b.len != 1)
		return print_expr_unexpected(x);
	lexer_next(&x->lex);
	return print_expr_node(
		x, (struct node){.number = format_number((uint64_t)b.s[0], 32, true)}, 0, ret);
}

/* Parses the rest of REC->field, after REC. */
static int field_token(struct print_expr_parser *x, uint32_t *ret)
{
	struct node n = {.kind = NODE_FIELD};
	int err = print_expr_expect(x, '.');

	if (err)
		return err;
	if (x->lex.tok.kind != TOKEN_NAME)
		return print_expr_unexpected(x);
	vec_each(&x->fmt->fields, f) {
		if (!lexer_is_name(&x->lex, f->name))
			continue;
		n.field = (uint16_t)(f - x->fmt->fields.items);
		lexer_next(&x->lex);
		return print_expr_node(x, n, 0, ret);
	}
	return err_set(x->e, EINVAL,
		       "print fmt refers to the field '%.*s', which the format does not define",
		       (int)(x->lex.tok.len < 60 ? x->lex.tok.len : 60), x->lex.tok.s);
}

static int name_token(struct print_expr_parser *x, uint32_t *ret)
{
	struct token name = x->lex.tok;
	uint64_t number;

	lexer_next(&x->lex);
	if (name.len == 3 && !memcmp(name.s, "REC", 3))
		return field_token(x, ret);
	if (lexer_is(&x->lex, '('))
		return print_expr_call(x, name, ret);
	if (print_expr_known_name(&name, &number))
		return print_expr_node(x, (struct node){.number = format_number(number, 32, true)},
				       0, ret);
	return print_expr_node(x, (struct node){.kind = NODE_UNKNOWN}, 0, ret);
}

static int text_token(struct print_expr_parser *x, uint32_t *ret)
{
	struct node n = {.kind = NODE_TEXT};
	int err = print_expr_text(x, &n.text, &n.text_len);

	return err ? err : print_expr_node(x, n, 0, ret);
}

/* ---- types ---- */

static bool starts_operand(const struct lexer *l)
{
	return l->tok.kind == TOKEN_NAME || l->tok.kind == TOKEN_NUMBER ||
	       l->tok.kind == TOKEN_TEXT || l->tok.kind == TOKEN_CHAR || lexer_is(l, '(') ||
	       lexer_is(l, '~') || lexer_is(l, '!');
}

bool print_expr_type(struct print_expr_parser *x, struct ctype *ret)
{
	struct lexer before = x->lex, after;
	struct ctype_words words = {};
	unsigned pointers = 0;
	bool known;

	for (; x->lex.tok.kind == TOKEN_NAME && !pointers; lexer_next(&x->lex)) {
		if (words.count == ARRAY_LEN(words.word))
			break;
		words.word[words.count] = x->lex.tok.s;
		words.len[words.count++] = x->lex.tok.len;
	}
	while (pointers < 4 && words.count && lexer_skip(&x->lex, '*'))
		pointers++;
	if (!words.count || !lexer_is(&x->lex, ')') || lexer_is_name(&before, "REC")) {
		x->lex = before;
		return false;
	}
	known = ctype_of(&words, x->fmt->abi.long_bytes, ret);
	if (!known)
		*ret = (struct ctype){};
	ret->pointers = (uint8_t)pointers;
	/* An unknown name in parentheses is a type only if a value follows. */
	after = x->lex;
	lexer_next(&after);
	if (!known && !pointers && !starts_operand(&after)) {
		x->lex = before;
		return false;
	}
	return true;
}

static int unary(struct print_expr_parser *x, uint32_t *ret);

/* Parses (type)value or (expression); the '(' was consumed. */
static int parenthesis(struct print_expr_parser *x, uint32_t *ret)
{
	struct node n = {.kind = NODE_CAST};
	int err;

	if (print_expr_type(x, &n.type)) {
		lexer_next(&x->lex);
		err = unary(x, &n.kid[0]);
		return err ? err : print_expr_node(x, n, 1, ret);
	}
	err = print_expr_parse(x, ret);
	return err ? err : print_expr_expect(x, ')');
}

/* ---- operators ---- */

static int primary(struct print_expr_parser *x, uint32_t *ret)
{
	switch (x->lex.tok.kind) {
	case TOKEN_NUMBER:
		return number_token(x, ret);
	case TOKEN_CHAR:
		return char_token(x, ret);
	case TOKEN_TEXT:
		return text_token(x, ret);
	case TOKEN_NAME:
		return name_token(x, ret);
	default:
		return lexer_skip(&x->lex, '(') ? parenthesis(x, ret) : print_expr_unexpected(x);
	}
}

static int postfix(struct print_expr_parser *x, uint32_t *ret)
{
	int err = primary(x, ret);

	while (!err && lexer_skip(&x->lex, '[')) {
		struct node n = {.kind = NODE_INDEX, .kid = {*ret}};

		err = print_expr_parse(x, &n.kid[1]);
		if (!err)
			err = print_expr_expect(x, ']');
		if (!err)
			err = print_expr_node(x, n, 2, ret);
	}
	return err;
}

static int unary_operator(struct print_expr_parser *x, int op, uint32_t *ret)
{
	struct node n = {.kind = NODE_UNARY, .op = op};
	unsigned kids = 1;
	int err;

	lexer_next(&x->lex);
	err = unary(x, &n.kid[0]);
	if (err)
		return err;
	if (op == '&') {
		n.kind = NODE_ADDRESS;
	} else if (op == '*') {
		n.kind = NODE_INDEX;
		err = print_expr_node(x, (struct node){.number = format_number(0, 32, true)}, 0,
				      &n.kid[1]);
		kids = 2;
	}
	return err ? err : print_expr_node(x, n, kids, ret);
}

static int unary(struct print_expr_parser *x, uint32_t *ret)
{
	int op = x->lex.tok.kind == TOKEN_OP ? x->lex.tok.op : 0, err;

	if (++x->depth > FORMAT_DEPTH_LIMIT)
		return err_set(x->e, E2BIG, "print fmt is nested too deeply");
	if (op == '!' || op == '~' || op == '-' || op == '+' || op == '&' || op == '*')
		err = unary_operator(x, op, ret);
	else
		err = postfix(x, ret);
	x->depth--;
	return err;
}

/* Returns the precedence of an operator, higher binds tighter; 0 if it is not an operator. */
static unsigned level_of(const struct token *tok)
{
	static const struct {
		int op;
		unsigned level;
	} levels[] = {
		{OP_OR, 1},  {OP_AND, 2}, {'|', 3}, {'^', 4},   {'&', 5},   {OP_EQ, 6},
		{OP_NE, 6},  {'<', 7},    {'>', 7}, {OP_LE, 7}, {OP_GE, 7}, {OP_SHL, 8},
		{OP_SHR, 8}, {'+', 9},    {'-', 9}, {'*', 10},  {'/', 10},  {'%', 10},
	};

	for (size_t i = 0; tok->kind == TOKEN_OP && i < ARRAY_LEN(levels); i++)
		if (levels[i].op == tok->op)
			return levels[i].level;
	return 0;
}

static int binary(struct print_expr_parser *x, unsigned min_level, uint32_t *ret)
{
	unsigned level;
	int err = unary(x, ret);

	while (!err && (level = level_of(&x->lex.tok)) && level >= min_level) {
		struct node n = {.kind = NODE_BINARY, .op = x->lex.tok.op, .kid = {*ret}};

		lexer_next(&x->lex);
		err = binary(x, level + 1, &n.kid[1]);
		if (!err)
			err = print_expr_node(x, n, 2, ret);
	}
	return err;
}

int print_expr_parse(struct print_expr_parser *x, uint32_t *ret)
{
	struct node n = {.kind = NODE_CHOICE};
	int err;

	if (++x->depth > FORMAT_DEPTH_LIMIT)
		return err_set(x->e, E2BIG, "print fmt is nested too deeply");
	err = binary(x, 1, ret);
	if (!err && lexer_skip(&x->lex, '?')) {
		n.kid[0] = *ret;
		err = print_expr_parse(x, &n.kid[1]);
		if (!err)
			err = print_expr_expect(x, ':');
		if (!err)
			err = print_expr_parse(x, &n.kid[2]);
		if (!err)
			err = print_expr_node(x, n, 3, ret);
	}
	x->depth--;
	return err;
}

/* ---- the whole "print fmt" ---- */

/* Arguments of a printf; those without a conversion are ignored. */
typedef VEC(uint32_t) argvec;

static int arguments(struct print_expr_parser *x, argvec *args)
{
	while (lexer_skip(&x->lex, ',')) {
		uint32_t node = 0;
		int err = print_expr_parse(x, &node);

		if (err)
			return err;
		vec_push(args, node);
	}
	return x->lex.tok.kind == TOKEN_END ? 0 : print_expr_unexpected(x);
}

int print_program_parse(struct tracepoint_format *fmt, const char *text, size_t len, struct err *e)
{
	struct print_expr_parser x = {.fmt = fmt, .start = text, .e = e};
	uint32_t format = 0, format_len = 0;
	argvec args = {};
	int err;

	x.p = xcalloc(1, sizeof(*x.p));
	lexer_start(&x.lex, text, len);
	err = print_expr_text(&x, &format, &format_len);
	if (!err)
		err = arguments(&x, &args);
	if (!err)
		err = print_pieces_parse(fmt, x.p, format, format_len, args.items, args.len, e);
	vec_release(&args);
	if (err)
		print_program_free(x.p);
	else
		fmt->print = x.p;
	return err;
}

void print_program_free(struct print_program *p)
{
	if (!p)
		return;
	vec_release(&p->nodes);
	vec_release(&p->items);
	vec_release(&p->pieces);
	buf_release(&p->text);
	free(p);
}
