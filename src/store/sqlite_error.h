/* What SQLite says, as a sentence for people and an errno for us. */
#ifndef TACHO_STORE_SQLITE_ERROR_H
#define TACHO_STORE_SQLITE_ERROR_H

#include "base/err.h"

#include <sqlite3.h>

/*
 * sqlite_failed(): about the last call on @db, which may be NULL. -ENOSPC: the disk is full; -EAGAIN: somebody else has
 * locked it; -EROFS: cannot be written; -EUCLEAN: damaged; -EEXIST: is there already;
 * -ENOENT: refers to what is not there.
 */
/* -ESTALE: the file @path of a database was deleted or replaced while it was open. */
int sqlite_lost(const char *path, struct err *e);
int sqlite_failed(sqlite3 *db, const char *path, unsigned busy_ms, struct err *e);

#endif
