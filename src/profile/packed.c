#include "profile/packed.h"

#define XXH_INLINE_ALL
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>
#include <zstd_errors.h>

/*
 *	0  what it is, four letters      8  hash of all from 16 on, seeded by the first 8 bytes
 *	4  u8 version                   16  u32 size of the body, unpacked
 *	5  u8 packing                   20  the head, then the body
 *	6  u16 size of the head
 */
#define PACKED_FIXED   20u
#define PACKED_HASHED  16u
#define PACKED_VERSION 1

enum packing {
	PACKING_NONE = 0,
	PACKING_ZSTD = 1,
};

/* Fast enough to be no part of the cost; a higher level gains a few percent only. */
#define PACKED_LEVEL     1
#define PACKED_SMALL_MAX 64u /* not worth asking zstd */

void put_u32(struct buf *out, uint32_t value)
{
	uint32_t little = htole32(value);

	buf_add_mem(out, &little, sizeof(little));
}

void put_u64(struct buf *out, uint64_t value)
{
	uint64_t little = htole64(value);

	buf_add_mem(out, &little, sizeof(little));
}

struct cursor little_cursor(const void *bytes, size_t size)
{
	struct cursor c = cursor_of(bytes, size);

	c.swap = __BYTE_ORDER == __BIG_ENDIAN;
	return c;
}

/* False: it did not get smaller. */
static bool compress(const struct buf *body, struct buf *out)
{
	size_t room = ZSTD_compressBound(body->len), packed;
	char *to;

	if (body->len <= PACKED_SMALL_MAX)
		return false;
	to = buf_room(out, room);
	packed = ZSTD_compress(to, room, body->s, body->len, PACKED_LEVEL);
	if (ZSTD_isError(packed) || packed >= body->len)
		return false;
	buf_commit(out, to + packed);
	return true;
}

static uint64_t hash_of(const unsigned char *bytes, size_t size)
{
	uint64_t seed;

	memcpy(&seed, bytes, sizeof(seed));
	return XXH3_64bits_withSeed(bytes + PACKED_HASHED, size - PACKED_HASHED, le64toh(seed));
}

void packed_seal(const char *what, const struct buf *head, const struct buf *body, struct buf *out)
{
	size_t begin = out->len;
	uint16_t head_size = htole16((uint16_t)head->len);
	uint64_t hash;

	buf_add_mem(out, what, 4);
	buf_add_char(out, PACKED_VERSION);
	buf_add_char(out, PACKING_NONE);
	buf_add_mem(out, &head_size, sizeof(head_size));
	put_u64(out, 0);
	put_u32(out, (uint32_t)body->len);
	buf_add_mem(out, buf_str(head), head->len);
	if (compress(body, out))
		out->s[begin + 5] = PACKING_ZSTD;
	else
		buf_add_mem(out, buf_str(body), body->len);
	hash = htole64(hash_of((unsigned char *)out->s + begin, out->len - begin));
	memcpy(out->s + begin + 8, &hash, sizeof(hash));
}

static int bad(struct err *e, const char *what, const char *why)
{
	return err_set(e, EBADMSG, "stored bytes of kind '%s' are damaged: %s", what, why);
}

static int no_memory(struct err *e, const char *what, size_t size)
{
	return err_set(
		e, ENOMEM,
		"there is not enough memory to unpack %zu stored bytes of kind '%s': try again "
		"later",
		size, what);
}

int packed_peek(const char *what, const void *bytes, size_t size, size_t head_size,
		struct cursor *ret_head, struct err *e)
{
	struct cursor c = little_cursor(bytes, size);
	const unsigned char *at = bytes;

	if (size < PACKED_FIXED + head_size)
		return bad(e, what, "too short");
	if (memcmp(at, what, 4))
		return bad(e, what, "they are something else");
	if (at[4] != PACKED_VERSION)
		return err_set(e, EBADMSG,
			       "stored bytes of kind '%s' have version %u, which is not known: "
			       "they were written by a newer tacho",
			       what, at[4]);
	if (at[5] > PACKING_ZSTD)
		return bad(e, what, "the packing is not known");
	cursor_skip(&c, 6);
	if (cursor_u16(&c) != head_size)
		return bad(e, what, "the head has a wrong size");
	*ret_head = cursor_part(&c, PACKED_FIXED, head_size);
	return 0;
}

/* The unpacked size is bounded by the caller, so a small bomb can take no more than that. */
static int unpack(const char *what, const unsigned char *from, size_t from_size, size_t size,
		  struct packed *ret, struct err *e)
{
	size_t got;

	ret->memory = malloc(size + 1);
	if (!ret->memory)
		return no_memory(e, what, size);
	got = ZSTD_decompress(ret->memory, size, from, from_size);
	if (ZSTD_getErrorCode(got) == ZSTD_error_memory_allocation) {
		packed_release(ret);
		return no_memory(e, what, size);
	}
	if (ZSTD_isError(got) || got != size) {
		packed_release(ret);
		return bad(e, what, "they cannot be unpacked");
	}
	ret->body = little_cursor(ret->memory, size);
	return 0;
}

int packed_open(const char *what, const void *bytes, size_t size, size_t head_size,
		size_t limit_bytes, struct packed *ret, struct err *e)
{
	const unsigned char *at = bytes, *body = at + PACKED_FIXED + head_size;
	struct cursor c = little_cursor(bytes, size);
	size_t body_size;
	int err;

	*ret = (struct packed){};
	err = packed_peek(what, bytes, size, head_size, &ret->head, e);
	if (err)
		return err;
	cursor_skip(&c, 8);
	if (cursor_u64(&c) != hash_of(at, size))
		return bad(e, what, "the hash is wrong");
	body_size = cursor_u32(&c);
	size -= PACKED_FIXED + head_size;
	if (body_size > limit_bytes)
		return bad(e, what, "too large");
	if (at[5] == PACKING_ZSTD)
		return unpack(what, body, size, body_size, ret, e);
	if (size != body_size)
		return bad(e, what, "the size is wrong");
	ret->body = little_cursor(body, size);
	return 0;
}

void packed_release(struct packed *p)
{
	free(p->memory);
	p->memory = NULL;
}
