/*
 * Programs compiled by a test, with debug information of known shape: the compiler's options are the
 * test's, addresses are those of labels in the source.
 */
#ifndef TACHO_TESTS_DWARF_PROGRAM_H
#define TACHO_TESTS_DWARF_PROGRAM_H

#include "support.h"
#include "symbol/dwarf/dwarf.h"
#include "symbol/elf/elf.h"

struct program {
	struct elf_file *file, *alternate;
	struct dwarf *dwarf;
};

static inline bool run_shell(const char *command)
{
	int status = system(command);

	return status == 0;
}

static inline bool have_tool(const char *name)
{
	CLEANUP(free_ptr) char *command = xasprintf("command -v %s >/dev/null 2>&1", name);

	return run_shell(command);
}

static inline struct dwarf_bytes debug_section(struct elf_file *f, const char *name)
{
	struct elf_section s;

	if (!f || !elf_section(f, name, &s) || !s.data)
		return (struct dwarf_bytes){};
	return (struct dwarf_bytes){s.data, s.size};
}

static inline bool open_program(struct program *p, const char *path, const char *alternate)
{
	struct err e = {};

	memset(p, 0, sizeof(*p));
	if (elf_open(&p->file, path, &e) || (alternate && elf_open(&p->alternate, alternate, &e))) {
		fprintf(stderr, "%s\n", e.text);
		return false;
	}
	p->dwarf = dwarf_new(&(struct dwarf_sections){
		.info = debug_section(p->file, ".debug_info"),
		.abbrev = debug_section(p->file, ".debug_abbrev"),
		.str = debug_section(p->file, ".debug_str"),
		.line = debug_section(p->file, ".debug_line"),
		.line_str = debug_section(p->file, ".debug_line_str"),
		.ranges = debug_section(p->file, ".debug_ranges"),
		.rnglists = debug_section(p->file, ".debug_rnglists"),
		.addr = debug_section(p->file, ".debug_addr"),
		.str_offsets = debug_section(p->file, ".debug_str_offsets"),
		.aranges = debug_section(p->file, ".debug_aranges"),
		.alt_info = debug_section(p->alternate, ".debug_info"),
		.alt_abbrev = debug_section(p->alternate, ".debug_abbrev"),
		.alt_str = debug_section(p->alternate, ".debug_str"),
		.swap = elf_is_swapped(p->file),
	});
	return true;
}

static inline void close_program(struct program *p)
{
	dwarf_free(p->dwarf);
	elf_close(p->file);
	if (p->alternate)
		elf_close(p->alternate);
}

/* Address of a symbol of .symtab, 0: there is none. */
static inline uint64_t label_address(struct program *p, const char *label)
{
	struct elf_section symbols, strings;

	if (!elf_section(p->file, ".symtab", &symbols) ||
	    !elf_section(p->file, ".strtab", &strings))
		return 0;
	for (size_t at = 0; at + sizeof(Elf64_Sym) <= symbols.size; at += sizeof(Elf64_Sym)) {
		Elf64_Sym symbol;

		memcpy(&symbol, symbols.data + at, sizeof(symbol));
		if (symbol.st_name < strings.size &&
		    !strcmp((const char *)strings.data + symbol.st_name, label))
			return symbol.st_value;
	}
	return 0;
}

#endif
