/* The run's own tables in HDF5, as GROUP/tables/NAME: a part of h5.c. */
#ifndef TACHO_SERVER_EXPORT_H5_TABLES_H
#define TACHO_SERVER_EXPORT_H5_TABLES_H

#include "server/export/h5_file.h"
#include "server/export/run.h"

/* Errors of the file are those of h5_file_close(). */
int h5_tables_write(struct h5_file *f, const char *group, struct export_run *x, struct err *e);

#endif
