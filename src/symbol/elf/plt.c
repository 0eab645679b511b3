/*
 * Names for the entries of procedure linkage tables. An entry jumps through a slot of the global
 * offset table, and the relocation of that slot has the name. Entries are found by decoding their
 * code, which works for any order and size that the linker chose.
 */
#include "symbol/elf/symbols.h"

#include "base/buf.h"
#include "base/cursor.h"

#include <string.h>

#define RELOCATIONS_MAX (1u << 20)
#define PLT_BYTES_MAX   (16u << 20)
#define TABLE_BYTES_MAX (256u << 20) /* of relocations, dynamic symbols, and their names */
#define RESOLVERS_MAX   1024u

struct slot {
	uint64_t address;
	uint64_t addend;
	uint32_t symbol; /* index of the dynamic symbol; 0: the addend is a resolver's address */
};

struct plt {
	struct symtab *to;
	struct elf_file *f;
	uint16_t machine;
	VEC(struct slot) slots;
	VEC(size_t) resolvers; /* indexes in to->symbols of IFUNC resolvers */
	struct elf_section symbols, names;
	size_t symbol_size;
};

/* Checks the size before allocating memory for the bytes: a header may claim any size. */
static bool read_section(struct elf_file *f, const char *name, size_t most, struct elf_section *ret)
{
	return elf_section_header(f, name, ret) && ret->size <= most && elf_section(f, name, ret) &&
	       ret->data;
}

static bool read_section_at(struct elf_file *f, size_t index, struct elf_section *ret)
{
	return elf_section_header_at(f, index, ret) && ret->size <= TABLE_BYTES_MAX &&
	       elf_section_at(f, index, ret) && ret->data;
}

/* ---- relocations ---- */

static bool is_wanted(uint16_t machine, uint32_t type)
{
	if (machine == EM_X86_64)
		return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT ||
		       type == R_X86_64_IRELATIVE;
	return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT ||
	       type == R_AARCH64_IRELATIVE;
}

static void add_relocations(struct plt *p, const char *section)
{
	struct elf_section s;
	struct cursor c;

	if (!read_section(p->f, section, TABLE_BYTES_MAX, &s) || s.type != SHT_RELA)
		return;
	c = cursor_of(s.data, s.size - s.size % sizeof(Elf64_Rela));
	c.swap = elf_is_swapped(p->f);
	while (!cursor_done(&c) && p->slots.len < RELOCATIONS_MAX) {
		struct slot slot = {.address = cursor_u64(&c)};
		uint64_t info = cursor_u64(&c);

		slot.addend = cursor_u64(&c);
		slot.symbol = (uint32_t)(info >> 32);
		if (is_wanted(p->machine, (uint32_t)info))
			vec_push(&p->slots, slot);
	}
}

