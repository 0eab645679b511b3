#include "base/clock.h"
#include "perf/process.h"
#include "perf/rights.h"
#include "perf/synth_read.h"
#include "symbol/debug_cache.h"
#include "symbol/elf/decompress.h"
#include "symbol/elf/symbols.h"
#include "symbol/jit_keep.h"
#include "symbol/module/state.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define DELETED            " (deleted)"
#define MINI_BYTES_MAX     (256u << 20)
#define VDSO_BYTES_MAX     (1u << 20)
#define MAPS_READ_LIMIT_NS (1 * NS_PER_SEC)

/* ---- finding the program ---- */

struct search {
	struct module *m;
	const struct module_request *request;
	char *path; /* without " (deleted)" */
	bool deleted;
	/* About files that were found but not used. */
	struct build_id other_id;
	char *other_file;
	struct err error;
};

/* Reads the inode generation, which differs between files that had the same inode number one after
 * the other. Returns false if the file system does not know it. */
static bool generation_of(int fd, uint64_t *ret)
{
	int generation = 0;
	bool known = !ioctl(fd, FS_IOC_GETVERSION, &generation);

	*ret = (uint32_t)generation;
	return known;
}

static uint64_t ns_of(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * NS_PER_SEC + (uint64_t)t->tv_nsec;
}

/*
 * Whether the file was written to after @wall_ns. Writing changes both mtime and ctime. mtime
 * alone can be set to any value, and an mtime in the future proves nothing.
 */
static bool was_written_after(const struct stat *st, uint64_t wall_ns)
{
	return ns_of(&st->st_mtim) > wall_ns && ns_of(&st->st_ctim) > wall_ns &&
	       ns_of(&st->st_mtim) <= clock_ns_of(CLOCK_REALTIME);
}

/* For files without a build id. A different inode number alone proves nothing: files are moved and
 * copied. */
static bool was_replaced(const struct search *s, int fd, const struct stat *st)
{
	const struct module_request *r = s->request;
	const struct modules *all = s->m->state->all;
	uint64_t mapped_ns = all->wall_ns, generation;

	if (r->build_id.size || !r->inode || all->options.symfs)
		return false;
	if (mapped_ns && r->mapped_ns > all->clock_ns)
		mapped_ns += r->mapped_ns - all->clock_ns;
	if (mapped_ns && was_written_after(st, mapped_ns))
		return true;
	return r->inode == st->st_ino && r->generation && generation_of(fd, &generation) &&
	       generation != r->generation;
}

/* Opens the copy that was kept with the recording, for a program without a build id. */
static bool try_kept(struct search *s)
{
	const struct module_request *r = s->request;
	struct file_identity f = {.major = r->major,
				  .minor = r->minor,
				  .inode = r->inode,
				  .generation = r->generation};
	struct module_state *state = s->m->state;
	char *path = jit_keep_program_path(state->all->jit_dir, &f);
	struct stat st;

	/* Everybody may read the copy if everybody could read the original. */
	if (!path || stat(path, &st) || !S_ISREG(st.st_mode) ||
	    (!rights_are_own(state->rights) && !(st.st_mode & S_IROTH)) ||
	    elf_open(&state->elf, path, NULL) < 0) {
		state->elf = NULL;
		free(path);
		return false;
	}
	state->is_copy = true;
	s->m->file = path;
	return true;
}

/* Why a file could not be opened. */
static void cannot_open(struct search *s, const char *path, int code)
{
	CLEANUP(buf_release) struct buf whose = {};

	if (code == EINVAL) {
		err_set(&s->error, EINVAL, "'%s' is not a regular file", path);
	} else if (!s->error.code) {
		rights_explain(s->m->state->rights, &whose);
		err_set(&s->error, code, "cannot open '%s': %s%s%s%s", path, strerror(code),
			whose.len ? " (" : "", buf_str(&whose), whose.len ? ")" : "");
	}
}

