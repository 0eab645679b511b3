/*
 * Reads perf-PID.map: a text file in which a JIT names the code that it has generated. Each line
 * has the start and the size in hexadecimal, and a name up to the end of the line. Code memory is
 * reused, so later lines override earlier ones. Names are kept as they are.
 *
 * Any process may write such a file for any PID, so it must be a plain file that belongs to the
 * process's owner, to root or to us, and it must not be older than the process.
 *
 * Any thread. The caller owns what is returned.
 */
#ifndef TACHO_SYMBOL_PERF_MAP_H
#define TACHO_SYMBOL_PERF_MAP_H

#include "base/err.h"
#include "perf/rights.h"
#include "symbol/symtab.h"

#define PERF_MAP_BYTES_MAX   (256u << 20)
#define PERF_MAP_LINES_MAX   (4u << 20) /* later lines are not read */
#define PERF_MAP_UID_UNKNOWN UINT32_MAX

struct perf_map_source {
	uint32_t pid;                /* as recorded */
	uint32_t pid_inside;         /* in its own pid namespace; 0: as /proc says, else the same */
	uint32_t uid;                /* of the process; PERF_MAP_UID_UNKNOWN: as /proc says */
	uint64_t start_ns;           /* of the process, wall clock; 0: unknown */
	const char *kept_dir;        /* the recorder's copies, see symbol/jit_keep.h; NULL: none */
	const struct rights *rights; /* of the process; NULL: the asker's */
};

/*
 * Opens the first usable map of: the recorder's copy, the one in the process's /tmp, the one in
 * our /tmp. Returns -ENOENT if there is none, -ESTALE if it is older than the process, -EPERM if
 * it belongs to another user; sets @e for each.
 */
int perf_map_open(const struct perf_map_source *s, int *ret_fd, char **ret_path, struct err *e);

/* Reads a map into a finished table. @ret_path: the file that was read; may be NULL. */
int perf_map_load(const struct perf_map_source *s, struct symtab *ret, char **ret_path,
		  struct err *e);

/* Adds the symbols in the text; returns the number of malformed lines. The caller must call
 * symtab_finish(). */
uint64_t perf_map_parse(const char *text, size_t len, struct symtab *ret);

/* Opens the map at @path after checking its type, owner, age and size. */
int perf_map_open_path(const char *path, const struct rights *rights, uint32_t uid,
		       uint64_t start_ns, int *ret_fd, struct err *e);

#endif
