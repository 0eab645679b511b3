/* Unloads modules: see modules_let_go(). */
#include "symbol/module/state.h"

#include <string.h>
#include <sys/stat.h>

static uint64_t held(const struct elf_file *f)
{
	return f ? elf_held_bytes(f) : 0;
}

static uint64_t loaded_bytes(const struct module *m)
{
	const struct module_state *s = m->state;
	uint64_t bytes = held(s->elf) + held(s->debug) + held(s->alternate);

	if (s->dwarf)
		bytes += s->dwarf_bytes(s->dwarf);
	return bytes + symtab_bytes(&s->own_names);
}

uint64_t modules_loaded_bytes(const struct modules *all)
{
	uint64_t bytes = 0;

	vec_each(&all->list, m)
		bytes += loaded_bytes(*m);
	return bytes;
}

static void forget_sections(struct elf_file *f)
{
	if (f)
		elf_forget_since(f, 0);
}

/* Keeps files open, so that loading again reads the same ones. */
void module_unload(struct module *m)
{
	struct module_state *s = m->state;
	struct unwind_tables *tables = atomic_exchange(&m->unwind_tables, NULL);

	if (tables)
		m->unwind_tables_free(tables);
	if (s->dwarf)
		s->dwarf_free(s->dwarf);
	s->dwarf = NULL;
	s->dwarf_asked = false;
	if (s->names == &s->own_names)
		s->names = NULL;
	symtab_release(&s->own_names);
	s->names_asked = false;
	module_close_mini(s);
	forget_sections(s->elf);
	forget_sections(s->debug);
	forget_sections(s->alternate);
	if (m->kind == MODULE_PERF_MAP) {
		free(m->file);
		m->file = NULL;
	}
}

void module_close(struct module *m)
{
	struct module_state *s = m->state;

	module_unload(m);
	s->names = NULL;
	elf_close(s->alternate);
	elf_close(s->debug);
	elf_close(s->core);
	elf_close(s->elf);
	jitdump_close(s->jitdump);
	free(s->elf_bytes);
	free(m->file);
	free(m->debug_file);
	free(m->problem);
	s->alternate = s->debug = s->core = s->elf = NULL;
	s->jitdump = NULL;
	s->elf_bytes = NULL;
	s->debug_asked = s->core_asked = s->is_copy = false;
	s->memory.max = MODULE_BYTES_MIN;
	s->memory.refused = false;
	m->file = m->debug_file = m->problem = NULL;
	m->closed = true;
	s->opened = false;
}

void module_renew(struct module *m)
{
	if (m->kind == MODULE_PERF_MAP || m->kind == MODULE_JITDUMP) {
		module_close(m);
		module_open(m);
	}
}

/* ---- choosing ---- */

typedef VEC(struct module *) module_list;

/* The kernel's names are shared by modules, and a jitdump file is needed as long as it grows. */
static bool can_be_loaded_again(const struct module *m)
{
	return m->kind == MODULE_ELF || m->kind == MODULE_VDSO || m->kind == MODULE_PERF_MAP;
}

static int longest_idle_first(const void *a, const void *b)
{
	const struct module *x = *(struct module *const *)a, *y = *(struct module *const *)b;

	return (x->state->idle < y->state->idle) - (x->state->idle > y->state->idle);
}

static void find_idle(struct modules *all, module_list *ret)
{
	vec_each(&all->list, m) {
		bool asked = atomic_exchange(&(*m)->asked, false);

		(*m)->state->idle = asked ? 0 : (*m)->state->idle + 1;
		if (!asked && !(*m)->closed && can_be_loaded_again(*m))
			vec_push(ret, *m);
	}
	if (ret->len)
		qsort(ret->items, ret->len, sizeof(*ret->items), longest_idle_first);
}

/* Whether the path still leads to the open file. Paths in /proc do not count: they are valid only
 * while the process lives. */
static bool is_found_again(const struct module *m)
{
	const char *proc = m->state->all->roots.proc;
	struct stat now, opened;

	return m->file && strncmp(m->file, proc, strlen(proc)) && !stat(m->file, &now) &&
	       !elf_stat(m->state->elf, &opened) && now.st_dev == opened.st_dev &&
	       now.st_ino == opened.st_ino;
}

/* Files that cannot be found again have a limit of their own: once closed, their code could not be
 * shown any more. */
static void close_files(module_list *idle, size_t files)
{
	size_t found = 0, lost = 0;

	/* Begin at the end: the most recently used files stay open. */
	for (size_t i = idle->len; i-- > 0;) {
		struct module *m = idle->items[i];

		if (m->kind == MODULE_ELF && m->state->elf &&
		    ++*(is_found_again(m) ? &found : &lost) > files)
			module_close(m);
	}
}

void modules_let_go(struct modules *all, uint64_t bytes, size_t files)
{
	uint64_t loaded = modules_loaded_bytes(all);
	module_list idle = {};

	find_idle(all, &idle);
	for (size_t i = 0; i < idle.len && loaded > bytes; i++) {
		loaded -= loaded_bytes(idle.items[i]);
		module_unload(idle.items[i]);
	}
	if (idle.len > files)
		close_files(&idle, files);
	vec_release(&idle);
}
