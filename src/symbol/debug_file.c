#include "symbol/debug_file.h"
#include "base/cursor.h"
#include "symbol/debug_cache.h"
#include "symbol/debuginfod.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define DEBUG_DIRECTORY   "/usr/lib/debug"
#define BLOCK_BYTES       (1u << 20)
#define CHECKED_BYTES_MAX (4ll << 30)

bool build_id_same(const struct build_id *a, const struct build_id *b)
{
	/* Some recordings pad short ids with zeros. */
	for (size_t i = 0; i < BUILD_ID_BYTES_MAX; i++)
		if ((i < a->size ? a->bytes[i] : 0) != (i < b->size ? b->bytes[i] : 0))
			return false;
	return a->size && b->size;
}

static struct elf_file *open_elf(const char *path, const struct rights *rights)
{
	struct elf_file *f;
	int fd = rights_open(rights, path, 0);

	if (fd < 0)
		return NULL;
	if (elf_open_fd(&f, fd, path, NULL) < 0) {
		close(fd);
		return NULL;
	}
	return f;
}

static struct elf_file *open_right(const char *path, const struct rights *rights,
				   const struct build_id *id, struct build_id *ret_other_id)
{
	struct elf_file *f = open_elf(path, rights);

	if (f && !build_id_same(elf_build_id(f), id)) {
		if (ret_other_id)
			*ret_other_id = *elf_build_id(f);
		elf_close(f);
		f = NULL;
	}
	return f;
}

struct elf_file *open_by_build_id(const char *path, const struct build_id *id,
				  struct build_id *ret_other_id)
{
	return open_right(path, rights_of_asker(), id, ret_other_id);
}

/* Takes ownership of @path; passes it on in *ret_path if the file has build id @id. */
static struct elf_file *try_path(char *path, const struct rights *rights, const struct build_id *id,
				 char **ret_path)
{
	struct elf_file *f = path ? open_right(path, rights, id, NULL) : NULL;

	if (f)
		*ret_path = path;
	else
		free(path);
	return f;
}

static struct elf_file *try_cached(char *path, const struct build_id *id, char **ret_path)
{
	return try_path(path, rights_of_asker(), id, ret_path);
}

char *perf_cache_find(const struct build_id *id, const char *name, const struct rights *rights)
{
	CLEANUP(free_ptr) char *below = build_id_path(id);
	const char *home = getenv("HOME");
	char *path;
	struct stat st;

	if (!below || !home || home[0] != '/' || !rights_are_own(rights))
		return NULL;
	path = xasprintf("%s/.debug/.build-id/%s/%s", home, below, name);
	if (!stat(path, &st) && S_ISREG(st.st_mode))
		return path;
	free(path);
	/* Before Linux 4.6, perf stored the file itself under this name, not a directory. */
	path = xasprintf("%s/.debug/.build-id/%s", home, below);
	if (!stat(path, &st) && S_ISREG(st.st_mode))
		return path;
	free(path);
	return NULL;
}

static bool has_symbols(struct elf_file *f)
{
	struct elf_section s;

	return elf_section(f, ".symtab", &s);
}

/* Finds our copy of the program. @with_symbols: the original may have been stripped since. */
static struct elf_file *find_kept(const struct build_id *id, const struct rights *rights,
				  bool with_symbols, char **ret_path)
{
	CLEANUP(strvec_release) strvec paths = {};

	debug_cache_find(id, rights, &paths);
	vec_each(&paths, path) {
		struct elf_file *f = try_cached(xstrdup(*path), id, ret_path);

		if (f && (!with_symbols || has_symbols(f)))
			return f;
		if (!f)
			continue;
		elf_close(f);
		free(*ret_path);
		*ret_path = NULL;
	}
	return NULL;
}

struct elf_file *find_program(const struct build_id *id, const struct file_search *search,
			      char **ret_path)
{
	struct elf_file *f;

	if (!id->size)
		return NULL;
	f = find_kept(id, search->rights, false, ret_path);
	if (!f)
		f = try_cached(perf_cache_find(id, "elf", search->rights), id, ret_path);
	/* What debuginfod gives can be had by everybody, so its cache is, too. */
	if (!f && !search->no_debuginfod)
		f = try_cached(debuginfod_find(id, DEBUGINFOD_PROGRAM), id, ret_path);
	return f;
}

/* ---- debug files ---- */

static struct elf_file *find_in_debug_directory(const struct build_id *id,
						const struct file_search *search, char **ret_path)
{
	CLEANUP(free_ptr) char *below = build_id_path(id);
	const char *symfs = search->symfs ? search->symfs : "";

	if (!below)
		return NULL;
	return try_path(xasprintf("%s" DEBUG_DIRECTORY "/.build-id/%s.debug", symfs, below),
			rights_of_copy(search->rights), id, ret_path);
}

