/*
 * Preloaded into a program, makes one of the calls fail that change or open files below a folder, once, in that
 * program or in any that it starts. tests/fault/test_points.py says which, by a file that all of them map:
 *
 *	FAIL_FOLDER	the folder; its path without symbolic links
 *	FAIL_STATE	a file with a struct state: the call that is to fail
 *	FAIL_LOG	a file that gets a line for each call, or unset
 *
 * A call is named after its function and its file ("pwrite64 tacho.db-wal"), numbers and random names left out, so
 * that the third of a name is about the same one each time, whatever threads and processes do beside.
 */
/* So that open() and open64() stay two names. */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define PATH_BYTES 4096
#define NAME_BYTES 240
#define UUID_LEN   36u

struct state {
	_Atomic uint32_t seen; /* calls of this name so far */
	uint32_t at;           /* the one that is to fail; the first is 1 */
	_Atomic uint32_t failed;
	int32_t code; /* errno */
	char name[NAME_BYTES];
};

static struct state *state; /* NULL: everything passes */
static const char *folder, *log_path;

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("FAIL_STATE");
	long fd = path ? syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC) : -1;
	void *room;

	if (fd < 0)
		return;
	room = mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
	syscall(SYS_close, fd);
	folder = getenv("FAIL_FOLDER");
	log_path = getenv("FAIL_LOG");
	if (room != MAP_FAILED && folder)
		state = room;
}

/* ---- names ---- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_uuid(const char *s)
{
	for (size_t i = 0; i < UUID_LEN; i++)
		if (!s[i] || !strchr("0123456789abcdef-", s[i]))
			return false;
	return s[8] == '-' && s[13] == '-';
}

/* The path below the folder, or NULL for others. */
static const char *below(const char *path)
{
	size_t len = strlen(folder);

	if (strncmp(path, folder, len) != 0 || (path[len] && path[len] != '/'))
		return NULL;
	return path[len] ? path + len + 1 : ".";
}

static void put_name(const char *call, const char *path, char ret[NAME_BYTES])
{
	int len = snprintf(ret, NAME_BYTES, "%s ", call);

	while (*path && *path != ' ' && len < NAME_BYTES - 9) {
		if (is_uuid(path)) {
			len += snprintf(ret + len, 8, "UUID");
			path += UUID_LEN;
		} else if (!strncmp(path, "export-", 7)) {
			len += snprintf(ret + len, 8, "export-");
			path += strlen(path);
		} else if (is_digit(*path)) {
			ret[len++] = '#';
			while (is_digit(*path))
				path++;
		} else {
			ret[len++] = *path++;
		}
	}
	ret[len] = '\0';
}

static void write_log(const char *name)
{
	char line[NAME_BYTES + 2];
	int len = snprintf(line, sizeof(line), "%s\n", name);
	long fd = syscall(SYS_openat, AT_FDCWD, log_path, O_WRONLY | O_APPEND | O_CLOEXEC);

	if (fd < 0)
		return;
	syscall(SYS_write, fd, line, len);
	syscall(SYS_close, fd);
}

/* Whether this call is to fail; then errno says why. */
static bool fails_at(const char *call, const char *path)
{
	const char *inside = below(path);
	char name[NAME_BYTES];

	if (!inside)
		return false;
	put_name(call, inside, name);
	if (log_path)
		write_log(name);
	if (strcmp(name, state->name) != 0 || atomic_fetch_add(&state->seen, 1) + 1 != state->at)
		return false;
	atomic_store(&state->failed, 1);
	errno = state->code;
	return true;
}

static bool path_of(int fd, char ret[PATH_BYTES])
{
	char self[64];
	long len;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	len = syscall(SYS_readlinkat, AT_FDCWD, self, ret, PATH_BYTES - 1);
	ret[len > 0 ? len : 0] = '\0';
	return len > 0;
}

static bool fd_fails(const char *call, int fd)
{
	int before = errno;
	char path[PATH_BYTES];
	bool result = state && path_of(fd, path) && fails_at(call, path);

	if (!result)
		errno = before;
	return result;
}

/* A relative path without a directory is none of the server's. */
static bool path_fails(const char *call, int dir_fd, const char *path)
{
	int before = errno;
	char full[2 * PATH_BYTES];
	bool result = false;

	if (state && path && path[0] == '/') {
		result = fails_at(call, path);
	} else if (state && path && dir_fd >= 0 && path_of(dir_fd, full)) {
		size_t len = strlen(full);

		snprintf(full + len, sizeof(full) - len, "/%s", path);
		result = fails_at(call, full);
	}
	if (!result)
		errno = before;
	return result;
}

/* ---- the calls ---- */

