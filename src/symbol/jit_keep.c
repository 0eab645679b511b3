#include "symbol/jit_keep.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/fs.h"
#include "symbol/debug_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMES_MAX 100000u

char *jit_keep_dir(uint64_t wall_ns)
{
	CLEANUP(free_ptr) char *cache = fs_xdg_dir("XDG_CACHE_HOME", ".cache");

	if (!cache || !wall_ns)
		return NULL;
	return xasprintf("%s/jit/%016llx", cache, (unsigned long long)wall_ns);
}

/* ---- copying ---- */

/* Writes a temporary file and renames it, so that readers see a complete file. Only we may read
 * it: the original may hold data that others must not see. */
int jit_keep_file(const char *dir, const char *name, int fd, struct err *e)
{
	CLEANUP(free_ptr) char *temp = xasprintf("%s/new.XXXXXX", dir);
	CLEANUP(free_ptr) char *path = xasprintf("%s/%s", dir, name);
	int r = debug_cache_make_dir(dir, e), to;

	if (r < 0)
		return r;
	to = mkostemp(temp, O_CLOEXEC);
	if (to < 0)
		return err_set(e, errno, "cannot write into '%s': %s", dir, strerror(errno));
	r = io_copy(fd, to, KEEP_FILE_BYTES_MAX);
	if (close(to) && !r)
		r = -errno;
	if (!r && rename(temp, path))
		r = -errno;
	if (r < 0) {
		unlink(temp);
		return err_set(e, -r, "cannot write '%s': %s", path, strerror(-r));
	}
	return 0;
}

/* ---- programs without a build id ---- */

char *jit_keep_program_path(const char *dir, const struct file_identity *f)
{
	if (!dir || !f->inode)
		return NULL;
	return xasprintf("%s/elf-%u-%u-%llu-%llu", dir, f->major, f->minor,
			 (unsigned long long)f->inode, (unsigned long long)f->generation);
}

/* FNV-1a: the hashes become file names, so they must be the same in every process. */
static uint64_t hash_of(const uint64_t *words, size_t count, uint64_t hash)
{
	for (size_t i = 0; i < count; i++)
		for (unsigned bit = 0; bit < 64; bit += 8)
			hash = (hash ^ (words[i] >> bit & 0xff)) * 0x100000001b3ull;
	return hash;
}

/* Makes up a build id under which the store keeps the file, from everything that changes when the
 * file does. */
static struct build_id made_up_id(const struct file_identity *f, const struct stat *st)
{
	uint64_t facts[] = {f->major,
			    f->minor,
			    f->inode,
			    f->generation,
			    (uint64_t)st->st_size,
			    (uint64_t)st->st_mtim.tv_sec,
			    (uint64_t)st->st_mtim.tv_nsec};
	uint64_t a = hash_of(facts, ARRAY_LEN(facts), 0xcbf29ce484222325ull);
	uint64_t b = hash_of(facts, ARRAY_LEN(facts), a);
	struct build_id id = {.size = 2 * sizeof(a)};

	memcpy(id.bytes, &a, sizeof(a));
	memcpy(id.bytes + sizeof(a), &b, sizeof(b));
	return id;
}

int jit_keep_program(const char *dir, const struct file_identity *f,
		     const struct file_origin *origin, int fd, struct err *e)
{
	CLEANUP(free_ptr) char *path = jit_keep_program_path(dir, f);
	CLEANUP(free_ptr) char *stored = NULL;
	struct build_id id;
	struct stat st;
	int r;

	if (!path || fstat(fd, &st))
		return err_set(e, EINVAL, "the file has neither a build id nor a known inode");
	id = made_up_id(f, &st);
	if (!debug_cache_touch(&id, origin)) {
		r = debug_cache_keep(&id, origin, fd, DEBUG_CACHE_COPY, e);
		if (r < 0)
			return r;
	}
	stored = debug_cache_path(&id, origin);
	r = debug_cache_make_dir(dir, e);
	if (r < 0)
		return r;
	/* A hard link is safe: both names are ours, and the file is never written to again. */
	if (link(stored, path) == 0 || errno == EEXIST)
		return 0;
	return jit_keep_file(dir, strrchr(path, '/') + 1, fd, e);
}

/* ---- making room ---- */

/* Whether this is a name of files that we store. No other file is ever removed. */
static bool is_ours(const char *name)
{
	static const char *const whole[] = {"elf", "debug", "vdso"};
	static const char *const begin[] = {"perf-", "jit-", "elf-", "new."};

	for (size_t i = 0; i < ARRAY_LEN(whole); i++)
		if (!strcmp(name, whole[i]))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(begin); i++)
		if (!strncmp(name, begin[i], strlen(begin[i])))
			return true;
	return false;
}

