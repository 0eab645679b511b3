/* Internal to event/format: the parser of "print fmt", shared by expr.c and calls.c. */
#ifndef TACHO_EVENT_FORMAT_EXPR_H
#define TACHO_EVENT_FORMAT_EXPR_H

#include "event/format/lex.h"
#include "event/format/program.h"

struct print_expr_parser {
	struct lexer lex;
	struct tracepoint_format *fmt;
	struct print_program *p;
	unsigned depth;
	const char *start;
	struct err *e;
};

/* These return 0 or a negative errno; those with @ret store the node there. */
int print_expr_parse(struct print_expr_parser *x, uint32_t *ret);
int print_expr_node(struct print_expr_parser *x, struct node n, unsigned kids, uint32_t *ret);
int print_expr_expect(struct print_expr_parser *x, int op);
int print_expr_unexpected(struct print_expr_parser *x);

/* Parses "text" "more text" and appends it, unescaped, to the program's text. */
int print_expr_text(struct print_expr_parser *x, uint32_t *ret_text, uint32_t *ret_len);

/* Parses a type up to ')', which stays. Returns false and consumes nothing if it is not a type. */
bool print_expr_type(struct print_expr_parser *x, struct ctype *ret);

/* Parses name(…). The name was consumed; the current token is '('. */
int print_expr_call(struct print_expr_parser *x, struct token name, uint32_t *ret);

/* Looks up constants that every kernel has and that old kernels do not replace by numbers. */
bool print_expr_known_name(const struct token *name, uint64_t *ret);

#endif
