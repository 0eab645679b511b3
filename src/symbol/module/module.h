/*
 * A module is a piece of mapped code with all that is known about it: symbols, lines and inlined
 * functions, unwind tables, bytes. Opening finds the file; its debug file is found, and each kind
 * of data is loaded, when first needed.
 *
 * Places where a file is searched: below options.symfs; in the process's own view of files
 * (/proc/PID/root, /proc/PID/map_files); at its path; by build id in tacho's and perf's caches and
 * in /usr/lib/debug; by debuglink; from debuginfod. A file whose build id differs from the
 * recorded one is not used, and `problem` says so. Without a build id, the copy that was kept with
 * the recording comes first (jit_keep.h), and a file that was written to since it was mapped is
 * not used.
 *
 * Files that the mapping or the module itself names are opened with the rights of the process
 * that has mapped it, as perf/rights.h says. Of the processes that share a module it is the one
 * that was seen first; the file is the one that this process sees.
 *
 * Threads: modules_get() and all functions that load take locks themselves; loaded data does not
 * change.
 */
#ifndef TACHO_SYMBOL_MODULE_MODULE_H
#define TACHO_SYMBOL_MODULE_MODULE_H

#include "base/fs.h"
#include "perf/build_id.h"
#include "symbol/elf/elf.h"
#include "symbol/symtab.h"

#include <stdatomic.h>

struct dwarf;
struct rights;
struct jitdump;
struct unwind_tables;

enum module_kind {
	MODULE_ELF,         /* a program or library */
	MODULE_KERNEL,      /* [kernel.kallsyms] */
	MODULE_KERNEL_PART, /* a loadable module of the kernel: [ext4] */
	MODULE_VDSO,
	MODULE_PERF_MAP, /* anonymous code of a process, named by /tmp/perf-PID.map */
	MODULE_JITDUMP,  /* addresses are offsets in the jitdump file */
	MODULE_OPAQUE,   /* nothing can be known: [heap], deleted, a device */
};

struct symbol_options {
	const char *symfs;    /* directory below which all paths are searched; NULL: / */
	const char *kallsyms; /* NULL: /proc/kallsyms, if the recorded kernel is running */
	const char *vmlinux;  /* NULL: none */
	bool no_debuginfod;   /* else used if DEBUGINFOD_URLS is set */
	bool no_demangle;
	uint64_t memory_bytes; /* for what is read of all files; 0: a quarter of the machine's */
	strvec source_from, source_to; /* pairs: source path prefixes and their replacements */
};

struct module_request {
	enum module_kind kind;
	const char *path; /* as in the mapping */
	struct build_id build_id;
	uint32_t pid;        /* process with the mapping, to see its files; 0: unknown */
	uint32_t pid_inside; /* in its pid namespace, for perf maps; 0: the same */
	uint64_t start;      /* of the mapping: for map_files, and to see if a kernel part moved */
	uint64_t length, inode, generation; /* inode, generation: 0 if unknown */
	uint32_t major, minor;              /* of the device that has the inode */
	uint64_t mapped_ns;                 /* on the recording's clock; 0: before it, or unknown */
	uint64_t begun_ns;                  /* when the process began; clock and 0 as above */
	uint64_t kernel_text;               /* runtime address of _text when recorded; 0: unknown */
	bool kernel_hidden; /* the recording has no kernel addresses: they were hidden */
};

struct module {
	enum module_kind kind;
	char *path;               /* as requested */
	char *file;               /* path of the open file, NULL: none */
	char *debug_file;         /* path of the debug file, NULL: none, or the same */
	char *problem;            /* a sentence if names are not available, else NULL */
	struct build_id build_id; /* of the file */
	struct module_state *state;
	/* Made by src/unwind from call frame information; freed by module_unload(). */
	_Atomic(struct unwind_tables *) unwind_tables;
	void (*unwind_tables_free)(struct unwind_tables *tables);
	atomic_bool asked; /* loaded data was used since the last modules_let_go() */
	bool closed;       /* modules_let_go() has closed its file: modules_get() opens it again */
};

