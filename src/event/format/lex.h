/* Inside of format.h: the words of a "print fmt", one at a time. */
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
	size_t len; /* of text and characters: without the quotes */
};

struct lexer {
	const char *at, *end;
	struct token tok; /* the one to look at */
};

void lexer_start(struct lexer *l, const char *text, size_t len);
void lexer_next(struct lexer *l);
bool lexer_is(const struct lexer *l, int op);
bool lexer_is_name(const struct lexer *l, const char *name);
/* Moves on if it is @op. */
bool lexer_skip(struct lexer *l, int op);

/* Appends the characters that the inside of a C string stands for. */
void lexer_unescape(const char *s, size_t len, struct buf *out);

#endif
