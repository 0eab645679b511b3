/*
 * Decompresses sections of ELF files: those with the flag SHF_COMPRESSED, and older ones that are
 * named ".zdebug_…". Claimed sizes are not trusted. Any thread; the caller frees the result.
 */
#ifndef TACHO_SYMBOL_ELF_PACKED_H
#define TACHO_SYMBOL_ELF_PACKED_H

#include "base/cursor.h"

struct elf_packed {
	uint32_t type;      /* ELFCOMPRESS_* */
	uint64_t size;      /* of the decompressed bytes */
	size_t header_size; /* before the compressed bytes */
};

/* Returns false if the section is not compressed, or its header is cut off. @bytes: the section as
 * in the file. */
bool elf_packed_by(struct cursor bytes, bool is64, uint64_t flags, const char *name,
		   struct elf_packed *ret);

/* Returns exactly how->size bytes; NULL if they are damaged, or the compression is not known. */
unsigned char *elf_unpack(const struct elf_packed *how, const unsigned char *bytes, size_t size);

#endif
