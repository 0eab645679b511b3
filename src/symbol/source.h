/*
 * Lines of source files, as debug information names them. Each file is read once, when first asked
 * for, and kept. Paths are from outside: only ordinary files are opened, and sizes have limits.
 *
 * A path is changed by the first of the user's pairs that it begins with, up to a slash; then it is
 * looked for below symfs and, failing that, as it stands. One thread at a time may ask for files; what
 * was given stays valid until sources_free().
 */
#ifndef TACHO_SYMBOL_SOURCE_H
#define TACHO_SYMBOL_SOURCE_H

#include "base/err.h"
#include "base/fs.h"

#include <stdbool.h>
#include <time.h>

#define SOURCE_FILE_BYTES_MAX (32u << 20)
#define SOURCE_ALL_BYTES_MAX  (256u << 20)
#define SOURCE_FILES_MAX      65536u

struct source_file {
	char *asked;   /* the path in the debug information */
	char *path;    /* that it was read from, or that was tried last */
	char *problem; /* a sentence, or NULL: it was read */
	time_t modified;
	char *text;           /* each line is ended by NUL */
	VEC(uint32_t) starts; /* of its lines in text */
};

struct sources;

/* Copies what it is given; @symfs may be NULL. Pairs: paths that begin with from[i] get to[i]. */
struct sources *sources_new(const strvec *from, const strvec *to, const char *symfs);
void sources_free(struct sources *s);

/* Never NULL. */
const struct source_file *sources_get(struct sources *s, const char *path);

/* Line @number, from 1; NULL: there is none. */
const char *source_line(const struct source_file *f, uint32_t number);

/* The path after the user's changes; the caller frees it. */
char *source_path(const strvec *from, const strvec *to, const char *path);

#endif