static int compare_slots(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static const struct slot *find_slot(const struct plt *p, uint64_t address)
{
	struct slot key = {.address = address};

	return p->slots.len
		       ? bsearch(&key, p->slots.items, p->slots.len, sizeof(key), compare_slots)
		       : NULL;
}

/* ---- names ---- */

static bool name_of_symbol(const struct plt *p, uint32_t index, struct buf *out)
{
	struct cursor c, names = cursor_of(p->names.data, p->names.size);
	const char *name;

	if (!p->symbols.data || !p->names.data || index >= p->symbols.size / p->symbol_size)
		return false;
	c = cursor_of(p->symbols.data, p->symbols.size);
	c.swap = elf_is_swapped(p->f);
	cursor_skip(&c, index * p->symbol_size);
	cursor_skip(&names, cursor_u32(&c));
	name = cursor_str(&names);
	if (!name || !*name)
		return false;
	buf_add(out, name);
	return true;
}

/* A function that is chosen when the program starts has the name of its resolver. */
static bool name_of_resolver(const struct plt *p, uint64_t address, struct buf *out)
{
	const struct symbol *best = NULL;

	vec_each(&p->resolvers, i) {
		const struct symbol *s = &p->to->symbols.items[*i];

		if (s->start == address && (!best || !symtab_prefers(p->to, best, s)))
			best = s;
	}
	if (best)
		buf_add(out, symtab_name(p->to, best));
	return best;
}

static void find_resolvers(struct plt *p)
{
	for (size_t i = 0; i < p->to->symbols.len && p->resolvers.len < RESOLVERS_MAX; i++)
		if (p->to->symbols.items[i].type == STT_GNU_IFUNC)
			vec_push(&p->resolvers, i);
}

static void add_entry(struct plt *p, uint64_t address, uint64_t size, uint64_t slot_address)
{
	const struct slot *slot = find_slot(p, slot_address);
	CLEANUP(buf_release) struct buf name = {};

	if (!slot)
		return;
	if (slot->symbol ? !name_of_symbol(p, slot->symbol, &name)
			 : !name_of_resolver(p, slot->addend, &name))
		return;
	buf_add(&name, "@plt");
	symtab_add(p->to, address, size, buf_str(&name), name.len, STT_FUNC, STB_GLOBAL);
}

/* ---- entries ---- */

/* Entries of equal size: jmp *slot(%rip), maybe with a prefix and after endbr64. */
static void read_x86_entries(struct plt *p, const struct elf_section *s, size_t entry_size)
{
	for (size_t at = 0; at + entry_size <= s->size; at += entry_size) {
		const unsigned char *code = s->data + at;

		for (size_t i = 0; i + 6 <= entry_size; i++) {
			uint32_t distance;

			if (code[i] != 0xff || code[i + 1] != 0x25)
				continue;
			memcpy(&distance, code + i + 2, 4);
			add_entry(p, s->address + at, entry_size,
				  s->address + at + i + 6 + (uint64_t)(int64_t)(int32_t)distance);
			break;
		}
	}
}

static uint32_t arm64_word(const struct elf_section *s, size_t at)
{
	const unsigned char *b = s->data + at;

	return at + 4 <= s->size ? (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 |
					   (uint32_t)b[3] << 24
				 : 0;
}

#define ARM64_BTI_C 0xd503245fu

/* Entries: adrp x16, page; ldr x17, [x16, #rest]; maybe after a landing pad. */
static void read_arm64_entries(struct plt *p, const struct elf_section *s)
{
	for (size_t at = 0; at + 8 <= s->size; at += 4) {
		uint32_t adrp = arm64_word(s, at), ldr = arm64_word(s, at + 4);
		bool pad = at >= 4 && arm64_word(s, at - 4) == ARM64_BTI_C;
		uint64_t page = (s->address + at) & ~0xfffull;
		int64_t pages;

		if ((adrp & 0x9f00001fu) != 0x90000010u || (ldr & 0xffc003ffu) != 0xf9400211u)
			continue;
		pages = (int64_t)((uint64_t)(adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3));
		pages = (int64_t)((uint64_t)pages << 43) >> 43;
		page += (uint64_t)pages << 12;
		add_entry(p, s->address + at - (pad ? 4 : 0), pad ? 24 : 16,
			  page + (ldr >> 10 & 0xfff) * 8);
	}
}

static void read_entries(struct plt *p, const char *section)
{
	struct elf_section s;

	if (!read_section(p->f, section, PLT_BYTES_MAX, &s) || s.size > PLT_BYTES_MAX)
		return;
	if (p->machine == EM_AARCH64)
		read_arm64_entries(p, &s);
	else
		read_x86_entries(p, &s, s.entry_size == 8 ? 8 : 16);
}

void elf_add_plt_symbols(struct symtab *t, struct elf_file *program)
{
	struct plt p = {.to = t, .f = program, .machine = elf_machine(program)};

	if (!elf_is_64(program) || (p.machine != EM_X86_64 && p.machine != EM_AARCH64))
		return;
	add_relocations(&p, ".rela.plt");
	add_relocations(&p, ".rela.dyn");
	if (p.slots.len && elf_section_of_type(program, SHT_DYNSYM, &p.symbols)) {
		p.symbol_size = sizeof(Elf64_Sym);
		if (!read_section_at(program, p.symbols.index, &p.symbols) ||
		    !read_section_at(program, p.symbols.link, &p.names))
			p.symbols.data = NULL;
	}
	if (p.slots.len) {
		find_resolvers(&p);
		qsort(p.slots.items, p.slots.len, sizeof(*p.slots.items), compare_slots);
		read_entries(&p, ".plt");
		read_entries(&p, ".plt.sec");
		read_entries(&p, ".plt.got");
	}
	vec_release(&p.resolvers);
	vec_release(&p.slots);
}
