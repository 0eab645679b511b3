/*
 * A column of numbers as bytes (docs/FORMATS.md): what chunks, dictionaries and summaries are made
 * of. A number's bytes lie in planes, all lowest bytes first: columns differ in how many of their
 * bits are noise, and a compressor that sees each plane by itself finds that out by itself.
 *
 * Decoding trusts nothing: it reads inside of its cursor, and sets `failed` there if a number is
 * larger than the caller can use.
 */
#ifndef TACHO_PROFILE_COLUMNS_H
#define TACHO_PROFILE_COLUMNS_H

#include "base/buf.h"
#include "base/cursor.h"

#include <stdint.h>

/* Adds @rows numbers to @out, in the form that will be smallest. */
void column_encode(const uint64_t *values, size_t rows, struct buf *out);
void column_encode_u32(const uint32_t *values, size_t rows, struct buf *out);

/* False, and the cursor has failed: too few bytes, not a column, or a number above @max. */
bool column_decode(struct cursor *c, size_t rows, uint64_t max, uint64_t *ret);
bool column_decode_u32(struct cursor *c, size_t rows, uint32_t max, uint32_t *ret);

/* Seven bits a byte, the lowest first. */
void varint_add(struct buf *out, uint64_t value);
uint64_t varint_take(struct cursor *c);

#endif
