/* What the parts of the ELF reader share; nobody else includes it. */
#ifndef TACHO_SYMBOL_ELF_STATE_H
#define TACHO_SYMBOL_ELF_STATE_H

#include "symbol/elf/elf.h"

#include <pthread.h>

struct section {
	uint32_t name, type, link, info;
	uint64_t flags, address, offset, size, align, entry_size;
	/* What was read of it; `asked` also when nothing could be. */
	unsigned char *held;
	const unsigned char *data;
	size_t data_size;
	uint64_t held_size; /* that it counts for in the file's held_bytes */
	uint64_t load;      /* the how manieth of the file it was; 0: not asked for */
};

struct elf_file {
	int fd; /* -1: in memory */
	const unsigned char *memory;
	uint64_t size;
	char *name;
	bool is64, swap;
	uint16_t machine, type;
	uint64_t held_bytes, loads;
	struct section *sections;
	size_t section_count;
	char *section_names; /* ended by NUL */
	size_t section_names_size;
	struct elf_segment *segments;
	size_t segment_count;
	struct build_id build_id;
	pthread_mutex_t lock; /* of everything that is read when first asked for */
};

/* Part of the file; false if it does not have that. */
bool elf_read_bytes(const struct elf_file *f, uint64_t offset, void *to, size_t size);

#endif
