/*
 * A power loss, for SQLite: a VFS that passes everything on to the real one and remembers what was written to each
 * file since its last sync. A cut writes what a disk could have then: what was synced, and of the rest any sectors of
 * any writes, in any order. One thread.
 */
#ifndef TACHO_TESTS_POWER_VFS_H
#define TACHO_TESTS_POWER_VFS_H

#include "base/buf.h"
#include "base/vec.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECTOR 512u

/* A write since the last sync; size 0: the file was cut to @at. */
struct power_write {
	uint64_t at;
	size_t size;
	unsigned char *bytes;
};

/* A file as the disk certainly has it, and what it may have of it beyond that. */
struct power_disk {
	char *name;         /* without its directory */
	bool there, opened; /* certainly on the disk; maybe, because it was opened */
	struct buf synced;
	/* A file of this name that was deleted, and is still there if the directory was not written. */
	struct buf deleted;
	bool may_be_back;
	VEC(struct power_write) pending;
};

/* SQLite's own struct begins with the methods; the real file lies behind ours. */
struct power_file {
	sqlite3_file base;
	struct power_disk *disk; /* NULL: not watched */
	sqlite3_file *real;
};

static struct {
	sqlite3_vfs vfs, *real;
	const char *watched; /* a directory */
	struct power_disk disks[4];
	size_t count;
	uint64_t writes;         /* so far, syncs and deletions with them */
	bool syncs_lie;          /* a disk that forgets what it was told to keep */
	void (*each)(void *ctx); /* after every write */
	void *ctx;
	uint64_t random;
} power;

static inline uint64_t power_dice(uint64_t below)
{
	power.random ^= power.random << 13;
	power.random ^= power.random >> 7;
	power.random ^= power.random << 17;
	return (power.random >> 11) % below;
}

/* ---- what the disk has ---- */

static inline void power_forget(struct power_disk *d)
{
	vec_each(&d->pending, w)
		free(w->bytes);
	d->pending.len = 0;
}

static inline void power_put(struct buf *to, uint64_t at, const void *bytes, size_t size)
{
	static const char zeros[4096];

	while (to->len < at + size)
		buf_add_mem(to, zeros,
			    at + size - to->len < sizeof(zeros) ? at + size - to->len
								: sizeof(zeros));
	memcpy(to->s + at, bytes, size);
}

static inline void power_apply(struct buf *to, const struct power_write *w)
{
	if (w->size)
		power_put(to, w->at, w->bytes, w->size);
	else if (w->at < to->len)
		to->len = w->at;
}

static inline void power_note(struct power_disk *d, uint64_t at, const void *bytes, size_t size)
{
	struct power_write w = {.at = at, .size = size};

	if (!d)
		return;
	if (size) {
		w.bytes = xrealloc(NULL, size, 1);
		memcpy(w.bytes, bytes, size);
	}
	vec_push(&d->pending, w);
	power.writes++;
	power.each(power.ctx);
}

/* What is left after a cut: some of the sectors of some of the writes, in an order that is not that of time. */
static inline void power_remains(const struct power_disk *d, struct buf *ret)
{
	size_t count = d->pending.len;
	CLEANUP(free_ptr) size_t *order = xcalloc(count + 1, sizeof(*order));
	/* From a disk that wrote nothing of it to one that wrote nearly all. */
	uint64_t share = power_dice(101);

	buf_add_mem(ret, buf_str(&d->synced), d->synced.len);
	for (size_t i = 0; i < count; i++) {
		size_t other = power_dice(i + 1);

		order[i] = order[other];
		order[other] = i;
	}
	for (size_t i = 0; i < count; i++) {
		const struct power_write *w = &d->pending.items[order[i]];

		if (!w->size && power_dice(100) < share)
			power_apply(ret, w);
		for (size_t at = 0; at < w->size; at += SECTOR)
			if (power_dice(100) < share)
				power_put(ret, w->at + at, w->bytes + at,
					  w->size - at < SECTOR ? w->size - at : SECTOR);
	}
}

