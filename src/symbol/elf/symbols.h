/*
 * Symbols out of an ELF file into a symtab: .symtab, .dynsym, and names for the entries of the
 * procedure linkage table ("malloc@plt"). The file is hostile. One thread at a time for a file.
 */
#ifndef TACHO_SYMBOL_ELF_SYMBOLS_H
#define TACHO_SYMBOL_ELF_SYMBOLS_H

#include "symbol/elf/elf.h"
#include "symbol/symtab.h"

bool elf_has_symtab(const struct elf_file *f);

/*
 * Adds what can be code of .symtab (@type SHT_SYMTAB) or .dynsym (SHT_DYNSYM); false if there is no
 * such table. @program tells of sections whose bytes the debug file does not have; it may be the
 * same file.
 */
bool elf_add_symbols(struct symtab *t, struct elf_file *f, struct elf_file *program, uint32_t type);

/* x86-64 and arm64; @program is the file with code and relocations. @t names what is reached through
 * relocations without a symbol (IRELATIVE), it need not be finished. */
void elf_add_plt_symbols(struct symtab *t, struct elf_file *program);

#endif
