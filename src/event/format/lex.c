#include "event/format/lex.h"
#include "event/format/program.h"

#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

static void take_quoted(struct lexer *l, char quote)
{
	const char *s = l->at + 1;

	for (; s < l->end && *s != quote; s++)
		if (*s == '\\' && s + 1 < l->end)
			s++;
	if (s >= l->end) {
		l->tok.kind = TOKEN_BAD;
		l->at = l->end;
		return;
	}
	l->tok.kind = quote == '"' ? TOKEN_TEXT : TOKEN_CHAR;
	l->tok.s = l->at + 1;
	l->tok.len = (size_t)(s - l->tok.s);
	l->at = s + 1;
}

static void take_operator(struct lexer *l)
{
	static const struct {
		char text[3];
		int op;
	} pairs[] = {{"<<", OP_SHL}, {">>", OP_SHR}, {"<=", OP_LE}, {">=", OP_GE}, {"==", OP_EQ},
		     {"!=", OP_NE},  {"&&", OP_AND}, {"||", OP_OR}, {"->", '.'}};

	l->tok.kind = TOKEN_OP;
	l->tok.op = (unsigned char)l->at[0];
	l->tok.len = 1;
	for (size_t i = 0; l->end - l->at >= 2 && i < ARRAY_LEN(pairs); i++) {
		if (!memcmp(l->at, pairs[i].text, 2)) {
			l->tok.op = pairs[i].op;
			l->tok.len = 2;
		}
	}
	l->at += l->tok.len;
}

void lexer_next(struct lexer *l)
{
	while (l->at < l->end && strchr(" \t\r\n", *l->at) && *l->at)
		l->at++;
	l->tok = (struct token){.kind = TOKEN_END, .s = l->at};
	if (l->at == l->end)
		return;
	if (is_name(*l->at)) {
		l->tok.kind = is_digit(*l->at) ? TOKEN_NUMBER : TOKEN_NAME;
		while (l->at < l->end && is_name(*l->at))
			l->at++;
		l->tok.len = (size_t)(l->at - l->tok.s);
	} else if (*l->at == '"' || *l->at == '\'') {
		take_quoted(l, *l->at);
	} else {
		take_operator(l);
	}
}

void lexer_start(struct lexer *l, const char *text, size_t len)
{
	*l = (struct lexer){.at = text, .end = text + len};
	lexer_next(l);
}

bool lexer_is(const struct lexer *l, int op)
{
	return l->tok.kind == TOKEN_OP && l->tok.op == op;
}

bool lexer_is_name(const struct lexer *l, const char *name)
{
	return l->tok.kind == TOKEN_NAME && l->tok.len == strlen(name) &&
	       !memcmp(l->tok.s, name, l->tok.len);
}

bool lexer_skip(struct lexer *l, int op)
{
	if (!lexer_is(l, op))
		return false;
	lexer_next(l);
	return true;
}

static int digit_of(char c, int base)
{
	int d = is_digit(c)              ? c - '0'
		: (c >= 'a' && c <= 'f') ? c - 'a' + 10
		: (c >= 'A' && c <= 'F') ? c - 'A' + 10
					 : 99;

	return d < base ? d : -1;
}

/* Returns the character of an escape "\x41" or "\101"; moves *i to its last digit. */
static char escaped_number(const char *s, size_t len, size_t *i)
{
	int base = s[*i] == 'x' ? 16 : 8, value = 0;
	size_t at = *i + (base == 16);

	for (size_t digits = 0; at < len && digits < (base == 16 ? 2u : 3u); at++, digits++) {
		int d = digit_of(s[at], base);

		if (d < 0)
			break;
		value = value * base + d;
	}
	*i = at - 1;
	return (char)value;
}

void lexer_unescape(const char *s, size_t len, struct buf *out)
{
	static const char from[] = "abefnrtv", to[] = "\a\b\033\f\n\r\t\v";

	for (size_t i = 0; i < len; i++) {
		const char *known;

		if (s[i] != '\\' || i + 1 == len) {
			buf_add_char(out, s[i]);
			continue;
		}
		i++;
		known = s[i] ? strchr(from, s[i]) : NULL;
		if (known)
			buf_add_char(out, to[known - from]);
		else if (s[i] == 'x' || digit_of(s[i], 8) >= 0)
			buf_add_char(out, escaped_number(s, len, &i));
		else
			buf_add_char(out, s[i]);
	}
}
