/*
 * Lines of the source files that debug information names. Each file is read once, when first
 * needed, and kept. Paths are not trusted: only ordinary files are opened, and sizes have limits.
 *
 * The first of the user's pairs that matches the beginning of a path, up to a slash, replaces it.
 * The file is then searched below symfs and, failing that, at the path itself. One thread at a
 * time may request files; returned files stay valid until sources_free().
 */
#ifndef TACHO_SYMBOL_SOURCE_H
#define TACHO_SYMBOL_SOURCE_H

#include "base/err.h"
#include "base/fs.h"
#include "perf/rights.h"

#include <stdbool.h>
#include <time.h>

#define SOURCE_FILE_BYTES_MAX (32u << 20)
#define SOURCE_ALL_BYTES_MAX  (256u << 20)
#define SOURCE_FILES_MAX      65536u

struct source_file {
	char *asked;                 /* the path in the debug information */
	const struct rights *rights; /* with which it was opened */
	char *path;                  /* where it was read, or the last path that was tried */
	char *problem;               /* why it was not read, a sentence; NULL: it was read */
	time_t modified;
	char *text;           /* each line is ended by NUL */
	VEC(uint32_t) starts; /* offsets of its lines in text */
};

struct sources;

/* Copies its arguments; @symfs may be NULL. to[i] replaces from[i] at the beginning of paths. */
struct sources *sources_new(const strvec *from, const strvec *to, const char *symfs);
void sources_free(struct sources *s);

/* Opens the file with @rights, those of the module that names it. Never returns NULL: if the file
 * cannot be read, `problem` is set. */
const struct source_file *sources_get(struct sources *s, const char *path,
				      const struct rights *rights);

/* Returns line @number, counted from 1; NULL if there is none. */
const char *source_line(const struct source_file *f, uint32_t number);

/* Returns @path with the user's replacement applied; the caller frees it. */
char *source_path(const strvec *from, const strvec *to, const char *path);

#endif
