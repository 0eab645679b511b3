#include "base/clock.h"
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
static bool generation_of(const char *path, uint64_t *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), generation = 0;
	bool known = fd >= 0 && !ioctl(fd, FS_IOC_GETVERSION, &generation);

	if (fd >= 0)
		close(fd);
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
static bool was_replaced(const struct search *s, const char *path, const struct stat *st)
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
	return r->inode == st->st_ino && r->generation && generation_of(path, &generation) &&
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

	if (!path || stat(path, &st) || !S_ISREG(st.st_mode) ||
	    elf_open(&state->elf, path, NULL) < 0) {
		state->elf = NULL;
		free(path);
		return false;
	}
	state->is_copy = true;
	s->m->file = path;
	return true;
}

/* Takes ownership of @path. */
static bool try_file(struct search *s, char *path)
{
	struct module_state *state = s->m->state;
	struct elf_file *f = NULL;
	struct stat st = {};

	if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
		err_set(&s->error, EINVAL, "'%s' is not a regular file", path);
	} else if (st.st_ino && was_replaced(s, path, &st)) {
		err_set(&s->error, ESTALE, "'%s' was rebuilt since the recording", path);
	} else if (elf_open(&f, path, s->error.code ? NULL : &s->error) < 0) {
		f = NULL;
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
	if (!strcmp(m->name, r->path) && (!r->inode || r->inode == m->inode)) {
		seen->start = m->start;
		seen->end = m->end;
		seen->inode = m->inode;
	}
	return false;
}

/* Opens the file as the process sees it, if it is still mapped at the same address: in another
 * mount namespace the path leads elsewhere, and a deleted file has no path. */
static bool try_process_view(struct search *s)
{
	const char *proc = s->m->state->all->roots.proc;
	struct seen_mapping seen = {.request = s->request};
	CLEANUP(free_ptr) char *below_root = NULL;
	struct stat st;

	if (!s->request->pid || s->m->state->all->roots.foreign)
		return false;
	synth_read_maps(&s->m->state->all->roots, (pid_t)s->request->pid,
			clock_now_ns() + MAPS_READ_LIMIT_NS, visit_mapping, &seen);
	if (!seen.end)
		return false;
	if (try_file(s, xasprintf("%s/%u/map_files/%lx-%lx", proc, s->request->pid, seen.start,
				  seen.end)))
		return true;
	below_root = xasprintf("%s/%u/root%s", proc, s->request->pid, s->path);
	return !s->deleted && !stat(below_root, &st) && st.st_ino == seen.inode &&
	       try_file(s, xstrdup(below_root));
}

static bool try_caches(struct search *s)
{
	struct module_state *state = s->m->state;

	state->elf = find_program(&s->request->build_id, &state->all->search, &s->m->file);
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
	if (open_kept_vdso(m, debug_cache_find(id, DEBUG_CACHE_VDSO)) ||
	    open_kept_vdso(m, perf_cache_find(id, "vdso")))
		return;
	module_problem(m, "another kernel was recorded, and no copy of its vdso was kept");
}

/* ---- debug file and names ---- */

void module_find_debug_file(struct module *m)
{
	struct module_state *s = m->state;
	struct elf_section section;

	if (s->debug_asked || !s->elf)
		return;
	s->debug_asked = true;
	if (elf_has_symtab(s->elf) && elf_section_header(s->elf, ".debug_info", &section))
		return;
	/* A cached copy has no debug file beside it: search beside the original path. */
	s->debug = find_debug_file(s->elf, m->file && !s->is_copy ? m->file : m->path,
				   elf_build_id(s->elf), &s->all->search, &m->debug_file);
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