struct modules; /* all modules of an analysis, each once */

struct modules *modules_new(const struct symbol_options *options);
void modules_free(struct modules *all);

/*
 * Sets the recording's CLOCK_DATA: one moment on the wall clock and on the recording's clock. It
 * determines where the recorder has put JIT maps, and how old they may be. Must be called before
 * modules are opened; calling it again with the same values changes nothing.
 */
void modules_set_recording(struct modules *all, uint64_t wall_ns, uint64_t clock_ns);

/* Never returns NULL. Equal requests return the same module. Reads no more than needed to open. */
struct module *modules_get(struct modules *all, const struct module_request *request);
/* Finds a module that modules_get() has returned, by its path and its build id in hexadecimal
 * (empty: any). Returns NULL if there is none. */
struct module *modules_find(struct modules *all, const char *path, const char *build_id);

/*
 * For programs that run for days: unloads modules that were not used since the last call, longest
 * unused first, until at most @bytes are loaded; they are loaded again when needed. Of the unused
 * modules at most @files keep their file open, plus as many whose file could not be found again.
 * No other thread may use a module during the call, and symbols and strings from modules become
 * invalid.
 */
void modules_let_go(struct modules *all, uint64_t bytes, size_t files);
/* Sets `problem` if names or lines are missing because their memory would exceed a limit. */
void module_check_memory(struct module *m);
/* Memory of all data loaded from files; without the kernel's names. */
uint64_t modules_loaded_bytes(const struct modules *all);
/* Reads the names of JIT code again, because there may be more by now. Does nothing for other
 * modules. The conditions of modules_let_go() apply. */
void module_renew(struct module *m);

/* Marks the module as used. Must be called whenever loaded data is read. */
static inline void module_ask(struct module *m)
{
	if (!atomic_load_explicit(&m->asked, memory_order_relaxed))
		atomic_store_explicit(&m->asked, true, memory_order_relaxed);
}

/* Begins to read the kernel's names in the background, for callers that will need them: this takes
 * a while because the kernel formats all of them as text. Does nothing for other modules. */
void module_prepare(struct module *m);
/* Whether that read is still running: asking for the names now would wait for it. */
bool module_is_being_read(const struct module *m);

/*
 * Translates a runtime address into an address of the module. @file_offset: the mapping's page
 * offset plus the distance from its start. Returns the ELF virtual address (for kernels and perf
 * maps the runtime address, corrected if the kernel was at another address when recorded).
 */
uint64_t module_address(struct module *m, uint64_t file_offset, uint64_t runtime_address);

/* Returns NULL if there is no symbol. The name is as in the file; see demangle.h. */
const struct symbol *module_symbol(struct module *m, uint64_t address, const char **ret_name);

/* Returns the debug information, or NULL if there is none. */
struct dwarf *module_dwarf(struct module *m);

/* Finds the line of JIT code, which has no DWARF. Returns false if it is not known. */
bool module_line(struct module *m, uint64_t address, const char **ret_file, uint32_t *ret_line);
/* Returns NULL if the module is not a jitdump file, or it cannot be read. */
const struct jitdump *module_jitdump(struct module *m);

/* With whose rights the files are opened that the module names: see perf/rights.h. */
const struct rights *module_rights(const struct module *m);

/* The ELF file and the one with debug sections (may be the same); NULL: none. */
struct elf_file *module_elf(struct module *m);
struct elf_file *module_debug_elf(struct module *m);

/* Reads a section of that file. Returns false if there is none, or it has no bytes. */
bool module_section(struct module *m, const char *name, struct elf_section *ret);
bool module_debug_section(struct module *m, const char *name, struct elf_section *ret);

/* Copies code bytes from an ELF virtual address; returns how many were copied. */
size_t module_code(struct module *m, uint64_t address, void *to, size_t size);

/* Returns all symbols, for annotate and completion; NULL if none could be loaded. */
const struct symtab *module_symbols(struct module *m);

#endif
