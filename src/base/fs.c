#include "base/fs.h"
#include "base/io.h"
#include "base/number.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIR_ENTRIES_MAX 100000

void strvec_release(strvec *v)
{
	vec_each(v, s)
		free(*s);
	vec_release(v);
}

static int compare_strings(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void strvec_sort(strvec *v)
{
	if (v->len)
		qsort(v->items, v->len, sizeof(*v->items), compare_strings);
}

static char *format_path(const char *fmt, va_list ap)
{
	struct buf path = {};

	buf_addv(&path, fmt, ap);
	return buf_steal(&path);
}

int fs_read(const char *path, size_t limit_bytes, char **ret_text)
{
	CLEANUP(buf_release) struct buf text = {};
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	char block[16384];
	ssize_t n;

	if (fd < 0)
		return -errno;
	while ((n = read(fd, block, sizeof(block))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || text.len + (size_t)n > limit_bytes) {
			int code = n < 0 ? errno : EFBIG;

			close(fd);
			return -code;
		}
		buf_add_mem(&text, block, (size_t)n);
	}
	close(fd);
	while (text.len && isspace((unsigned char)text.s[text.len - 1]))
		text.s[--text.len] = '\0';
	*ret_text = buf_steal(&text);
	return 0;
}

static bool read_line(const char *path, char *line, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, line, size - 1);
	close(fd);
	if (n < 0)
		return false;
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	for (size_t len = strlen(line); len && isspace((unsigned char)line[len - 1]); len--)
		line[len - 1] = '\0';
	return true;
}

bool fs_line(char *line, size_t size, const char *fmt, ...)
{
	CLEANUP(free_ptr) char *path = NULL;
	va_list ap;

	va_start(ap, fmt);
	path = format_path(fmt, ap);
	va_end(ap);
	return read_line(path, line, size);
}

static bool read_head(const char *path, char *text, size_t size)
{
	/* A named pipe in a copied tree must not stop us. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	size_t len = 0;
	ssize_t n = -1;

	if (fd < 0)
		return false;
	while (len + 1 < size && (n = read(fd, text + len, size - 1 - len)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		len += (size_t)n;
	}
	close(fd);
	text[len] = '\0';
	return n >= 0;
}

bool fs_head(char *text, size_t size, const char *fmt, ...)
{
	CLEANUP(free_ptr) char *path = NULL;
	va_list ap;

	va_start(ap, fmt);
	path = format_path(fmt, ap);
	va_end(ap);
	return read_head(path, text, size);
}

bool fs_number(long long *ret_value, const char *fmt, ...)
{
	CLEANUP(free_ptr) char *path = NULL;
	char line[64];
	va_list ap;

	va_start(ap, fmt);
	path = format_path(fmt, ap);
	va_end(ap);
	return read_line(path, line, sizeof(line)) && parse_i64(line, ret_value);
}

int fs_list(const char *path, strvec *ret_names)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir)) && ret_names->len < DIR_ENTRIES_MAX)
		if (entry->d_name[0] != '.')
			vec_push(ret_names, xstrdup(entry->d_name));
	closedir(dir);
	strvec_sort(ret_names);
	return 0;
}

int fs_write_atomic(const char *path, const char *text, size_t len)
{
	CLEANUP(free_ptr) char *temp = xasprintf("%s.%d.tmp", path, (int)getpid());
	int fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), code;

	if (fd < 0)
		return -errno;
	code = -io_write(fd, text, len);
	if (close(fd) && !code)
		code = errno;
	if (!code && rename(temp, path))
		code = errno;
	if (code)
		unlink(temp);
	return -code;
}

static int make_all(const char *path, mode_t mode)
{
	CLEANUP(free_ptr) char *copy = xstrdup(path);

	for (char *slash = copy + 1; *slash; slash++) {
		if (*slash != '/')
			continue;
		*slash = '\0';
		if (mkdir(copy, mode) && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return mkdir(copy, mode) && errno != EEXIST ? -errno : 0;
}

int fs_mkdir_p(const char *path)
{
	return make_all(path, 0755);
}

int fs_mkdir_private(const char *path)
{
	return make_all(path, 0700);
}

bool fs_exists(const char *fmt, ...)
{
	CLEANUP(free_ptr) char *path = NULL;
	va_list ap;

	va_start(ap, fmt);
	path = format_path(fmt, ap);
	va_end(ap);
	return access(path, F_OK) == 0;
}

char *fs_xdg_dir(const char *env_name, const char *below_home)
{
	const char *base = getenv(env_name), *home = getenv("HOME");

	if (base && base[0] == '/')
		return xasprintf("%s/tacho", base);
	if (home && home[0] == '/')
		return xasprintf("%s/%s/tacho", home, below_home);
	return NULL;
}
