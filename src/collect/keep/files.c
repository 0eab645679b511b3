/* Programs and libraries: held open, and copied if they may be gone later. */
#include "collect/keep/internal.h"
#include "base/clock.h"
#include "base/fs.h"
#include "collect/keep/keeper.h"
#include "perf/process.h"
#include "perf/rights.h"
#include "symbol/debug_cache.h"
#include "symbol/jit_keep.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Limit of remembered mappings; beyond it every held file counts as hit. */
#define RANGES_MAX (1u << 17)

/* Opens the file of the O_PATH descriptor @look for reading, if it is a regular one: opening a
 * device can have any effect. Closes @look. */
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
	const struct rights *rights = rights_of_process(pid);
	int fd;

	if (!rights_are_own(rights)) {
		fd = rights_open(rights, path, 0);
		return fd < 0 ? -1 : fd;
	}
	return open_plain(foreign ? process_open(pid, path, O_PATH)
				  : open(path, O_PATH | O_CLOEXEC));
}

/* ---- is it the mapped file? ---- */

static uint64_t ns_of(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * NS_PER_SEC + (uint64_t)t->tv_nsec;
}

/* True also on file systems without generations. */
static bool has_generation(int fd, uint64_t wanted)
{
	int generation = 0;

	return !wanted || ioctl(fd, FS_IOC_GETVERSION, &generation) ||
	       (uint32_t)generation == (uint32_t)wanted;
}

/*
 * Whether the file was not written to since it was mapped. `touch -d` sets mtime to anything, but
 * that changes ctime, which only the file system sets. An mtime in the future says nothing: a file
 * server has another clock, or the clock was set back.
 */
static bool is_as_mapped(const struct seen_mapping *m, const struct stat *st)
{
	return !m->wall_ns || ns_of(&st->st_mtim) <= m->wall_ns ||
	       ns_of(&st->st_ctim) <= m->wall_ns ||
	       ns_of(&st->st_mtim) > clock_ns_of(CLOCK_REALTIME);
}

/*
 * Whether @fd is the file that the mapping's record describes. On some file systems (overlayfs,
 * btrfs) stat(2) gives other numbers than the record: there a file is accepted if its ctime is
 * older than the mapping, because a write, a rename or a link would have changed that.
 */
static bool is_mapped_file(int fd, const struct seen_mapping *m, struct build_id *ret_id)
{
	const struct file_identity *f = &m->identity;
	struct stat st;

	*ret_id = (struct build_id){};
	build_id_of_fd(fd, ret_id);
	if (m->id.size)
		return ret_id->size == m->id.size &&
		       !memcmp(ret_id->bytes, m->id.bytes, ret_id->size);
	if (fstat(fd, &st))
		return false;
	if (!f->inode || st.st_ino == f->inode)
		return has_generation(fd, f->generation) && is_as_mapped(m, &st);
	return st.st_dev != makedev(f->major, f->minor) && m->wall_ns &&
	       ns_of(&st.st_ctim) <= m->wall_ns;
}

static int open_right(const struct seen_mapping *m, bool foreign, struct build_id *ret_id)
{
	const struct file_identity *f = &m->identity;
	int fd = open_through(m->pid, m->path, foreign);
	struct stat st;

	if (fd >= 0 && is_mapped_file(fd, m, ret_id))
		return fd;
	if (fd >= 0)
		close(fd);
	*ret_id = (struct build_id){};
	fd = rights_open_mapped(rights_of_process(m->pid), m->pid, m->start, m->start + m->length);
	/* Not another file of that device: the process has mapped something else by now. */
	if (fd >= 0 && !m->id.size && !fstat(fd, &st) && is_as_mapped(m, &st) &&
	    (!f->inode || st.st_ino == f->inode || st.st_dev != makedev(f->major, f->minor))) {
		build_id_of_fd(fd, ret_id);
		return fd;
	}
	if (fd >= 0 && m->id.size && is_mapped_file(fd, m, ret_id))
		return fd;
	if (fd >= 0)
		close(fd);
	*ret_id = (struct build_id){};
	return -1;
}

/* ---- files that were looked at ---- */

static struct known_file *find_known(struct held_files *h, uint64_t hash)
{
	size_t at = slots_begin(&h->slots, hash);
	uint32_t number;

	while ((number = slots_next(&h->slots, hash, &at)))
		if (h->known.items[number - 1].hash == hash)
			return &h->known.items[number - 1];
	return NULL;
}

