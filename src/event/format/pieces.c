/* Splits a printf format into pieces once, so that printing a sample parses no text. */
#include "event/format/program.h"

#include <errno.h>
#include <string.h>

struct piece_parser {
	const char *at, *end;
	const struct tracepoint_format *fmt;
	struct print_program *p;
	const uint32_t *args;
	size_t arg_count, arg_used;
	struct err *e;
};

static char peek(const struct piece_parser *x)
{
	return x->at < x->end ? *x->at : '\0';
}

static int next_arg(struct piece_parser *x, uint32_t *ret)
{
	if (x->arg_used == x->arg_count)
		return err_set(x->e, EINVAL, "print fmt has more conversions than arguments");
	*ret = x->args[x->arg_used++];
	return 0;
}

static bool take_flag(struct piece_parser *x, struct piece *piece)
{
	switch (peek(x)) {
	case '-':
		piece->left = true;
		break;
	case '0':
		piece->zero = true;
		break;
	case '+':
		piece->plus = true;
		break;
	case ' ':
		piece->space = true;
		break;
	case '#':
		piece->sharp = true;
		break;
	default:
		return false;
	}
	x->at++;
	return true;
}

/* Parses a number or '*'. Ignores further digits once the number reaches FORMAT_OUTPUT_LIMIT. */
static int take_size(struct piece_parser *x, uint32_t *ret_size, uint32_t *ret_arg)
{
	if (peek(x) == '*') {
		x->at++;
		return next_arg(x, ret_arg);
	}
	for (; peek(x) >= '0' && peek(x) <= '9'; x->at++)
		if (*ret_size < FORMAT_OUTPUT_LIMIT)
			*ret_size = *ret_size * 10 + (uint32_t)(*x->at - '0');
	return 0;
}

static uint8_t take_length(struct piece_parser *x)
{
	uint8_t bytes = 4;

	for (;; x->at++) {
		switch (peek(x)) {
		case 'h':
			bytes = bytes == 2 ? 1 : 2;
			break;
		case 'l':
			bytes = bytes == 4 ? x->fmt->abi.long_bytes : 8;
			/* "ll" is 8 bytes, even where a long has 4. */
			if (x->at + 1 < x->end && x->at[1] == 'l') {
				x->at++;
				bytes = 8;
			}
			break;
		case 'z':
		case 'Z':
		case 't':
			bytes = x->fmt->abi.long_bytes;
			break;
		case 'L':
		case 'q':
		case 'j':
			bytes = 8;
			break;
		default:
			return bytes;
		}
	}
}

/* Takes the letters after %p that have a meaning in the kernel. */
static void take_suffix(struct piece_parser *x, struct piece *piece)
{
	static const char *const known[] = {
		"ISpfsc", "ISpc", "ISpf", "ISps", "ISp", "ISc", "IS", "I6c", "I4", "I6", "i4", "i6",
		"MFR",    "MF",   "MR",   "M",    "m",   "Ub",  "UB", "Ul",  "UL", "U",  "hC", "hD",
		"hN",     "h",    "bl",   "b",    "SR",  "sR",  "S",  "s",   "F",  "f",  "B",  "K",
		"x",      "d4",   "d3",   "d2",   "d",   "D2",  "D3", "D4",  "D",  "e"};

	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		size_t len = strlen(known[i]);

		if ((size_t)(x->end - x->at) < len || memcmp(x->at, known[i], len))
			continue;
		memcpy(piece->suffix, known[i], len < 4 ? len : 4);
		x->at += len;
		return;
	}
}

static int take_conversion(struct piece_parser *x, struct piece *piece)
{
	piece->conversion = peek(x);
	switch (piece->conversion) {
	case 'd':
	case 'i':
	case 'u':
	case 'x':
	case 'X':
	case 'o':
		piece->kind = PIECE_NUMBER;
		break;
	case 'c':
		piece->kind = PIECE_CHAR;
		break;
	case 's':
		piece->kind = PIECE_STRING;
		break;
	case 'p':
		piece->kind = PIECE_POINTER;
		break;
	default:
		return err_set(x->e, EINVAL, "print fmt has an unknown conversion");
	}
	x->at++;
	if (piece->kind == PIECE_POINTER)
		take_suffix(x, piece);
	return next_arg(x, &piece->arg);
}

/* Parses everything after a '%'. */
static int take_piece(struct piece_parser *x)
{
	struct piece piece = {.width_arg = PIECE_NO_ARG, .precision_arg = PIECE_NO_ARG};
	int err;

	while (take_flag(x, &piece))
		;
	err = take_size(x, &piece.width, &piece.width_arg);
	if (!err && peek(x) == '.') {
		x->at++;
		piece.has_precision = true;
		err = take_size(x, &piece.precision, &piece.precision_arg);
	}
	if (err)
		return err;
	piece.bytes = take_length(x);
	if (peek(x) == '%') {
		piece.text = (uint32_t)(x->at - buf_str(&x->p->text));
		piece.text_len = 1;
		x->at++;
	} else {
		err = take_conversion(x, &piece);
	}
	if (!err)
		vec_push(&x->p->pieces, piece);
	return err;
}

int print_pieces_parse(const struct tracepoint_format *fmt, struct print_program *p, uint32_t text,
		       uint32_t text_len, const uint32_t *args, size_t arg_count, struct err *e)
{
	const char *start = buf_str(&p->text);
	struct piece_parser x = {.at = start + text,
				 .end = start + text + text_len,
				 .fmt = fmt,
				 .p = p,
				 .args = args,
				 .arg_count = arg_count,
				 .e = e};

	while (x.at < x.end) {
		const char *percent = memchr(x.at, '%', (size_t)(x.end - x.at));
		size_t plain = (size_t)((percent ? percent : x.end) - x.at);
		int err;

		if (plain)
			vec_push(&p->pieces, (struct piece){.kind = PIECE_TEXT,
							    .text = (uint32_t)(x.at - start),
							    .text_len = (uint32_t)plain});
		x.at += plain;
		if (!percent)
			break;
		x.at++;
		err = take_piece(&x);
		if (err)
			return err;
	}
	return 0;
}
