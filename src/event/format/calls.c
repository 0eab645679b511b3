/* The macros of trace events that a "print fmt" calls. */
#include "event/format/expr.h"

#include <errno.h>
#include <string.h>

/* How the arguments of a macro are read. */
enum call_shape {
	CALL_FIELD,     /* (field): a name, not an expression */
	CALL_FIELD_NUM, /* (field, number) */
	CALL_VALUES,    /* (value, …) */
	CALL_LIST,      /* (value, {n, "text"}, …) */
	CALL_FLAGS,     /* (value, "delimiter", {n, "text"}, …) */
	CALL_SIZEOF,
	CALL_FIRST, /* (value, …): only the first value is used */
	CALL_SECONDS,
	CALL_NANOSECONDS,
};

struct call {
	const char *name;
	enum call_shape shape;
	enum node_kind kind;
	unsigned values;
};

static const struct call calls[] = {
	{"__print_flags", CALL_FLAGS, NODE_FLAGS, 0},
	{"__print_flags_u64", CALL_FLAGS, NODE_FLAGS, 0},
	{"__print_symbolic", CALL_LIST, NODE_SYMBOLIC, 0},
	{"__print_symbolic_u64", CALL_LIST, NODE_SYMBOLIC, 0},
	{"__print_hex", CALL_VALUES, NODE_HEX, 2},
	{"__print_hex_str", CALL_VALUES, NODE_HEX_STR, 2},
	{"__print_array", CALL_VALUES, NODE_ARRAY, 3},
	{"__print_dynamic_array", CALL_FIELD_NUM, NODE_ARRAY, 0},
	{"__get_str", CALL_FIELD, NODE_BYTES, 0},
	{"__get_rel_str", CALL_FIELD, NODE_BYTES, 0},
	{"__get_dynamic_array", CALL_FIELD, NODE_BYTES, 0},
	{"__get_rel_dynamic_array", CALL_FIELD, NODE_BYTES, 0},
	{"__get_dynamic_array_len", CALL_FIELD, NODE_BYTES_LEN, 0},
	{"__get_rel_dynamic_array_len", CALL_FIELD, NODE_BYTES_LEN, 0},
	{"__get_bitmask", CALL_FIELD, NODE_BITMASK, 0},
	{"__get_rel_bitmask", CALL_FIELD, NODE_BITMASK, 0},
	{"__get_cpumask", CALL_FIELD, NODE_BITMASK, 0},
	{"__get_rel_cpumask", CALL_FIELD, NODE_BITMASK, 0},
	{"__get_sockaddr", CALL_FIELD, NODE_SOCKADDR, 0},
	{"__get_rel_sockaddr", CALL_FIELD, NODE_SOCKADDR, 0},
	{"__print_ns_to_secs", CALL_SECONDS, NODE_BINARY, 0},
	{"__print_ns_without_secs", CALL_NANOSECONDS, NODE_BINARY, 0},
	{"__builtin_expect", CALL_FIRST, NODE_NUMBER, 0},
	{"sizeof", CALL_SIZEOF, NODE_NUMBER, 0},
};

static bool named(const struct token *tok, const char *name)
{
	return tok->len == strlen(name) && !memcmp(tok->s, name, tok->len);
}