/* Writes the files that a power loss at this moment leaves into @directory, which is empty. */
static inline void power_cut(const char *directory)
{
	for (size_t i = 0; i < power.count; i++) {
		const struct power_disk *d = &power.disks[i];
		CLEANUP(free_ptr) char *path = xasprintf("%s/%s", directory, d->name);
		CLEANUP(buf_release) struct buf bytes = {};
		int fd;

		if (!d->there && d->may_be_back && power_dice(2))
			buf_add_mem(&bytes, buf_str(&d->deleted), d->deleted.len);
		else if (d->there || (d->opened && power_dice(2)))
			power_remains(d, &bytes);
		else
			continue;
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		if (fd < 0 || write(fd, buf_str(&bytes), bytes.len) != (ssize_t)bytes.len)
			abort();
		close(fd);
	}
}

/* ---- files ---- */

static inline struct power_file *power_of(sqlite3_file *f)
{
	return (struct power_file *)f;
}

static inline int power_close(sqlite3_file *f)
{
	return power_of(f)->real->pMethods->xClose(power_of(f)->real);
}

static inline int power_read(sqlite3_file *f, void *to, int size, sqlite3_int64 at)
{
	return power_of(f)->real->pMethods->xRead(power_of(f)->real, to, size, at);
}

static inline int power_write(sqlite3_file *f, const void *bytes, int size, sqlite3_int64 at)
{
	int rc = power_of(f)->real->pMethods->xWrite(power_of(f)->real, bytes, size, at);

	if (rc == SQLITE_OK)
		power_note(power_of(f)->disk, (uint64_t)at, bytes, (size_t)size);
	return rc;
}

static inline int power_truncate(sqlite3_file *f, sqlite3_int64 size)
{
	int rc = power_of(f)->real->pMethods->xTruncate(power_of(f)->real, size);

	if (rc == SQLITE_OK)
		power_note(power_of(f)->disk, (uint64_t)size, NULL, 0);
	return rc;
}

static inline int power_sync(sqlite3_file *f, int flags)
{
	struct power_disk *d = power_of(f)->disk;

	/* Not passed on: the machine that runs the test keeps its power. */
	(void)flags;
	if (!d || power.syncs_lie)
		return SQLITE_OK;
	vec_each(&d->pending, w)
		power_apply(&d->synced, w);
	power_forget(d);
	/* With the first sync of a new file SQLite writes its directory, too: what was deleted is gone. */
	for (size_t i = 0; i < power.count && !d->there; i++)
		power.disks[i].may_be_back = false;
	d->there = true;
	power.writes++;
	power.each(power.ctx);
	return SQLITE_OK;
}

static inline int power_size(sqlite3_file *f, sqlite3_int64 *ret)
{
	return power_of(f)->real->pMethods->xFileSize(power_of(f)->real, ret);
}

static inline int power_lock(sqlite3_file *f, int how)
{
	return power_of(f)->real->pMethods->xLock(power_of(f)->real, how);
}

static inline int power_unlock(sqlite3_file *f, int how)
{
	return power_of(f)->real->pMethods->xUnlock(power_of(f)->real, how);
}

static inline int power_check_lock(sqlite3_file *f, int *ret)
{
	return power_of(f)->real->pMethods->xCheckReservedLock(power_of(f)->real, ret);
}

static inline int power_control(sqlite3_file *f, int what, void *arg)
{
	return power_of(f)->real->pMethods->xFileControl(power_of(f)->real, what, arg);
}

static inline int power_sector(sqlite3_file *f)
{
	(void)f;
	return SECTOR;
}

/* Nothing is promised: a write may be torn. */
static inline int power_traits(sqlite3_file *f)
{
	(void)f;
	return 0;
}

static inline int power_shm_map(sqlite3_file *f, int page, int size, int extend,
				void volatile **ret)
{
	return power_of(f)->real->pMethods->xShmMap(power_of(f)->real, page, size, extend, ret);
}

static inline int power_shm_lock(sqlite3_file *f, int at, int count, int flags)
{
	return power_of(f)->real->pMethods->xShmLock(power_of(f)->real, at, count, flags);
}

static inline void power_shm_barrier(sqlite3_file *f)
{
	power_of(f)->real->pMethods->xShmBarrier(power_of(f)->real);
}

static inline int power_shm_unmap(sqlite3_file *f, int remove)
{
	return power_of(f)->real->pMethods->xShmUnmap(power_of(f)->real, remove);
}

