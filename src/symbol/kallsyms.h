/*
 * /proc/kallsyms, or a copy of it: the kernel's symbols and those of its loaded modules, in one
 * table by address. The text is hostile (perf's cache has copies, and users give files).
 *
 * Parsing is one thread's work; what came out of it is for any number.
 */
#ifndef TACHO_SYMBOL_KALLSYMS_H
#define TACHO_SYMBOL_KALLSYMS_H

#include "base/err.h"
#include "base/fs.h"
#include "symbol/symtab.h"

#define KALLSYMS_BYTES_MAX (512u << 20)
#define KALLSYMS_PARTS_MAX 4096u

struct kallsyms {
	struct symtab symbols; /* functions only; symbol.part - 1 is in parts */
	strvec parts;          /* "ext4": names of loadable modules */
	uint64_t text, stext;  /* where _text and _stext are; 0: not seen */
	bool hidden;           /* every address is 0: kptr_restrict */
};

/* Takes in a whole text, and finishes the table. Lines that make no sense are left out. */
void kallsyms_parse(struct kallsyms *k, const char *text, size_t size);

int kallsyms_read(struct kallsyms *k, const char *path, struct err *e);
void kallsyms_release(struct kallsyms *k);

#endif
