#include "symbol/module/module.h"
#include "base/buf.h"
#include "symbol/module/state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void build_id_short(const struct build_id *id, char text[BUILD_ID_SHORT])
{
	size_t bytes = id->size < 4 ? id->size : 4;

	text[0] = '\0';
	for (size_t i = 0; i < bytes; i++)
		snprintf(text + 2 * i, 3, "%02x", id->bytes[i]);
	strcat(text, "…");
}

void module_problem(struct module *m, const char *fmt, ...)
{
	struct buf text = {};
	va_list ap;

	if (m->problem)
		return;
	va_start(ap, fmt);
	buf_addv(&text, fmt, ap);
	va_end(ap);
	m->problem = buf_steal(&text);
}

/* ---- memory ---- */

#define MEMORY_BYTES_MIN (512ull << 20)
#define MEMORY_BYTES_MAX (4ull << 30)

static uint64_t usual_memory(void)
{
	uint64_t quarter = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 4;

	return quarter < MEMORY_BYTES_MIN   ? MEMORY_BYTES_MIN
	       : quarter > MEMORY_BYTES_MAX ? MEMORY_BYTES_MAX
					    : quarter;
}

/* The caller must hold the lock. */
static void check_memory(struct module *m)
{
	struct module_state *s = m->state;
	CLEANUP(buf_release) struct buf own = {}, all = {};

	if (!s->memory.refused || m->problem)
		return;
	buf_add_size(&own, s->memory.max);
	buf_add_size(&all, s->all->memory.max);
	module_problem(m,
		       "'%s' needs more memory than is allowed for it (%s) or is left of that for "
		       "all programs (%s), so names and lines of it are missing",
		       m->path, buf_str(&own), buf_str(&all));
}

void module_check_memory(struct module *m)
{
	if (!m->state->memory.refused || m->problem)
		return;
	pthread_mutex_lock(&m->state->lock);
	check_memory(m);
	pthread_mutex_unlock(&m->state->lock);
}

/* ---- the list ---- */

struct modules *modules_new(const struct symbol_options *options)
{
	struct modules *all = xcalloc(1, sizeof(*all));

	if (options)
		all->options = *options;
	all->memory.max = all->options.memory_bytes ? all->options.memory_bytes : usual_memory();
	all->roots = roots_find();
	pthread_mutex_init(&all->lock, NULL);
	return all;
}

static void free_module(struct module *m)
{
	module_close(m);
	pthread_mutex_destroy(&m->state->lock);
	free(m->state->key);
	free(m->state);
	free(m->path);
	free(m);
}

void modules_free(struct modules *all)
{
	if (!all)
		return;
	vec_each(&all->list, m)
		free_module(*m);
	vec_release(&all->list);
	free(all->slots);
	free(all->jit_dir);
	module_release_kernels(all);
	pthread_mutex_destroy(&all->lock);
	free(all);
}

/* Requests with equal keys share a module. With a build id the inode is left out: the id
 * identifies the file. */
static char *key_of(const struct module_request *r)
{
	struct buf key = {};

	buf_addf(&key, "%d ", (int)r->kind);
	switch (r->kind) {
	case MODULE_PERF_MAP:
		buf_addf(&key, "%u %u", r->pid, r->pid_inside);
		break;
	case MODULE_JITDUMP:
		buf_addf(&key, "%u ", r->pid);
		break;
	case MODULE_KERNEL:
	case MODULE_KERNEL_PART:
		buf_addf(&key, "%lx %d ", r->kind == MODULE_KERNEL ? r->kernel_text : r->start,
			 r->kernel_hidden);
		break;
	default:
		if (!r->build_id.size)
			buf_addf(&key, "%lu %lu ", r->inode, r->generation);
	}
	for (size_t i = 0; i < r->build_id.size && i < BUILD_ID_BYTES_MAX; i++)
		buf_addf(&key, "%02x", r->build_id.bytes[i]);
	if (r->kind != MODULE_PERF_MAP)
		buf_addf(&key, " %s", r->path ? r->path : "");
	return buf_steal(&key);
}

static uint64_t hash_of(const char *key)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (; *key; key++)
		h = (h ^ (unsigned char)*key) * 0x100000001b3ull;
	return h ^ h >> 32;
}

static uint32_t *slot_of(struct modules *all, const char *key)
{
	size_t at = hash_of(key) & (all->room - 1);

	while (all->slots[at] && strcmp(all->list.items[all->slots[at] - 1]->state->key, key))
		at = (at + 1) & (all->room - 1);
	return &all->slots[at];
}

static void grow(struct modules *all)
{
	if (2 * (all->list.len + 1) <= all->room)
		return;
	free(all->slots);
	all->room = all->room ? 2 * all->room : 64;
	all->slots = xcalloc(all->room, sizeof(*all->slots));
	for (size_t i = 0; i < all->list.len; i++)
		*slot_of(all, all->list.items[i]->state->key) = (uint32_t)i + 1;
}

/* Takes ownership of @key. */
static struct module *new_module(struct modules *all, const struct module_request *r, char *key)
{
	struct module *m = xcalloc(1, sizeof(*m));
	struct module_state *s = xcalloc(1, sizeof(*s));

	m->kind = r->kind;
	m->path = xstrdup(r->path ? r->path : "");
	m->state = s;
	s->all = all;
	s->memory.total = &all->memory;
	s->memory.max = MODULE_BYTES_MIN;
	s->own_names.budget = &s->memory;
	s->key = key;
	s->request = *r;
	s->request.path = m->path;
	s->rights = rights_of_unknown();
	pthread_mutex_init(&s->lock, NULL);
	return m;
}