/* Takes ownership of @path and @fd, which is negative if the file could not be opened. */
static bool try_open(struct search *s, char *path, int fd)
{
	struct module_state *state = s->m->state;
	struct elf_file *f = NULL;
	struct stat st = {};

	if (fd < 0) {
		cannot_open(s, path, -fd);
	} else if (!fstat(fd, &st) && was_replaced(s, fd, &st)) {
		err_set(&s->error, ESTALE, "'%s' was rebuilt since the recording", path);
		close(fd);
	} else if (elf_open_fd(&f, fd, path, s->error.code ? NULL : &s->error) < 0) {
		f = NULL;
		close(fd);
	} else if (s->request->build_id.size &&
		   !build_id_same(elf_build_id(f), &s->request->build_id)) {
		s->other_id = *elf_build_id(f);
		free(s->other_file);
		s->other_file = xstrdup(path);
		elf_close(f);
		f = NULL;
	}
	if (!f) {
		free(path);
		return false;
	}
	state->elf = f;
	s->m->file = path;
	return true;
}

/* Takes ownership of @path. */
static bool try_file(struct search *s, char *path)
{
	return try_open(s, path, rights_open(s->m->state->rights, path, 0));
}

struct seen_mapping {
	const struct module_request *request;
	uint64_t start, end, inode;
};

static bool visit_mapping(void *ctx, const struct mapping *m)
{
	struct seen_mapping *seen = ctx;
	const struct module_request *r = seen->request;

	if (r->start < m->start || r->start >= m->end)
		return true;
	/* A perf map has no name in the mapping, which is memory of the process. */
	if (r->kind == MODULE_PERF_MAP
		    ? !m->inode
		    : !strcmp(m->name, r->path) && (!r->inode || r->inode == m->inode)) {
		seen->start = m->start;
		seen->end = m->end;
		seen->inode = m->inode;
	}
	return false;
}

/* Looks for the mapping of the module in the process that had it. */
static bool is_still_mapped(const struct module *m, struct seen_mapping *ret)
{
	const struct module_state *s = m->state;

	*ret = (struct seen_mapping){.request = &s->request};
	if (!s->request.pid || s->all->roots.foreign)
		return false;
	synth_read_maps(&s->all->roots, (pid_t)s->request.pid, clock_now_ns() + MAPS_READ_LIMIT_NS,
			visit_mapping, ret);
	return ret->end;
}

/* A process that has executed another program meanwhile has not mapped the module any more, and may
 * have other rights than it had then. */
void module_find_rights(struct module *m)
{
	struct module_state *s = m->state;
	const struct rights *before;
	struct seen_mapping seen;

	/* A module that is opened once more keeps them: the process may be gone. */
	if (s->rights != rights_of_unknown())
		return;
	before = rights_of_process(s->request.pid);
	if (before == s->rights)
		return;
	if (is_still_mapped(m, &seen) && rights_of_process(s->request.pid) == before)
		s->rights = before;
}

/* Opens the path as the process sees it. */
static int open_inside(const struct search *s, const struct seen_mapping *seen)
{
	const struct rights *rights = s->m->state->rights;
	struct stat st;
	int place, fd;

	if (rights_are_own(rights)) {
		place = process_open(s->request->pid, s->path, O_PATH);
		fd = place < 0 ? place : rights_reopen(rights, place);
		if (place >= 0)
			close(place);
	} else {
		fd = rights_open(rights, s->path, 0);
	}
	if (fd >= 0 && (fstat(fd, &st) || st.st_ino != seen->inode)) {
		close(fd);
		return -ENOENT;
	}
	return fd;
}

/* Opens the file as the process sees it, if it is still mapped at the same address: in another
 * mount namespace the path leads elsewhere, and a deleted file has no path. */
