/*
 * The destination of exporters: a file or standard output.
 *
 *	export_file_begin(&f, path, &e);   …write through f.out…   export_file_end(&f, &e);
 *
 * Returns -EPIPE if the error has already been reported: the caller must print nothing then.
 */
#ifndef TACHO_CMD_INPUT_EXPORT_FILE_H
#define TACHO_CMD_INPUT_EXPORT_FILE_H

#include "export/exporter.h"

struct export_file {
	struct export_out out;
	const char *path; /* "-": standard output */
	int fd;
	int code; /* errno of the write that failed */
};

int export_file_begin(struct export_file *f, const char *path, struct err *e);
int export_file_end(struct export_file *f, struct err *e);

/* Returns @name if standard output is a terminal, which cannot show pictures, else "-". */
const char *export_file_default(const char *name);

#endif
