/*
 * Internal state of modules, and the functions that the files of this folder share. Only for
 * src/symbol.
 *
 * The open functions run once, under the module's lock, before any other thread uses the module.
 * The load functions run once, under the lock, when their data is first needed; the data does not
 * change until it is unloaded.
 */
#ifndef TACHO_SYMBOL_MODULE_STATE_H
#define TACHO_SYMBOL_MODULE_STATE_H

#include "event/roots.h"
#include "symbol/budget.h"
#include "symbol/debug_file.h"
#include "symbol/jitdump.h"
#include "symbol/kallsyms.h"
#include "symbol/module/module.h"

#include <pthread.h>
#include <stdatomic.h>

#define MODULE_BYTES_MIN (64ull << 20) /* of memory for each module, however small its files are */

/* Symbols of a kernel and its modules, read once from one file. */
struct kernel_names {
	struct kernel_names *next;
	char *file;
	pthread_mutex_t lock;
	bool asked, has_reader;
	atomic_bool reading; /* the reader is running */
	pthread_t reader;    /* background thread, if has_reader */
	struct kallsyms kallsyms;
	char *problem; /* why there are no names */
};

struct modules {
	struct symbol_options options;
	struct roots roots;
	struct memory_budget memory; /* of all modules together */
	char *jit_dir;               /* see jit_keep.h; NULL: nothing was kept */
	uint64_t wall_ns, clock_ns;
	pthread_mutex_t lock; /* protects the fields below */
	VEC(struct module *) list;
	uint32_t *slots; /* hash table by key: index in list plus 1, or 0 */
	size_t room;     /* number of slots, a power of two */
	struct kernel_names *kernels;
	struct kernel_names *copied_kernel; /* not the running one; may also have kernel parts */
};

struct module_state {
	struct modules *all;
	char *key;
	struct module_request request; /* its path is module.path */
	const struct rights *rights; /* of the process with the mapping; see module_find_rights() */
	pthread_mutex_t lock;
	atomic_bool opened;

	struct elf_file *elf, *debug, *alternate, *mini;
	unsigned char *elf_bytes, *mini_bytes; /* contents of files in memory */
	size_t mini_size;
	bool debug_asked;
	bool is_copy; /* elf was found in a cache */

	/* What all files of the module may take. It is in proportion to their sizes, as a small one that
	 * needs gigabytes was made for that. */
	struct memory_budget memory;

	atomic_bool names_asked;
	const struct symtab *names; /* own_names, the kernel's or the jitdump's; NULL: none */
	struct symtab own_names;

	atomic_bool dwarf_asked;
	struct dwarf *dwarf;
	void (*dwarf_free)(struct dwarf *d);
	uint64_t (*dwarf_bytes)(const struct dwarf *d);

	unsigned idle; /* calls of modules_let_go() since the module was last used */

	struct jitdump *jitdump; /* NULL: none */

	struct kernel_names *kernel; /* NULL: vmlinux, or none */
	uint64_t moved;              /* added to a runtime address of the kernel */
	struct elf_file *core;       /* /proc/kcore */
	bool core_asked;
};

/* Opens the module unless it is open. */
void module_open(struct module *m);
/* module_unload() frees loaded data and keeps files open; module_close() closes the files, too. */
void module_unload(struct module *m);
void module_close(struct module *m);

/* How files that belong to the module are searched. */
struct file_search module_search(const struct module *m);

/* Sets m->problem unless it is set. */
void module_problem(struct module *m, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Formats the beginning of an id for messages: "1234abcd…". */
#define BUILD_ID_SHORT 13
void build_id_short(const struct build_id *id, char text[BUILD_ID_SHORT]);

/* file.c: programs, libraries and the vdso. */
/* Finds the rights of the process that has mapped the module; for all files that it names. */
void module_find_rights(struct module *m);
void module_open_file(struct module *m);
void module_open_vdso(struct module *m);
void module_load_file_names(struct module *m);
void module_find_debug_file(struct module *m); /* runs once; the caller must hold the lock */
void module_close_mini(struct module_state *s);

/* jit.c: code that was generated at run time. */
void module_open_jit(struct module *m);
void module_load_jit_names(struct module *m);

/* kernel.c: the kernel and its loadable modules. */
void module_open_kernel(struct module *m);
void module_load_kernel_names(struct module *m);
size_t module_kernel_code(struct module *m, uint64_t address, void *to, size_t size);
void module_release_kernels(struct modules *all);

#endif