bool print_expr_known_name(const struct token *name, uint64_t *ret)
{
	static const struct {
		const char *name;
		uint64_t value;
	} known[] = {
		{"true", 1},
		{"false", 0},
		{"NULL", 0},
		{"HI_SOFTIRQ", 0},
		{"TIMER_SOFTIRQ", 1},
		{"NET_TX_SOFTIRQ", 2},
		{"NET_RX_SOFTIRQ", 3},
		{"BLOCK_SOFTIRQ", 4},
		{"IRQ_POLL_SOFTIRQ", 5},
		{"BLOCK_IOPOLL_SOFTIRQ", 5},
		{"TASKLET_SOFTIRQ", 6},
		{"SCHED_SOFTIRQ", 7},
		{"HRTIMER_SOFTIRQ", 8},
		{"RCU_SOFTIRQ", 9},
		{"HRTIMER_NORESTART", 0},
		{"HRTIMER_RESTART", 1},
		{"TCP_ESTABLISHED", 1},
		{"TCP_SYN_SENT", 2},
		{"TCP_SYN_RECV", 3},
		{"TCP_FIN_WAIT1", 4},
		{"TCP_FIN_WAIT2", 5},
		{"TCP_TIME_WAIT", 6},
		{"TCP_CLOSE", 7},
		{"TCP_CLOSE_WAIT", 8},
		{"TCP_LAST_ACK", 9},
		{"TCP_LISTEN", 10},
		{"TCP_CLOSING", 11},
		{"TCP_NEW_SYN_RECV", 12},
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		if (named(name, known[i].name)) {
			*ret = known[i].value;
			return true;
		}
	}
	return false;
}

static int call_field(struct print_expr_parser *x, struct node *n)
{
	if (x->lex.tok.kind != TOKEN_NAME)
		return print_expr_unexpected(x);
	vec_each(&x->fmt->fields, f) {
		if (!lexer_is_name(&x->lex, f->name))
			continue;
		n->field = (uint16_t)(f - x->fmt->fields.items);
		lexer_next(&x->lex);
		return 0;
	}
	return err_set(x->e, EINVAL,
		       "print fmt refers to the field '%.*s', which the format does not define",
		       (int)(x->lex.tok.len < 60 ? x->lex.tok.len : 60), x->lex.tok.s);
}

/*
 * Parses {n, "text"}. Sets *ret_empty for items without text: the {} of an empty list and the
 * {0, NULL} at the end of some lists.
 */
static int list_item(struct print_expr_parser *x, struct node_item *item, bool *ret_empty)
{
	int err = print_expr_expect(x, '{');

	*ret_empty = !err && lexer_skip(&x->lex, '}');
	if (err || *ret_empty)
		return err;
	err = print_expr_parse(x, &item->node);
	if (!err)
		err = print_expr_expect(x, ',');
	if (err)
		return err;
	if (x->lex.tok.kind == TOKEN_TEXT) {
		err = print_expr_text(x, &item->text, &item->text_len);
	} else {
		uint32_t ignored;

		*ret_empty = true;
		err = print_expr_parse(x, &ignored);
	}
	if (!err)
		lexer_skip(&x->lex, ',');
	return err ? err : print_expr_expect(x, '}');
}

/* Parses the rest of a list, from the comma before its first item. */
static int list_items(struct print_expr_parser *x, struct node *n)
{
	uint32_t last = 0;

	while (lexer_skip(&x->lex, ',') && !lexer_is(&x->lex, ')')) {
		struct node_item item = {};
		bool empty;
		int err = list_item(x, &item, &empty);

		if (err)
			return err;
		if (empty)
			continue;
		vec_push(&x->p->items, item);
		if (last)
			x->p->items.items[last - 1].next = (uint32_t)x->p->items.len;
		else
			n->item = (uint32_t)x->p->items.len;
		last = (uint32_t)x->p->items.len;
	}
	return 0;
}

static int call_list(struct print_expr_parser *x, struct node *n, bool with_delimiter)
{
	int err = print_expr_parse(x, &n->kid[0]);

	if (!err && with_delimiter) {
		err = print_expr_expect(x, ',');
		if (!err)
			err = print_expr_text(x, &n->text, &n->text_len);
	}
	return err ? err : list_items(x, n);
}

static int call_values(struct print_expr_parser *x, struct node *n, unsigned first, unsigned count)
{
	for (unsigned i = first; i < count; i++) {
		int err = i ? print_expr_expect(x, ',') : 0;

		if (!err)
			err = print_expr_parse(x, &n->kid[i]);
		if (err)
			return err;
	}
	return 0;
}

