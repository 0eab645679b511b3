#include "store/directory.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define OTHERS_WRITE (S_IWGRP | S_IWOTH)
/* Files of the same name that were changed in the same second. */
#define SAME_NAMES_MAX 1000

/* ---- checks ---- */

static int refuse_owner(const char *path, uid_t owner, struct err *e)
{
	return err_set(e, EACCES,
		       "'%s' belongs to another user (uid %u, and this is uid %u), so it cannot be "
		       "trusted: start the server as that user, or name another data directory "
		       "with --data DIR",
		       path, owner, geteuid());
}

static int refuse_writable(const char *path, mode_t mode, struct err *e)
{
	return err_set(e, EACCES,
		       "other users can write to '%s' (mode %04o), so what is in it cannot be "
		       "trusted: look through it, then close it with 'chmod go-w', or name another "
		       "data directory with --data DIR",
		       path, mode & 07777);
}

static int refuse_kind(const char *path, const char *what, const char *wanted, struct err *e)
{
	return err_set(e, EACCES,
		       "'%s' is %s, not %s: find out who made it and remove it, or name another "
		       "data directory with --data DIR",
		       path, what, wanted);
}

static const char *kind_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFLNK:
		return "a symbolic link";
	case S_IFDIR:
		return "a directory";
	case S_IFREG:
		return "a file";
	default:
		return "a device, pipe or socket";
	}
}

/* Checks what @st says of @path, which has to be a directory (S_IFDIR) or a regular file (S_IFREG). */
static int check(const char *path, const struct stat *st, mode_t kind, struct err *e)
{
	if ((st->st_mode & S_IFMT) != kind)
		return refuse_kind(path, kind_of(st->st_mode),
				   kind == S_IFDIR ? "a directory" : "a regular file", e);
	if (st->st_uid != geteuid())
		return refuse_owner(path, st->st_uid, e);
	if (st->st_mode & OTHERS_WRITE)
		return refuse_writable(path, st->st_mode, e);
	if (kind == S_IFREG && st->st_nlink > 1)
		return err_set(
			e, EACCES,
			"'%s' has %lu names (hard links): what is written to it would change "
			"another file, too. Replace it by a copy, or name another data "
			"directory with --data DIR",
			path, (unsigned long)st->st_nlink);
	return 0;
}

static char *path_in(const struct directory *d, const char *name)
{
	return xasprintf("%s/%s", d->path, name);
}

/* ---- directories ---- */

static int cannot_make(const char *path, int code, struct err *e)
{
	return err_set(e, code,
		       "the data directory '%s' cannot be made: %s; name another with --data DIR",
		       path, strerror(code));
}

static int make_directory(const char *path, struct err *e)
{
	CLEANUP(free_ptr) char *parent = xstrdup(path);
	char *slash = strrchr(parent, '/');

	if (!mkdir(path, 0700) || errno == EEXIST)
		return 0;
	if (errno == ENOENT && slash && slash != parent) {
		*slash = '\0';
		fs_mkdir_p(parent);
		if (!mkdir(path, 0700) || errno == EEXIST)
			return 0;
	}
	return cannot_make(path, errno, e);
}

/* The data directory itself may be named by a link of our own or of root's. */
static int check_link(const char *path, struct err *e)
{
	struct stat st;

	if (lstat(path, &st) || !S_ISLNK(st.st_mode) || !st.st_uid || st.st_uid == geteuid())
		return 0;
	return err_set(e, EACCES,
		       "'%s' is a symbolic link of another user (uid %u): name the data directory "
		       "itself with --data DIR",
		       path, st.st_uid);
}

/* Fills in @ret from ret->fd, or from errno if that is negative. */
static int take(struct directory *ret, struct err *e)
{
	struct stat st;

	if (ret->fd < 0 && (errno == ENOTDIR || errno == ELOOP))
		return refuse_kind(ret->path, "a file or a symbolic link", "a directory", e);
	if (ret->fd < 0 || fstat(ret->fd, &st))
		return err_set(
			e, errno,
			"the data directory '%s' cannot be opened: %s; name another with --data "
			"DIR",
			ret->path, strerror(errno));
	return check(ret->path, &st, S_IFDIR, e);
}

