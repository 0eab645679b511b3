#include "store/sqlite_error.h"

#include <errno.h>
#include <string.h>

static int disk_full(const char *path, struct err *e)
{
	return err_set(
		e, ENOSPC,
		"The disk with '%s' is full: nothing more can be stored. Make room, or delete "
		"runs that are not needed.",
		path);
}

static int cannot_write(const char *path, struct err *e)
{
	return err_set(
		e, EROFS,
		"The database '%s' cannot be written: it, its directory or the file system is "
		"read-only, or belongs to another user.",
		path);
}

static int input_output(const char *path, int system, struct err *e)
{
	if (system == ENOSPC || system == EDQUOT)
		return disk_full(path, e);
	if (system == EROFS || system == EACCES || system == EPERM)
		return cannot_write(path, e);
	return err_set(e, EIO, "The database '%s' cannot be read or written: %s.", path,
		       system ? strerror(system) : "input/output error");
}

int sqlite_lost(const char *path, struct err *e)
{
	return err_set(e, ESTALE,
		       "'%s' was deleted or replaced while it is in use: nothing more can be "
		       "stored. Put the file back, or export the runs that are needed (they can "
		       "still be read) and restart the server.",
		       path);
}

/*
 * Moving all three files together keeps what is in the log, and keeps the log from being applied to
 * the rescued database. Kept recordings need no rescue: they stay in the data directory. ".recover"
 * reads more than ".dump", but the sqlite3 of Debian is built without it. A dump of damaged tables ends
 * with ROLLBACK, which would throw away the rest.
 */
static int damaged(const char *path, const char *reason, struct err *e)
{
	const char *slash = strrchr(path, '/');
	int len = slash ? (int)(slash - path) : 0;

	return err_set(
		e, EUCLEAN,
		"'%s' is damaged, or not a database of tacho (%s). Nothing was changed. To "
		"rescue what can be read, stop the server if it runs, then: cd '%.*s' && "
		"mkdir damaged && mv tacho.db* damaged/ && (echo 'PRAGMA auto_vacuum=2;'; sqlite3 "
		"damaged/tacho.db .dump | sed 's/^ROLLBACK.*/COMMIT;/') | sqlite3 tacho.db",
		path, reason, len, path);
}

int sqlite_failed(sqlite3 *db, const char *path, unsigned busy_ms, struct err *e)
{
	int rc = db ? sqlite3_extended_errcode(db) : SQLITE_NOMEM;
	int system = db ? sqlite3_system_errno(db) : 0;

	if (rc == SQLITE_CONSTRAINT_UNIQUE || rc == SQLITE_CONSTRAINT_PRIMARYKEY)
		return err_set(e, EEXIST, "That is in '%s' already.", path);
	if (rc == SQLITE_CONSTRAINT_FOREIGNKEY)
		return err_set(e, ENOENT, "What this belongs to is not (or no longer) in '%s'.",
			       path);
	switch (rc & 0xff) {
	case SQLITE_FULL:
		return disk_full(path, e);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return err_set(
			e, EAGAIN,
			"The database '%s' is locked by another program, for more than %u ms. "
			"Is it open in a tool, or does a backup run?",
			path, busy_ms);
	case SQLITE_READONLY:
	case SQLITE_PERM:
		return cannot_write(path, e);
	case SQLITE_CANTOPEN:
		/* Also when the directory does not take the files that SQLite puts beside it. */
		if (system == ENOENT)
			return err_set(e, ENOENT, "There is no database '%s'.", path);
		return system == ENOSPC || system == EDQUOT ? disk_full(path, e)
							    : cannot_write(path, e);
	case SQLITE_IOERR:
		/* The index of the log could not grow, and SQLite does not say why. */
		if (rc == SQLITE_IOERR_SHMSIZE)
			return disk_full(path, e);
		return input_output(path, system, e);
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return damaged(path, sqlite3_errmsg(db), e);
	case SQLITE_NOMEM:
		return err_set(e, ENOMEM, "There is not enough memory to use '%s'.", path);
	case SQLITE_TOOBIG:
		return err_set(e, EFBIG, "A part is too large for '%s'.", path);
	default:
		return err_set(e, EIO, "The database '%s' has failed: %s.", path,
			       sqlite3_errmsg(db));
	}
}
