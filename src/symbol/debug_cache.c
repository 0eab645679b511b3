#include "symbol/debug_cache.h"
#include "base/io.h"
#include "base/number.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME  "elf"
#define RANKS 3

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

char *debug_cache_path(const struct build_id *id, const struct file_origin *origin)
{
	CLEANUP(free_ptr) char *directory = directory_of(id);

	if (!directory)
		return NULL;
	if (origin->owner == FILE_OWNER_UNKNOWN)
		return xasprintf("%s/" NAME, directory);
	return xasprintf("%s/" NAME "-%u", directory, (unsigned)origin->owner);
}

/* ---- finding ---- */

static bool owner_of_name(const char *name, uid_t *ret)
{
	size_t len = strlen(NAME);
	uint64_t uid = FILE_OWNER_UNKNOWN;

	if (strncmp(name, NAME, len) ||
	    (name[len] &&
	     (name[len] != '-' || !parse_u64(name + len + 1, &uid) || uid >= FILE_OWNER_UNKNOWN)))
		return false;
	*ret = (uid_t)uid;
	return true;
}

static unsigned rank_of(uid_t owner)
{
	if (owner == 0 || owner == geteuid())
		return 0;
	return owner == FILE_OWNER_UNKNOWN ? 2 : 1;
}

static bool is_there(const char *path, struct file_origin *ret)
{
	struct stat st;

	if (lstat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	/* In another user's cache, the name and mode are what he has chosen. */
	if (st.st_uid != geteuid())
		ret->owner = FILE_OWNER_UNKNOWN;
	ret->for_everybody = st.st_mode & S_IROTH;
	return true;
}

void debug_cache_find(const struct build_id *id, const struct rights *r, strvec *ret_paths)
{
	CLEANUP(free_ptr) char *directory = directory_of(id);
	CLEANUP(strvec_release) strvec names = {};

	if (!directory || fs_list(directory, &names) < 0)
		return;
	for (unsigned rank = 0; rank < RANKS; rank++)
		vec_each(&names, name) {
			struct file_origin origin;
			char *path;

			if (!owner_of_name(*name, &origin.owner) || rank_of(origin.owner) != rank)
				continue;
			path = xasprintf("%s/%s", directory, *name);
			if (is_there(path, &origin) && rights_allow_copy(r, &origin))
				vec_push(ret_paths, path);
			else
				free(path);
		}
}

/* Whether there is a copy that may be used wherever one of @origin may be. */
static bool is_kept(const char *path, const struct file_origin *origin)
{
	struct file_origin there;

	return is_there(path, &there) && there.for_everybody >= origin->for_everybody;
}

bool debug_cache_touch(const struct build_id *id, const struct file_origin *origin)
{
	CLEANUP(free_ptr) char *path = debug_cache_path(id, origin);

	return path && is_kept(path, origin) && !utimensat(AT_FDCWD, path, NULL, 0);
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

static int copy(int from, int to, enum debug_cache_how how)
{
	struct stat before, after;
	int r;

	if (fstat(from, &before))
		return -errno;
	r = how == DEBUG_CACHE_SHARE ? io_clone(from, to)
				     : io_clone_or_copy(from, to, DEBUG_CACHE_FILE_BYTES_MAX);
	if (r == 0 && fstat(from, &after))
		r = -errno;
	/* The source changed during the copy: a linker may be halfway through rewriting it. */
	if (r == 0 && (before.st_mtim.tv_sec != after.st_mtim.tv_sec ||
		       before.st_mtim.tv_nsec != after.st_mtim.tv_nsec))
		r = -ESTALE;
	return r;
}

static int write_beside(const char *path, int from, enum debug_cache_how how, mode_t mode)
{
	CLEANUP(free_ptr)
	char *temp = xasprintf("%.*s/new.XXXXXX", (int)(strrchr(path, '/') - path), path);
	int fd = mkostemp(temp, O_CLOEXEC), r;

	if (fd < 0)
		return -errno;
	r = copy(from, fd, how);
	if (!r && fchmod(fd, mode))
		r = -errno;
	if (close(fd) && !r)
		r = -errno;
	if (!r && rename(temp, path))
		r = -errno;
	if (r)
		unlink(temp);
	return r;
}

int debug_cache_keep(const struct build_id *id, const struct file_origin *origin, int fd,
		     enum debug_cache_how how, struct err *e)
{
	CLEANUP(free_ptr) char *directory = directory_of(id);
	CLEANUP(free_ptr) char *path = debug_cache_path(id, origin);
	int r;

	if (!directory || !path)
		return err_set(e, ENOENT,
			       "no place to keep a file by its build id: set HOME or "
			       "XDG_CACHE_HOME");
	if (is_kept(path, origin))
		return 0;
	/* Try twice: a concurrent keep_trim() may remove the directory while it is still empty. */
	for (int i = 0; i < 2; i++) {
		if ((r = debug_cache_make_dir(directory, e)) < 0)
			return r;
		r = write_beside(path, fd, how, origin->for_everybody ? 0644 : 0600);
		if (r != -ENOENT)
			break;
	}
	if (r == 0)
		return 0;
	rmdir(directory); /* fails if another file is in it */
	return err_set(e, -r, "cannot write '%s': %s", path, strerror(-r));
}
