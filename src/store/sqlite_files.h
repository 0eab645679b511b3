/*
 * The files of a SQLite database: checked before they are opened (directory.h), and watched while they
 * are. A file that is deleted or replaced while it is open goes on taking in what is written, and all
 * of that is gone when it is closed: whoever writes asks sqlite_files_check() before each commit.
 */
#ifndef TACHO_STORE_SQLITE_FILES_H
#define TACHO_STORE_SQLITE_FILES_H

#include "store/directory.h"

#include <sqlite3.h>

/* tacho.db, and the log and its index beside it: SQLite deletes these only when the last connection
 * closes. */
#define SQLITE_FILES 3

struct sqlite_files {
	char *path;                       /* of the database */
	struct stat opened[SQLITE_FILES]; /* st_ino 0: was not there, or is not watched yet */
};

/* Returns -EACCES unless the files belong to us; with @make, makes the database if it is missing. */
int sqlite_files_prepare(const struct directory *d, bool make, struct err *e);
/* From now on the files of @db, which was just opened, have to stay what they are. */
int sqlite_files_watch(struct sqlite_files *f, const struct directory *d, sqlite3 *db,
		       struct err *e);
/* Returns -ESTALE if one of them was deleted or replaced since. */
int sqlite_files_check(const struct sqlite_files *f, struct err *e);
/*
 * To be called when the database is closed. If another database has taken its place, SQLite leaves the
 * log of the old one beside it, and would apply it to the new one at the next start: sets it aside.
 */
void sqlite_files_leave(const struct sqlite_files *f, const char *directory);

#endif
