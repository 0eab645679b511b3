/*
 * Finding the files that belong to a program: by its build id in the caches and under /usr/lib/debug,
 * by the name that it has in .gnu_debuglink, from debuginfod. Nothing is believed by its name alone:
 * the build id inside must be the same, or the checksum of the link must be right.
 *
 * Any thread; one at a time for the same struct elf_file. The caller closes and frees what he is
 * given.
 */
#ifndef TACHO_SYMBOL_DEBUG_FILE_H
#define TACHO_SYMBOL_DEBUG_FILE_H

#include "symbol/elf/elf.h"

struct file_search {
	const char *symfs; /* before all paths; NULL: none */
	bool no_debuginfod;
};

bool build_id_same(const struct build_id *a, const struct build_id *b);

/* Opens a regular file if its build id is @id. NULL if not; *ret_other_id (may be NULL) then is the
 * one that it has. */
struct elf_file *open_by_build_id(const char *path, const struct build_id *id,
				  struct build_id *ret_other_id);

/* The program itself, by its id: caches, debuginfod. */
struct elf_file *find_program(const struct build_id *id, const struct file_search *search,
			      char **ret_path);

/* The file with symbols and debug sections of @program, or (NULL) of what has @id. @path is where it
 * was found or should be. */
struct elf_file *find_debug_file(struct elf_file *program, const char *path,
				 const struct build_id *id, const struct file_search *search,
				 char **ret_path);

/* The supplementary file that .gnu_debugaltlink of @debug (which lies at @path) names. */
struct elf_file *find_alternate_file(struct elf_file *debug, const char *path,
				     const struct file_search *search, char **ret_path);

/* A file that perf has kept for a build id: "elf", "debug", "vdso", "kallsyms". NULL: none. */
char *perf_cache_find(const struct build_id *id, const char *name);

#endif