static void open_module(struct module *m)
{
	switch (m->kind) {
	case MODULE_ELF:
		module_open_file(m);
		break;
	case MODULE_VDSO:
		module_open_vdso(m);
		break;
	case MODULE_KERNEL:
	case MODULE_KERNEL_PART:
		module_open_kernel(m);
		break;
	case MODULE_PERF_MAP:
	case MODULE_JITDUMP:
		module_open_jit(m);
		break;
	default:
		break;
	}
	if (m->state->elf) {
		elf_share(m->state->elf, &m->state->memory);
		m->build_id = *elf_build_id(m->state->elf);
	}
}

void module_open(struct module *m)
{
	struct module_state *s = m->state;

	if (atomic_load_explicit(&s->opened, memory_order_acquire))
		return;
	pthread_mutex_lock(&s->lock);
	if (!s->opened) {
		open_module(m);
		m->closed = false;
		atomic_store_explicit(&s->opened, true, memory_order_release);
	}
	pthread_mutex_unlock(&s->lock);
}

struct module *modules_get(struct modules *all, const struct module_request *request)
{
	char *key = key_of(request);
	struct module *m;
	uint32_t *slot;

	pthread_mutex_lock(&all->lock);
	grow(all);
	slot = slot_of(all, key);
	if (*slot) {
		m = all->list.items[*slot - 1];
		free(key);
	} else {
		m = new_module(all, request, key);
		vec_push(&all->list, m);
		*slot = (uint32_t)all->list.len;
	}
	pthread_mutex_unlock(&all->lock);

	module_open(m);
	return m;
}

/* ---- one module ---- */

const struct rights *module_rights(const struct module *m)
{
	return m->state->is_copy ? rights_of_copy(m->state->rights) : m->state->rights;
}

struct file_search module_search(const struct module *m)
{
	const struct symbol_options *o = &m->state->all->options;

	return (struct file_search){
		.symfs = o->symfs, .no_debuginfod = o->no_debuginfod, .rights = module_rights(m)};
}

uint64_t module_address(struct module *m, uint64_t file_offset, uint64_t runtime_address)
{
	struct module_state *s = m->state;
	uint64_t address;

	switch (m->kind) {
	case MODULE_KERNEL:
	case MODULE_KERNEL_PART:
		return runtime_address + s->moved;
	case MODULE_PERF_MAP:
		return runtime_address;
	case MODULE_ELF:
	case MODULE_VDSO:
		if (s->elf && elf_address_of_offset(s->elf, file_offset, &address))
			return address;
		return file_offset;
	default:
		return file_offset;
	}
}

static void load_names(struct module *m)
{
	struct module_state *s = m->state;

	switch (m->kind) {
	case MODULE_ELF:
	case MODULE_VDSO:
		module_load_file_names(m);
		break;
	case MODULE_KERNEL:
	case MODULE_KERNEL_PART:
		module_load_kernel_names(m);
		break;
	case MODULE_PERF_MAP:
	case MODULE_JITDUMP:
		module_load_jit_names(m);
		break;
	default:
		break;
	}
	check_memory(m);
	atomic_store_explicit(&s->names_asked, true, memory_order_release);
}

const struct symtab *module_symbols(struct module *m)
{
	struct module_state *s = m->state;

	module_ask(m);
	if (!atomic_load_explicit(&s->names_asked, memory_order_acquire)) {
		pthread_mutex_lock(&s->lock);
		if (!s->names_asked)
			load_names(m);
		pthread_mutex_unlock(&s->lock);
	}
	return s->names;
}

const struct symbol *module_symbol(struct module *m, uint64_t address, const char **ret_name)
{
	const struct symtab *names = module_symbols(m);
	const struct symbol *found = names ? symtab_find(names, address) : NULL;

	if (found)
		*ret_name = symtab_name(names, found);
	return found;
}

struct elf_file *module_elf(struct module *m)
{
	return m->state->elf;
}

struct elf_file *module_debug_elf(struct module *m)
{
	struct module_state *s = m->state;

	pthread_mutex_lock(&s->lock);
	module_find_debug_file(m);
	pthread_mutex_unlock(&s->lock);
	return s->debug ? s->debug : s->elf;
}

static bool locked_section(struct module *m, struct elf_file *f, const char *name,
			   struct elf_section *ret)
{
	bool found;

	if (!f)
		return false;
	pthread_mutex_lock(&m->state->lock);
	found = elf_section(f, name, ret) && ret->data;
	pthread_mutex_unlock(&m->state->lock);
	return found;
}

bool module_section(struct module *m, const char *name, struct elf_section *ret)
{
	return locked_section(m, module_elf(m), name, ret);
}

bool module_debug_section(struct module *m, const char *name, struct elf_section *ret)
{
	return locked_section(m, module_debug_elf(m), name, ret);
}

size_t module_code(struct module *m, uint64_t address, void *to, size_t size)
{
	struct module_state *s = m->state;

	if (m->kind == MODULE_KERNEL || m->kind == MODULE_KERNEL_PART)
		return module_kernel_code(m, address, to, size);
	if (s->jitdump)
		return jitdump_bytes(s->jitdump, address, to, size);
	return s->elf ? elf_read_address(s->elf, address, to, size) : 0;
}
