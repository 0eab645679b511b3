/*
 * HDF5 files as tables with named columns, which h5py opens as datasets of a compound type and
 * pandas, by PyTables, as data frames. libhdf5 is loaded when the first file is written, because
 * loading takes milliseconds and megabytes that a server without exports need not pay.
 *
 * libhdf5 allows one caller at a time: h5_file_create() takes a lock that h5_file_close() releases,
 * so close each file soon. Write errors are remembered; only h5_file_close() returns them.
 */
#ifndef TACHO_SERVER_EXPORT_H5_FILE_H
#define TACHO_SERVER_EXPORT_H5_FILE_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define H5_TEXT_BYTES_MAX 1024u /* bytes of a text value; longer ones are cut */

enum h5_kind {
	H5_UINT8,
	H5_INT8,
	H5_UINT16,
	H5_INT16,
	H5_UINT32,
	H5_INT32,
	H5_UINT64,
	H5_INT64,
	H5_DOUBLE,
	H5_TEXT,
};

/* Bytes of a value; 0: of texts, whose columns say it. */
size_t h5_kind_bytes(enum h5_kind kind);

/* A column of a table: one member of the row struct. */
struct h5_column {
	const char *name;
	enum h5_kind kind;
	size_t offset;
	size_t bytes; /* H5_TEXT: size of the character array, which needs no NUL at its end */
};

struct h5_file;
struct h5_table;

/* Creates an unnamed file in @directory. The caller closes *ret_fd, if set, also after an error. */
int h5_file_create(struct h5_file **ret, const char *directory, int *ret_fd, struct err *e);
/* Closes and frees @f. Returns 0, or the first error of all calls for this file. */
int h5_file_close(struct h5_file *f, struct err *e);

/* Creates a group such as "/runs/x", whose parent must exist. */
void h5_group(struct h5_file *f, const char *path);
/* Sets an attribute of the group or table @path. */
void h5_attribute_text(struct h5_file *f, const char *path, const char *name, const char *text);
void h5_attribute_number(struct h5_file *f, const char *path, const char *name, double value);
/* Gives the table @path the second name @other. */
void h5_link(struct h5_file *f, const char *path, const char *other);

/*
 * @title and the names of @columns must stay valid until h5_table_end(), @columns need not. Returns
 * NULL after an error; the functions below accept NULL.
 */
struct h5_table *h5_table_begin(struct h5_file *f, const char *path, const char *title,
				const struct h5_column *columns, size_t count, size_t row_bytes);
/* Returns a zeroed row for the caller to fill in. The next call or h5_table_end() adds it. */
void *h5_table_row(struct h5_table *t);
void h5_table_end(struct h5_table *t);

/* Copies at most @bytes of @text, cut at a whole UTF-8 character. Adds no NUL. */
void h5_put_text(char *to, size_t bytes, const char *text);

#endif
