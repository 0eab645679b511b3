#include "symbol/elf/symbols.h"

#include <endian.h>
#include <string.h>

struct raw_symbol {
	uint64_t value, size;
	uint32_t name, section;
	uint8_t info, other;
};

#define BLOCK_SYMBOLS 1024

/* A table of symbols and all that is needed to read it. */
struct table {
	struct elf_file *f;
	struct elf_section symbols, names; /* headers only, without bytes */
	const unsigned char *extended;     /* 32-bit section numbers, or NULL */
	size_t extended_count, entry_size, count;
	bool is64, swap;
};

static uint16_t u16_of(uint16_t v, bool swap)
{
	return swap ? __builtin_bswap16(v) : v;
}

static uint32_t u32_of(uint32_t v, bool swap)
{
	return swap ? __builtin_bswap32(v) : v;
}

static uint64_t u64_of(uint64_t v, bool swap)
{
	return swap ? __builtin_bswap64(v) : v;
}

static struct raw_symbol decode_symbol(const struct table *t, const unsigned char *at, size_t index)
{
	struct raw_symbol s;

	if (t->is64) {
		Elf64_Sym raw;

		memcpy(&raw, at, sizeof(raw));
		s = (struct raw_symbol){u64_of(raw.st_value, t->swap),
					u64_of(raw.st_size, t->swap),
					u32_of(raw.st_name, t->swap),
					u16_of(raw.st_shndx, t->swap),
					raw.st_info,
					raw.st_other};
	} else {
		Elf32_Sym raw;

		memcpy(&raw, at, sizeof(raw));
		s = (struct raw_symbol){u32_of(raw.st_value, t->swap),
					u32_of(raw.st_size, t->swap),
					u32_of(raw.st_name, t->swap),
					u16_of(raw.st_shndx, t->swap),
					raw.st_info,
					raw.st_other};
	}
	if (s.section == SHN_XINDEX && index < t->extended_count) {
		uint32_t section;

		memcpy(&section, t->extended + 4 * index, 4);
		s.section = u32_of(section, t->swap);
	} else if (s.section >= SHN_LORESERVE) {
		s.section = SHN_UNDEF; /* absolute and common symbols are not code */
	}
	return s;
}

static void find_extended(struct elf_file *f, struct table *t)
{
	struct elf_section s;

	for (size_t i = 1; i < elf_section_count(f); i++) {
		if (!elf_section_header_at(f, i, &s) || s.type != SHT_SYMTAB_SHNDX ||
		    s.link != t->symbols.index || !elf_section_at(f, i, &s))
			continue;
		t->extended = s.data;
		t->extended_count = s.data ? s.size / 4 : 0;
		return;
	}
}

static bool open_table(struct elf_file *f, uint32_t type, struct table *ret)
{
	struct table t = {.f = f, .is64 = elf_is_64(f), .swap = elf_is_swapped(f)};

	if (!elf_section_of_type(f, type, &t.symbols) ||
	    !elf_section_header_at(f, t.symbols.link, &t.names))
		return false;
	t.entry_size = t.is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	t.count = t.symbols.size / t.entry_size;
	/* A symtab takes no more symbols, and reading more could take hours. */
	if (t.count > SYMTAB_SYMBOLS_MAX)
		t.count = SYMTAB_SYMBOLS_MAX;
	if (elf_section_count(f) >= SHN_LORESERVE)
		find_extended(f, &t);
	*ret = t;
	return t.names.type == SHT_STRTAB;
}

/* What kind of symbols a section can have. */
enum place {
	PLACE_NONE,
	PLACE_CODE,
	PLACE_LABELS, /* code; symbols without a type count, too */
};

static enum place place_of(struct elf_file *f, struct elf_file *program, size_t index)
{
	struct elf_section s;

	if (!elf_section_header_at(f, index, &s))
		return PLACE_NONE;
	/* The flag decides, not the name: Linux images have code, also for boot, in many
	 * sections. */
	if (s.type == SHT_NOBITS && program != f && !(s.flags & SHF_EXECINSTR))
		elf_section_header_at(program, index, &s);
	if (!(s.flags & SHF_EXECINSTR))
		return PLACE_NONE;
	return strstr(elf_section_name(f, index), ".text") ? PLACE_LABELS : PLACE_CODE;
}

