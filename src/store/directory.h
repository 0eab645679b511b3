/*
 * The data directory. Whoever can write to it, or has planted a link in it, could make a server write
 * to another file, run on a prepared database or accept a prepared token. So everything that is opened
 * in it is checked before: it belongs to the user who runs us, no other user may write to it, and no
 * symbolic or hard link leads elsewhere. What fails the check is refused (-EACCES, with a sentence that
 * says why and what to do), never repaired.
 *
 * The checks go by descriptors, so that a name cannot change between check and use. The database is
 * the exception, because SQLite opens files by their path: sqlite.c compares what was opened with
 * what was checked. One thread at a time.
 */
#ifndef TACHO_STORE_DIRECTORY_H
#define TACHO_STORE_DIRECTORY_H

#include "base/err.h"
#include "base/fs.h"

#include <stdbool.h>
#include <sys/stat.h>

/* Where files go that no database knows, see directory_set_aside(). */
#define DIRECTORY_LOST "lost"

struct directory {
	int fd;
	char *path; /* for messages */
};

/* With @make, makes a missing directory (mode 0700) and its parents. -ENOENT if there is none. The
 * caller must call directory_close(), also after a failure. */
int directory_open(struct directory *ret, const char *path, bool make, struct err *e);
/* The same for a directory in @d. */
int directory_open_below(struct directory *ret, const struct directory *d, const char *name,
			 bool make, struct err *e);
void directory_close(struct directory *d);

/* Checks a regular file of @d. A missing file passes: the caller may make it with O_EXCL. */
int directory_check_file(const struct directory *d, const char *name, struct err *e);
/* Checks every file of the directory @below of @d, which may be missing. */
int directory_check_files(const struct directory *d, const char *below, struct err *e);
/* Opens and checks a file of @d; returns the descriptor. With O_CREAT a new file gets mode 0600. */
int directory_open_file(const struct directory *d, const char *name, int flags, struct err *e);
/* Reads a small text; see fs_read(). -ENOENT if there is no such file. */
int directory_read(const struct directory *d, const char *name, size_t limit_bytes, char **ret_text,
		   struct err *e);
/* Replaces the file by @text in one step, durably; its mode is 0600. */
int directory_write(const struct directory *d, const char *name, const char *text, struct err *e);

/*
 * Moves the file @name ("raw/X.data") to the directory "lost", which keeps files whose owner is not
 * known until a person decides. The new name begins with the time of the file's last change, in UTC:
 * "lost/20261119-204025-X.data". Returns it in @ret, which may be NULL.
 */
int directory_set_aside(const struct directory *d, const char *name, char **ret, struct err *e);

#endif
