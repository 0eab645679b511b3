/*
 * Reads jit-PID.dump: the file into which a runtime writes the code that it generates, with names,
 * lines and the time of each piece. The runtime maps a page of the file executable, so that
 * recordings show that the file exists.
 *
 * jitdump_open() reads all records but not the code. A piece of code is identified by its offset
 * in the file: the module's symbol table uses that offset as the address, because addresses in
 * memory are reused. Files are not trusted, have either byte order, and may still be growing:
 * reading stops at the first incomplete record and keeps everything before it.
 *
 * After opening nothing changes: any number of threads may read.
 */
#ifndef TACHO_SYMBOL_JITDUMP_H
#define TACHO_SYMBOL_JITDUMP_H

#include "base/err.h"
#include "perf/rights.h"
#include "symbol/symtab.h"

#define JITDUMP_BYTES_MAX      (16ull << 30) /* of the file; the rest is not read */
#define JITDUMP_LOADS_MAX      (4u << 20)
#define JITDUMP_LINES_MAX      (16u << 20)
#define JITDUMP_NAME_MAX       65535u
#define JITDUMP_DEBUG_INFO_MAX (64u << 20) /* bytes of one debug info record */

/* A piece of code that was loaded at, or moved to, an address in memory. */
struct jitdump_load {
	uint64_t time; /* CLOCK_MONOTONIC in ns, unless jitdump_uses_cpu_clock() */
	uint32_t pid, tid;
	uint64_t address, size; /* in memory */
	uint64_t code_offset;   /* in the file */
	uint64_t code_index;    /* the runtime's own number for it */
	uint32_t name;          /* for jitdump_name() */
	bool moved;             /* from another address; code_offset is the same */
	/* .eh_frame and its header for this code in the file; size 0: none */
	uint64_t unwind_offset;
	uint32_t unwind_size, unwind_header_size;
};

struct jitdump;

/* Takes ownership of @fd on success. */
int jitdump_open_fd(struct jitdump **ret, int fd, const char *name_for_errors, struct err *e);
/* Opens a plain file. Does not follow a symbolic link: the path comes from a mapping. */
int jitdump_open(struct jitdump **ret, const char *path, const struct rights *rights,
		 struct err *e);
/* Opens a whole file in memory. The caller must keep @data until jitdump_close(). */
int jitdump_open_memory(struct jitdump **ret, const void *data, size_t size, struct err *e);
void jitdump_close(struct jitdump *j);

struct jitdump_source {
	const char *path;            /* as in the mapping: "/tmp/jit-7.dump" */
	uint32_t pid;                /* process with the mapping, as recorded; 0: unknown */
	const char *kept_dir;        /* the recorder's copies, see symbol/jit_keep.h; NULL: none */
	const struct rights *rights; /* of the process; NULL: the asker's */
};

/* Tries to open the recorder's copy, then the path as the process sees it, then as we see it. */
int jitdump_find(struct jitdump **ret, const struct jitdump_source *source, struct err *e);

/* All loads in the order of the file, which is also the order of time. */
size_t jitdump_loads(const struct jitdump *j, const struct jitdump_load **ret);
void jitdump_each(const struct jitdump *j, void (*visit)(void *ctx, const struct jitdump_load *l),
		  void *ctx);
const char *jitdump_name(const struct jitdump *j, const struct jitdump_load *l);

uint16_t jitdump_machine(const struct jitdump *j); /* EM_X86_64 … */
uint32_t jitdump_pid(const struct jitdump *j);     /* in the runtime's own pid namespace */
/* Whether times come from the CPU's counter: then only their order can be used. */
bool jitdump_uses_cpu_clock(const struct jitdump *j);
/* Returns why reading stopped early, as a constant sentence; NULL if it did not. */
const char *jitdump_damage(const struct jitdump *j);

/* ---- by code offset ---- */

const struct symtab *jitdump_symbols(const struct jitdump *j);
/* Returns false if no line is known there. *ret_file belongs to the jitdump. */
bool jitdump_line(const struct jitdump *j, uint64_t code_offset, const char **ret_file,
		  uint32_t *ret_line);
/* Calls @row for every line in [from, to), ascending, until it returns false. */
void jitdump_each_line(const struct jitdump *j, uint64_t from, uint64_t to,
		       bool (*row)(void *ctx, uint64_t code_offset, const char *file,
				   uint32_t line),
		       void *ctx);
/* Copies bytes of code or unwind information; returns how many were copied. */
size_t jitdump_bytes(const struct jitdump *j, uint64_t offset, void *to, size_t size);

#endif
