/*
 * jit-PID.dump: the file into which a runtime writes the code that it makes, with names, lines and
 * the time of each piece. A page of it is mapped executable by the runtime, so that recordings tell
 * that it is there.
 *
 * jitdump_open() reads all records but the code. A piece of code is known by where its bytes lie in
 * the file: that is the address in the module's symbol table, since addresses in memory are used
 * again. Files are hostile, of either byte order, and may still be growing: what is not whole ends
 * the reading, and everything before it is there.
 *
 * After the opening nothing changes: any number of threads may ask.
 */
#ifndef TACHO_SYMBOL_JITDUMP_H
#define TACHO_SYMBOL_JITDUMP_H

#include "base/err.h"
#include "symbol/symtab.h"

#define JITDUMP_BYTES_MAX      (16ull << 30) /* of the file; what lies behind is not read */
#define JITDUMP_LOADS_MAX      (4u << 20)
#define JITDUMP_LINES_MAX      (16u << 20)
#define JITDUMP_NAME_MAX       65535u
#define JITDUMP_DEBUG_INFO_MAX (64u << 20) /* bytes of one record of lines */

/* Code that has come to be at a place in memory. */
struct jitdump_load {
	uint64_t time; /* CLOCK_MONOTONIC in ns, unless jitdump_uses_cpu_clock() */
	uint32_t pid, tid;
	uint64_t address, size; /* in memory */
	uint64_t code_offset;   /* in the file */
	uint64_t code_index;    /* the runtime's own number for it */
	uint32_t name;          /* for jitdump_name() */
	bool moved;             /* it was somewhere else before, with the same code_offset */
	/* .eh_frame and its header for this code in the file; size 0: none */
	uint64_t unwind_offset;
	uint32_t unwind_size, unwind_header_size;
};

struct jitdump;

/* Takes @fd over on success. */
int jitdump_open_fd(struct jitdump **ret, int fd, const char *name_for_errors, struct err *e);
/* A plain file; the path is as a mapping has it, so it is not followed if it is a link. */
int jitdump_open(struct jitdump **ret, const char *path, struct err *e);
/* A whole file in memory, which the caller keeps until the close. */
int jitdump_open_memory(struct jitdump **ret, const void *data, size_t size, struct err *e);
void jitdump_close(struct jitdump *j);

struct jitdump_source {
	const char *path; /* as the mapping has it: "/tmp/jit-7.dump" */
	uint32_t pid;     /* whose mapping it is, as it was recorded; 0: unknown */
	const char
		*kept_dir; /* where the recorder has put copies (symbol/jit_keep.h); NULL: none */
};

/* Opens the recorder's copy, the file that the process itself sees, or the one at the path. */
int jitdump_find(struct jitdump **ret, const struct jitdump_source *source, struct err *e);

/* In the order of the file, which is that of time. */
size_t jitdump_loads(const struct jitdump *j, const struct jitdump_load **ret);
void jitdump_each(const struct jitdump *j, void (*visit)(void *ctx, const struct jitdump_load *l),
		  void *ctx);
const char *jitdump_name(const struct jitdump *j, const struct jitdump_load *l);

uint16_t jitdump_machine(const struct jitdump *j); /* EM_X86_64 … */
uint32_t jitdump_pid(const struct jitdump *j);     /* in the runtime's own pid namespace */
/* Times are those of the CPU's counter: only their order can be used. */
bool jitdump_uses_cpu_clock(const struct jitdump *j);
/* Why the reading ended early, a constant sentence; NULL: it did not. */
const char *jitdump_damage(const struct jitdump *j);

/* ---- by code offset ---- */

const struct symtab *jitdump_symbols(const struct jitdump *j);
/* False: no line is known there. The file belongs to the jitdump. */
bool jitdump_line(const struct jitdump *j, uint64_t code_offset, const char **ret_file,
		  uint32_t *ret_line);
/* Every line in [from, to), ascending. False from @row ends it. */
void jitdump_each_line(const struct jitdump *j, uint64_t from, uint64_t to,
		       bool (*row)(void *ctx, uint64_t code_offset, const char *file,
				   uint32_t line),
		       void *ctx);
/* Bytes of code, or of unwinding information; returns how many there were. */
size_t jitdump_bytes(const struct jitdump *j, uint64_t offset, void *to, size_t size);

#endif
