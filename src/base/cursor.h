/*
 * A bounded view of bytes that are not trusted. Reading past the end sets `failed` and gives
 * zeros, so that a parser may read a whole structure and check once.
 */
#ifndef TACHO_BASE_CURSOR_H
#define TACHO_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cursor {
	const unsigned char *data;
	size_t size, at;
	bool failed;
	bool swap; /* the other byte order than ours */
};

struct cursor cursor_of(const void *data, size_t size);

/* A part of it, empty and failed if it is not all inside. */
struct cursor cursor_part(const struct cursor *c, uint64_t offset, uint64_t size);

uint8_t cursor_u8(struct cursor *c);
uint16_t cursor_u16(struct cursor *c);
uint32_t cursor_u32(struct cursor *c);
uint64_t cursor_u64(struct cursor *c);

/* A string ended by NUL inside the bounds; NULL if there is no end. */
const char *cursor_str(struct cursor *c);

void cursor_skip(struct cursor *c, uint64_t count);
bool cursor_done(const struct cursor *c); /* at the end, or failed */

#endif
