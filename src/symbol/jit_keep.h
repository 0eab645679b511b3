/*
 * What a recorder keeps of processes that will be gone when somebody looks at the recording:
 *
 *   $XDG_CACHE_HOME/tacho/jit/RECORDING/perf-PID.map   names of a JIT's code
 *   $XDG_CACHE_HOME/tacho/jit/RECORDING/jit-PID.dump   the code itself
 *   $XDG_CACHE_HOME/tacho/jit/RECORDING/elf-MAJOR-MINOR-INODE-GENERATION
 *                                                      a program or library without a build id
 *
 * PID is the number by which the recording knows the process, whatever it was in its own namespace.
 * RECORDING is the moment of its beginning as the recording's CLOCK_DATA has it (nanoseconds of the
 * wall clock, sixteen hexadecimal digits): so nothing of another recording is ever found there.
 * Programs that have a build id are kept by that, see debug_cache.h; one that has none is told from
 * later builds by the device and inode in its MMAP2 records, which are only unique at one time, hence
 * inside a recording.
 *
 * Any thread. The caller frees the paths.
 */
#ifndef TACHO_SYMBOL_JIT_KEEP_H
#define TACHO_SYMBOL_JIT_KEEP_H

#include "base/err.h"
#include "perf/build_id.h"

#include <stdint.h>

/* Beyond these what is oldest is removed, by recordings and by build ids. */
#define JIT_KEEP_BYTES_MAX      (1ull << 30)
#define BUILD_ID_KEEP_BYTES_MAX (8ull << 30)
/* Directories of either: looking for the oldest must not take long. */
#define KEEP_DIRECTORIES_MAX 8192u
/* One file that is larger is not kept. */
#define KEEP_FILE_BYTES_MAX (512ull << 20)

/* Where the files of a recording are, or would be; NULL without a home or without a clock (0). */
char *jit_keep_dir(uint64_t wall_ns);

/* Copies all of @fd into a file of @dir, which is made if it is not there. */
int jit_keep_file(const char *dir, const char *name, int fd, struct err *e);

/* The path of a program without a build id in @dir; NULL if its identity is not known. */
char *jit_keep_program_path(const char *dir, const struct file_identity *f);
/* Keeps one there. The bytes are shared with all recordings of the same file, as long as its size and
 * time of change are the same. */
int jit_keep_program(const char *dir, const struct file_identity *f, int fd, struct err *e);

/* Removes what is oldest until the limits hold, except for what the recording that began at @wall_ns
 * has kept. Does nothing in a cache of another user. */
void keep_trim(uint64_t wall_ns);

struct keep_limits {
	uint64_t bytes;
	size_t count;       /* directories */
	const char *spared; /* name of the directory that stays; NULL: none */
};

/* The same for any directory of directories (or of directories of these: @depth 2). Only files with
 * names as above and in debug_cache.h are removed, and symbolic links are not followed. */
void keep_trim_dir(const char *top, unsigned depth, const struct keep_limits *limits);

#endif
