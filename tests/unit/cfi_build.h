/*
 * Call frame information for tests, written byte by byte. Static functions, so that a test stays one
 * file.
 */
#ifndef TACHO_TESTS_CFI_BUILD_H
#define TACHO_TESTS_CFI_BUILD_H

#include "base/buf.h"
#include "unwind/cfi.h"

#include <string.h>

struct cfi_build {
	struct buf bytes;
	uint64_t address;
	bool is_debug, is_long, swap;
	uint8_t version; /* 0: 1 */
	size_t cie_at;
};

static inline void put(struct cfi_build *b, uint64_t value, unsigned size)
{
	unsigned char bytes[8];

	for (unsigned i = 0; i < size; i++)
		bytes[b->swap ? size - 1 - i : i] = (unsigned char)(value >> 8 * i);
	buf_add_mem(&b->bytes, bytes, size);
}

static inline void put_bytes(struct cfi_build *b, const void *bytes, size_t size)
{
	buf_add_mem(&b->bytes, bytes, size);
}

/* The length at @at, now that the entry ends here. */
static inline void put_length(struct cfi_build *b, size_t at)
{
	unsigned size = b->is_long ? 8 : 4;
	uint64_t length;

	while ((b->bytes.len - at) % 8)
		put(b, 0, 1);
	if (b->is_long)
		at += 4;
	length = b->bytes.len - at - size;
	for (unsigned i = 0; i < size; i++)
		b->bytes.s[at + (b->swap ? size - 1 - i : i)] = (char)(length >> 8 * i);
}

static inline size_t begin_entry(struct cfi_build *b)
{
	size_t at = b->bytes.len;

	if (b->is_long)
		put(b, 0xffffffff, 4);
	put(b, 0, b->is_long ? 8 : 4);
	return at;
}

/* The letters' bytes with their length are in @data: "z" needs at least "\0". */
static inline void put_cie(struct cfi_build *b, const char *letters, const void *data,
			   size_t data_size, unsigned return_register, const void *program,
			   size_t program_size)
{
	size_t at = begin_entry(b);
	uint8_t version = b->version ? b->version : 1;

	b->cie_at = at;
	put(b, b->is_debug ? ~0ull : 0, b->is_debug && b->is_long ? 8 : 4);
	put(b, version, 1);
	put_bytes(b, letters, strlen(letters) + 1);
	if (version == 4)
		put_bytes(b, "\10\0", 2); /* sizes of addresses and of segments */
	put(b, 1, 1);                     /* code alignment */
	put(b, 0x78, 1);                  /* data alignment: -8 */
	put(b, return_register, 1);
	put_bytes(b, data, data_size);
	put_bytes(b, program, program_size);
	put_length(b, at);
}

/* Its pointers are as wide as the machine's; @data as above. */
static inline size_t put_fde(struct cfi_build *b, uint64_t start, uint64_t size, const void *data,
			     size_t data_size, const void *program, size_t program_size)
{
	size_t at = begin_entry(b);

	if (b->is_debug)
		put(b, b->cie_at, b->is_long ? 8 : 4);
	else
		put(b, b->bytes.len - b->cie_at, 4);
	put(b, start, 8);
	put(b, size, 8);
	put_bytes(b, data, data_size);
	put_bytes(b, program, program_size);
	put_length(b, at);
	return at;
}

static inline struct cfi_section built_section(const struct cfi_build *b)
{
	return (struct cfi_section){.data = (const unsigned char *)b->bytes.s,
				    .size = b->bytes.len,
				    .address = b->address};
}

#endif
