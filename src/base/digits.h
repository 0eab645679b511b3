/*
 * Numbers into memory that the caller knows to be large enough; each function returns where it
 * stopped. For output of hundreds of megabytes, where printf() and even a check of the room for
 * every number would be most of the work: buf_room() checks once for a whole line.
 */
#ifndef TACHO_BASE_DIGITS_H
#define TACHO_BASE_DIGITS_H

#include <stdint.h>
#include <string.h>

#define DIGITS_MAX 20 /* of a decimal number of 64 bits */

static inline unsigned digits_count(uint64_t v)
{
	unsigned n = 1;

	for (; v >= 10000; v /= 10000)
		n += 4;
	return n + (v >= 10) + (v >= 100) + (v >= 1000);
}

/* Exactly @count digits, zeros in front. */
static inline char *put_digits(char *p, uint64_t v, unsigned count)
{
	char *end = p + count, *at = end;

	for (; count >= 2; count -= 2) {
		unsigned pair = (unsigned)(v % 100);

		v /= 100;
		*--at = (char)('0' + pair % 10);
		*--at = (char)('0' + pair / 10);
	}
	if (count)
		*--at = (char)('0' + v % 10);
	return end;
}

static inline char *put_blanks(char *p, size_t count)
{
	memset(p, ' ', count);
	return p + count;
}

static inline char *put_u64(char *p, uint64_t v)
{
	return put_digits(p, v, digits_count(v));
}

/* As "%*lu". */
static inline char *put_u64_right(char *p, uint64_t v, unsigned width)
{
	unsigned n = digits_count(v);

	if (n < width)
		p = put_blanks(p, width - n);
	return put_digits(p, v, n);
}

/* As "%*d"; @width is negative for the left side. */
static inline char *put_i32(char *p, int32_t v, int width)
{
	char *start = p;
	uint64_t size = (uint64_t)(v < 0 ? -(int64_t)v : v);
	unsigned n = digits_count(size) + (v < 0);

	if (width > 0 && n < (unsigned)width)
		p = put_blanks(p, (size_t)width - n);
	if (v < 0)
		*p++ = '-';
	p = put_u64(p, size);
	if (width < 0 && p - start < -width)
		p = put_blanks(p, (size_t)(-width - (p - start)));
	return p;
}

/* Eight hexadecimal digits as the bytes of a word, the first in the lowest. */
static inline uint64_t hex_word(uint32_t v)
{
	uint64_t x = v, above;

	x = (x | x << 16) & 0x0000ffff0000ffffull;
	x = (x | x << 8) & 0x00ff00ff00ff00ffull;
	x = (x | x << 4) & 0x0f0f0f0f0f0f0f0full;
	x = __builtin_bswap64(x);
	above = ((x + 0x0606060606060606ull) >> 4) & 0x0101010101010101ull; /* 10 and more */
	return x + 0x3030303030303030ull + above * ('a' - '0' - 10);
}

static inline void put_word(char *p, uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	memcpy(p, &word, sizeof(word));
}

/* The lowest @count bytes of @word, at most 7, as blanks. */
static inline uint64_t blank_bytes(uint64_t word, unsigned count)
{
	uint64_t mask = (1ull << (8 * count)) - 1;

	return (word & ~mask) | (0x2020202020202020ull & mask);
}

/* As "%16lx". */
static inline char *put_hex_right(char *p, uint64_t v)
{
	unsigned zeros = (unsigned)__builtin_clzll(v | 1) / 4;
	uint64_t high = hex_word((uint32_t)(v >> 32)), low = hex_word((uint32_t)v);

	if (zeros < 8) {
		high = blank_bytes(high, zeros);
	} else {
		high = 0x2020202020202020ull;
		low = blank_bytes(low, zeros - 8);
	}
	put_word(p, high);
	put_word(p + 8, low);
	return p + 16;
}

/* As "%lx". */
static inline char *put_hex(char *p, uint64_t v)
{
	unsigned zeros = (unsigned)__builtin_clzll(v | 1) / 4;
	char all[16];

	put_word(all, hex_word((uint32_t)(v >> 32)));
	put_word(all + 8, hex_word((uint32_t)v));
	memcpy(p, all + zeros, 16 - zeros);
	return p + 16 - zeros;
}

static inline char *put_mem(char *p, const char *s, size_t len)
{
	memcpy(p, s, len);
	return p + len;
}

/* A string constant. */
#define put_lit(p, s) put_mem(p, s, sizeof(s) - 1)

#endif