static const sqlite3_io_methods power_methods = {
	.iVersion = 2, /* no mapped reads */
	.xClose = power_close,
	.xRead = power_read,
	.xWrite = power_write,
	.xTruncate = power_truncate,
	.xSync = power_sync,
	.xFileSize = power_size,
	.xLock = power_lock,
	.xUnlock = power_unlock,
	.xCheckReservedLock = power_check_lock,
	.xFileControl = power_control,
	.xSectorSize = power_sector,
	.xDeviceCharacteristics = power_traits,
	.xShmMap = power_shm_map,
	.xShmLock = power_shm_lock,
	.xShmBarrier = power_shm_barrier,
	.xShmUnmap = power_shm_unmap,
};

/* ---- the VFS ---- */

static inline struct power_disk *power_disk_of(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	size_t len = power.watched ? strlen(power.watched) : 0;

	if (!slash || !len || (size_t)(slash - path) != len || memcmp(path, power.watched, len))
		return NULL;
	for (size_t i = 0; i < power.count; i++)
		if (!strcmp(power.disks[i].name, slash + 1))
			return &power.disks[i];
	if (power.count == sizeof(power.disks) / sizeof(power.disks[0]))
		abort();
	power.disks[power.count] = (struct power_disk){.name = xstrdup(slash + 1)};
	return &power.disks[power.count++];
}

static inline int power_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags,
			     int *ret)
{
	struct power_file *file = power_of(f);
	int rc;

	(void)vfs;
	file->real = (sqlite3_file *)(file + 1);
	file->real->pMethods = NULL;
	rc = power.real->xOpen(power.real, name, file->real, flags, ret);
	file->disk = rc == SQLITE_OK ? power_disk_of(name) : NULL;
	if (file->disk)
		file->disk->opened = true;
	/* The store makes the database itself before it opens it. */
	if (file->disk && flags & SQLITE_OPEN_MAIN_DB)
		file->disk->there = true;
	f->pMethods = file->real->pMethods ? &power_methods : NULL;
	return rc;
}

static inline int power_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
	struct power_disk *d = power_disk_of(name);
	int rc = power.real->xDelete(power.real, name, sync);

	(void)vfs;
	if (!d || rc != SQLITE_OK)
		return rc;
	/* The next file of this name is another one. */
	d->may_be_back = d->there && !sync;
	buf_clear(&d->deleted);
	power_remains(d, &d->deleted);
	buf_clear(&d->synced);
	power_forget(d);
	d->there = d->opened = false;
	power.writes++;
	power.each(power.ctx);
	return rc;
}

static inline int power_access(sqlite3_vfs *vfs, const char *name, int flags, int *ret)
{
	(void)vfs;
	return power.real->xAccess(power.real, name, flags, ret);
}

static inline int power_full_name(sqlite3_vfs *vfs, const char *name, int size, char *ret)
{
	(void)vfs;
	return power.real->xFullPathname(power.real, name, size, ret);
}

/* From now on all databases of this program are opened through it; those in @directory are watched. */
static inline void power_begin(const char *directory, uint64_t seed, void (*each)(void *ctx),
			       void *ctx)
{
	power.real = sqlite3_vfs_find(NULL);
	power.vfs = *power.real;
	power.vfs.szOsFile = (int)sizeof(struct power_file) + power.real->szOsFile;
	power.vfs.zName = "power";
	power.vfs.pNext = NULL;
	power.vfs.xOpen = power_open;
	power.vfs.xDelete = power_delete;
	power.vfs.xAccess = power_access;
	power.vfs.xFullPathname = power_full_name;
	power.watched = directory;
	power.random = seed * 0x9e3779b97f4a7c15ull + 1;
	power.each = each;
	power.ctx = ctx;
	power.writes = 0;
	sqlite3_vfs_register(&power.vfs, 1);
}

static inline void power_end(void)
{
	sqlite3_vfs_unregister(&power.vfs);
	for (size_t i = 0; i < power.count; i++) {
		power_forget(&power.disks[i]);
		vec_release(&power.disks[i].pending);
		buf_release(&power.disks[i].synced);
		buf_release(&power.disks[i].deleted);
		free(power.disks[i].name);
	}
	memset(power.disks, 0, sizeof(power.disks));
	power.count = 0;
	power.watched = NULL;
}

#endif
