#include "perf/rights.h"
#include "base/as_user.h"
#include "base/caps.h"
#include "base/fs.h"
#include "base/number.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STATUS_BYTES_MAX (1u << 20) /* a process may have 65,536 groups */
#define GROUPS_MAX       65536u
/* Different rights in one run; each may hold a root directory open. */
#define RIGHTS_MAX 128u

enum kind { ASKER, EVERYBODY, USER };

struct place {
	dev_t device;
	ino_t inode;
};

struct rights {
	enum kind kind;
	/* Of USER: */
	struct user_ids ids;
	bool presumed;  /* of processes that are not known, not shared with known ones */
	bool reads_all; /* of root: a capability lets it read every file */
	bool foreign;   /* it has another mount namespace or root directory than we have */
	struct place mounts, root; /* if it is foreign */
	int root_fd;               /* if it is foreign, else -1 */
};

static const struct rights asker = {.kind = ASKER, .root_fd = -1};
static const struct rights everybody = {.kind = EVERYBODY, .root_fd = -1};

static enum rights_rule the_rule = RIGHTS_ASKER;
static const struct rights *unknown = &everybody;
static bool limited; /* to those that @unknown are */

static struct {
	pthread_mutex_t lock;
	VEC(struct rights *) list;
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- finding ---- */

void rights_set_rule(enum rights_rule rule)
{
	the_rule = rule;
	unknown = &everybody;
	limited = false;
}

const struct rights *rights_of_asker(void)
{
	return &asker;
}

const struct rights *rights_of_unknown(void)
{
	return the_rule == RIGHTS_ASKER ? &asker : unknown;
}

bool rights_are_own(const struct rights *r)
{
	return r->kind == ASKER;
}

static bool same_place(const struct place *a, const struct place *b)
{
	return a->device == b->device && a->inode == b->inode;
}

static bool same(const struct rights *a, const struct rights *b)
{
	const struct user_ids *x = &a->ids, *y = &b->ids;

	return a->presumed == b->presumed && x->uid == y->uid && x->gid == y->gid &&
	       a->reads_all == b->reads_all && a->foreign == b->foreign &&
	       same_place(&a->mounts, &b->mounts) && same_place(&a->root, &b->root) &&
	       x->groups.len == y->groups.len &&
	       (!x->groups.len || !memcmp(x->groups.items, y->groups.items,
					  x->groups.len * sizeof(*x->groups.items)));
}

static void release(struct rights *r)
{
	if (r->root_fd >= 0)
		close(r->root_fd);
	user_ids_release(&r->ids);
}

/* Takes over what @r holds. */
static const struct rights *intern(struct rights *r)
{
	const struct rights *found = NULL;

	pthread_mutex_lock(&known.lock);
	vec_each(&known.list, k)
		if (same(*k, r))
			found = *k;
	if (!found && known.list.len < RIGHTS_MAX) {
		struct rights *copy = xcalloc(1, sizeof(*copy));

		*copy = *r;
		vec_push(&known.list, copy);
		found = copy;
		*r = (struct rights){.root_fd = -1};
	}
	pthread_mutex_unlock(&known.lock);
	release(r);
	return found ? found : rights_of_unknown();
}

void rights_presume_asker(void)
{
	unknown = &asker;
}

void rights_presume_user(const struct user_ids *ids)
{
	struct rights r = {.kind = USER,
			   .presumed = true,
			   .ids = {.uid = ids->uid, .gid = ids->gid},
			   .root_fd = -1};

	vec_each(&ids->groups, group)
		vec_push(&r.ids.groups, *group);
	unknown = intern(&r);
}

void rights_limit_to_user(const struct user_ids *ids)
{
	rights_presume_user(ids);
	limited = true;
}

/* Reads the numbers behind "\nKEY:". Returns false if there are none, or more than @max. */
static bool read_ids(const char *status, const char *key, size_t max, id_list *ret)
{
	const char *at = strstr(status, key);

	if (!at)
		return false;
	for (at += strlen(key); *at && *at != '\n';) {
		char *end;
		unsigned long id;

		if (*at == ' ' || *at == '\t') {
			at++;
			continue;
		}
		errno = 0;
		id = strtoul(at, &end, 10);
		if (end == at || errno || id >= UINT32_MAX || ret->len >= max)
			return false;
		vec_push(ret, (uint32_t)id);
		at = end;
	}
	return true;
}

/*
 * A process has four ids of each kind: real, effective, saved, of files. They differ if it was started
 * by somebody else than it acts for. Root's count only if all four are: else the other's rights hold.
 */
static bool single_id(const id_list *ids, uint32_t *ret)
{
	*ret = 0;
	if (ids->len != 4)
		return false;
	vec_each(ids, id) {
		if (*id && *ret && *id != *ret)
			return false;
		*ret = *id ? *id : *ret;
	}
	return true;
}

static bool read_status(uint32_t pid, struct rights *r)
{
	static const uint64_t reads_all = 1ull << CAP_DAC_OVERRIDE | 1ull << CAP_DAC_READ_SEARCH;
	CLEANUP(free_ptr) char *path = xasprintf("/proc/%u/status", pid), *status = NULL;
	id_list uids = {}, gids = {};
	char value[32];
	uint64_t caps;
	bool known_all;

	if (fs_read(path, STATUS_BYTES_MAX, &status) < 0)
		return false;
	known_all = read_ids(status, "\nUid:", 4, &uids) && read_ids(status, "\nGid:", 4, &gids) &&
		    single_id(&uids, &r->ids.uid) && single_id(&gids, &r->ids.gid) &&
		    read_ids(status, "\nGroups:", GROUPS_MAX, &r->ids.groups) &&
		    text_field(status, "CapEff", value, sizeof(value)) &&
		    parse_hex(value, strlen(value), &caps);
	if (known_all)
		r->reads_all = r->ids.uid == 0 && caps & reads_all;
	vec_release(&uids);
	vec_release(&gids);
	return known_all;
}

static bool look(const char *path, struct place *ret)
{
	struct stat st;
	int failed;

	caps_raise();
	failed = stat(path, &st);
	caps_lower();
	*ret = failed ? (struct place){} : (struct place){st.st_dev, st.st_ino};
	return !failed;
}

/* Where the process finds its files. The root directory is held open: it lasts longer than the
 * process. */
static bool read_view(uint32_t pid, struct rights *r)
{
	CLEANUP(free_ptr) char *mounts = xasprintf("/proc/%u/ns/mnt", pid);
	CLEANUP(free_ptr) char *root = xasprintf("/proc/%u/root", pid);
	struct place own_mounts, own_root;

	if (!look(mounts, &r->mounts) || !look(root, &r->root) ||
	    !look("/proc/self/ns/mnt", &own_mounts) || !look("/proc/self/root", &own_root))
		return false;
	r->foreign = !same_place(&r->mounts, &own_mounts) || !same_place(&r->root, &own_root);
	if (!r->foreign) {
		r->mounts = r->root = (struct place){};
		return true;
	}
	caps_raise();
	r->root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	caps_lower();
	return r->root_fd >= 0;
}

const struct rights *rights_of_process(uint32_t pid)
{
	struct rights r = {.kind = USER, .root_fd = -1};
	bool is_ours;

	if (the_rule == RIGHTS_ASKER)
		return &asker;
	if (the_rule == RIGHTS_PUBLIC)
		return &everybody;
	if (!pid || !read_status(pid, &r) || !read_view(pid, &r) ||
	    (limited && (r.ids.uid != unknown->ids.uid || r.ids.gid != unknown->ids.gid))) {
		release(&r);
		return unknown;
	}
	is_ours = r.ids.uid == geteuid() && (r.ids.uid || r.reads_all);
	if (is_ours && !r.foreign) {
		release(&r);
		return &asker;
	}
	/* Only root can take the rights of another user. */
	if (geteuid() != 0 && !is_ours) {
		release(&r);
		return &everybody;
	}
	return intern(&r);
}

/* ---- opening ---- */

/* Finds where an open file really lies, whatever links led there. Returns false if no path leads us
 * there: it was deleted, or is in another mount namespace. */
static bool find_path(int place, char path[PATH_MAX + 1], struct stat *ret)
{
	char link[64];
	struct stat found;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", place);
	n = readlink(link, path, PATH_MAX);
	if (n <= 0 || path[0] != '/' || fstat(place, ret))
		return false;
	path[n] = '\0';
	return !stat(path, &found) && found.st_dev == ret->st_dev && found.st_ino == ret->st_ino;
}

/* Whether every user may read the file: it itself, and all directories on the way to it. */
static bool is_for_everybody(int place)
{
	char path[PATH_MAX + 1];
	struct stat st, found;

	if (!find_path(place, path, &st) || !(st.st_mode & S_IROTH))
		return false;
	for (char *slash = path; slash; slash = strchr(slash + 1, '/')) {
		char after = slash[1];

		slash[1] = '\0';
		if (stat(path, &found) || !(found.st_mode & S_IXOTH))
			return false;
		slash[1] = after;
	}
	return true;
}

/* Files of the kernel are regular to stat(2). */
static bool is_of_kernel(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) || fs.f_type == PROC_SUPER_MAGIC || fs.f_type == SYSFS_MAGIC ||
	       fs.f_type == TRACEFS_MAGIC || fs.f_type == DEBUGFS_MAGIC;
}

