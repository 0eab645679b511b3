/*
 * Adds symbols of an ELF file to a symtab: .symtab, .dynsym, and names for the entries of the
 * procedure linkage table ("malloc@plt"). The file is not trusted. One thread at a time for a
 * file.
 */
#ifndef TACHO_SYMBOL_ELF_SYMBOLS_H
#define TACHO_SYMBOL_ELF_SYMBOLS_H

#include "symbol/elf/elf.h"
#include "symbol/symtab.h"

bool elf_has_symtab(const struct elf_file *f);

/*
 * Adds the symbols of .symtab (@type SHT_SYMTAB) or .dynsym (SHT_DYNSYM) that can be code. Returns
 * false if there is no readable table. @program has the headers of sections whose bytes are
 * missing in @f, a debug file; it may be the same file.
 */
bool elf_add_symbols(struct symtab *t, struct elf_file *f, struct elf_file *program, uint32_t type);

/* Names PLT entries on x86-64 and arm64. @program is the file with code and relocations. Targets
 * of relocations without a symbol (IRELATIVE) get their name from @t, which need not be
 * finished. */
void elf_add_plt_symbols(struct symtab *t, struct elf_file *program);

#endif