static int number(struct print_expr_parser *x, uint64_t v, unsigned bits, uint32_t *ret)
{
	return print_expr_node(x, (struct node){.number = format_number(v, bits, false)}, 0, ret);
}

/* __print_dynamic_array(field, size of an element) is __print_array of the whole field. */
static int call_field_num(struct print_expr_parser *x, struct node *n)
{
	struct node bytes = {.kind = NODE_BYTES}, len = {.kind = NODE_BYTES_LEN};
	struct node count = {.kind = NODE_BINARY, .op = '/'};
	int err = call_field(x, &bytes);

	len.field = bytes.field;
	if (!err)
		err = print_expr_node(x, bytes, 0, &n->kid[0]);
	if (!err)
		err = print_expr_node(x, len, 0, &count.kid[0]);
	if (!err)
		err = call_values(x, n, 2, 3);
	count.kid[1] = n->kid[2];
	return err ? err : print_expr_node(x, count, 2, &n->kid[1]);
}

static int call_sizeof(struct print_expr_parser *x, uint32_t *ret)
{
	unsigned long_bytes = x->fmt->abi.long_bytes;
	struct ctype type;
	uint32_t node = 0;
	int err;

	if (print_expr_type(x, &type)) {
		unsigned bytes = type.pointers ? long_bytes : type.bytes;

		if (!bytes)
			return err_set(x->e, EINVAL,
				       "print fmt asks for the size of an unknown type");
		return number(x, bytes, long_bytes * 8, ret);
	}
	err = print_expr_parse(x, &node);
	if (err)
		return err;
	if (x->p->nodes.items[node].kind != NODE_FIELD)
		return err_set(x->e, EINVAL, "print fmt asks for the size of an expression");
	return number(x, x->fmt->fields.items[x->p->nodes.items[node].field].size, long_bytes * 8,
		      ret);
}

static int call_time(struct print_expr_parser *x, int op, uint32_t *ret)
{
	struct node n = {.kind = NODE_BINARY, .op = op};
	int err = print_expr_parse(x, &n.kid[0]);

	if (!err)
		err = number(x, 1000000000, 64, &n.kid[1]);
	return err ? err : print_expr_node(x, n, 2, ret);
}

static int call_first(struct print_expr_parser *x, uint32_t *ret)
{
	int err = print_expr_parse(x, ret);

	while (!err && lexer_skip(&x->lex, ',')) {
		uint32_t ignored;

		err = print_expr_parse(x, &ignored);
	}
	return err;
}

static int call_arguments(struct print_expr_parser *x, const struct call *call, uint32_t *ret)
{
	struct node n = {.kind = call->kind};
	unsigned kids = call->values;
	int err = 0;

	switch (call->shape) {
	case CALL_FIELD:
		err = call_field(x, &n);
		break;
	case CALL_FIELD_NUM:
		err = call_field_num(x, &n);
		kids = 3;
		break;
	case CALL_VALUES:
		err = call_values(x, &n, 0, call->values);
		break;
	case CALL_LIST:
	case CALL_FLAGS:
		err = call_list(x, &n, call->shape == CALL_FLAGS);
		kids = 1;
		break;
	case CALL_SIZEOF:
		return call_sizeof(x, ret);
	case CALL_FIRST:
		return call_first(x, ret);
	case CALL_SECONDS:
		return call_time(x, '/', ret);
	case CALL_NANOSECONDS:
		return call_time(x, '%', ret);
	}
	return err ? err : print_expr_node(x, n, kids, ret);
}

int print_expr_call(struct print_expr_parser *x, struct token name, uint32_t *ret)
{
	lexer_next(&x->lex);
	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		if (named(&name, calls[i].name)) {
			int err = call_arguments(x, &calls[i], ret);

			return err ? err : print_expr_expect(x, ')');
		}
	}
	return err_set(x->e, ENOSYS, "print fmt calls '%.*s', which only the kernel can do",
		       (int)(name.len < 60 ? name.len : 60), name.s);
}
