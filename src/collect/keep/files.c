/* Programs and libraries: held open, and copied by build id when nobody else will have them. */
#include "collect/keep/internal.h"
#include "base/fs.h"
#include "collect/keep/keeper.h"
#include "perf/process.h"
#include "symbol/debug_cache.h"
#include "symbol/jit_keep.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Only plain files: to open a device can do anything. Closes @look. */
static int open_plain(int look)
{
	CLEANUP(free_ptr) char *again = NULL;
	int fd;
	struct stat st;

	if (look < 0)
		return -1;
	if (fstat(look, &st) || !S_ISREG(st.st_mode)) {
		close(look);
		return -1;
	}
	again = xasprintf("/proc/self/fd/%d", look);
	fd = open(again, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	close(look);
	return fd;
}

int open_through(uint32_t pid, const char *path, bool foreign)
{
	return open_plain(foreign ? process_open(pid, path, O_PATH)
				  : open(path, O_PATH | O_CLOEXEC));
}

/* The mapped file itself, whatever its name has become; needs a right that root has. */
static int open_mapped(const struct seen_mapping *m)
{
	CLEANUP(free_ptr)
	char *path = xasprintf("/proc/%u/map_files/%llx-%llx", m->pid, (unsigned long long)m->start,
			       (unsigned long long)(m->start + m->length));

	return open_plain(open(path, O_PATH | O_CLOEXEC));
}

/* Whether it has that id; without one to compare, the file's own is taken. */
static bool has_id(int fd, const struct build_id *wanted, struct build_id *ret)
{
	if (!build_id_of_fd(fd, ret))
		return false;
	return !wanted->size ||
	       (ret->size == wanted->size && !memcmp(ret->bytes, wanted->bytes, ret->size));
}

static int open_right(const struct seen_mapping *m, bool foreign, struct build_id *ret_id)
{
	int fd = open_through(m->pid, m->path, foreign);

	if (fd >= 0 && has_id(fd, &m->id, ret_id))
		return fd;
	if (fd >= 0)
		close(fd);
	fd = open_mapped(m);
	if (fd >= 0 && has_id(fd, &m->id, ret_id))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* False: it was looked at before. */
static bool is_new(struct held_files *h, uint64_t hash)
{
	size_t at = slots_begin(&h->slots, hash);
	uint32_t number;

	while ((number = slots_next(&h->slots, hash, &at)))
		if (h->known.items[number - 1] == hash)
			return false;
	if (h->known.len >= KEEPER_PROCESSES_MAX)
		return false;
	vec_push(&h->known, hash);
	slots_add(&h->slots, hash, (uint32_t)h->known.len);
	return true;
}

/* Whether the path leads us to the file that is open. */
static bool is_same(int fd, const char *path)
{
	struct stat held, now;

	return !fstat(fd, &held) && !stat(path, &now) && now.st_dev == held.st_dev &&
	       now.st_ino == held.st_ino;
}

void held_files_see(struct held_files *h, const struct seen_mapping *m, bool foreign)
{
	uint64_t hash = hash_bytes(m->path, strlen(m->path), hash_seed() + foreign);
	struct held_file file = {};
	char *there = NULL;

	if (m->id.size)
		hash = hash_bytes(m->id.bytes, m->id.size, hash);
	/* The same path in two containers may be two files; ids tell them apart. */
	else if (foreign)
		hash = hash_mix(hash, m->pid);
	if (!is_new(h, hash))
		return;
	if (h->files.len >= KEEPER_FILES_MAX) {
		h->refused += foreign;
		return;
	}
	file.fd = open_right(m, foreign, &file.id);
	if (file.fd < 0)
		return;
	there = debug_cache_find(&file.id, DEBUG_CACHE_ELF);
	if (there || file.id.size < 2) {
		close(file.fd);
		free(there);
		return;
	}
	/* Most of what a new mount namespace sees is ours, too. */
	if (!foreign || is_same(file.fd, m->path))
		file.path = xstrdup(m->path);
	vec_push(&h->files, file);
}

static void copy_file(struct held_files *h, struct held_file *file)
{
	struct stat st;

	if (fstat(file->fd, &st) == 0) {
		uint64_t size = (uint64_t)st.st_size;

		if (size > KEEP_FILE_BYTES_MAX || h->bytes + size > KEEPER_BYTES_MAX)
			h->refused++;
		else if (debug_cache_keep(&file->id, DEBUG_CACHE_ELF, file->fd, NULL) == 0)
			h->bytes += size;
	}
	close(file->fd);
	file->fd = -1;
}

bool held_files_copy_one(struct held_files *h)
{
	for (; h->copied < h->files.len; h->copied++)
		if (!h->files.items[h->copied].path) {
			copy_file(h, &h->files.items[h->copied++]);
			return true;
		}
	return false;
}

void held_files_copy_deleted(struct held_files *h)
{
	vec_each(&h->files, file)
		if (file->fd >= 0 && file->path && !is_same(file->fd, file->path))
			copy_file(h, file);
}

void held_files_release(struct held_files *h)
{
	vec_each(&h->files, file) {
		if (file->fd >= 0)
			close(file->fd);
		free(file->path);
	}
	vec_release(&h->files);
	vec_release(&h->known);
	slots_release(&h->slots);
}
