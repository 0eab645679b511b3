#include "symbol/jit_keep.h"
#include "base/io.h"
#include "base/fs.h"
#include "symbol/debug_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *jit_keep_dir(uint64_t wall_ns)
{
	CLEANUP(free_ptr) char *cache = fs_xdg_dir("XDG_CACHE_HOME", ".cache");

	if (!cache || !wall_ns)
		return NULL;
	return xasprintf("%s/jit/%016llx", cache, (unsigned long long)wall_ns);
}

/* ---- copying ---- */

/* Appears in one step; only we may read it, as the original may hold what others must not see. */
int jit_keep_file(const char *dir, const char *name, int fd, struct err *e)
{
	CLEANUP(free_ptr) char *temp = xasprintf("%s/new.XXXXXX", dir);
	CLEANUP(free_ptr) char *path = xasprintf("%s/%s", dir, name);
	int r = fs_mkdir_p(dir), to;

	if (r < 0)
		return err_set(e, -r, "cannot make '%s': %s", dir, strerror(-r));
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

/* FNV-1a: these end up in the names of files, so they must be the same in every process. */
static uint64_t hash_of(const uint64_t *words, size_t count, uint64_t hash)
{
	for (size_t i = 0; i < count; i++)
		for (unsigned bit = 0; bit < 64; bit += 8)
			hash = (hash ^ (words[i] >> bit & 0xff)) * 0x100000001b3ull;
	return hash;
}

/* The place in the store by build id that the file gets: made of all that changes when it does. */
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

int jit_keep_program(const char *dir, const struct file_identity *f, int fd, struct err *e)
{
	CLEANUP(free_ptr) char *path = jit_keep_program_path(dir, f);
	CLEANUP(free_ptr) char *stored = NULL;
	struct build_id id;
	struct stat st;
	int r;

	if (!path || fstat(fd, &st))
		return err_set(e, EINVAL, "the file has no identity to keep it by");
	id = made_up_id(f, &st);
	if (!debug_cache_touch(&id, DEBUG_CACHE_ELF)) {
		r = debug_cache_keep(&id, DEBUG_CACHE_ELF, fd, DEBUG_CACHE_COPY, e);
		if (r < 0)
			return r;
	}
	stored = debug_cache_path(&id, DEBUG_CACHE_ELF);
	r = fs_mkdir_p(dir);
	if (r < 0)
		return err_set(e, -r, "cannot make '%s': %s", dir, strerror(-r));
	/* Both names are ours, and neither file is ever written to again. */
	if (link(stored, path) == 0 || errno == EEXIST)
		return 0;
	return jit_keep_file(dir, strrchr(path, '/') + 1, fd, e);
}

/* ---- making room ---- */

struct kept {
	char *path;
	uint64_t bytes;
	int64_t time_s;
};

typedef VEC(struct kept) kept_list;

/* A directory of plain files is what is kept or removed together. */
static void add_directory(const char *path, kept_list *ret)
{
	CLEANUP(strvec_release) strvec names = {};
	struct kept kept = {.path = xstrdup(path)};
	struct stat st;

	fs_list(path, &names);
	vec_each(&names, name) {
		CLEANUP(free_ptr) char *file = xasprintf("%s/%s", path, *name);

		if (lstat(file, &st) || !S_ISREG(st.st_mode))
			continue;
		kept.bytes += (uint64_t)st.st_size;
		kept.time_s = st.st_mtim.tv_sec > kept.time_s ? st.st_mtim.tv_sec : kept.time_s;
	}
	vec_push(ret, kept);
}

static void add_below(const char *top, unsigned depth, kept_list *ret)
{
	CLEANUP(strvec_release) strvec names = {};

	fs_list(top, &names);
	vec_each(&names, name) {
		CLEANUP(free_ptr) char *path = xasprintf("%s/%s", top, *name);
		struct stat st;

		if (lstat(path, &st) || !S_ISDIR(st.st_mode))
			continue;
		if (depth > 1)
			add_below(path, depth - 1, ret);
		else
			add_directory(path, ret);
	}
}

static void remove_directory(const char *path)
{
	CLEANUP(strvec_release) strvec names = {};

	fs_list(path, &names);
	vec_each(&names, name) {
		CLEANUP(free_ptr) char *file = xasprintf("%s/%s", path, *name);

		unlink(file);
	}
	rmdir(path);
}

static int oldest_first(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;

	return x->time_s < y->time_s ? -1 : x->time_s > y->time_s;
}

void keep_trim_dir(const char *top, unsigned depth, uint64_t limit_bytes, size_t limit_count)
{
	kept_list all = {};
	uint64_t sum = 0;
	size_t left;

	add_below(top, depth, &all);
	vec_each(&all, k)
		sum += k->bytes;
	left = all.len;
	if (sum > limit_bytes || left > limit_count)
		qsort(all.items, all.len, sizeof(*all.items), oldest_first);
	vec_each(&all, k) {
		if (sum > limit_bytes || left > limit_count) {
			remove_directory(k->path);
			sum -= k->bytes;
			left--;
		}
		free(k->path);
	}
	vec_release(&all);
}

void keep_trim(void)
{
	CLEANUP(free_ptr) char *cache = fs_xdg_dir("XDG_CACHE_HOME", ".cache");
	CLEANUP(free_ptr) char *jit = cache ? xasprintf("%s/jit", cache) : NULL;
	CLEANUP(free_ptr) char *ids = cache ? xasprintf("%s/build-id", cache) : NULL;

	if (!cache)
		return;
	keep_trim_dir(jit, 1, JIT_KEEP_BYTES_MAX, KEEP_DIRECTORIES_MAX);
	keep_trim_dir(ids, 2, BUILD_ID_KEEP_BYTES_MAX, KEEP_DIRECTORIES_MAX);
}