/* Whether the name is an assembler mark for the beginning of code or data: "$x", "$d.12". */
static bool is_mapping_symbol(uint16_t machine, const char *name)
{
	return (machine == EM_ARM || machine == EM_AARCH64) && name[0] == '$' && name[1] &&
	       strchr("adtx", name[1]) && (!name[2] || name[2] == '.');
}

static bool is_wanted(const struct raw_symbol *s, enum place place)
{
	switch (ELF64_ST_TYPE(s->info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return true;
	case STT_OBJECT:
		return place != PLACE_NONE;
	case STT_NOTYPE:
		return place == PLACE_LABELS && ELF64_ST_VISIBILITY(s->other) != STV_HIDDEN &&
		       ELF64_ST_VISIBILITY(s->other) != STV_INTERNAL;
	default:
		return false;
	}
}

/* What add_one() needs to know about the file and its sections. */
struct context {
	struct symtab *to;
	const uint8_t *places;
	size_t place_count;
	uint32_t base; /* offset of the file's names in to->names */
	uint16_t machine;
};

static void add_one(const struct context *c, const struct table *from, const struct raw_symbol *s)
{
	struct symbol add = {.start = s->value, .name = c->base + s->name};

	if (s->section == SHN_UNDEF || s->section >= c->place_count || !s->name ||
	    s->name >= from->names.size || !is_wanted(s, c->places[s->section]) ||
	    is_mapping_symbol(c->machine, c->to->names.items + add.name))
		return;
	add.binding = ELF64_ST_BIND(s->info);
	add.type = ELF64_ST_TYPE(s->info);
	if (c->machine == EM_ARM && add.type == STT_FUNC)
		add.start &= ~1ull; /* the lowest bit says that it is Thumb code */
	add.end = s->size <= UINT64_MAX - add.start ? add.start + s->size : UINT64_MAX;
	symtab_add_symbol(c->to, &add);
}

static void add_all(const struct context *c, const struct table *from)
{
	unsigned char block[BLOCK_SYMBOLS * sizeof(Elf64_Sym)];

	for (size_t i = 0; i < from->count; i += BLOCK_SYMBOLS) {
		size_t count = from->count - i < BLOCK_SYMBOLS ? from->count - i : BLOCK_SYMBOLS;

		if (!elf_section_read(from->f, from->symbols.index, i * from->entry_size, block,
				      count * from->entry_size))
			return;
		for (size_t k = 0; k < count; k++) {
			struct raw_symbol s =
				decode_symbol(from, block + k * from->entry_size, i + k);

			add_one(c, from, &s);
		}
	}
}

bool elf_has_symtab(const struct elf_file *f)
{
	struct elf_section s;

	return elf_section_of_type(f, SHT_SYMTAB, &s) && s.type != SHT_NOBITS && s.size;
}

bool elf_add_symbols(struct symtab *t, struct elf_file *f, struct elf_file *program, uint32_t type)
{
	CLEANUP(free_ptr) uint8_t *places = NULL;
	struct context c = {.to = t, .machine = elf_machine(f)};
	struct table from;
	char *names, last;

	/* Read the last byte of the names before making room for all: the claimed size may be
	 * false. */
	if (!open_table(f, type, &from) ||
	    (from.names.size &&
	     !elf_section_read(f, from.names.index, from.names.size - 1, &last, 1)))
		return false;
	names = symtab_add_names(t, from.names.size, &c.base);
	if (!names) {
		t->refused += from.count;
		return true;
	}
	if (!elf_section_read(f, from.names.index, 0, names, from.names.size)) {
		t->names.len = c.base;
		return false;
	}
	c.place_count = elf_section_count(f);
	c.places = places = xcalloc(c.place_count, 1);
	for (size_t i = 1; i < c.place_count; i++)
		places[i] = (uint8_t)place_of(f, program, i);
	add_all(&c, &from);
	return true;
}
