/*
 * Symbols of one module, sorted by address, so that finding one is a binary search. All sources of
 * symbols (ELF, kallsyms, perf maps, jitdump) are read into this table.
 *
 * Building: add in any order, then call symtab_finish() once. After that any number of threads may
 * look up symbols.
 */
#ifndef TACHO_SYMBOL_SYMTAB_H
#define TACHO_SYMBOL_SYMTAB_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

#define SYMTAB_SYMBOLS_MAX    (16u << 20)
#define SYMTAB_NAME_BYTES_MAX (1u << 30)

struct symbol {
	uint64_t start, end; /* end is exclusive */
	uint32_t name;       /* offset in names */
	uint8_t binding;     /* STB_*: decides which of several symbols at one address is kept */
	uint8_t type;        /* STT_* */
	uint16_t part;       /* kallsyms: number of the loadable module; 0: the kernel itself */
};

#define SYMTAB_STEP 16

struct memory_budget;

struct symtab {
	VEC(struct symbol) symbols;
	/* Start of every SYMTAB_STEP-th symbol: a search begins here; CPU caches hold these. */
	VEC(uint64_t) index;
	VEC(char) names;
	uint64_t refused;             /* symbols that were not added because of the limits */
	struct memory_budget *budget; /* what the table takes counts in it; NULL: in none */
	uint64_t held;                /* of the budget */
	bool last_is_best; /* kallsyms: of symbols at one address keep the last one added */
};

/* @size 0: the symbol extends to the next one. @name: as in the file, not demangled. */
void symtab_add(struct symtab *t, uint64_t start, uint64_t size, const char *name, size_t name_len,
		uint8_t type, uint8_t binding);

/* Makes room for a whole table of names, followed by a NUL. The caller must fill it before adding
 * anything else. *ret_base: its offset in names. Returns NULL if the limit is exceeded. */
char *symtab_add_names(struct symtab *t, size_t size, uint32_t *ret_base);
/* Adds a symbol whose NUL-terminated name is already in names; its size is end - start. */
void symtab_add_symbol(struct symtab *t, const struct symbol *symbol);

/* Sorts the symbols; keeps one per start address (chosen as perf does: one with a size, global
 * before local before weak, fewer leading underscores, the longer demangled name); gives a size to
 * those without one. */
void symtab_finish(struct symtab *t);
/* Whether @a is kept rather than @b, which starts at the same address and was added later. */
bool symtab_prefers(const struct symtab *t, const struct symbol *a, const struct symbol *b);

/* Returns NULL if no symbol covers @address. */
const struct symbol *symtab_find(const struct symtab *t, uint64_t address);
static inline const char *symtab_name(const struct symtab *t, const struct symbol *s)
{
	return t->names.items + s->name;
}
/* Memory used by the table. */
size_t symtab_bytes(const struct symtab *t);
void symtab_release(struct symtab *t);

#endif
