/* Internal to event/format: splits a "print fmt" into tokens, one at a time. */
#ifndef TACHO_EVENT_FORMAT_LEX_H
#define TACHO_EVENT_FORMAT_LEX_H

#include "base/buf.h"

enum token_kind {
	TOKEN_END,
	TOKEN_NAME,
	TOKEN_NUMBER,
	TOKEN_TEXT,
	TOKEN_CHAR,
	TOKEN_OP,
	TOKEN_BAD
};

struct token {
	enum token_kind kind;
	int op; /* a character, or one of OP_… */
	const char *s;
	size_t len; /* without the quotes of text and characters */
};

struct lexer {
	const char *at, *end;
	struct token tok; /* the current token */
};

void lexer_start(struct lexer *l, const char *text, size_t len);
void lexer_next(struct lexer *l);
bool lexer_is(const struct lexer *l, int op);
bool lexer_is_name(const struct lexer *l, const char *name);
/* Skips the current token if it is @op; returns whether it was. */
bool lexer_skip(struct lexer *l, int op);

/* Appends the contents of a C string with its escapes replaced. */
void lexer_unescape(const char *s, size_t len, struct buf *out);

#endif
