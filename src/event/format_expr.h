/* Inside of format.h: the parser of "print fmt", shared by format_expr.c and format_calls.c. */
#ifndef TACHO_EVENT_FORMAT_EXPR_H
#define TACHO_EVENT_FORMAT_EXPR_H

#include "event/format_lex.h"
#include "event/format_program.h"

struct expr_parser {
	struct lexer lex;
	struct tracepoint_format *fmt;
	struct print_program *p;
	unsigned depth;
	const char *start;
	struct err *e;
};

/* All of these return 0 or a negative errno, and the node in *ret. */
int expr_parse(struct expr_parser *x, uint32_t *ret);
int expr_node(struct expr_parser *x, struct node n, unsigned kids, uint32_t *ret);
int expr_expect(struct expr_parser *x, int op);
int expr_unexpected(struct expr_parser *x);

/* "text" "more text", unescaped and appended to the program's text. */
int expr_text(struct expr_parser *x, uint32_t *ret_text, uint32_t *ret_len);

/* Words of a type up to ')', which is left; false and nothing taken if it is no type. */
bool expr_type(struct expr_parser *x, struct ctype *ret);

/* name(…): the name was taken, the token is '('. */
int expr_call(struct expr_parser *x, struct token name, uint32_t *ret);

/* Values of names that every kernel has, and that old ones do not replace by numbers. */
bool expr_known_name(const struct token *name, uint64_t *ret);

#endif