int directory_open(struct directory *ret, const char *path, bool make, struct err *e)
{
	size_t len = strlen(path);
	int r;

	/* With a slash at the end, lstat() would look behind a link. */
	while (len > 1 && path[len - 1] == '/')
		len--;
	*ret = (struct directory){.fd = -1, .path = xstrndup(path, len)};
	r = make ? make_directory(ret->path, e) : 0;
	if (r == 0)
		r = check_link(ret->path, e);
	if (r < 0)
		return r;
	ret->fd = open(ret->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return take(ret, e);
}

int directory_open_below(struct directory *ret, const struct directory *d, const char *name,
			 bool make, struct err *e)
{
	*ret = (struct directory){.fd = -1, .path = path_in(d, name)};
	if (make && mkdirat(d->fd, name, 0700) && errno != EEXIST)
		return cannot_make(ret->path, errno, e);
	ret->fd = openat(d->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return take(ret, e);
}

void directory_close(struct directory *d)
{
	if (d->path && d->fd >= 0)
		close(d->fd);
	free(d->path);
	*d = (struct directory){.fd = -1};
}

/* ---- files ---- */

int directory_check_file(const struct directory *d, const char *name, struct err *e)
{
	CLEANUP(free_ptr) char *path = path_in(d, name);
	struct stat st;

	if (!fstatat(d->fd, name, &st, AT_SYMLINK_NOFOLLOW))
		return check(path, &st, S_IFREG, e);
	return errno == ENOENT
		       ? 0
		       : err_set(e, errno, "cannot look at '%s': %s", path, strerror(errno));
}

int directory_check_files(const struct directory *d, const char *below, struct err *e)
{
	CLEANUP(directory_close) struct directory sub = {.fd = -1};
	CLEANUP(strvec_release) strvec names = {};
	int r = directory_open_below(&sub, d, below, false, e);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	fs_list(sub.path, &names);
	vec_each(&names, name)
		if (r == 0)
			r = directory_check_file(&sub, *name, e);
	return r;
}

int directory_open_file(const struct directory *d, const char *name, int flags, struct err *e)
{
	CLEANUP(free_ptr) char *path = path_in(d, name);
	/* A named pipe must not stop us. */
	int fd = openat(d->fd, name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
	struct stat st;
	int r;

	if (fd < 0 && errno == ELOOP)
		return refuse_kind(path, "a symbolic link", "a regular file", e);
	if (fd < 0 || fstat(fd, &st)) {
		r = err_set(e, errno, "'%s' cannot be opened: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return r;
	}
	r = check(path, &st, S_IFREG, e);
	if (r == 0)
		return fd;
	close(fd);
	return r;
}

int directory_read(const struct directory *d, const char *name, size_t limit_bytes, char **ret_text,
		   struct err *e)
{
	char self[64];
	int fd = directory_open_file(d, name, O_RDONLY, e), r;

	if (fd < 0)
		return fd;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	r = fs_read(self, limit_bytes, ret_text);
	close(fd);
	return r < 0 ? err_set(e, -r, "cannot read '%s/%s': %s", d->path, name, strerror(-r)) : 0;
}

int directory_write(const struct directory *d, const char *name, const char *text, struct err *e)
{
	CLEANUP(free_ptr) char *temp = xasprintf("%s.new", name);
	int fd, code = 0;

	unlinkat(d->fd, temp, 0);
	fd = openat(d->fd, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		code = errno;
	if (!code)
		code = -io_write(fd, text, strlen(text));
	if (!code && fsync(fd))
		code = errno;
	if (fd >= 0 && close(fd) && !code)
		code = errno;
	if (!code && renameat(d->fd, temp, d->fd, name))
		code = errno;
	if (!code && fsync(d->fd))
		code = errno;
	if (code)
		unlinkat(d->fd, temp, 0);
	return code ? err_set(e, code, "cannot write '%s/%s': %s", d->path, name, strerror(code))
		    : 0;
}

/* ---- files without an owner ---- */

/* A free name in @lost for the file @name, which was changed last at @at. */
static char *lost_name(const struct directory *lost, const char *name, time_t at)
{
	const char *slash = strrchr(name, '/');
	char stamp[32] = "";
	struct tm tm;
	char *ret = NULL;

	name = slash ? slash + 1 : name;
	if (gmtime_r(&at, &tm))
		strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &tm);
	for (unsigned n = 1; !ret && n <= SAME_NAMES_MAX; n++) {
		ret = n == 1 ? xasprintf("%s-%s", stamp, name)
			     : xasprintf("%s.%u-%s", stamp, n, name);
		if (faccessat(lost->fd, ret, F_OK, AT_SYMLINK_NOFOLLOW) && errno == ENOENT)
			return ret;
		free_ptr(&ret);
		ret = NULL;
	}
	return NULL;
}

int directory_set_aside(const struct directory *d, const char *name, char **ret, struct err *e)
{
	CLEANUP(directory_close) struct directory lost = {.fd = -1};
	CLEANUP(free_ptr) char *to = NULL;
	struct stat st;
	int r = directory_open_below(&lost, d, DIRECTORY_LOST, true, e);

	if (r < 0)
		return r;
	if (!fstatat(d->fd, name, &st, AT_SYMLINK_NOFOLLOW))
		to = lost_name(&lost, name, st.st_mtime);
	/* Nobody else makes files there: the name is still free. */
	if (!to || renameat(d->fd, name, lost.fd, to)) {
		int code = to ? errno : EEXIST;

		return err_set(e, code, "cannot move '%s/%s' to '%s': %s", d->path, name, lost.path,
			       strerror(code));
	}
	if (ret)
		*ret = xasprintf(DIRECTORY_LOST "/%s", to);
	return 0;
}
