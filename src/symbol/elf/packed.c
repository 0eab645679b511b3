#include "symbol/elf/packed.h"
#include "symbol/elf/decompress.h"

#include <elf.h>
#include <string.h>

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

/* zlib never expands a byte to more than this many, so a larger claimed size is false. */
#define ZLIB_RATIO_MAX 1100

bool elf_packed_by(struct cursor bytes, bool is64, uint64_t flags, const char *name,
		   struct elf_packed *ret)
{
	if (flags & SHF_COMPRESSED) {
		ret->type = cursor_u32(&bytes);
		if (is64)
			cursor_u32(&bytes);
		ret->size = is64 ? cursor_u64(&bytes) : cursor_u32(&bytes);
		cursor_skip(&bytes, is64 ? 8 : 4); /* alignment */
		ret->header_size = bytes.at;
		return !bytes.failed;
	}
	if (strncmp(name, ".zdebug", 7) || bytes.size < 12 || memcmp(bytes.data, "ZLIB", 4))
		return false;
	bytes.swap = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__; /* always big-endian */
	cursor_skip(&bytes, 4);
	*ret = (struct elf_packed){ELFCOMPRESS_ZLIB, cursor_u64(&bytes), 12};
	return true;
}

unsigned char *elf_unpack(const struct elf_packed *how, const unsigned char *bytes, size_t size)
{
	const unsigned char *from = bytes + how->header_size;
	size_t from_size = size - how->header_size;

	if (how->type == ELFCOMPRESS_ZLIB && how->size / ZLIB_RATIO_MAX <= from_size)
		return decompress_zlib(from, from_size, how->size);
	if (how->type == ELFCOMPRESS_ZSTD)
		return decompress_zstd(from, from_size, how->size);
	return NULL;
}
