/*
 * Reads ELF files: sections, segments, build id; 32 and 64 bits, both byte orders. The file is
 * read, never mapped (a mapped file that shrinks would kill us). Sections are read and
 * decompressed when first needed, and kept until elf_close(). The file is not trusted: offsets and
 * sizes are checked, and limits apply to all sections together.
 *
 * Any number of threads may call; returned data stays valid until elf_close() or
 * elf_forget_since().
 */
#ifndef TACHO_SYMBOL_ELF_ELF_H
#define TACHO_SYMBOL_ELF_ELF_H

#include "base/err.h"
#include "perf/build_id.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

#define ELF_BYTES_MAX    (4ull << 30) /* of all sections in memory at a time */
#define ELF_SECTIONS_MAX 65536u
/* Memory for what is read of a file, for each byte that it has; no real file needs a tenth of it. */
#define ELF_BUDGET_RATIO 64u
#define ELF_SEGMENTS_MAX 4096u

struct elf_section {
	const unsigned char *data; /* NULL: no bytes in the file (.bss, code in debug files) */
	size_t size;
	uint64_t address; /* ELF virtual address */
	uint64_t offset;  /* in the file; of the compressed bytes, if it was compressed */
	uint64_t flags, entry_size, align;
	uint32_t type, link, info, index;
};

struct elf_segment {
	uint64_t address, offset, file_size, memory_size;
	uint32_t type, flags;
};

struct elf_file;

/* Takes ownership of @fd on success. Regular files only: others may block or have side effects. */
int elf_open_fd(struct elf_file **ret, int fd, const char *name_for_errors, struct err *e);
int elf_open(struct elf_file **ret, const char *path, struct err *e);
/* Opens a whole file in memory (the vdso, .gnu_debugdata). The caller must keep @data until
 * elf_close(). */
int elf_open_memory(struct elf_file **ret, const void *data, size_t size, struct err *e);
void elf_close(struct elf_file *f);

uint16_t elf_machine(const struct elf_file *f); /* EM_X86_64 … */
uint16_t elf_type(const struct elf_file *f);    /* ET_DYN … */
bool elf_is_64(const struct elf_file *f);
bool elf_is_swapped(const struct elf_file *f);
const struct build_id *elf_build_id(struct elf_file *f); /* size 0: none */

size_t elf_section_count(const struct elf_file *f);
/* Finds a section and reads its bytes. Returns false if there is none, or it cannot be read. */
bool elf_section(struct elf_file *f, const char *name, struct elf_section *ret);
bool elf_section_at(struct elf_file *f, size_t index, struct elf_section *ret);
/* The same without reading the bytes: data is NULL. */
bool elf_section_header(struct elf_file *f, const char *name, struct elf_section *ret);
bool elf_section_header_at(const struct elf_file *f, size_t index, struct elf_section *ret);
const char *elf_section_name(const struct elf_file *f, size_t index); /* "" if it has none */
/* Finds the first section of a type (SHT_SYMTAB …), without reading its bytes. */
bool elf_section_of_type(const struct elf_file *f, uint32_t type, struct elf_section *ret);
/* Reads part of a section into the caller's memory, so that large tables are not held twice. */
bool elf_section_read(struct elf_file *f, size_t index, uint64_t offset, void *to, size_t size);

size_t elf_segments(const struct elf_file *f, const struct elf_segment **ret);
/* File offset ↔ ELF virtual address, by the loadable segments. */
bool elf_address_of_offset(const struct elf_file *f, uint64_t offset, uint64_t *ret_address);
bool elf_offset_of_address(const struct elf_file *f, uint64_t address, uint64_t *ret_offset);

/* fstat() of the open file. Returns -EBADF if the file is in memory. */
struct stat;
int elf_stat(const struct elf_file *f, struct stat *ret);

struct memory_budget;
/* Sections count in @budget, which must outlive the file: those that do not fit cannot be read. It grows
 * in proportion to the size of the file, unless that is in memory. At most once, before any other thread uses the file. */
void elf_share(struct elf_file *f, struct memory_budget *budget);
/* Bytes of sections that are in memory. */
uint64_t elf_held_bytes(const struct elf_file *f);
/* elf_loads() returns how many sections were read so far. elf_forget_since() frees those that were
 * read after the first @loads; they must not be in use. They are read again when needed. */
uint64_t elf_loads(struct elf_file *f);
void elf_forget_since(struct elf_file *f, uint64_t loads);

/* Copies bytes from an ELF virtual address: code, for the disassembler. Returns how many. */
size_t elf_read_address(struct elf_file *f, uint64_t address, void *to, size_t size);

#endif
