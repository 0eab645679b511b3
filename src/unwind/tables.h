/*
 * The call frame information of a module, loaded once for all unwinders and kept in the module.
 * What is there does not change: any thread may ask.
 */
#ifndef TACHO_UNWIND_TABLES_H
#define TACHO_UNWIND_TABLES_H

#include "symbol/module/module.h"
#include "unwind/cfi.h"

#include <stdatomic.h>

struct unwind_tables {
	uint32_t id;           /* different for each, and shorter than a pointer */
	uint16_t machine;      /* EM_X86_64 …; 0: nothing is known of this code */
	struct cfi *cfi;       /* or NULL */
	struct module *module; /* for bytes of code; or NULL */
};

/* Never NULL. The first call reads the sections. */
struct unwind_tables *unwind_tables_load(struct module *m);

static inline struct unwind_tables *unwind_tables_of(struct module *m)
{
	struct unwind_tables *tables =
		atomic_load_explicit(&m->unwind_tables, memory_order_acquire);

	module_ask(m);
	return tables ? tables : unwind_tables_load(m);
}

/* Puts tables made from plain bytes into a module: for tests, and code without a file. */
void unwind_tables_set(struct module *m, uint16_t machine, const struct cfi_input *in);

#endif
