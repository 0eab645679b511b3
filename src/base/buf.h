/* A growing string, always ended by NUL. The owner calls buf_release(). */
#ifndef TACHO_BASE_BUF_H
#define TACHO_BASE_BUF_H

#include "base/alloc.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

struct buf {
	char *s; /* NULL while empty: read it through buf_str() */
	size_t len, cap;
};

void buf_add(struct buf *b, const char *s);
void buf_add_mem(struct buf *b, const void *mem, size_t len);
void buf_add_char(struct buf *b, char c);
void buf_addf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
void buf_addv(struct buf *b, const char *fmt, va_list ap);
/* Numbers without printf(), which is most of the cost of printing a thousand lines a second. */
void buf_add_u64(struct buf *b, uint64_t value);
/* With a comma between thousands, padded on the left to @width. */
void buf_add_grouped(struct buf *b, uint64_t value, unsigned width);
/* "3.2 MB": powers of 1000, three digits or so. */
void buf_add_size(struct buf *b, uint64_t bytes);
/* As "%*.*f" does; @width pads with blanks on the left. */
void buf_add_fixed(struct buf *b, double value, unsigned decimals, unsigned width);
void buf_pad(struct buf *b, size_t count, char c);
/* Room for @bytes at the end, to be written by hand; buf_commit() says up to where it was. */
char *buf_room(struct buf *b, size_t bytes);
void buf_commit(struct buf *b, const char *end);
void buf_clear(struct buf *b);
/* The first @count bytes go. */
void buf_cut_front(struct buf *b, size_t count);
const char *buf_str(const struct buf *b);
void buf_release(struct buf *b);

/* Hands the string over to the caller, who frees it; @b is empty afterwards. */
char *buf_steal(struct buf *b);

/* Appends @text folded at @width columns, every line after the first indented by @indent. */
void buf_add_wrapped(struct buf *b, const char *text, size_t indent, size_t width);

#endif