static int check(const struct rights *r, int place)
{
	struct stat st;

	if (fstat(place, &st))
		return -errno;
	if (S_ISLNK(st.st_mode))
		return -ELOOP;
	if (!S_ISREG(st.st_mode) || (r->kind != ASKER && is_of_kernel(place)))
		return -EINVAL;
	return r->kind != EVERYBODY || is_for_everybody(place) ? 0 : -EACCES;
}

/* Opens again what was looked at: nobody can put another file there meanwhile. */
static int reopen(int place)
{
	char again[64];
	int fd;

	snprintf(again, sizeof(again), "/proc/self/fd/%d", place);
	fd = open(again, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

int rights_reopen(const struct rights *r, int place)
{
	struct own_rights own;
	int fd = check(r, place);

	if (fd < 0)
		return fd;
	if (r->kind != USER || geteuid() != 0)
		return reopen(place);
	if (!as_user_begin(&r->ids, r->reads_all, &own))
		return -EACCES;
	fd = reopen(place);
	as_user_end(&own);
	return fd;
}

int rights_open_mapped(const struct rights *r, uint32_t pid, uint64_t start, uint64_t end)
{
	CLEANUP(free_ptr)
	char *path = xasprintf("/proc/%u/map_files/%llx-%llx", pid, (unsigned long long)start,
			       (unsigned long long)end);
	int place, fd;

	/* No directories are passed on this way: it is for whoever has mapped the file. */
	if (limited && r == unknown)
		return -EACCES;
	caps_raise();
	place = open(path, O_PATH | O_CLOEXEC);
	caps_lower();
	if (place < 0)
		return -errno;
	fd = rights_reopen(r, place);
	close(place);
	return fd;
}

static int look_up(const struct rights *r, const char *path, int flags)
{
	struct open_how how = {.flags = (uint64_t)(O_PATH | O_CLOEXEC | flags)};
	int at = AT_FDCWD, fd;

	how.resolve = RESOLVE_NO_MAGICLINKS;
	if (r->root_fd >= 0) {
		how.resolve |= RESOLVE_IN_ROOT;
		at = r->root_fd;
	}
	fd = (int)syscall(SYS_openat2, at, path, &how, sizeof(how));
	/* Linux before 5.6 cannot stay below another root directory. */
	if (fd < 0 && errno == ENOSYS && r->root_fd < 0)
		fd = open(path, O_PATH | O_CLOEXEC | flags);
	return fd < 0 ? -errno : fd;
}

/* Needs no /proc. */
static int open_own(const char *path, int flags)
{
	struct stat st;
	int fd;

	/* Looked at first: opening a device may have side effects. */
	if (stat(path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags);
	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}

int rights_open(const struct rights *r, const char *path, int flags)
{
	bool other = r->kind == USER && geteuid() == 0;
	struct own_rights own;
	int place, fd;

	if (r->kind == ASKER)
		return open_own(path, flags);
	if (other && !as_user_begin(&r->ids, r->reads_all, &own))
		return -EACCES;
	place = look_up(r, path, flags);
	fd = place < 0 ? place : check(r, place);
	if (fd == 0)
		fd = reopen(place);
	if (other)
		as_user_end(&own);
	if (place >= 0)
		close(place);
	return fd;
}

/* ---- copies ---- */

struct file_origin rights_origin(int fd)
{
	struct file_origin unknown_owner = {.owner = FILE_OWNER_UNKNOWN};
	char path[PATH_MAX + 1];
	struct statfs fs;
	struct stat st;

	/* FUSE: users may mount what they have written themselves, with any owners. */
	if (fstatfs(fd, &fs) || fs.f_type == FUSE_SUPER_MAGIC || !find_path(fd, path, &st))
		return unknown_owner;
	/* Whoever lets his group write trusts it, but root's programs are used by everybody. */
	if (st.st_mode & (st.st_uid ? S_IWOTH : S_IWOTH | S_IWGRP))
		return unknown_owner;
	return (struct file_origin){st.st_uid, is_for_everybody(fd)};
}

bool rights_allow_copy(const struct rights *r, const struct file_origin *origin)
{
	bool of_root = origin->owner == 0;

	if (the_rule == RIGHTS_ASKER)
		return true;
	if (origin->owner == FILE_OWNER_UNKNOWN)
		return false;
	if (r->kind == ASKER)
		return of_root || origin->owner == geteuid();
	if (r->kind == USER && !r->foreign && origin->owner == r->ids.uid)
		return true;
	return of_root && origin->for_everybody;
}

const struct rights *rights_of_copy(const struct rights *r)
{
	return r->kind == USER ? &everybody : r;
}

void rights_explain(const struct rights *r, struct buf *out)
{
	if (r->kind == USER)
		buf_addf(out, "with the rights of user %u, whose process named the file",
			 (unsigned)r->ids.uid);
	else if (r->kind == EVERYBODY)
		buf_add(out, "whose process named the file is not known, so only files are opened "
			     "that every user may read");
}
