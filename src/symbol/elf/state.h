/* Internal declarations of the ELF reader; not for other code. */
#ifndef TACHO_SYMBOL_ELF_STATE_H
#define TACHO_SYMBOL_ELF_STATE_H

#include "symbol/budget.h"
#include "symbol/elf/elf.h"

#include <pthread.h>

struct section {
	uint32_t name, type, link, info;
	uint64_t flags, address, offset, size, align, entry_size;
	/* What was read; `load` is set even if nothing could be read. */
	unsigned char *held;
	const unsigned char *data;
	size_t data_size;
	uint64_t held_size; /* its share of elf_file.held_bytes */
	uint64_t load;      /* elf_file.loads when it was read; 0: not read yet */
};

struct elf_file {
	int fd; /* -1: in memory */
	const unsigned char *memory;
	uint64_t size;
	char *name;
	bool is64, swap;
	uint16_t machine, type;
	uint64_t held_bytes, loads;
	struct memory_budget *budget; /* of which held_bytes are a part; NULL: none */
	struct section *sections;
	size_t section_count;
	char *section_names; /* ended by NUL */
	size_t section_names_size;
	struct elf_segment *segments;
	size_t segment_count;
	struct build_id build_id;
	pthread_mutex_t lock; /* protects everything that is read when first needed */
};

/* Reads part of the file. Returns false if the file does not have all of it. */
bool elf_read_bytes(const struct elf_file *f, uint64_t offset, void *to, size_t size);

#endif
