/*
 * Symbols of one module, sorted by address, so that finding one is a binary search. Whatever they
 * came from (ELF, kallsyms, a perf map, jitdump) ends up in this table.
 *
 * Building: add in any order, then symtab_finish() once. Looking up is for any number of threads.
 */
#ifndef TACHO_SYMBOL_SYMTAB_H
#define TACHO_SYMBOL_SYMTAB_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

#define SYMTAB_SYMBOLS_MAX    (16u << 20)
#define SYMTAB_NAME_BYTES_MAX (1u << 30)

struct symbol {
	uint64_t start, end; /* end: behind it */
	uint32_t name;       /* in names */
	uint8_t binding;     /* STB_*: which of several at one place is shown */
	uint8_t type;        /* STT_* */
	uint16_t part;       /* of kallsyms: the loadable module it is in; 0: the kernel itself */
};

#define SYMTAB_STEP 16

struct symtab {
	VEC(struct symbol) symbols;
	/* The start of every SYMTAB_STEP-th: a search begins in these, which the caches hold. */
	VEC(uint64_t) index;
	VEC(char) names;
	uint64_t refused;  /* beyond the limits */
	bool last_is_best; /* of kallsyms: of those at one place the last one added is kept */
};

/* @size 0: up to the next symbol. @name is as the file has it, not demangled. */
void symtab_add(struct symtab *t, uint64_t start, uint64_t size, const char *name, size_t name_len,
		uint8_t type, uint8_t binding);

/* Room for a whole table of names, which the caller fills before anything else is added; *ret_base
 * is where it stands in names, an ending NUL behind it. NULL beyond the limit. */
char *symtab_add_names(struct symtab *t, size_t size, uint32_t *ret_base);
/* A symbol whose name is there already, ended by NUL; its size is end - start. */
void symtab_add_symbol(struct symtab *t, const struct symbol *symbol);

/* Sorts; keeps one of those that begin at the same place (as perf chooses: one with a size, global
 * before local before weak, fewer leading underscores, the longer name as it is shown); gives those
 * without a size one. */
void symtab_finish(struct symtab *t);
/* Does @a stay when @b begins at the same place, and was added later? */
bool symtab_prefers(const struct symtab *t, const struct symbol *a, const struct symbol *b);

/* NULL: nothing there. */
const struct symbol *symtab_find(const struct symtab *t, uint64_t address);
static inline const char *symtab_name(const struct symtab *t, const struct symbol *s)
{
	return t->names.items + s->name;
}
/* Memory that it takes. */
size_t symtab_bytes(const struct symtab *t);
void symtab_release(struct symtab *t);

#endif
