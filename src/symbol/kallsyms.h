/*
 * Parses /proc/kallsyms, or a copy of it: the symbols of the kernel and of its loaded modules, in
 * one table by address. The text is not trusted: it may be a copy in perf's cache or a user's
 * file.
 *
 * One thread parses; after that any number of threads may read the result.
 */
#ifndef TACHO_SYMBOL_KALLSYMS_H
#define TACHO_SYMBOL_KALLSYMS_H

#include "base/err.h"
#include "base/fs.h"
#include "symbol/symtab.h"

#define KALLSYMS_BYTES_MAX (512u << 20)
#define KALLSYMS_PARTS_MAX 4096u

struct kallsyms {
	struct symtab symbols; /* functions only; symbol.part - 1 is an index of parts */
	strvec parts;          /* "ext4": names of loadable modules */
	uint64_t text, stext;  /* addresses of _text and _stext; 0: not found */
	bool hidden;           /* every address is 0: kptr_restrict */
};

/* Parses the whole text and finishes the table. Skips malformed lines. */
void kallsyms_parse(struct kallsyms *k, const char *text, size_t size);

int kallsyms_read(struct kallsyms *k, const char *path, struct err *e);
void kallsyms_release(struct kallsyms *k);

#endif