static uint64_t hash_of(const struct seen_mapping *m, bool foreign)
{
	uint64_t hash = hash_seed() + foreign;

	if (m->identity.inode)
		return hash_bytes(&m->identity, sizeof(m->identity), hash);
	hash = hash_bytes(m->path, strlen(m->path), hash);
	/* The same path in two containers may be two files; ids tell them apart. */
	return m->id.size ? hash_bytes(m->id.bytes, m->id.size, hash)
			  : hash_mix(hash, foreign ? m->pid : 0);
}

/* Whether @path leads us to the file that is open as @fd. */
static bool is_same(int fd, const char *path)
{
	struct stat held, now;

	return !fstat(fd, &held) && !stat(path, &now) && now.st_dev == held.st_dev &&
	       now.st_ino == held.st_ino;
}

static bool is_elf(int fd)
{
	char magic[SELFMAG];

	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       !memcmp(magic, ELFMAG, sizeof(magic));
}

/* Whether to hold the file: not if the cache has it already; without a build id, only ELF files. */
static bool is_worth_holding(const struct held_files *h, const struct held_file *file)
{
	if (file->id.size >= 2)
		return !debug_cache_touch(&file->id, &file->origin);
	return h->directory && !file->id.size && file->identity.inode && is_elf(file->fd);
}

static struct file_stamp stamp_of(const struct stat *st)
{
	return (struct file_stamp){.device = st->st_dev,
				   .inode = st->st_ino,
				   .size = (uint64_t)st->st_size,
				   .written_ns = ns_of(&st->st_mtim),
				   .changed_ns = ns_of(&st->st_ctim)};
}

/* How the file at the mapping's path looks now; false if there is none. */
static bool look_at_path(const struct seen_mapping *m, bool foreign, struct file_stamp *ret)
{
	int fd = foreign ? process_open(m->pid, m->path, O_PATH) : -1;
	struct stat st;
	bool found = foreign ? fd >= 0 && !fstat(fd, &st) : !stat(m->path, &st);

	if (fd >= 0)
		close(fd);
	if (found)
		*ret = stamp_of(&st);
	return found;
}

/* Whether the file at the mapping's path is as it was at the last look. True also if the path leads
 * nowhere: then there is no newer file to look at. */
static bool is_unchanged(struct known_file *known, const struct seen_mapping *m, bool foreign)
{
	uint64_t before_ns = clock_now_ns();
	struct file_stamp now;

	if (!known->stamp.inode)
		return false;
	if (!look_at_path(m, foreign, &now))
		return true;
	if (memcmp(&now, &known->stamp, sizeof(now)))
		return false;
	known->looked_ns = before_ns;
	return true;
}

/* Whether the contents are those of the last look, by build id, or else by size and mtime. */
static bool is_same_version(const struct known_file *known, const struct file_stamp *stamp,
			    const struct build_id *id)
{
	if (!known->stamp.inode)
		return false;
	if (id->size || known->id.size)
		return id->size == known->id.size && !memcmp(id->bytes, known->id.bytes, id->size);
	return stamp->written_ns == known->stamp.written_ns && stamp->size == known->stamp.size;
}

/*
 * Since when the file has had these contents: since it was written to, but not before the last look
 * that found other contents (`cp -p` sets mtime back), and never after the mapping.
 */
static uint64_t version_begins(const struct known_file *known, const struct file_stamp *stamp,
			       const struct seen_mapping *m)
{
	uint64_t mono = clock_now_ns(), wall = clock_ns_of(CLOCK_REALTIME), from = m->time_ns;
	uint64_t written =
		stamp->written_ns < stamp->changed_ns ? stamp->written_ns : stamp->changed_ns;
	uint64_t ago = wall > written ? wall - written : 0;

	if (mono - from < ago)
		from = mono > ago ? mono - ago : 0;
	return from > known->looked_ns ? from : known->looked_ns;
}

static void let_go(struct held_files *h, struct held_file *file)
{
	if (file->fd < 0)
		return;
	close(file->fd);
	file->fd = -1;
	h->held_bytes -= file->size;
}

/* Lets go of deleted files beyond the limit: while they are open they take room on the disk. */
static void limit_deleted(struct held_files *h)
{
	uint64_t sum = 0;
	struct stat st;

	if (h->held_bytes <= KEEPER_DELETED_BYTES_MAX)
		return;
	vec_each(&h->files, file) {
		if (file->fd < 0 || fstat(file->fd, &st) || st.st_nlink)
			continue;
		sum += file->size;
		if (sum > KEEPER_DELETED_BYTES_MAX) {
			sum -= file->size;
			let_go(h, file);
			file->refused = true;
		}
	}
}

