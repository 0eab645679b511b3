/*
 * An ELF file: sections, segments, build id. The file is read, never mapped (one that shrinks would
 * kill us), section by section when first asked for, decompressed, and kept until elf_close().
 * Nothing in it is trusted: offsets and sizes are checked, and limits hold for all of it together.
 * 32 and 64 bits, both byte orders.
 *
 * Any number of threads may ask; what was given stays valid for all until the close.
 */
#ifndef TACHO_SYMBOL_ELF_ELF_H
#define TACHO_SYMBOL_ELF_ELF_H

#include "base/err.h"
#include "perf/build_id.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

#define ELF_BYTES_MAX    (4ull << 30) /* of all sections that are held at a time */
#define ELF_SECTIONS_MAX 65536u
#define ELF_SEGMENTS_MAX 4096u

struct elf_section {
	const unsigned char *data; /* NULL: none in the file (.bss, or only debug sections kept) */
	size_t size;
	uint64_t address; /* ELF virtual */
	uint64_t offset;  /* in the file; of the compressed bytes, if it was compressed */
	uint64_t flags, entry_size, align;
	uint32_t type, link, info, index;
};

struct elf_segment {
	uint64_t address, offset, file_size, memory_size;
	uint32_t type, flags;
};

struct elf_file;

/* Takes @fd over on success. Regular files only: nothing that could block or start something. */
int elf_open_fd(struct elf_file **ret, int fd, const char *name_for_errors, struct err *e);
int elf_open(struct elf_file **ret, const char *path, struct err *e);
/* A whole file in memory, which the caller keeps until the close: the vdso, .gnu_debugdata. */
int elf_open_memory(struct elf_file **ret, const void *data, size_t size, struct err *e);
void elf_close(struct elf_file *f);

uint16_t elf_machine(const struct elf_file *f); /* EM_X86_64 … */
uint16_t elf_type(const struct elf_file *f);    /* ET_DYN … */
bool elf_is_64(const struct elf_file *f);
bool elf_is_swapped(const struct elf_file *f);
const struct build_id *elf_build_id(struct elf_file *f); /* size 0: none */

size_t elf_section_count(const struct elf_file *f);
/* With its bytes. False: there is none of that name or number, or it cannot be read. */
bool elf_section(struct elf_file *f, const char *name, struct elf_section *ret);
bool elf_section_at(struct elf_file *f, size_t index, struct elf_section *ret);
/* Without reading its bytes: data is NULL. */
bool elf_section_header(struct elf_file *f, const char *name, struct elf_section *ret);
bool elf_section_header_at(const struct elf_file *f, size_t index, struct elf_section *ret);
const char *elf_section_name(const struct elf_file *f, size_t index); /* "" if it has none */
/* The first of a type (SHT_SYMTAB …), without its bytes. */
bool elf_section_of_type(const struct elf_file *f, uint32_t type, struct elf_section *ret);
/* A part of its bytes into the caller's memory, so that large tables need not be held twice. */
bool elf_section_read(struct elf_file *f, size_t index, uint64_t offset, void *to, size_t size);

size_t elf_segments(const struct elf_file *f, const struct elf_segment **ret);
/* File offset ↔ ELF virtual address, by the loadable segments. */
bool elf_address_of_offset(const struct elf_file *f, uint64_t offset, uint64_t *ret_address);
bool elf_offset_of_address(const struct elf_file *f, uint64_t address, uint64_t *ret_offset);

/* Of the file that is open; -EBADF: it is in memory. */
struct stat;
int elf_stat(const struct elf_file *f, struct stat *ret);

/* How much of it is in memory. */
uint64_t elf_held_bytes(const struct elf_file *f);
/* How many sections were read so far; and gives back those that were read later than @loads, for who
 * knows that nobody looks at these any more. They are read again if somebody asks. */
uint64_t elf_loads(struct elf_file *f);
void elf_forget_since(struct elf_file *f, uint64_t loads);

/* Bytes at an ELF virtual address: code, for the disassembler. Returns how many there were. */
size_t elf_read_address(struct elf_file *f, uint64_t address, void *to, size_t size);

#endif
