/* An ELF file: all sections, symbols, PLT names and packed symbols, found inside the bytes or not. */
#include "symbol/elf/decompress.h"
#include "symbol/elf/symbols.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MINI_BYTES_MAX (16u << 20)

static void check_table(struct symtab *t)
{
	uint64_t before = 0;

	symtab_finish(t);
	for (size_t i = 0; i < t->symbols.len; i++) {
		const struct symbol *s = &t->symbols.items[i];

		if ((i && s->start <= before) || s->name >= t->names.len ||
		    !memchr(symtab_name(t, s), '\0', t->names.len - s->name))
			abort();
		if (s->end > s->start && !symtab_find(t, s->start))
			abort();
		before = s->start;
	}
	symtab_release(t);
}

static void check_symbols(struct elf_file *f)
{
	struct symtab t = {};

	elf_add_symbols(&t, f, f, SHT_SYMTAB);
	elf_add_symbols(&t, f, f, SHT_DYNSYM);
	elf_add_plt_symbols(&t, f);
	check_table(&t);
}

static void check_sections(struct elf_file *f)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < elf_section_count(f) && i < 256; i++) {
		struct elf_section s;

		if (!elf_section_at(f, i, &s) || !s.data)
			continue;
		for (size_t k = 0; k < s.size; k += 512)
			sum += s.data[k];
		sum += s.size ? s.data[s.size - 1] : 0;
	}
	__asm__ volatile("" ::"r"(sum));
}

static void check_mini(struct elf_file *f)
{
	struct elf_section s;
	struct elf_file *inner;
	unsigned char *bytes;
	size_t size;

	if (!elf_section(f, ".gnu_debugdata", &s) || !s.data)
		return;
	bytes = decompress_file(s.data, s.size, MINI_BYTES_MAX, &size);
	if (bytes && elf_open_memory(&inner, bytes, size, NULL) == 0) {
		check_symbols(inner);
		elf_close(inner);
	}
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_file *f;
	unsigned char code[64];
	uint64_t address, offset;

	if (elf_open_memory(&f, data, size, NULL) < 0)
		return 0;
	check_sections(f);
	check_symbols(f);
	check_mini(f);
	if (elf_address_of_offset(f, size / 2, &address) &&
	    elf_read_address(f, address, code, sizeof(code)) > sizeof(code))
		abort();
	if (elf_build_id(f)->size > BUILD_ID_BYTES_MAX)
		abort();
	elf_offset_of_address(f, 0x1000, &offset);
	elf_close(f);
	return 0;
}