/* Takes ownership of @file. Returns its index in h->files plus one, or 0 if it is not held. */
static uint32_t hold(struct held_files *h, struct held_file *file, const struct seen_mapping *m,
		     bool foreign)
{
	if (!h->ids_only)
		file->origin = rights_origin(file->fd);
	if (h->ids_only || !is_worth_holding(h, file)) {
		close(file->fd);
		return 0;
	}
	if (h->files.len >= KEEPER_FILES_MAX) {
		h->refused += foreign;
		close(file->fd);
		return 0;
	}
	/* Most files in another mount namespace are ours, too. */
	if (!foreign || is_same(file->fd, m->path))
		file->path = xstrdup(m->path);
	h->held_bytes += file->size;
	if (file->size > KEEP_FILE_BYTES_MAX) {
		let_go(h, file);
		file->refused = true;
	}
	vec_push(&h->files, *file);
	limit_deleted(h);
	return (uint32_t)h->files.len;
}

/* Opens the file of a mapping and updates @known. Returns true if the file has new contents. */
static bool look(struct held_files *h, const struct seen_mapping *m, bool foreign,
		 struct known_file *known, struct file_version *ret)
{
	struct held_file file = {.identity = m->identity};
	uint64_t before_ns = clock_now_ns();
	bool is_first = !known->stamp.inode;
	struct file_stamp stamp;
	struct stat st;

	file.fd = open_right(m, foreign, &file.id);
	if (file.fd < 0)
		return false;
	if (fstat(file.fd, &st)) {
		close(file.fd);
		return false;
	}
	stamp = stamp_of(&st);
	if (is_same_version(known, &stamp, &file.id)) {
		close(file.fd);
		known->stamp = stamp;
		known->looked_ns = before_ns;
		return false;
	}
	*ret = (struct file_version){.id = file.id, .from_ns = version_begins(known, &stamp, m)};
	file.written_ns = stamp.written_ns;
	file.size = stamp.size;
	/* Without build ids the copies of both versions would have the same name: keep none. */
	if (!is_first && !file.id.size && !known->id.size) {
		CLEANUP(free_ptr) char *copy = jit_keep_program_path(h->directory, &m->identity);

		if (copy)
			unlink(copy);
		close(file.fd);
		known->held = 0;
	} else {
		known->held = hold(h, &file, m, foreign);
	}
	known->stamp = stamp;
	known->id = ret->id;
	known->looked_ns = before_ns;
	return true;
}

/* Adds a mapping once. It may be seen twice: by drain_peek(), and when its ring is drained. */
static void add_range(struct held_files *h, const struct seen_mapping *m, uint32_t held)
{
	uint64_t hash = hash_mix(hash_mix(m->start, m->length),
				 hash_mix((uint64_t)m->pid << 32 | held, hash_seed()));
	size_t at = slots_begin(&h->range_slots, hash);
	uint32_t number;

	while ((number = slots_next(&h->range_slots, hash, &at))) {
		const struct held_range *r = &h->ranges.items[number - 1];

		if (r->start == m->start && r->length == m->length && r->pid == m->pid &&
		    r->held == held)
			return;
	}
	if (h->ranges.len >= RANGES_MAX) {
		h->ranges_cut = true;
		return;
	}
	vec_push(&h->ranges,
		 (struct held_range){
			 .start = m->start, .length = m->length, .pid = m->pid, .held = held});
	slots_add(&h->range_slots, hash, (uint32_t)h->ranges.len);
}

bool held_files_see(struct held_files *h, const struct seen_mapping *m, bool foreign,
		    struct file_version *ret)
{
	uint64_t hash = hash_of(m, foreign);
	struct known_file *known = find_known(h, hash);
	bool is_new = false;

	if (!known && h->known.len < KEEPER_PROCESSES_MAX) {
		vec_push(&h->known, (struct known_file){.hash = hash});
		slots_add(&h->slots, hash, (uint32_t)h->known.len);
		known = &h->known.items[h->known.len - 1];
	}
	if (!known)
		return false;
	if (!is_unchanged(known, m, foreign))
		is_new = look(h, m, foreign, known, ret);
	if (known->held || h->by_process)
		add_range(h, m, known->held);
	return is_new;
}

/* ---- copying ---- */

void held_files_fail(struct held_files *h, const struct err *e)
{
	if (!h->failed++)
		h->failure = *e;
}

/* Whether the file was overwritten since it was opened. With the same build id it is the same code:
 * `touch` changes the time alone. */
