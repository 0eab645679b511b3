/*
 * A growing array of any type: `VEC(int) v = {};  vec_push(&v, 3);  vec_each(&v, p) use(*p);`
 * The owner calls vec_release(). Pointers into it are valid until the next push.
 */
#ifndef TACHO_BASE_VEC_H
#define TACHO_BASE_VEC_H

#include "base/alloc.h"

#include <string.h>

#define VEC(...)                                                                                   \
	struct {                                                                                   \
		__VA_ARGS__ *items;                                                                \
		size_t len, cap;                                                                   \
	}

#define vec_reserve(v, n)                                                                          \
	do {                                                                                       \
		if ((n) > (v)->cap) {                                                              \
			(v)->cap = (n) > 2 * (v)->cap ? (n) : 2 * (v)->cap;                        \
			(v)->items = xrealloc((v)->items, (v)->cap, sizeof(*(v)->items));          \
		}                                                                                  \
	} while (0)

/* The unreachable branch tells static analysers that room for an item means memory. */
#define vec_push(v, ...)                                                                           \
	do {                                                                                       \
		vec_reserve((v), (v)->len + 1);                                                    \
		if (!(v)->items)                                                                   \
			__builtin_unreachable();                                                   \
		(v)->items[(v)->len++] = (__VA_ARGS__);                                            \
	} while (0)

/* Makes it at least @n long; new items are all zeros. */
#define vec_grow(v, n)                                                                             \
	do {                                                                                       \
		if ((v)->len >= (n))                                                               \
			break;                                                                     \
		vec_reserve((v), (n));                                                             \
		memset((v)->items + (v)->len, 0, ((n) - (v)->len) * sizeof(*(v)->items));          \
		(v)->len = (n);                                                                    \
	} while (0)

#define vec_each(v, p)                                                                             \
	for (__typeof__((v)->items + 0) p = (v)->items; p && p < (v)->items + (v)->len; p++)

#define vec_release(v)                                                                             \
	do {                                                                                       \
		free((v)->items);                                                                  \
		(v)->items = NULL;                                                                 \
		(v)->len = (v)->cap = 0;                                                           \
	} while (0)

#endif
