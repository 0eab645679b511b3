/* Numbers of variable length, and of a length known only at run time, from a bounded cursor. */
#ifndef TACHO_UNWIND_LEB128_H
#define TACHO_UNWIND_LEB128_H

#include "base/cursor.h"

/* Ten bytes carry 64 bits; a few more may be there as padding. Longer ones fail the cursor. */
#define LEB128_BYTES_MAX 16u

static inline uint64_t leb128_take(struct cursor *c, bool is_signed)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = cursor_u8(c);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (shift > 7 * LEB128_BYTES_MAX)
			c->failed = true;
	} while ((byte & 0x80) && !c->failed);
	if (is_signed && shift < 64 && (byte & 0x40))
		value |= ~0ull << shift;
	return value;
}

static inline uint64_t leb128_unsigned(struct cursor *c)
{
	return leb128_take(c, false);
}

static inline int64_t leb128_signed(struct cursor *c)
{
	return (int64_t)leb128_take(c, true);
}

/* 1, 2, 4 or 8 bytes; anything else fails the cursor. */
static inline uint64_t cursor_sized(struct cursor *c, unsigned size)
{
	switch (size) {
	case 1:
		return cursor_u8(c);
	case 2:
		return cursor_u16(c);
	case 4:
		return cursor_u32(c);
	case 8:
		return cursor_u64(c);
	default:
		c->failed = true;
		return 0;
	}
}

static inline uint64_t sign_extended(uint64_t value, unsigned size)
{
	unsigned unused = size < 8 ? 64 - 8 * size : 0;

	return (uint64_t)((int64_t)(value << unused) >> unused);
}

#endif
