/*
 * Reads bytes of DWARF sections: bounded like base/cursor.h, but inline, because a large program
 * has hundreds of megabytes of DWARF. Reading past the end returns 0 and sets `failed`.
 */
#ifndef TACHO_SYMBOL_DWARF_READER_H
#define TACHO_SYMBOL_DWARF_READER_H

#include "symbol/dwarf/dwarf.h"

#include <string.h>

struct reader {
	const unsigned char *at, *end;
	bool swap;
	bool failed;
};

/* Returns a reader from @offset to the end of the section; failed if @offset is outside. */
static inline struct reader reader_at(struct dwarf_bytes section, uint64_t offset, bool swap)
{
	static const unsigned char nothing[1];
	struct reader r = {.at = nothing, .end = nothing, .swap = swap};

	if (!section.data || offset > section.size) {
		r.failed = true;
		return r;
	}
	r.at = section.data + offset;
	r.end = section.data + section.size;
	return r;
}

static inline size_t reader_left(const struct reader *r)
{
	return (size_t)(r->end - r->at);
}

static inline void reader_fail(struct reader *r)
{
	r->failed = true;
	r->at = r->end;
}

static inline void read_skip(struct reader *r, uint64_t count)
{
	if (count > reader_left(r))
		reader_fail(r);
	else
		r->at += count;
}

static inline uint8_t read_u8(struct reader *r)
{
	if (r->at == r->end) {
		r->failed = true;
		return 0;
	}
	return *r->at++;
}

static inline uint16_t read_u16(struct reader *r)
{
	uint16_t v;

	if (reader_left(r) < sizeof(v)) {
		reader_fail(r);
		return 0;
	}
	memcpy(&v, r->at, sizeof(v));
	r->at += sizeof(v);
	return r->swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t read_u32(struct reader *r)
{
	uint32_t v;

	if (reader_left(r) < sizeof(v)) {
		reader_fail(r);
		return 0;
	}
	memcpy(&v, r->at, sizeof(v));
	r->at += sizeof(v);
	return r->swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t read_u64(struct reader *r)
{
	uint64_t v;

	if (reader_left(r) < sizeof(v)) {
		reader_fail(r);
		return 0;
	}
	memcpy(&v, r->at, sizeof(v));
	r->at += sizeof(v);
	return r->swap ? __builtin_bswap64(v) : v;
}

/* Reads a number of 1, 2, 3, 4 or 8 bytes; other sizes fail. */
static inline uint64_t read_sized(struct reader *r, unsigned size)
{
	uint64_t low;

	switch (size) {
	case 1:
		return read_u8(r);
	case 2:
		return read_u16(r);
	case 3:
		low = read_u16(r);
		return r->swap ? low << 8 | read_u8(r) : low | (uint64_t)read_u8(r) << 16;
	case 4:
		return read_u32(r);
	case 8:
		return read_u64(r);
	default:
		reader_fail(r);
		return 0;
	}
}

/* Bits beyond 64 are dropped: no length or offset can need them. */
static inline uint64_t read_uleb(struct reader *r)
{
	uint64_t value = 0;
	unsigned shift = 0;

	while (r->at < r->end) {
		uint8_t byte = *r->at++;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
		shift += 7;
	}
	r->failed = true;
	return 0;
}

static inline int64_t read_sleb(struct reader *r)
{
	uint64_t value = 0;
	unsigned shift = 0;

	while (r->at < r->end) {
		uint8_t byte = *r->at++;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (byte & 0x80)
			continue;
		if (shift < 64 && byte & 0x40)
			value |= ~0ull << shift;
		return (int64_t)value;
	}
	r->failed = true;
	return 0;
}

/* Reads a string. Returns NULL and sets `failed` if it has no NUL before the end. */
static inline const char *read_string(struct reader *r)
{
	const char *s = (const char *)r->at;
	const unsigned char *nul = reader_left(r) ? memchr(r->at, 0, reader_left(r)) : NULL;

	if (!nul) {
		reader_fail(r);
		return NULL;
	}
	r->at = nul + 1;
	return s;
}

/* Reads the length at the beginning of a unit and ends the reader where the unit ends.
 * *ret_offset_size: 8 for 64-bit DWARF, else 4. */
static inline bool read_unit_length(struct reader *r, unsigned *ret_offset_size)
{
	uint64_t length = read_u32(r);

	*ret_offset_size = 4;
	if (length == 0xffffffff) {
		*ret_offset_size = 8;
		length = read_u64(r);
	} else if (length >= 0xfffffff0) {
		reader_fail(r);
	}
	if (r->failed || length > reader_left(r)) {
		reader_fail(r);
		return false;
	}
	r->end = r->at + length;
	return true;
}

#endif
