#include "store/sqlite_files.h"
#include "store/sqlite_error.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static const char *const suffixes[SQLITE_FILES] = {"", "-wal", "-shm"};

/* ---- before they are opened ---- */

static bool is_there(const struct directory *d, const char *name)
{
	return !faccessat(d->fd, name, F_OK, AT_SYMLINK_NOFOLLOW);
}

static bool has_log(const struct directory *d)
{
	struct stat st;

	return !fstatat(d->fd, "tacho.db-wal", &st, AT_SYMLINK_NOFOLLOW) && st.st_size > 0;
}

/*
 * SQLite deletes a log that it finds beside a new database, although that may be all there is of the
 * database that was here before. So keep the log. The lock is for others who open the same directory:
 * the log of a database that one of them has made meanwhile is not to be taken away.
 */
static int keep_old_log(const struct directory *d, struct err *e)
{
	int r = 0;

	flock(d->fd, LOCK_EX);
	if (!is_there(d, "tacho.db") && has_log(d))
		r = directory_set_aside(d, "tacho.db-wal", NULL, e);
	flock(d->fd, LOCK_UN);
	return r;
}

/* With the mode that it shall have; SQLite gives its other files the same. */
static int make_file(const struct directory *d, struct err *e)
{
	int fd, r;

	if (is_there(d, "tacho.db"))
		return 0;
	r = has_log(d) ? keep_old_log(d, e) : 0;
	if (r < 0)
		return r;
	fd = openat(d->fd, "tacho.db", O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 && errno != EEXIST)
		return err_set(e, errno,
			       "The database '%s/tacho.db' cannot be made: %s. Choose another data "
			       "directory with --data.",
			       d->path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return 0;
}

int sqlite_files_prepare(const struct directory *d, bool make, struct err *e)
{
	static const char *const names[] = {"tacho.db", "tacho.db-wal", "tacho.db-shm", "reserve"};
	int r = 0;

	for (size_t i = 0; i < ARRAY_LEN(names) && r == 0; i++)
		r = directory_check_file(d, names[i], e);
	return r < 0 || !make ? r : make_file(d, e);
}

/* ---- while they are open ---- */

int sqlite_files_watch(struct sqlite_files *f, const struct directory *d, sqlite3 *db,
		       struct err *e)
{
	int moved = 0;

	/* Opens the log, if that was not necessary so far: others may delete and make it until then. If
	 * it fails, the first statement says why. */
	sqlite3_exec(db, "PRAGMA schema_version", NULL, NULL, NULL);
	for (size_t i = 0; i < SQLITE_FILES; i++) {
		CLEANUP(free_ptr) char *name = xasprintf("tacho.db%s", suffixes[i]);

		if (fstatat(d->fd, name, &f->opened[i], AT_SYMLINK_NOFOLLOW))
			f->opened[i].st_ino = 0;
	}
	/* Whether SQLite has opened that file, and not one that took its place for a moment. */
	sqlite3_file_control(db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
	return moved || !f->opened[0].st_ino ? sqlite_lost(f->path, e) : sqlite_files_check(f, e);
}

enum place { PLACE_SAME, PLACE_EMPTY, PLACE_TAKEN };

/* What is now at the path of the file number @i. A file that is not watched passes. */
static enum place look_at(const struct sqlite_files *f, size_t i, char **ret_path)
{
	const struct stat *was = &f->opened[i];
	struct stat now;

	*ret_path = xasprintf("%s%s", f->path, suffixes[i]);
	if (!was->st_ino)
		return PLACE_SAME;
	if (lstat(*ret_path, &now))
		return PLACE_EMPTY;
	return now.st_ino == was->st_ino && now.st_dev == was->st_dev ? PLACE_SAME : PLACE_TAKEN;
}

int sqlite_files_check(const struct sqlite_files *f, struct err *e)
{
	for (size_t i = 0; i < SQLITE_FILES; i++) {
		CLEANUP(free_ptr) char *path = NULL;

		if (look_at(f, i, &path) != PLACE_SAME)
			return sqlite_lost(path, e);
	}
	return 0;
}

void sqlite_files_leave(const struct sqlite_files *f, const char *directory)
{
	CLEANUP(directory_close) struct directory d = {.fd = -1};
	CLEANUP(free_ptr) char *path = NULL, *log = NULL;

	if (f->opened[1].st_ino && look_at(f, 0, &path) == PLACE_TAKEN &&
	    look_at(f, 1, &log) == PLACE_SAME && directory_open(&d, directory, false, NULL) == 0)
		directory_set_aside(&d, "tacho.db-wal", NULL, NULL);
}
