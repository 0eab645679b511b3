/*
 * tacho's own store of programs and debug files, by build id:
 *
 *   $XDG_CACHE_HOME/tacho/build-id/xx/yyyy…/elf     the program or library itself
 *   $XDG_CACHE_HOME/tacho/build-id/xx/yyyy…/debug   a file with its debug information
 *   $XDG_CACHE_HOME/tacho/build-id/xx/yyyy…/vdso    the kernel's code in every process
 *
 * xx are the first two hexadecimal digits of the id, yyyy the rest. A file appears in one step
 * (written beside, then renamed), so that a reader sees a whole one or none. What is found there is
 * trusted no more than any other file: whoever opens it compares the build id inside.
 *
 * Any thread. The caller frees the paths.
 */
#ifndef TACHO_SYMBOL_DEBUG_CACHE_H
#define TACHO_SYMBOL_DEBUG_CACHE_H

#include "base/err.h"
#include "perf/build_id.h"

#include <stdbool.h>

#define DEBUG_CACHE_FILE_BYTES_MAX (4ull << 30)

enum debug_cache_kind {
	DEBUG_CACHE_ELF,
	DEBUG_CACHE_DEBUG,
	DEBUG_CACHE_VDSO,
};

/* "xx/yyyy…", for paths below any of the directories that are sorted so; NULL for an id of less
 * than two bytes. */
char *build_id_path(const struct build_id *id);

/* Where the file is, or would be; NULL without a home or a usable id. */
char *debug_cache_path(const struct build_id *id, enum debug_cache_kind kind);

/* Path of a regular file that is there; NULL: there is none. */
char *debug_cache_find(const struct build_id *id, enum debug_cache_kind kind);

/* Marks the file as just used, if it is there: what was not used for the longest time goes first.
 * Returns whether it is there. */
bool debug_cache_touch(const struct build_id *id, enum debug_cache_kind kind);

/* Makes a directory of the cache, for the user alone: a copy must not be easier to read than its original,
 * which may lie in a directory that is closed to others. Fails with -EPERM if it belongs to somebody else
 * (as with sudo and the caller's HOME). */
int debug_cache_make_dir(const char *directory, struct err *e);

/* How a file gets into the store. */
enum debug_cache_how {
	DEBUG_CACHE_COPY,  /* sharing its blocks if the file system can, else as a copy */
	DEBUG_CACHE_SHARE, /* only if its blocks can be shared; -EOPNOTSUPP or -EXDEV if not */
};

/* Keeps what @fd has, from its start, unless the file is there already. Returns -ESTALE if the file was
 * written to meanwhile. */
int debug_cache_keep(const struct build_id *id, enum debug_cache_kind kind, int fd,
		     enum debug_cache_how how, struct err *e);
/* The same from memory: the vdso. */
int debug_cache_keep_memory(const struct build_id *id, enum debug_cache_kind kind, const void *data,
			    size_t size, struct err *e);

#endif
