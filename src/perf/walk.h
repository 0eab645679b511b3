/*
 * A bounded walk through one record. With `swap` (a constant at every use, so that the compiler
 * makes two programs of one text) each value is turned around in place as it is passed, which is
 * how records of a foreign byte order become ours: one description of the layout serves both.
 */
#ifndef TACHO_PERF_WALK_H
#define TACHO_PERF_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

struct walk {
	unsigned char *at, *end;
	bool failed;
};

ALWAYS_INLINE size_t walk_left(const struct walk *w)
{
	return (size_t)(w->end - w->at);
}

/* The next @size bytes, or NULL. */
ALWAYS_INLINE unsigned char *walk_bytes(struct walk *w, uint64_t size)
{
	unsigned char *at = w->at;

	if (size > walk_left(w)) {
		w->failed = true;
		w->at = w->end;
		return NULL;
	}
	w->at += size;
	return at;
}

ALWAYS_INLINE uint64_t walk_u64(struct walk *w, bool swap)
{
	unsigned char *at = walk_bytes(w, 8);
	uint64_t v;

	if (!at)
		return 0;
	memcpy(&v, at, 8);
	if (swap) {
		v = __builtin_bswap64(v);
		memcpy(at, &v, 8);
	}
	return v;
}

ALWAYS_INLINE uint32_t walk_u32(struct walk *w, bool swap)
{
	unsigned char *at = walk_bytes(w, 4);
	uint32_t v;

	if (!at)
		return 0;
	memcpy(&v, at, 4);
	if (swap) {
		v = __builtin_bswap32(v);
		memcpy(at, &v, 4);
	}
	return v;
}

ALWAYS_INLINE uint16_t walk_u16(struct walk *w, bool swap)
{
	unsigned char *at = walk_bytes(w, 2);
	uint16_t v;

	if (!at)
		return 0;
	memcpy(&v, at, 2);
	if (swap) {
		v = __builtin_bswap16(v);
		memcpy(at, &v, 2);
	}
	return v;
}

/* @count words as an array; they must lie where such an array may lie. */
ALWAYS_INLINE const uint64_t *walk_words(struct walk *w, uint64_t count, bool swap)
{
	unsigned char *at = w->at;

	if (count > walk_left(w) / 8 || ((uintptr_t)at & 7)) {
		w->failed = true;
		w->at = w->end;
		return NULL;
	}
	if (swap)
		for (uint64_t i = 0; i < count; i++)
			walk_u64(w, true);
	else
		w->at += count * 8;
	return (const uint64_t *)(const void *)at;
}

/* A string that ends inside the bounds; the rest of the bytes are its padding. */
ALWAYS_INLINE const char *walk_string(struct walk *w)
{
	const char *s = (const char *)w->at;

	if (!walk_left(w) || !memchr(s, '\0', walk_left(w))) {
		w->failed = true;
		return NULL;
	}
	w->at = w->end;
	return s;
}

#endif
