/*
 * tacho's own store of programs and debug files, by build id:
 *
 *   $XDG_CACHE_HOME/tacho/build-id/xx/yyyy…/elf     the program or library itself
 *   $XDG_CACHE_HOME/tacho/build-id/xx/yyyy…/debug   a file with its debug information
 *   $XDG_CACHE_HOME/tacho/build-id/xx/yyyy…/vdso    code that the kernel maps into every process
 *
 * xx are the first two hexadecimal digits of the id, yyyy the rest. Files are written under a
 * temporary name and then renamed, so that a reader sees a complete file or none. The files are
 * not trusted: code that opens one must compare the build id inside.
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

/* Returns "xx/yyyy…", the relative path that all build-id directories use; NULL if @id has fewer
 * than two bytes. */
char *build_id_path(const struct build_id *id);

/* Returns the path where the file is, or would be; NULL without a home or a usable id. */
char *debug_cache_path(const struct build_id *id, enum debug_cache_kind kind);

/* Returns the path if a regular file is there, else NULL. */
char *debug_cache_find(const struct build_id *id, enum debug_cache_kind kind);

/* Marks the file as just used, if it exists: keep_trim() removes the least recently used files
 * first. Returns whether the file exists. */
bool debug_cache_touch(const struct build_id *id, enum debug_cache_kind kind);

/* Creates a directory of the cache that only the user can access: a copy must not be easier to
 * read than its original, which may be in a directory that is closed to others. Returns -EPERM if
 * the directory belongs to another user (as with sudo and the caller's HOME). */
int debug_cache_make_dir(const char *directory, struct err *e);

/* How a file gets into the store. */
enum debug_cache_how {
	DEBUG_CACHE_COPY,  /* share its blocks if the file system can, else copy them */
	DEBUG_CACHE_SHARE, /* share its blocks, or fail with -EOPNOTSUPP or -EXDEV */
};

/* Stores the contents of @fd, from its start, unless the store already has the file. Returns
 * -ESTALE if the source was written to during the copy. */
int debug_cache_keep(const struct build_id *id, enum debug_cache_kind kind, int fd,
		     enum debug_cache_how how, struct err *e);
/* The same for bytes in memory (the vdso). */
int debug_cache_keep_memory(const struct build_id *id, enum debug_cache_kind kind, const void *data,
			    size_t size, struct err *e);

#endif