static bool try_process_view(struct search *s)
{
	struct seen_mapping seen;
	int fd;

	if (!is_still_mapped(s->m, &seen))
		return false;
	fd = rights_open_mapped(s->m->state->rights, s->request->pid, seen.start, seen.end);
	if (fd >= 0 &&
	    try_open(s,
		     xasprintf("/proc/%u/map_files/%lx-%lx", s->request->pid, seen.start, seen.end),
		     fd))
		return true;
	if (s->deleted)
		return false;
	fd = open_inside(s, &seen);
	return fd >= 0 && try_open(s, xasprintf("/proc/%u/root%s", s->request->pid, s->path), fd);
}

static bool try_caches(struct search *s)
{
	const struct file_search search = module_search(s->m);
	struct module_state *state = s->m->state;

	state->elf = find_program(&s->request->build_id, &search, &s->m->file);
	state->is_copy = state->elf;
	return state->elf;
}

static bool find_file(struct search *s)
{
	const char *symfs = s->m->state->all->options.symfs;

	if (symfs && try_file(s, xasprintf("%s%s", symfs, s->path)))
		return true;
	if (symfs)
		return try_caches(s);
	/* A build id proves that a file is the right one: try the cheapest place first. */
	if (s->request->build_id.size)
		return try_file(s, xstrdup(s->path)) || try_process_view(s) || try_caches(s);
	return try_kept(s) || try_process_view(s) || (!s->deleted && try_file(s, xstrdup(s->path)));
}

static void explain(struct search *s)
{
	struct module *m = s->m;

	if (s->other_file && !s->other_id.size) {
		module_problem(m, "'%s' was rebuilt since the recording (it has no build id now)",
			       s->other_file);
	} else if (s->other_file) {
		char now[BUILD_ID_SHORT], then[BUILD_ID_SHORT];

		build_id_short(&s->other_id, now);
		build_id_short(&s->request->build_id, then);
		module_problem(m, "'%s' was rebuilt since the recording (build id %s now, %s then)",
			       s->other_file, now, then);
	} else if (s->deleted) {
		module_problem(m, "'%s' was deleted before or during the recording", s->path);
	} else if (s->error.code == ENOENT || s->error.code == ENOTDIR) {
		module_problem(m, "'%s' does not exist any more", s->path);
	} else {
		module_problem(m, "%s", s->error.text);
	}
}

void module_open_file(struct module *m)
{
	struct search s = {.m = m, .request = &m->state->request};
	size_t len = strlen(m->path), suffix = strlen(DELETED);

	if (m->path[0] != '/' || m->path[1] == '/') {
		m->kind = MODULE_OPAQUE;
		return;
	}
	s.deleted = len > suffix && !strcmp(m->path + len - suffix, DELETED);
	module_find_rights(m);
	s.path = xstrndup(m->path, s.deleted ? len - suffix : len);
	if (!find_file(&s))
		explain(&s);
	free(s.path);
	free(s.other_file);
}

/* ---- the vdso ---- */

static bool visit_own_mapping(void *ctx, const struct mapping *m)
{
	struct seen_mapping *seen = ctx;

	if (m->start != getauxval(AT_SYSINFO_EHDR))
		return true;
	seen->start = m->start;
	seen->end = m->end;
	return false;
}

static bool open_own_vdso(struct module *m)
{
	struct seen_mapping seen = {};
	struct roots own = {.sys = "/sys", .proc = "/proc"};
	struct module_state *s = m->state;
	size_t size;

	if (!getauxval(AT_SYSINFO_EHDR))
		return false;
	synth_read_maps(&own, getpid(), clock_now_ns() + MAPS_READ_LIMIT_NS, visit_own_mapping,
			&seen);
	size = seen.end - seen.start;
	if (!size || size > VDSO_BYTES_MAX)
		return false;
	s->elf_bytes = xcalloc(1, size);
	memcpy(s->elf_bytes, (const void *)(uintptr_t)seen.start, size);
	if (elf_open_memory(&s->elf, s->elf_bytes, size, NULL) < 0)
		return false;
	if (!s->request.build_id.size || build_id_same(elf_build_id(s->elf), &s->request.build_id))
		return true;
	elf_close(s->elf);
	s->elf = NULL;
	return false;
}

