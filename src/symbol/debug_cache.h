/*
 * tacho's own store of programs and libraries, by build id:
 *
 *   $XDG_CACHE_HOME/tacho/build-id/xx/yyyy…/elf-UID   a copy of a file that belonged to that user
 *   $XDG_CACHE_HOME/tacho/build-id/xx/yyyy…/elf       a copy of a file whose owner is not known; all
 *                                                     copies of earlier versions
 *
 * xx are the first two hexadecimal digits of the id, yyyy the rest. Files are written under a
 * temporary name and then renamed, so that a reader sees a complete file or none. The files are
 * not trusted: code that opens one must compare the build id inside. Ids can be made up, so each
 * user has copies of his own: see perf/rights.h. Others may read a copy, as far as its mode goes, if
 * everybody could read the original; the directories are closed to them in any case.
 *
 * Any thread. The caller frees the paths.
 */
#ifndef TACHO_SYMBOL_DEBUG_CACHE_H
#define TACHO_SYMBOL_DEBUG_CACHE_H

#include "base/err.h"
#include "base/fs.h"
#include "perf/build_id.h"
#include "perf/rights.h"

#include <stdbool.h>

#define DEBUG_CACHE_FILE_BYTES_MAX (4ull << 30)

/* Returns "xx/yyyy…", the relative path that all build-id directories use; NULL if @id has fewer
 * than two bytes. */
char *build_id_path(const struct build_id *id);

/* Returns the path where the copy is, or would be; NULL without a home or a usable id. */
char *debug_cache_path(const struct build_id *id, const struct file_origin *origin);

/* Finds the copies that may be used for a process with the rights @r, best first: those of our own and
 * root's programs, those of other users, those of nobody known. */
void debug_cache_find(const struct build_id *id, const struct rights *r, strvec *ret_paths);

/* Marks the copy as just used, if it exists: keep_trim() removes the least recently used files
 * first. Returns false if there is none, or one with fewer rights than @origin says. */
bool debug_cache_touch(const struct build_id *id, const struct file_origin *origin);

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
int debug_cache_keep(const struct build_id *id, const struct file_origin *origin, int fd,
		     enum debug_cache_how how, struct err *e);

#endif