/* A directory of plain files, which are kept or removed together. */
struct kept {
	char *parent, *name; /* parent: "" is the top */
	uint64_t bytes, time_ns;
};

typedef VEC(struct kept) kept_list;

/* Opens a directory if it belongs to us. Does not follow links: they may lead to files that are
 * not ours. */
static int open_own(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && st.st_uid == geteuid())
		return fd;
	close(fd);
	return -1;
}

static void list_names(int dir_fd, strvec *ret)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(dir)) && ret->len < NAMES_MAX)
		if (entry->d_name[0] != '.')
			vec_push(ret, xstrdup(entry->d_name));
	closedir(dir);
	strvec_sort(ret);
}

static void add_directory(int fd, struct kept kept, kept_list *ret)
{
	CLEANUP(strvec_release) strvec names = {};
	struct stat st;

	list_names(fd, &names);
	vec_each(&names, name) {
		uint64_t time_ns;

		if (fstatat(fd, *name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		time_ns = (uint64_t)st.st_mtim.tv_sec * NS_PER_SEC + (uint64_t)st.st_mtim.tv_nsec;
		kept.bytes += (uint64_t)st.st_size;
		kept.time_ns = time_ns > kept.time_ns ? time_ns : kept.time_ns;
	}
	vec_push(ret, kept);
}

static void add_below(int top_fd, const char *parent, unsigned depth, kept_list *ret)
{
	CLEANUP(strvec_release) strvec names = {};

	list_names(top_fd, &names);
	vec_each(&names, name) {
		int fd = open_own(top_fd, *name);

		if (fd < 0)
			continue;
		if (depth > 1)
			add_below(fd, *name, depth - 1, ret);
		else
			add_directory(fd, (struct kept){xstrdup(parent), xstrdup(*name), 0, 0},
				      ret);
		close(fd);
	}
}

static void remove_directory(int top_fd, const struct kept *kept)
{
	CLEANUP(strvec_release) strvec names = {};
	int parent = open_own(top_fd, kept->parent[0] ? kept->parent : ".");
	int fd = parent >= 0 ? open_own(parent, kept->name) : -1;

	if (fd >= 0) {
		list_names(fd, &names);
		vec_each(&names, name)
			if (is_ours(*name))
				unlinkat(fd, *name, 0);
		unlinkat(parent, kept->name, AT_REMOVEDIR);
		close(fd);
	}
	if (parent >= 0)
		close(parent);
}

static int oldest_first(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;

	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

void keep_trim_dir(const char *top, unsigned depth, const struct keep_limits *limits)
{
	int fd = open_own(AT_FDCWD, top);
	kept_list all = {};
	uint64_t sum = 0;
	size_t left;

	if (fd < 0)
		return;
	add_below(fd, "", depth, &all);
	vec_each(&all, k)
		sum += k->bytes;
	left = all.len;
	if (sum > limits->bytes || left > limits->count)
		qsort(all.items, all.len, sizeof(*all.items), oldest_first);
	vec_each(&all, k) {
		if ((sum > limits->bytes || left > limits->count) &&
		    (!limits->spared || strcmp(k->name, limits->spared))) {
			remove_directory(fd, k);
			sum -= k->bytes;
			left--;
		}
		free(k->parent);
		free(k->name);
	}
	vec_release(&all);
	close(fd);
}

/* Whether the cache belongs to our user. */
static bool is_own_cache(const char *cache)
{
	struct stat st;

	return !stat(cache, &st) && st.st_uid == geteuid();
}

void keep_trim(uint64_t wall_ns)
{
	CLEANUP(free_ptr) char *cache = fs_xdg_dir("XDG_CACHE_HOME", ".cache");
	CLEANUP(free_ptr) char *jit = cache ? xasprintf("%s/jit", cache) : NULL;
	CLEANUP(free_ptr) char *ids = cache ? xasprintf("%s/build-id", cache) : NULL;
	CLEANUP(free_ptr) char *current = xasprintf("%016llx", (unsigned long long)wall_ns);

	if (!cache || !is_own_cache(cache))
		return;
	keep_trim_dir(jit, 1,
		      &(struct keep_limits){JIT_KEEP_BYTES_MAX, KEEP_DIRECTORIES_MAX, current});
	keep_trim_dir(ids, 2,
		      &(struct keep_limits){BUILD_ID_KEEP_BYTES_MAX, KEEP_DIRECTORIES_MAX, NULL});
}