/* The function that ours stands before. Others may call ours before our constructors have run. */
#define FIND(name)                                                                                 \
	do {                                                                                       \
		if (!real_##name)                                                                  \
			*(void **)&real_##name = dlsym(RTLD_NEXT, #name);                          \
	} while (0)

#define STANDS_BEFORE(result, name, parameters, arguments, fails)                                  \
	result name parameters;                                                                    \
	result name parameters                                                                     \
	{                                                                                          \
		static result(*real_##name) parameters;                                            \
                                                                                                   \
		FIND(name);                                                                        \
		return (fails) ? (result)-1 : real_##name arguments;                               \
	}
#define ON_FD(result, name, parameters, arguments)                                                 \
	STANDS_BEFORE(result, name, parameters, arguments, fd_fails(#name, fd))
#define ON_PATH(name, parameters, arguments)                                                       \
	STANDS_BEFORE(int, name, parameters, arguments, path_fails(#name, -1, path))
#define ON_PATH_IN(name, parameters, arguments)                                                    \
	STANDS_BEFORE(int, name, parameters, arguments, path_fails(#name, in, path))

ON_FD(ssize_t, write, (int fd, const void *from, size_t size), (fd, from, size))
ON_FD(ssize_t, pwrite, (int fd, const void *from, size_t size, off_t at), (fd, from, size, at))
ON_FD(ssize_t, pwrite64, (int fd, const void *from, size_t size, off64_t at), (fd, from, size, at))
ON_FD(ssize_t, writev, (int fd, const struct iovec *from, int count), (fd, from, count))
ON_FD(ssize_t, sendfile, (int fd, int from, off_t *at, size_t size), (fd, from, at, size))
ON_FD(ssize_t, sendfile64, (int fd, int from, off64_t *at, size_t size), (fd, from, at, size))
ON_FD(int, fsync, (int fd), (fd))
ON_FD(int, fdatasync, (int fd), (fd))
ON_FD(int, ftruncate, (int fd, off_t size), (fd, size))
ON_FD(int, ftruncate64, (int fd, off64_t size), (fd, size))
ON_FD(int, fallocate, (int fd, int mode, off_t at, off_t size), (fd, mode, at, size))
ON_FD(int, fallocate64, (int fd, int mode, off64_t at, off64_t size), (fd, mode, at, size))
STANDS_BEFORE(ssize_t, copy_file_range,
	      (int from, off64_t *at, int fd, off64_t *to, size_t size, unsigned flags),
	      (from, at, fd, to, size, flags), fd_fails("copy_file_range", fd))

ON_PATH(rename, (const char *from, const char *path), (from, path))
ON_PATH(unlink, (const char *path), (path))
ON_PATH(rmdir, (const char *path), (path))
ON_PATH(mkdir, (const char *path, mode_t mode), (path, mode))
ON_PATH_IN(renameat, (int old, const char *from, int in, const char *path), (old, from, in, path))
ON_PATH_IN(unlinkat, (int in, const char *path, int flags), (in, path, flags))
ON_PATH_IN(mkdirat, (int in, const char *path, mode_t mode), (in, path, mode))
ON_PATH_IN(linkat, (int old, const char *from, int in, const char *path, int flags),
	   (old, from, in, path, flags))

int posix_fallocate(int fd, off_t at, off_t size)
{
	static int (*real_posix_fallocate)(int, off_t, off_t);

	FIND(posix_fallocate);
	return fd_fails("posix_fallocate", fd) ? errno : real_posix_fallocate(fd, at, size);
}

int posix_fallocate64(int fd, off64_t at, off64_t size)
{
	static int (*real_posix_fallocate64)(int, off64_t, off64_t);

	FIND(posix_fallocate64);
	return fd_fails("posix_fallocate", fd) ? errno : real_posix_fallocate64(fd, at, size);
}

DIR *opendir(const char *path)
{
	static DIR *(*real_opendir)(const char *);

	FIND(opendir);
	return path_fails("opendir", -1, path) ? NULL : real_opendir(path);
}

#define OPENS(name, dir_fd, parameters, arguments)                                                 \
	int name parameters;                                                                       \
	int name parameters                                                                        \
	{                                                                                          \
		static int(*real_##name) parameters;                                               \
		va_list ap;                                                                        \
		mode_t mode;                                                                       \
                                                                                                   \
		va_start(ap, flags);                                                               \
		mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(ap, mode_t) : 0;                   \
		va_end(ap);                                                                        \
		FIND(name);                                                                        \
		return path_fails(#name, dir_fd, path) ? -1 : real_##name arguments;               \
	}

OPENS(open, -1, (const char *path, int flags, ...), (path, flags, mode))
OPENS(open64, -1, (const char *path, int flags, ...), (path, flags, mode))
OPENS(openat, in, (int in, const char *path, int flags, ...), (in, path, flags, mode))
OPENS(openat64, in, (int in, const char *path, int flags, ...), (in, path, flags, mode))

/* Their own open() is inside of the C library. */
ON_PATH(mkostemp, (char *path, int flags), (path, flags))
ON_PATH(mkostemp64, (char *path, int flags), (path, flags))
