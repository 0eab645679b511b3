#include "symbol/perf_map.h"
#include "base/clock.h"
#include "base/fs.h"
#include "perf/process.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* File times are coarse, and a process's start time is known to a hundredth of a second. */
#define START_SLACK_NS (NS_PER_SEC / 10)

/* ---- finding the map ---- */

static int check_file(const char *path, const struct stat *st, uint32_t uid, uint64_t start_ns,
		      struct err *e)
{
	uint64_t written_ns =
		(uint64_t)st->st_mtim.tv_sec * NS_PER_SEC + (uint64_t)st->st_mtim.tv_nsec;

	if (!S_ISREG(st->st_mode))
		return err_set(e, EINVAL, "'%s' is not a plain file: not used", path);
	if (st->st_uid && st->st_uid != geteuid() && st->st_uid != uid)
		return err_set(e, EPERM,
			       "'%s' belongs to user %u, neither to the process's owner nor to "
			       "root: not used",
			       path, (unsigned)st->st_uid);
	if (start_ns && written_ns + START_SLACK_NS < start_ns)
		return err_set(e, ESTALE,
			       "'%s' is older than the process and not used: an earlier process "
			       "with the same pid has written it",
			       path);
	if (st->st_size > PERF_MAP_BYTES_MAX)
		return err_set(e, EFBIG, "'%s' is larger than %u MiB: not used", path,
			       PERF_MAP_BYTES_MAX >> 20);
	return 0;
}

int perf_map_open_path(const char *path, const struct rights *rights, uint32_t uid,
		       uint64_t start_ns, int *ret_fd, struct err *e)
{
	int fd = rights_open(rights, path, O_NOFOLLOW), r;
	struct stat st;

	if (fd == -EINVAL)
		return err_set(e, EINVAL, "'%s' is not a plain file: not used", path);
	if (fd < 0)
		return err_set(e, -fd, "cannot open '%s': %s", path, strerror(-fd));
	if (fstat(fd, &st))
		r = err_set(e, errno, "cannot look at '%s': %s", path, strerror(errno));
	else
		r = check_file(path, &st, uid, start_ns, e);
	if (r < 0)
		close(fd);
	else
		*ret_fd = fd;
	return r;
}

/* Tries one path and takes ownership of it. Reports the first refusal (wrong owner, too old …) in
 * place of -ENOENT, which most paths give. */
static bool try_path(char *path, const struct perf_map_source *s, int *ret_fd, char **ret_path,
		     int *result, struct err *e)
{
	struct err here = {};
	int r = perf_map_open_path(path, s->rights, s->uid, s->start_ns, ret_fd, &here);

	if (r == 0) {
		*ret_path = path;
		*result = 0;
		return true;
	}
	free(path);
	if (*result == -ENOENT && r != -ENOENT && r != -ENOTDIR && r != -EACCES) {
		*result = r;
		if (e)
			*e = here;
	}
	return false;
}

int perf_map_open(const struct perf_map_source *source, int *ret_fd, char **ret_path, struct err *e)
{
	struct perf_map_source s = *source, unchecked = *source;
	struct process_facts now = {};
	bool own;
	int r = -ENOENT;

	if (!s.rights)
		s.rights = rights_of_asker();
	own = rights_are_own(s.rights);

	err_set(e, ENOENT, "there is no /tmp/perf-%u.map, in which a JIT names its code", s.pid);
	/* No age check: the recorder has checked the original. It also owns the copy. */
	unchecked.start_ns = 0;
	unchecked.rights = rights_of_asker();
	if (s.kept_dir && try_path(xasprintf("%s/perf-%u.map", s.kept_dir, s.pid), &unchecked,
				   ret_fd, ret_path, &r, e))
		return 0;
	/* The pid may have been reused by another process. */
	if (process_read(s.pid, &now) && now.pid == s.pid &&
	    (!s.start_ns || now.start_ns <= s.start_ns + START_SLACK_NS)) {
		if (s.uid == PERF_MAP_UID_UNKNOWN)
			s.uid = now.uid;
		if (!s.start_ns)
			s.start_ns = now.start_ns;
		if (!s.pid_inside)
			s.pid_inside = now.pid_inside;
		/* With the rights of the process, paths lead below its own root directory. */
		if (now.foreign_files && own &&
		    try_path(xasprintf("/proc/%u/root/tmp/perf-%u.map", s.pid, s.pid_inside), &s,
			     ret_fd, ret_path, &r, e))
			return 0;
		if (now.foreign_files && !own && s.rights != rights_of_unknown() &&
		    try_path(xasprintf("/tmp/perf-%u.map", s.pid_inside), &s, ret_fd, ret_path, &r,
			     e))
			return 0;
	} else {
		now.foreign_files = false;
	}
	/* A process with our files but another pid namespace names the map by its own pid. */
	if (s.pid_inside && s.pid_inside != s.pid && !now.foreign_files &&
	    try_path(xasprintf("/tmp/perf-%u.map", s.pid_inside), &s, ret_fd, ret_path, &r, e))
		return 0;
	if (!now.foreign_files &&
	    try_path(xasprintf("/tmp/perf-%u.map", s.pid), &s, ret_fd, ret_path, &r, e))
		return 0;
	return r;
}

/* ---- lines ---- */

struct line {
	uint64_t start, end;
	const char *name;
	uint32_t name_len;
};

typedef VEC(struct line) line_list;

static bool take_hex(const char **at, const char *end, uint64_t *ret)
{
	uint64_t value = 0;
	unsigned digits = 0;

	if (end - *at > 2 && (*at)[0] == '0' && ((*at)[1] | 0x20) == 'x')
		*at += 2;
	for (; *at < end; ++*at) {
		unsigned char c = (unsigned char)**at;
		unsigned digit = c - '0';

		if (digit > 9) {
			digit = (c | 0x20u) - 'a' + 10u;
			if (digit < 10 || digit > 15)
				break;
		}
		if (value >> 60)
			return false;
		value = value << 4 | digit;
		digits++;
	}
	*ret = value;
	return digits;
}

