#include "base/cursor.h"

#include <string.h>

struct cursor cursor_of(const void *data, size_t size)
{
	return (struct cursor){.data = data, .size = size};
}

struct cursor cursor_part(const struct cursor *c, uint64_t offset, uint64_t size)
{
	struct cursor part = {.data = c->data, .swap = c->swap};

	if (offset > c->size || size > c->size - offset) {
		part.failed = true;
		return part;
	}
	part.data = c->data + offset;
	part.size = size;
	return part;
}

static void take(struct cursor *c, void *to, size_t size)
{
	if (c->failed || size > c->size - c->at) {
		c->failed = true;
		memset(to, 0, size);
		return;
	}
	memcpy(to, c->data + c->at, size);
	c->at += size;
}

uint8_t cursor_u8(struct cursor *c)
{
	uint8_t v;

	take(c, &v, sizeof(v));
	return v;
}

uint16_t cursor_u16(struct cursor *c)
{
	uint16_t v;

	take(c, &v, sizeof(v));
	return c->swap ? __builtin_bswap16(v) : v;
}

uint32_t cursor_u32(struct cursor *c)
{
	uint32_t v;

	take(c, &v, sizeof(v));
	return c->swap ? __builtin_bswap32(v) : v;
}

uint64_t cursor_u64(struct cursor *c)
{
	uint64_t v;

	take(c, &v, sizeof(v));
	return c->swap ? __builtin_bswap64(v) : v;
}

const char *cursor_str(struct cursor *c)
{
	const char *s = (const char *)c->data + c->at;
	const char *end;

	if (c->failed || c->at >= c->size || !(end = memchr(s, '\0', c->size - c->at))) {
		c->failed = true;
		return NULL;
	}
	c->at += (size_t)(end - s) + 1;
	return s;
}

void cursor_skip(struct cursor *c, uint64_t count)
{
	if (c->failed || count > c->size - c->at)
		c->failed = true;
	else
		c->at += count;
}

bool cursor_done(const struct cursor *c)
{
	return c->failed || c->at >= c->size;
}
