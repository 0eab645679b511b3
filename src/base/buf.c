#include "base/buf.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void make_room(struct buf *b, size_t more)
{
	if (b->len + more + 1 <= b->cap)
		return;
	b->cap = b->len + more + 1 > 2 * b->cap ? b->len + more + 64 : 2 * b->cap;
	b->s = xrealloc(b->s, b->cap, 1);
}

char *buf_room(struct buf *b, size_t bytes)
{
	make_room(b, bytes);
	return b->s + b->len;
}

void buf_commit(struct buf *b, const char *end)
{
	b->len = (size_t)(end - b->s);
	b->s[b->len] = '\0';
}

void buf_add_mem(struct buf *b, const void *mem, size_t len)
{
	make_room(b, len);
	if (len)
		memcpy(b->s + b->len, mem, len);
	b->len += len;
	b->s[b->len] = '\0';
}

void buf_add(struct buf *b, const char *s)
{
	buf_add_mem(b, s, strlen(s));
}

void buf_add_char(struct buf *b, char c)
{
	buf_add_mem(b, &c, 1);
}

void buf_pad(struct buf *b, size_t count, char c)
{
	make_room(b, count);
	memset(b->s + b->len, c, count);
	b->len += count;
	b->s[b->len] = '\0';
}

/* Digits of @value, at least @least of them, ending before @end; returns where they begin. */
static char *digits_before(char *end, uint64_t value, unsigned least)
{
	for (; value || least; value /= 10) {
		*--end = (char)('0' + value % 10);
		least -= least > 0;
	}
	return end;
}

void buf_add_u64(struct buf *b, uint64_t value)
{
	char text[24], *end = text + sizeof(text);
	char *start = digits_before(end, value, 1);

	buf_add_mem(b, start, (size_t)(end - start));
}

void buf_add_grouped(struct buf *b, uint64_t value, unsigned width)
{
	char text[32];
	size_t at = sizeof(text), digits = 0;

	do {
		if (digits && digits % 3 == 0)
			text[--at] = ',';
		text[--at] = (char)('0' + value % 10);
		value /= 10;
		digits++;
	} while (value);
	if (sizeof(text) - at < width)
		buf_pad(b, width - (sizeof(text) - at), ' ');
	buf_add_mem(b, text + at, sizeof(text) - at);
}

void buf_add_size(struct buf *b, uint64_t bytes)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
	double value = (double)bytes;
	size_t unit = 0;

	while (value >= 999.5 && unit + 1 < ARRAY_LEN(units)) {
		value /= 1000;
		unit++;
	}
	buf_addf(b, "%.*f %s", unit && value < 99.95 ? 1 : 0, value, units[unit]);
}

/* The product of two numbers, rounded to a whole one as printf() does: by its exact value, ties to even. */
static uint64_t round_product(double value, double power)
{
	double product = value * power, whole = floor(product), rest = product - whole;
	/* Only here does it matter by how much the product itself was rounded. */
	double missed = rest == 0.5 ? fma(value, power, -product) : 0;
	bool up =
		rest > 0.5 || (rest == 0.5 && (missed > 0 || (missed == 0 && fmod(whole, 2) == 1)));

	return (uint64_t)whole + up;
}

void buf_add_fixed(struct buf *b, double value, unsigned decimals, unsigned width)
{
	static const double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
	char text[48], *end = text + sizeof(text), *start;
	uint64_t scaled, power;

	if (decimals >= ARRAY_LEN(powers) || !(value >= 0 && value * powers[decimals] < 9e15)) {
		buf_addf(b, "%*.*f", (int)width, (int)decimals, value);
		return;
	}
	scaled = round_product(value, powers[decimals]);
	power = (uint64_t)powers[decimals];
	start = end;
	if (decimals) {
		start = digits_before(start, scaled % power, decimals);
		*--start = '.';
	}
	start = digits_before(start, scaled / power, 1);
	if ((size_t)(end - start) < width)
		buf_pad(b, width - (size_t)(end - start), ' ');
	buf_add_mem(b, start, (size_t)(end - start));
}

void buf_addv(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	make_room(b, 128);
	n = vsnprintf(b->s + b->len, b->cap - b->len, fmt, ap);
	if (n > 0 && (size_t)n >= b->cap - b->len) {
		make_room(b, (size_t)n);
		vsnprintf(b->s + b->len, b->cap - b->len, fmt, again);
	}
	if (n > 0)
		b->len += (size_t)n;
	va_end(again);
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_addv(b, fmt, ap);
	va_end(ap);
}

void buf_clear(struct buf *b)
{
	b->len = 0;
	if (b->s)
		b->s[0] = '\0';
}

void buf_cut_front(struct buf *b, size_t count)
{
	if (count >= b->len) {
		buf_clear(b);
		return;
	}
	memmove(b->s, b->s + count, b->len - count + 1);
	b->len -= count;
}

const char *buf_str(const struct buf *b)
{
	return b->s ? b->s : "";
}

void buf_release(struct buf *b)
{
	free(b->s);
	*b = (struct buf){};
}

char *buf_steal(struct buf *b)
{
	char *s = b->s ? b->s : xstrdup("");

	*b = (struct buf){};
	return s;
}

void buf_add_wrapped(struct buf *b, const char *text, size_t indent, size_t width)
{
	size_t column = indent;

	for (;;) {
		size_t word;

		text += strspn(text, " ");
		word = strcspn(text, " \n");
		if (word && column + word > width && column > indent) {
			while (b->len && b->s[b->len - 1] == ' ')
				b->s[--b->len] = '\0';
			buf_add_char(b, '\n');
			buf_pad(b, indent, ' ');
			column = indent;
		}
		buf_add_mem(b, text, word);
		column += word;
		text += word;
		if (!*text)
			return;
		if (*text == '\n') {
			buf_add_char(b, '\n');
			text++;
			if (*text && *text != '\n')
				buf_pad(b, indent, ' ');
			column = indent;
		} else if (column < width) {
			buf_add_char(b, ' ');
			column++;
		}
	}
}