static bool take_blank(const char **at, const char *end)
{
	const char *from = *at;

	while (*at < end && (**at == ' ' || **at == '\t'))
		++*at;
	return *at > from;
}

static bool parse_line(const char *at, const char *end, struct line *ret)
{
	uint64_t size;

	take_blank(&at, end);
	if (!take_hex(&at, end, &ret->start) || !take_blank(&at, end) ||
	    !take_hex(&at, end, &size) || !take_blank(&at, end))
		return false;
	while (end > at && (end[-1] == '\r' || end[-1] == ' '))
		end--;
	if (at == end || (size_t)(end - at) > UINT16_MAX || memchr(at, '\0', (size_t)(end - at)))
		return false;
	ret->end = ret->start + size;
	ret->name = at;
	ret->name_len = (uint32_t)(end - at);
	return size && ret->end > ret->start;
}

/* Returns the number of malformed lines. @ret_cut: lines beyond the limit were left out. */
static uint64_t split_lines(const char *text, size_t len, line_list *ret, bool *ret_cut)
{
	const char *end = text + len;
	uint64_t bad = 0;

	while (text < end && ret->len < PERF_MAP_LINES_MAX) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		struct line line;

		if (!stop)
			stop = end;
		if (parse_line(text, stop, &line))
			vec_push(ret, line);
		else
			bad += stop > text;
		text = stop + 1;
	}
	*ret_cut = text < end;
	return bad;
}

/* ---- overlapping lines ---- */

/* The start or end of a line's address range. Of overlapping lines the highest number wins. */
struct edge {
	uint64_t at;
	uint32_t line;
	bool begins;
};

static int by_address(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* A heap of line numbers, the highest on top. */
typedef VEC(uint32_t) line_heap;

static void heap_push(line_heap *h, uint32_t value)
{
	size_t at = h->len;

	vec_push(h, value);
	for (; at && h->items[(at - 1) / 2] < value; at = (at - 1) / 2)
		h->items[at] = h->items[(at - 1) / 2];
	h->items[at] = value;
}

static void heap_pop(line_heap *h)
{
	uint32_t last = h->items[--h->len];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < h->len) {
		if (child + 1 < h->len && h->items[child + 1] > h->items[child])
			child++;
		if (h->items[child] <= last)
			break;
		h->items[at] = h->items[child];
		at = child;
	}
	if (h->len)
		h->items[at] = last;
}

static void add_part(const struct line *line, uint64_t from, uint64_t to, struct symtab *ret)
{
	if (to > from)
		symtab_add(ret, from, to - from, line->name, line->name_len, STT_FUNC, STB_GLOBAL);
}

/*
 * Visits the edges by ascending address; the top of the heap is the last line that covers the
 * current address. Each line keeps the parts of its range that no later line covers.
 */
static void cut_overlaps(const line_list *lines, const struct edge *edges, size_t count,
			 struct symtab *ret)
{
	line_heap open = {};
	uint64_t from = 0;

	for (size_t i = 0; i < count; i++) {
		uint32_t before = open.len ? open.items[0] : UINT32_MAX, after;

		if (edges[i].begins)
			heap_push(&open, edges[i].line);
		while (open.len && lines->items[open.items[0]].end <= edges[i].at)
			heap_pop(&open);
		after = open.len ? open.items[0] : UINT32_MAX;
		if (after == before)
			continue;
		if (before != UINT32_MAX)
			add_part(&lines->items[before], from, edges[i].at, ret);
		from = edges[i].at;
	}
	vec_release(&open);
}

uint64_t perf_map_parse(const char *text, size_t len, struct symtab *ret)
{
	line_list lines = {};
	bool cut;
	uint64_t bad = split_lines(text, len, &lines, &cut);
	struct edge *edges = xcalloc(2 * lines.len, sizeof(*edges));

	ret->refused += cut;
	for (uint32_t i = 0; i < lines.len; i++) {
		edges[2 * i] = (struct edge){lines.items[i].start, i, true};
		edges[2 * i + 1] = (struct edge){lines.items[i].end, i, false};
	}
	qsort(edges, 2 * lines.len, sizeof(*edges), by_address);
	cut_overlaps(&lines, edges, 2 * lines.len, ret);
	free(edges);
	vec_release(&lines);
	return bad;
}

/* ---- reading the map ---- */

static int read_all(int fd, const char *path, struct buf *text, struct err *e)
{
	char block[65536];
	ssize_t n;

	while ((n = read(fd, block, sizeof(block))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(e, errno, "cannot read '%s': %s", path, strerror(errno));
		/* The file may have grown since its size was checked. */
		if (text->len + (size_t)n > PERF_MAP_BYTES_MAX)
			return 0;
		buf_add_mem(text, block, (size_t)n);
	}
	return 0;
}

int perf_map_load(const struct perf_map_source *s, struct symtab *ret, char **ret_path,
		  struct err *e)
{
	CLEANUP(buf_release) struct buf text = {};
	CLEANUP(free_ptr) char *path = NULL;
	int fd = -1, r = perf_map_open(s, &fd, &path, e);

	if (r < 0)
		return r;
	r = read_all(fd, path, &text, e);
	close(fd);
	if (r < 0)
		return r;
	perf_map_parse(buf_str(&text), text.len, ret);
	symtab_finish(ret);
	if (ret_path) {
		*ret_path = path;
		path = NULL;
	}
	return 0;
}
