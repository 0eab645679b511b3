/*
 * Records byte by byte, in our byte order or in the other one, written without any of the code that
 * reads them. The owner calls build_release().
 */
#ifndef TACHO_TESTS_RECORD_BUILD_H
#define TACHO_TESTS_RECORD_BUILD_H

#include "base/buf.h"
#include "perf/abi.h"

#include <string.h>

struct build {
	struct buf out;
	bool foreign;
	bool our_headers; /* as record_swap() is given them */
	size_t record_at;
};

static inline void build_release(struct build *b)
{
	buf_release(&b->out);
}

/* The bytes of a number, the lowest first or last. */
static inline void build_number(struct build *b, uint64_t v, unsigned bytes, bool foreign)
{
	for (unsigned i = 0; i < bytes; i++) {
		unsigned from = foreign ? bytes - 1 - i : i;

		buf_add_char(&b->out, (char)(v >> (8 * from)));
	}
}

static inline void build_u16(struct build *b, uint16_t v)
{
	build_number(b, v, 2, b->foreign);
}

static inline void build_u32(struct build *b, uint32_t v)
{
	build_number(b, v, 4, b->foreign);
}

static inline void build_u64(struct build *b, uint64_t v)
{
	build_number(b, v, 8, b->foreign);
}

static inline void build_zeros(struct build *b, size_t count)
{
	buf_pad(&b->out, count, '\0');
}

/* With its NUL, filled up to 8 bytes. */
static inline void build_text(struct build *b, const char *s)
{
	size_t len = strlen(s) + 1;

	buf_add_mem(&b->out, s, len);
	build_zeros(b, (8 - len % 8) % 8);
}

static inline void build_begin(struct build *b, uint32_t type, uint16_t misc)
{
	bool foreign = b->foreign && !b->our_headers;

	b->record_at = b->out.len;
	build_number(b, type, 4, foreign);
	build_number(b, misc, 2, foreign);
	build_number(b, 0, 2, foreign);
}

static inline void build_patch(struct build *b, size_t at, uint64_t v, unsigned bytes, bool foreign)
{
	for (unsigned i = 0; i < bytes; i++)
		b->out.s[at + i] = (char)(v >> (8 * (foreign ? bytes - 1 - i : i)));
}

static inline void build_end(struct build *b)
{
	build_patch(b, b->record_at + 6, b->out.len - b->record_at, 2,
		    b->foreign && !b->our_headers);
}

#endif
