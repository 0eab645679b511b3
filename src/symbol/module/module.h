/*
 * A piece of mapped code and all that is known of it: symbols, lines and inlined functions, unwind
 * tables, bytes. Opening finds the file (and the debug file that belongs to it); each kind of
 * knowledge is loaded when first asked for.
 *
 * Where a file is looked for: below options.symfs; in the process's own view of files
 * (/proc/PID/root, /proc/PID/map_files); at its path; by build id in tacho's and perf's caches and in
 * /usr/lib/debug; by debuglink; from debuginfod. A file whose build id differs from the recorded one
 * is not used, and `problem` says so. Without a build id, what was kept with the recording goes first
 * (jit_keep.h), and a file that was written to since it was mapped is not used.
 *
 * Threads: modules_get() and everything that loads locks inside; what was loaded does not change.
 */
#ifndef TACHO_SYMBOL_MODULE_MODULE_H
#define TACHO_SYMBOL_MODULE_MODULE_H

#include "base/fs.h"
#include "perf/build_id.h"
#include "symbol/elf/elf.h"
#include "symbol/symtab.h"

#include <stdatomic.h>

struct dwarf;
struct jitdump;
struct unwind_tables;

enum module_kind {
	MODULE_ELF,         /* a program or library */
	MODULE_KERNEL,      /* [kernel.kallsyms] */
	MODULE_KERNEL_PART, /* a loadable module of it: [ext4] */
	MODULE_VDSO,
	MODULE_PERF_MAP, /* anonymous code of a process, named by /tmp/perf-PID.map */
	MODULE_JITDUMP,  /* addresses are offsets in the jitdump file */
	MODULE_OPAQUE,   /* nothing can be known: [heap], deleted, a device */
};

struct symbol_options {
	const char *symfs;    /* below this all paths are looked up; NULL: / */
	const char *kallsyms; /* NULL: /proc/kallsyms, if it is the recorded kernel */
	const char *vmlinux;  /* NULL: none */
	bool no_debuginfod;   /* else used if DEBUGINFOD_URLS is set */
	bool no_demangle;
	strvec source_from, source_to; /* pairs: source paths that begin so are changed */
};

struct module_request {
	enum module_kind kind;
	const char *path; /* as the mapping has it */
	struct build_id build_id;
	uint32_t pid;        /* whose mapping it is, to look through its eyes; 0: unknown */
	uint32_t pid_inside; /* in its pid namespace, for perf maps; 0: the same */
	uint64_t start;      /* of the mapping: for map_files, and for the kernel its _text */
	uint64_t length, inode, generation; /* the last two 0: unknown */
	uint32_t major, minor;              /* of the device that has the inode */
	uint64_t mapped_ns;                 /* by the recording's clock; 0: before it, or unknown */
	uint64_t begun_ns; /* of the process, by the recording's clock; 0: before it, or unknown */
	uint64_t kernel_text; /* runtime address of _text when recorded; 0: unknown */
	bool kernel_hidden;   /* the recording does not tell of it: its addresses were hidden */
};

struct module {
	enum module_kind kind;
	char *path;               /* as requested */
	char *file;               /* that was opened for it, NULL: none */
	char *debug_file;         /* with the debug information, NULL: none, or the same */
	char *problem;            /* a sentence if its names cannot be had, else NULL */
	struct build_id build_id; /* of the file */
	struct module_state *state;
	/* What src/unwind made of its call frame information, once; freed with the module. */
	_Atomic(struct unwind_tables *) unwind_tables;
	void (*unwind_tables_free)(struct unwind_tables *tables);
	atomic_bool asked; /* for something that is loaded, since modules_let_go() looked */
	bool closed;       /* modules_let_go() has closed its file: modules_get() opens it again */
};

struct modules; /* all of an analysis, each once */

struct modules *modules_new(const struct symbol_options *options);
void modules_free(struct modules *all);

/*
 * By what moment the recording is known (its CLOCK_DATA): says where the recorder has put maps of
 * JITs, and how old they may be. Before modules are opened; a second time changes nothing.
 */
void modules_set_recording(struct modules *all, uint64_t wall_ns, uint64_t clock_ns);

/* Never NULL. The same request gives the same module. Does not read more than needed to open. */
struct module *modules_get(struct modules *all, const struct module_request *request);
/* One that was got before, by its path and its build id in hexadecimal (empty: any); or NULL. */
struct module *modules_find(struct modules *all, const char *path, const char *build_id);

/*
 * For who goes on for days: what was loaded of modules that nobody has asked for since the last time
 * goes, the longest unused first, until all that is loaded takes at most @bytes; it is loaded again
 * when somebody asks. Of their files at most @files stay open, and as many of those that could not be
 * found again. Nobody may use a module meanwhile, nor keep what was got from one: symbols, strings.
 */
void modules_let_go(struct modules *all, uint64_t bytes, size_t files);
/* What is loaded of files; without the kernel's names. */
uint64_t modules_loaded_bytes(const struct modules *all);
/* Code of a runtime, whose names may be more by now: they are read anew. Under the same conditions. */
void module_renew(struct module *m);

/* To be called by who looks into what was loaded. */
static inline void module_ask(struct module *m)
{
	if (!atomic_load_explicit(&m->asked, memory_order_relaxed))
		atomic_store_explicit(&m->asked, true, memory_order_relaxed);
}

/* Begins to read the kernel's names in the background, which takes a while (the kernel makes a text of
 * all of them): for whoever knows that he will ask. Nothing for other modules. */
void module_prepare(struct module *m);
/* Asking for its names now would mean to wait for that. */
bool module_is_being_read(const struct module *m);

/*
 * Where in the module a runtime address lies: file_offset is that of the mapping's page offset
 * plus the distance from its start. Gives the ELF virtual address (for kernels and perf maps the
 * runtime address, moved if the kernel was elsewhere then).
 */
uint64_t module_address(struct module *m, uint64_t file_offset, uint64_t runtime_address);

/* NULL: no symbol there. The name is as in the file; see demangle.h. */
const struct symbol *module_symbol(struct module *m, uint64_t address, const char **ret_name);

/* Debug information, or NULL: there is none. */
struct dwarf *module_dwarf(struct module *m);

/* The line of code that a runtime has made, where no DWARF can tell it. */
bool module_line(struct module *m, uint64_t address, const char **ret_file, uint32_t *ret_line);
/* NULL: it is no such file, or cannot be read. */
const struct jitdump *module_jitdump(struct module *m);

/* The ELF file and the one with debug sections (may be the same); NULL: none. */
struct elf_file *module_elf(struct module *m);
struct elf_file *module_debug_elf(struct module *m);

/* A section of the one or the other with its bytes. False: there is none, or it has no bytes. */
bool module_section(struct module *m, const char *name, struct elf_section *ret);
bool module_debug_section(struct module *m, const char *name, struct elf_section *ret);

/* Code bytes at an ELF virtual address; returns how many there were. */
size_t module_code(struct module *m, uint64_t address, void *to, size_t size);

/* Every symbol, for annotate and completion. NULL: none could be loaded. */
const struct symtab *module_symbols(struct module *m);

#endif