static struct elf_file *find_by_id(const struct build_id *id, const char *path,
				   const struct file_search *search, char **ret_path)
{
	const char *symfs = search->symfs ? search->symfs : "";
	struct elf_file *f;

	f = find_in_debug_directory(id, search, ret_path);
	if (!f)
		f = try_path(xasprintf("%s" DEBUG_DIRECTORY "%s.debug", symfs, path),
			     search->rights, id, ret_path);
	if (!f)
		f = try_path(xasprintf("%s" DEBUG_DIRECTORY "%s", symfs, path), search->rights, id,
			     ret_path);
	if (!f)
		f = try_cached(perf_cache_find(id, "debug", search->rights), id, ret_path);
	if (!f)
		f = find_kept(id, search->rights, true, ret_path);
	return f;
}

static bool checksum_is(const char *path, const struct rights *rights, uint32_t wanted)
{
	CLEANUP(free_ptr) unsigned char *block = NULL;
	int fd = rights_open(rights, path, 0);
	uLong crc = crc32(0, NULL, 0);
	struct stat st;
	ssize_t n = -1;

	if (fd < 0)
		return false;
	block = xcalloc(1, BLOCK_BYTES);
	/* The whole file must be read: refuse a sparse file that is larger than any disk. */
	if (!fstat(fd, &st) && st.st_size <= CHECKED_BYTES_MAX)
		while ((n = read(fd, block, BLOCK_BYTES)) > 0)
			crc = crc32(crc, block, (uInt)n);
	close(fd);
	return n == 0 && (uint32_t)crc == wanted;
}

struct link {
	const char *name;
	uint32_t checksum;
	struct build_id id; /* of the program; size 0: none */
};

/* Takes ownership of @path. A build id proves more than the checksum and is cheaper to check. */
static struct elf_file *try_link(char *path, const struct rights *rights, const struct link *link,
				 char **ret_path)
{
	struct elf_file *f = open_elf(path, rights);
	bool right = false;

	if (f && link->id.size && elf_build_id(f)->size)
		right = build_id_same(&link->id, elf_build_id(f));
	else if (f)
		right = checksum_is(path, rights, link->checksum);
	if (right) {
		*ret_path = path;
		return f;
	}
	elf_close(f);
	free(path);
	return NULL;
}

static struct elf_file *find_by_link(struct elf_file *program, const char *path,
				     const struct file_search *search, char **ret_path)
{
	const char *symfs = search->symfs ? search->symfs : "", *slash = strrchr(path, '/');
	int directory = slash ? (int)(slash - path) : 0;
	struct elf_section s;
	struct elf_file *f;
	struct cursor c;
	struct link link = {.id = *elf_build_id(program)};

	if (!elf_section(program, ".gnu_debuglink", &s) || !s.data)
		return NULL;
	c = cursor_of(s.data, s.size);
	c.swap = elf_is_swapped(program);
	link.name = cursor_str(&c);
	cursor_skip(&c, -(uint64_t)c.at & 3);
	link.checksum = cursor_u32(&c);
	if (c.failed || !link.name[0] || strchr(link.name, '/') || !slash)
		return NULL;
	/* A link with the program's own name would find the program itself here. */
	f = strcmp(slash + 1, link.name)
		    ? try_link(xasprintf("%s%.*s/%s", symfs, directory, path, link.name),
			       search->rights, &link, ret_path)
		    : NULL;
	if (!f)
		f = try_link(xasprintf("%s%.*s/.debug/%s", symfs, directory, path, link.name),
			     search->rights, &link, ret_path);
	if (!f)
		f = try_link(xasprintf("%s" DEBUG_DIRECTORY "%.*s/%s", symfs, directory, path,
				       link.name),
			     search->rights, &link, ret_path);
	return f;
}

struct elf_file *find_debug_file(struct elf_file *program, const char *path,
				 const struct build_id *id, const struct file_search *search,
				 char **ret_path)
{
	struct elf_file *f = NULL;

	if (id->size)
		f = find_by_id(id, path, search, ret_path);
	if (!f && program)
		f = find_by_link(program, path, search, ret_path);
	if (!f && id->size && !search->no_debuginfod)
		f = try_cached(debuginfod_find(id, DEBUGINFOD_DEBUG), id, ret_path);
	return f;
}

struct elf_file *find_alternate_file(struct elf_file *debug, const char *path,
				     const struct file_search *search, char **ret_path)
{
	const char *symfs = search->symfs ? search->symfs : "", *slash = strrchr(path, '/');
	struct build_id id = {};
	struct elf_section s;
	struct elf_file *f;
	struct cursor c;
	const char *name;

	if (!elf_section(debug, ".gnu_debugaltlink", &s) || !s.data)
		return NULL;
	c = cursor_of(s.data, s.size);
	name = cursor_str(&c);
	if (!name || s.size - c.at < 2 || s.size - c.at > BUILD_ID_BYTES_MAX)
		return NULL;
	id.size = (uint8_t)(s.size - c.at);
	memcpy(id.bytes, s.data + c.at, id.size);
	f = find_in_debug_directory(&id, search, ret_path);
	if (!f && name[0] == '/')
		f = try_path(xasprintf("%s%s", symfs, name), search->rights, &id, ret_path);
	else if (!f && slash)
		f = try_path(xasprintf("%.*s/%s", (int)(slash - path), path, name), search->rights,
			     &id, ret_path);
	if (!f && !search->no_debuginfod)
		f = try_cached(debuginfod_find(&id, DEBUGINFOD_DEBUG), &id, ret_path);
	return f;
}
