/*
 * Files that a recorder keeps because the process will be gone when the recording is viewed:
 *
 *   $XDG_CACHE_HOME/tacho/jit/RECORDING/perf-PID.map   names of a JIT's code
 *   $XDG_CACHE_HOME/tacho/jit/RECORDING/jit-PID.dump   the code itself
 *   $XDG_CACHE_HOME/tacho/jit/RECORDING/elf-MAJOR-MINOR-INODE-GENERATION
 *                                                      a program or library without a build id
 *
 * PID is the process's id in the recording, not the one in its own pid namespace. RECORDING is the
 * start time from the recording's CLOCK_DATA (nanoseconds of the wall clock, sixteen hexadecimal
 * digits), so a recording never finds the files of another one. Programs with a build id are kept
 * by that id, see debug_cache.h. A program without one is told from later builds by the device and
 * inode in its MMAP2 records; these are unique only at one point in time, hence kept per
 * recording.
 *
 * Any thread. The caller frees the paths.
 */
#ifndef TACHO_SYMBOL_JIT_KEEP_H
#define TACHO_SYMBOL_JIT_KEEP_H

#include "base/err.h"
#include "perf/build_id.h"
#include "perf/rights.h"

#include <stdint.h>

/* Above these sizes the oldest files are removed: those kept by recording, those by build id. */
#define JIT_KEEP_BYTES_MAX      (1ull << 30)
#define BUILD_ID_KEEP_BYTES_MAX (8ull << 30)
/* Limit of directories for each of the two: the search for the oldest must not take long. */
#define KEEP_DIRECTORIES_MAX 8192u
/* A larger file is not kept. */
#define KEEP_FILE_BYTES_MAX (512ull << 20)

/* Returns the directory where the files of a recording are, or would be; NULL without a home or if
 * @wall_ns is 0 (the recording has no clock). */
char *jit_keep_dir(uint64_t wall_ns);

/* Copies all of @fd into the file @name in @dir; creates @dir if it does not exist. */
int jit_keep_file(const char *dir, const char *name, int fd, struct err *e);

/* Returns the path in @dir for a program without a build id; NULL if its identity is not known. */
char *jit_keep_program_path(const char *dir, const struct file_identity *f);
/* Keeps a program at that path. All recordings of the same file share one copy, as long as its
 * size and modification time are the same. */
int jit_keep_program(const char *dir, const struct file_identity *f,
		     const struct file_origin *origin, int fd, struct err *e);

/* Removes the oldest files until the limits hold, except for the directory of the recording that
 * began at @wall_ns. Does nothing if the cache belongs to another user. */
void keep_trim(uint64_t wall_ns);

struct keep_limits {
	uint64_t bytes;
	size_t count;       /* directories */
	const char *spared; /* name of the directory that stays; NULL: none */
};

/* The same for the directories in @top (@depth 1), or for those one level below (@depth 2).
 * Removes only files with names as above and in debug_cache.h, and does not follow symbolic
 * links. */
void keep_trim_dir(const char *top, unsigned depth, const struct keep_limits *limits);

#endif
