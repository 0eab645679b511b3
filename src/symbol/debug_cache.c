#include "symbol/debug_cache.h"
#include "base/io.h"
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const kind_names[] = {
	[DEBUG_CACHE_ELF] = "elf",
	[DEBUG_CACHE_DEBUG] = "debug",
	[DEBUG_CACHE_VDSO] = "vdso",
};

char *build_id_path(const struct build_id *id)
{
	char text[2 * BUILD_ID_BYTES_MAX + 2], *at = text;

	if (id->size < 2 || id->size > BUILD_ID_BYTES_MAX)
		return NULL;
	for (size_t i = 0; i < id->size; i++)
		at += sprintf(at, i == 1 ? "/%02x" : "%02x", id->bytes[i]);
	return xstrdup(text);
}

static char *directory_of(const struct build_id *id)
{
	CLEANUP(free_ptr) char *cache = fs_xdg_dir("XDG_CACHE_HOME", ".cache");
	CLEANUP(free_ptr) char *below = build_id_path(id);

	return cache && below ? xasprintf("%s/build-id/%s", cache, below) : NULL;
}

char *debug_cache_path(const struct build_id *id, enum debug_cache_kind kind)
{
	CLEANUP(free_ptr) char *directory = directory_of(id);

	return directory ? xasprintf("%s/%s", directory, kind_names[kind]) : NULL;
}

char *debug_cache_find(const struct build_id *id, enum debug_cache_kind kind)
{
	char *path = debug_cache_path(id, kind);
	struct stat st;

	if (path && (stat(path, &st) || !S_ISREG(st.st_mode))) {
		free(path);
		return NULL;
	}
	return path;
}

bool debug_cache_touch(const struct build_id *id, enum debug_cache_kind kind)
{
	CLEANUP(free_ptr) char *path = debug_cache_find(id, kind);

	if (path)
		utimensat(AT_FDCWD, path, NULL, 0);
	return path;
}

/* ---- directories ---- */

/* Returns -EPERM if the directory belongs to another user. @close_it: also removes the access for
 * others that earlier versions granted. */
static int check_own(const char *path, bool close_it)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		r = -errno;
	else if (st.st_uid != geteuid())
		r = -EPERM;
	else if (close_it && st.st_mode & 077 && fchmod(fd, 0700))
		r = -errno;
	close(fd);
	return r;
}

int debug_cache_make_dir(const char *directory, struct err *e)
{
	CLEANUP(free_ptr) char *cache = fs_xdg_dir("XDG_CACHE_HOME", ".cache");
	size_t len = cache ? strlen(cache) : 0;
	bool inside = cache && !strncmp(directory, cache, len) && directory[len] == '/';
	const char *where = inside ? cache : directory;
	int r = inside ? fs_mkdir_private(cache) : 0;

	if (r == 0 && inside)
		r = check_own(cache, false);
	if (r == 0) {
		where = directory;
		r = fs_mkdir_private(directory);
	}
	if (r == 0)
		r = check_own(directory, true);
	if (r == -EPERM)
		return err_set(e, EPERM, "'%s' belongs to another user: set XDG_CACHE_HOME", where);
	return r < 0 ? err_set(e, -r, "cannot make '%s': %s", where, strerror(-r)) : 0;
}

/* ---- copying ---- */

/* Bytes from a file, or from memory if @data is not NULL. */
struct source {
	int fd;
	enum debug_cache_how how;
	const char *data;
	size_t size;
};

static int copy(int to, const struct source *from)
{
	struct stat before, after;
	int r;

	if (from->data)
		return io_write(to, from->data, from->size);
	if (fstat(from->fd, &before))
		return -errno;
	r = from->how == DEBUG_CACHE_SHARE
		    ? io_clone(from->fd, to)
		    : io_clone_or_copy(from->fd, to, DEBUG_CACHE_FILE_BYTES_MAX);
	if (r == 0 && fstat(from->fd, &after))
		r = -errno;
	/* The source changed during the copy: a linker may be halfway through rewriting it. */
	if (r == 0 && (before.st_mtim.tv_sec != after.st_mtim.tv_sec ||
		       before.st_mtim.tv_nsec != after.st_mtim.tv_nsec))
		r = -ESTALE;
	return r;
}

static int write_beside(const char *directory, const char *path, const struct source *from)
{
	CLEANUP(free_ptr) char *temp = xasprintf("%s/new.XXXXXX", directory);
	int fd = mkostemp(temp, O_CLOEXEC), r;

	if (fd < 0)
		return -errno;
	r = copy(fd, from);
	if (close(fd) && !r)
		r = -errno;
	if (!r && rename(temp, path))
		r = -errno;
	if (r)
		unlink(temp);
	return r;
}

static int keep(const struct build_id *id, enum debug_cache_kind kind, const struct source *from,
		struct err *e)
{
	CLEANUP(free_ptr) char *directory = directory_of(id);
	CLEANUP(free_ptr) char *path = debug_cache_path(id, kind);
	CLEANUP(free_ptr) char *there = debug_cache_find(id, kind);
	int r;

	if (!directory || !path)
		return err_set(e, ENOENT,
			       "no place to keep a file by its build id: set HOME or "
			       "XDG_CACHE_HOME");
	if (there)
		return 0;
	/* Try twice: a concurrent keep_trim() may remove the directory while it is still empty. */
	for (int i = 0; i < 2; i++) {
		if ((r = debug_cache_make_dir(directory, e)) < 0)
			return r;
		r = write_beside(directory, path, from);
		if (r != -ENOENT)
			break;
	}
	if (r == 0)
		return 0;
	rmdir(directory); /* fails if another file is in it */
	return err_set(e, -r, "cannot write '%s': %s", path, strerror(-r));
}

int debug_cache_keep(const struct build_id *id, enum debug_cache_kind kind, int fd,
		     enum debug_cache_how how, struct err *e)
{
	return keep(id, kind, &(struct source){.fd = fd, .how = how}, e);
}

int debug_cache_keep_memory(const struct build_id *id, enum debug_cache_kind kind, const void *data,
			    size_t size, struct err *e)
{
	return keep(id, kind, &(struct source){.fd = -1, .data = data, .size = size}, e);
}
