/*
 * perf-PID.map: the text by which a JIT names the code that it has made. Each line is the start and
 * the size in hexadecimal and a name up to the end of the line. Code memory is used again, so later
 * lines win over earlier ones; the names are kept as they are.
 *
 * Any process may write such a file under any number, so it must be a plain file that belongs to the
 * process's owner, to root or to us, and it must not be older than the process.
 *
 * Any thread. The caller owns what is returned.
 */
#ifndef TACHO_SYMBOL_PERF_MAP_H
#define TACHO_SYMBOL_PERF_MAP_H

#include "base/err.h"
#include "symbol/symtab.h"

#define PERF_MAP_BYTES_MAX   (256u << 20)
#define PERF_MAP_LINES_MAX   (4u << 20) /* those behind are not read */
#define PERF_MAP_UID_UNKNOWN UINT32_MAX

struct perf_map_source {
	uint32_t pid;        /* as it was recorded */
	uint32_t pid_inside; /* in its own pid namespace; 0: what /proc says, or the same */
	uint32_t uid;        /* of the process; PERF_MAP_UID_UNKNOWN: what /proc says */
	uint64_t start_ns;   /* of the process, wall clock; 0: unknown */
	const char
		*kept_dir; /* where the recorder has put copies (symbol/jit_keep.h); NULL: none */
};

/*
 * Finds and opens the map: the recorder's copy, the one that the process itself sees, the one in our
 * /tmp. -ENOENT: there is none; -ESTALE: it is older than the process; -EPERM: it belongs to
 * somebody else; each with a sentence.
 */
int perf_map_open(const struct perf_map_source *s, int *ret_fd, char **ret_path, struct err *e);

/* The table of a map, finished. @ret_path: the file that was read; may be NULL. */
int perf_map_load(const struct perf_map_source *s, struct symtab *ret, char **ret_path,
		  struct err *e);

/* Adds what the text says; returns how many lines were none. symtab_finish() is the caller's. */
uint64_t perf_map_parse(const char *text, size_t len, struct symtab *ret);

/* Opens a map by its path with the checks of owner, kind and age. */
int perf_map_open_path(const char *path, uint32_t uid, uint64_t start_ns, int *ret_fd,
		       struct err *e);

#endif