static bool open_kept_vdso(struct module *m, char *path)
{
	if (path)
		m->state->elf = open_by_build_id(path, &m->state->request.build_id, NULL);
	if (m->state->elf)
		m->file = path;
	else
		free(path);
	return m->state->elf;
}

void module_open_vdso(struct module *m)
{
	const struct build_id *id = &m->state->request.build_id;

	if (!m->state->all->roots.foreign && open_own_vdso(m))
		return;
	if (open_kept_vdso(m, perf_cache_find(id, "vdso", m->state->rights)))
		return;
	module_problem(m, "another kernel was recorded, and no copy of its vdso was kept");
}

/* ---- debug file and names ---- */

void module_find_debug_file(struct module *m)
{
	struct module_state *s = m->state;
	const struct file_search search = module_search(m);
	bool as_mapped = !m->file || s->is_copy || !rights_are_own(s->rights);
	struct elf_section section;

	if (s->debug_asked || !s->elf)
		return;
	s->debug_asked = true;
	if (elf_has_symtab(s->elf) && elf_section_header(s->elf, ".debug_info", &section))
		return;
	/* A cached copy has no debug file beside it, and with the rights of another process its
	 * paths are looked up as that process sees them. */
	s->debug = find_debug_file(s->elf, as_mapped ? m->path : m->file, elf_build_id(s->elf),
				   &search, &m->debug_file);
	if (s->debug)
		elf_share(s->debug, &s->memory);
}

/* Opens "MiniDebugInfo": compressed symbols in .gnu_debugdata of a stripped program. */
static bool open_mini(struct module_state *s)
{
	struct elf_section section;
	size_t size;

	if (!elf_section(s->elf, ".gnu_debugdata", &section) || !section.data)
		return false;
	s->mini_bytes = decompress_file(section.data, section.size, MINI_BYTES_MAX, &size);
	if (s->mini_bytes && !budget_take(&s->memory, size)) {
		free(s->mini_bytes);
		s->mini_bytes = NULL;
	}
	if (!s->mini_bytes)
		return false;
	s->mini_size = size;
	if (elf_open_memory(&s->mini, s->mini_bytes, size, NULL) < 0)
		s->mini = NULL;
	else
		elf_share(s->mini, &s->memory);
	return s->mini;
}

void module_close_mini(struct module_state *s)
{
	elf_close(s->mini);
	free(s->mini_bytes);
	budget_give(&s->memory, s->mini_size);
	s->mini = NULL;
	s->mini_bytes = NULL;
	s->mini_size = 0;
}

static bool add_best_table(struct module *m)
{
	struct module_state *s = m->state;

	if (elf_has_symtab(s->elf) && elf_add_symbols(&s->own_names, s->elf, s->elf, SHT_SYMTAB))
		return true;
	module_find_debug_file(m);
	if (s->debug && elf_add_symbols(&s->own_names, s->debug, s->elf, SHT_SYMTAB))
		return true;
	if (open_mini(s))
		elf_add_symbols(&s->own_names, s->mini, s->elf, SHT_SYMTAB);
	return false;
}

void module_load_file_names(struct module *m)
{
	struct module_state *s = m->state;

	uint64_t loads;

	if (!s->elf)
		return;
	loads = elf_loads(s->elf);
	if (!add_best_table(m))
		elf_add_symbols(&s->own_names, s->elf, s->elf, SHT_DYNSYM);
	elf_add_plt_symbols(&s->own_names, s->elf);
	symtab_finish(&s->own_names);
	/* Free the sections that names were made from: relocations can be larger than everything
	 * else that is kept. Other threads read their sections under the module's lock, too. */
	elf_forget_since(s->elf, loads);
	module_close_mini(s);
	if (s->own_names.symbols.len)
		s->names = &s->own_names;
	else if (!s->memory.refused)
		module_problem(m,
			       "'%s' has no symbols: install its debug symbols, or set "
			       "DEBUGINFOD_URLS",
			       m->path);
}
