/*
 * Sections of ELF files that are compressed: by the flag that says so, or, older, by their name
 * ".zdebug_…". Sizes that are claimed are not believed. Any thread; the caller frees what he is given.
 */
#ifndef TACHO_SYMBOL_ELF_PACKED_H
#define TACHO_SYMBOL_ELF_PACKED_H

#include "base/cursor.h"

struct elf_packed {
	uint32_t type;      /* ELFCOMPRESS_* */
	uint64_t size;      /* of what comes out */
	size_t header_size; /* before the packed bytes */
};

/* False: it is not compressed, or has no whole header. @bytes: the section as the file has it. */
bool elf_packed_by(struct cursor bytes, bool is64, uint64_t flags, const char *name,
		   struct elf_packed *ret);

/* Exactly how->size bytes; NULL: damaged, or packed in a way that we do not know. */
unsigned char *elf_unpack(const struct elf_packed *how, const unsigned char *bytes, size_t size);

#endif
