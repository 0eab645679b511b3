/*
 * What a module keeps inside, and the parts that module.c is made of. Only for src/symbol.
 *
 * open functions run once, under the module's lock, before anybody else sees it. load functions run
 * once under the lock when something is first asked for; what they have set does not change.
 */
#ifndef TACHO_SYMBOL_MODULE_STATE_H
#define TACHO_SYMBOL_MODULE_STATE_H

#include "event/roots.h"
#include "symbol/debug_file.h"
#include "symbol/jitdump.h"
#include "symbol/kallsyms.h"
#include "symbol/module/module.h"

#include <pthread.h>
#include <stdatomic.h>

/* Symbols of a kernel and its modules, read once from one file. */
struct kernel_names {
	struct kernel_names *next;
	char *file;
	pthread_mutex_t lock;
	bool asked, has_reader;
	atomic_bool reading; /* by that reader, right now */
	pthread_t reader;    /* in the background */
	struct kallsyms kallsyms;
	char *problem; /* why there are none */
};

struct modules {
	struct symbol_options options;
	struct roots roots;
	struct file_search search;
	char *jit_dir; /* see jit_keep.h; NULL: nothing was kept */
	uint64_t wall_ns, clock_ns;
	pthread_mutex_t lock; /* of the list below */
	VEC(struct module *) list;
	uint32_t *slots; /* of list, plus 1, by hash of the key */
	size_t room;     /* a power of two */
	struct kernel_names *kernels;
	struct kernel_names *copied_kernel; /* not the running one: parts may be in it, too */
};

struct module_state {
	struct modules *all;
	char *key;
	struct module_request request; /* its path is module.path */
	pthread_mutex_t lock;
	atomic_bool opened;

	struct elf_file *elf, *debug, *alternate, *mini;
	unsigned char *elf_bytes, *mini_bytes; /* of those that are in memory */
	bool debug_asked;
	bool is_copy; /* elf was found in a cache */

	atomic_bool names_asked;
	const struct symtab *names; /* own_names, or those of the kernel; NULL: none */
	struct symtab own_names;

	atomic_bool dwarf_asked;
	struct dwarf *dwarf;
	void (*dwarf_free)(struct dwarf *d);
	uint64_t (*dwarf_bytes)(const struct dwarf *d);

	unsigned idle; /* so many times modules_let_go() has found that nobody had asked */

	struct jitdump *jitdump; /* NULL: none */

	struct kernel_names *kernel; /* NULL: vmlinux, or none */
	uint64_t moved;              /* added to a runtime address of the kernel */
	struct elf_file *core;       /* /proc/kcore */
	bool core_asked;
};

/* Opens it, unless it is open. */
void module_open(struct module *m);
/* Gives back what was loaded of it, or all of it. */
void module_unload(struct module *m);
void module_close(struct module *m);

/* Sets the sentence unless there is one. */
void module_problem(struct module *m, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* "1234abcd…" for sentences. */
#define BUILD_ID_SHORT 13
void build_id_short(const struct build_id *id, char text[BUILD_ID_SHORT]);

/* file.c: programs, libraries and the vdso. */
void module_open_file(struct module *m);
void module_open_vdso(struct module *m);
void module_load_file_names(struct module *m);
void module_find_debug_file(struct module *m); /* once; under the lock */
void module_close_mini(struct module_state *s);

/* jit.c: code that was made at run time. */
void module_open_jit(struct module *m);
void module_load_jit_names(struct module *m);

/* kernel.c: the kernel and its loadable modules. */
void module_open_kernel(struct module *m);
void module_load_kernel_names(struct module *m);
size_t module_kernel_code(struct module *m, uint64_t address, void *to, size_t size);
void module_release_kernels(struct modules *all);

#endif
