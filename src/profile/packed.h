/*
 * The wrapping of everything that the store keeps as bytes: what it is, a hash over all of it, and
 * the rest under zstd if that makes it smaller (docs/FORMATS.md). Numbers are little-endian. Pure.
 */
#ifndef TACHO_PROFILE_PACKED_H
#define TACHO_PROFILE_PACKED_H

#include "base/buf.h"
#include "base/cursor.h"
#include "base/err.h"

/* Four letters each. */
#define PACKED_CHUNK      "tchk" /* of version 1: samples and counts only */
#define PACKED_ROWS       "trow" /* a chunk of any table */
#define PACKED_RANGES     "trng"
#define PACKED_DICTIONARY "tdic"
#define PACKED_HISTOGRAM  "thst"
#define PACKED_BLOCKS     "tblk"
#define PACKED_CODE       "tcod"
#define PACKED_LANES      "tlan"

/* Adds it to @out. @head can be read without unpacking the rest. */
void packed_seal(const char *what, const struct buf *head, const struct buf *body, struct buf *out);

/* Several of them as one: the four letters, u32 count, u32 sizes, the parts. */
#define PACKED_SEVERAL "tsum"

struct packed {
	struct cursor head, body;
	void *memory; /* that the body lies in, if it was compressed */
};

/* The head alone, which must have this size; the hash is not looked at. */
int packed_peek(const char *what, const void *bytes, size_t size, size_t head_size,
		struct cursor *ret_head, struct err *e);

/* -EBADMSG: something else, damaged, or larger than @limit_bytes when unpacked. */
int packed_open(const char *what, const void *bytes, size_t size, size_t head_size,
		size_t limit_bytes, struct packed *ret, struct err *e);
void packed_release(struct packed *p);

/* Little-endian numbers, and a cursor that reads them. */
void put_u32(struct buf *out, uint32_t value);
void put_u64(struct buf *out, uint64_t value);
struct cursor little_cursor(const void *bytes, size_t size);

#endif