static bool was_rewritten(const struct held_file *file, const struct stat *st)
{
	struct build_id now = {};

	if (ns_of(&st->st_mtim) == file->written_ns)
		return false;
	return !file->id.size || !build_id_of_fd(file->fd, &now) || now.size != file->id.size ||
	       memcmp(now.bytes, file->id.bytes, now.size);
}

static int copy_bytes(struct held_files *h, struct held_file *file, enum debug_cache_how how,
		      struct err *e)
{
	if (file->id.size)
		return debug_cache_keep(&file->id, &file->origin, file->fd, how, e);
	/* A file without a build id can only be copied to the recording's directory. */
	return how == DEBUG_CACHE_COPY
		       ? jit_keep_program(h->directory, &file->identity, &file->origin, file->fd, e)
		       : -EOPNOTSUPP;
}

static void copy_file(struct held_files *h, struct held_file *file, enum debug_cache_how how)
{
	struct err e = {};
	struct stat st;
	uint64_t size;
	int r;

	if (file->refused) {
		h->refused += how == DEBUG_CACHE_COPY;
	} else if (fstat(file->fd, &st)) {
		err_set(&e, errno, "%s", strerror(errno));
		held_files_fail(h, &e);
	} else if (was_rewritten(file, &st)) {
		h->rewritten++;
	} else if ((size = (uint64_t)st.st_size) > KEEP_FILE_BYTES_MAX ||
		   h->bytes + size > KEEPER_BYTES_MAX) {
		h->refused++;
	} else if ((r = copy_bytes(h, file, how, &e)) == 0) {
		h->bytes += size;
	} else if (r == -ESTALE) {
		h->rewritten++;
	} else if (how == DEBUG_CACHE_COPY) {
		held_files_fail(h, &e);
	}
	let_go(h, file);
}

bool held_files_copy_one(struct held_files *h)
{
	for (; h->copied < h->files.len; h->copied++)
		if (!h->files.items[h->copied].path) {
			copy_file(h, &h->files.items[h->copied++], DEBUG_CACHE_COPY);
			return true;
		}
	return false;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Marks all files that a process with samples has mapped. */
static void mark_by_process(struct held_files *h, const struct hits *hits)
{
	VEC(uint32_t) pids = {};

	vec_each(&h->ranges, r)
		if (hits_in(hits, r->start, r->length) &&
		    (!pids.len || pids.items[pids.len - 1] != r->pid))
			vec_push(&pids, r->pid);
	if (pids.len)
		qsort(pids.items, pids.len, sizeof(*pids.items), by_number);
	vec_each(&h->ranges, r)
		if (pids.len && r->held &&
		    bsearch(&r->pid, pids.items, pids.len, sizeof(*pids.items), by_number))
			h->files.items[r->held - 1].hit = true;
	vec_release(&pids);
}

static void mark_hit(struct held_files *h, struct hits *hits)
{
	if (!hits || hits->all || h->ranges_cut) {
		vec_each(&h->files, file)
			file->hit = true;
		return;
	}
	hits_sort(hits);
	if (h->by_process)
		mark_by_process(h, hits);
	vec_each(&h->ranges, r)
		if (r->held && !h->files.items[r->held - 1].hit)
			h->files.items[r->held - 1].hit = hits_in(hits, r->start, r->length);
}

/*
 * Whether users may rebuild the file. Files of the distribution change only with upgrades, are many
 * and large, and their names can be had from debuginfod later: they are kept only where that costs
 * no room.
 */
static bool is_rebuilt_by_users(const char *path)
{
	static const char *const system[] = {"/usr/",   "/bin/",      "/sbin/",   "/lib/",
					     "/lib32/", "/lib64/",    "/libx32/", "/nix/store/",
					     "/snap/",  "/gnu/store/"};

	if (!strncmp(path, "/usr/local/", 11) || !strncmp(path, "/usr/src/", 9))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(system); i++)
		if (!strncmp(path, system[i], strlen(system[i])))
			return false;
	return true;
}

void held_files_copy_hit(struct held_files *h, struct hits *hits, uint64_t end_ns)
{
	mark_hit(h, hits);
	vec_each(&h->files, file) {
		bool copy;

		if ((file->fd < 0 && !file->refused) || !file->path || !file->hit)
			continue;
		copy = is_rebuilt_by_users(file->path) ||
		       (!file->refused && !is_same(file->fd, file->path));
		if (copy && clock_now_ns() >= end_ns)
			h->refused++;
		else
			copy_file(h, file, copy ? DEBUG_CACHE_COPY : DEBUG_CACHE_SHARE);
	}
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
	vec_release(&h->ranges);
	slots_release(&h->slots);
	slots_release(&h->range_slots);
	free(h->directory);
}
