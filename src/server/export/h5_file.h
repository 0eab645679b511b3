/*
 * HDF5 files as tables with named columns, which h5py opens as datasets of a compound type and pandas,
 * by PyTables, as data frames. libhdf5 is loaded when the first file is written: it takes milliseconds
 * and megabytes that a server without exports does not have to pay.
 *
 * The library knows one caller at a time; h5_file_create() waits for the others, so what is created has
 * to be closed soon. Errors are remembered: only h5_file_close() gives them.
 */
#ifndef TACHO_SERVER_EXPORT_H5_FILE_H
#define TACHO_SERVER_EXPORT_H5_FILE_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define H5_TEXT_BYTES_MAX 1024u /* of a value; what is longer is cut */

enum h5_kind { H5_UINT8, H5_UINT32, H5_INT32, H5_UINT64, H5_DOUBLE, H5_TEXT };

/* A member of the struct that rows are. */
struct h5_column {
	const char *name;
	enum h5_kind kind;
	size_t offset;
	size_t bytes; /* H5_TEXT: of the array of characters, which needs no NUL at its end */
};

struct h5_file;
struct h5_table;

/* A new file without a name in @directory; *ret_fd belongs to the caller, also after an error, if it was
 * set. */
int h5_file_create(struct h5_file **ret, const char *directory, int *ret_fd, struct err *e);
/* Frees it. 0, or what went wrong. */
int h5_file_close(struct h5_file *f, struct err *e);

/* "/runs/x": those above it must be there. */
void h5_group(struct h5_file *f, const char *path);
/* Of a group or a table. */
void h5_attribute_text(struct h5_file *f, const char *path, const char *name, const char *text);
void h5_attribute_number(struct h5_file *f, const char *path, const char *name, double value);
/* A second name for a table. */
void h5_link(struct h5_file *f, const char *path, const char *other);

/* Columns are copied, but not their names. NULL after an error, which all functions take. */
struct h5_table *h5_table_begin(struct h5_file *f, const char *path, const char *title,
				const struct h5_column *columns, size_t count, size_t row_bytes);
/* Rows that may be written by hand; they are added by the next call or the end. */
void *h5_table_row(struct h5_table *t);
void h5_table_end(struct h5_table *t);

/* Cut at a whole character. */
void h5_put_text(char *to, size_t bytes, const char *text);

#endif
