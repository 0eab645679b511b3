/*
 * Finds the files that belong to a program: by build id in the caches and under /usr/lib/debug, by
 * the name in .gnu_debuglink, or from debuginfod. A name alone proves nothing: the build id inside
 * must match or, if one of the files has none, the checksum in .gnu_debuglink.
 *
 * Any thread; one at a time for the same struct elf_file. The caller closes the returned files and
 * frees the paths.
 */
#ifndef TACHO_SYMBOL_DEBUG_FILE_H
#define TACHO_SYMBOL_DEBUG_FILE_H

#include "perf/rights.h"
#include "symbol/elf/elf.h"

struct file_search {
	const char *symfs; /* prefix of all paths; NULL: none */
	bool no_debuginfod;
	/* With which files are opened whose paths or names a program has chosen. Copies in the
	 * asker's caches are opened with his, as far as these rights allow their use: a build id can
	 * be made up. */
	const struct rights *rights;
};

bool build_id_same(const struct build_id *a, const struct build_id *b);

/* Opens a regular file with the asker's rights if its build id is @id. Else returns NULL and, if it is an ELF file, stores
 * its build id in *ret_other_id (may be NULL). */
struct elf_file *open_by_build_id(const char *path, const struct build_id *id,
				  struct build_id *ret_other_id);

/* Finds the program itself by build id: in tacho's cache, in perf's, then from debuginfod. */
struct elf_file *find_program(const struct build_id *id, const struct file_search *search,
			      char **ret_path);

/* Finds the file with the symbols and debug sections of the program with build id @id. If @program
 * is NULL, .gnu_debuglink is not tried. @path: where the program was found or should be. */
struct elf_file *find_debug_file(struct elf_file *program, const char *path,
				 const struct build_id *id, const struct file_search *search,
				 char **ret_path);

/* Finds the supplementary file that .gnu_debugaltlink of @debug names. @path: that of @debug. */
struct elf_file *find_alternate_file(struct elf_file *debug, const char *path,
				     const struct file_search *search, char **ret_path);

/* Returns the path of the file that perf has cached for a build id, or NULL. @name: "elf",
 * "debug", "vdso" or "kallsyms". perf does not keep whose file it was, so there is nothing for rights
 * that are not the asker's. */
char *perf_cache_find(const struct build_id *id, const char *name, const struct rights *rights);

#endif
