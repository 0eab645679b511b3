#include "base/as_user.h"
#include "perf/synth_read.h"
#include "symbol/elf/symbols.h"
#include "symbol/kernel_hidden.h"
#include "symbol/module/state.h"

#include <errno.h>
#include <string.h>

#define RUNNING_KERNEL "/proc/kallsyms"

/* ---- tables, each read once ---- */

static struct kernel_names *names_of_file(struct modules *all, const char *file)
{
	struct kernel_names *k;

	pthread_mutex_lock(&all->lock);
	for (k = all->kernels; k && strcmp(k->file, file); k = k->next)
		;
	if (!k) {
		k = xcalloc(1, sizeof(*k));
		k->file = xstrdup(file);
		pthread_mutex_init(&k->lock, NULL);
		k->next = all->kernels;
		all->kernels = k;
	}
	pthread_mutex_unlock(&all->lock);
	return k;
}

static char *hidden_problem(const char *file)
{
	CLEANUP(free_ptr) char *remedy = NULL;

	if (strcmp(file, RUNNING_KERNEL) != 0)
		return xasprintf("'%s' has no addresses: copy /proc/kallsyms as root", file);
	remedy = kernel_hidden_remedy("/proc");
	return xasprintf("the kernel hides its addresses from this user, so its functions have no "
			 "names: %s",
			 remedy);
}

static void read_names(struct kernel_names *k)
{
	struct err e = {};

	pthread_mutex_lock(&k->lock);
	if (!k->asked) {
		k->asked = true;
		if (kallsyms_read(&k->kallsyms, k->file, &e) < 0)
			k->problem = xstrdup(e.text);
		else if (k->kallsyms.hidden)
			k->problem = hidden_problem(k->file);
		else if (!k->kallsyms.symbols.symbols.len)
			k->problem = xasprintf("'%s' has no symbols", k->file);
	}
	pthread_mutex_unlock(&k->lock);
}

static void *read_in_background(void *ctx)
{
	struct kernel_names *k = ctx;

	read_names(k);
	atomic_store_explicit(&k->reading, false, memory_order_release);
	return NULL;
}

void module_prepare(struct module *m)
{
	struct kernel_names *k = m->state->kernel;

	if (!k)
		return;
	pthread_mutex_lock(&k->lock);
	if (!k->asked && !k->has_reader) {
		atomic_store(&k->reading, true);
		k->has_reader = !pthread_create(&k->reader, NULL, read_in_background, k);
		if (!k->has_reader)
			atomic_store(&k->reading, false);
	}
	pthread_mutex_unlock(&k->lock);
}

bool module_is_being_read(const struct module *m)
{
	const struct kernel_names *k = m->state->kernel;

	return k && atomic_load_explicit(&k->reading, memory_order_acquire);
}

void module_release_kernels(struct modules *all)
{
	while (all->kernels) {
		struct kernel_names *k = all->kernels;

		all->kernels = k->next;
		if (k->has_reader)
			pthread_join(k->reader, NULL);
		kallsyms_release(&k->kallsyms);
		pthread_mutex_destroy(&k->lock);
		free(k->problem);
		free(k->file);
		free(k);
	}
}

/* ---- the kernel ---- */

/* Whether the recorded address is that of _stext, not _text: "[kernel.kallsyms]_stext". */
static bool is_stext(const struct module *m)
{
	const char *end = strchr(m->path, ']');

	return end && !strcmp(end + 1, "_stext");
}

static void use_copy(struct module *m, const char *file)
{
	struct module_state *s = m->state;
	uint64_t text;

	s->kernel = names_of_file(s->all, file);
	read_names(s->kernel);
	m->file = xstrdup(file);
	text = is_stext(m) ? s->kernel->kallsyms.stext : s->kernel->kallsyms.text;
	if (text && s->request.kernel_text)
		s->moved = text - s->request.kernel_text;
	pthread_mutex_lock(&s->all->lock);
	s->all->copied_kernel = s->kernel;
	pthread_mutex_unlock(&s->all->lock);
}

static void use_running(struct module *m, const struct kernel_text *now)
{
	struct module_state *s = m->state;

	s->kernel = names_of_file(s->all, RUNNING_KERNEL);
	m->file = xstrdup(RUNNING_KERNEL);
	if (now->start && s->request.kernel_text)
		s->moved = now->start - s->request.kernel_text;
}

static uint64_t address_of(struct module *m, const char *name)
{
	const struct symtab *t = &m->state->own_names;

	for (size_t i = 0; i < t->symbols.len; i++)
		if (!strcmp(symtab_name(t, &t->symbols.items[i]), name))
			return t->symbols.items[i].start;
	return 0;
}

static void use_vmlinux(struct module *m, const char *file)
{
	struct module_state *s = m->state;
	struct err e = {};
	uint64_t text;

	if (elf_open(&s->elf, file, &e) < 0) {
		s->elf = NULL;
		module_problem(m, "%s", e.text);
		return;
	}
	if (s->request.build_id.size && elf_build_id(s->elf)->size &&
	    !build_id_same(elf_build_id(s->elf), &s->request.build_id)) {
		char is[BUILD_ID_SHORT], then[BUILD_ID_SHORT];

		build_id_short(elf_build_id(s->elf), is);
		build_id_short(&s->request.build_id, then);
		module_problem(m,
			       "'%s' belongs to another kernel than the recorded one (build id %s, "
			       "not %s)",
			       file, is, then);
		elf_close(s->elf);
		s->elf = NULL;
		return;
	}
	m->file = xstrdup(file);
	elf_add_symbols(&s->own_names, s->elf, s->elf, SHT_SYMTAB);
	/* Do this before symtab_finish(), which keeps only one name per address. */
	text = address_of(m, is_stext(m) ? "_stext" : "_text");
	if (!text)
		text = address_of(m, "_stext");
	symtab_finish(&s->own_names);
	if (text && s->request.kernel_text)
		s->moved = text - s->request.kernel_text;
	if (!s->own_names.symbols.len)
		module_problem(m, "'%s' has no symbols: it is stripped", file);
}

/* Uses perf's copy of kallsyms or an installed vmlinux. Returns false if there is neither. */
static bool use_kept(struct module *m)
{
	const struct build_id *id = &m->state->request.build_id;
	CLEANUP(free_ptr) char *copy = perf_cache_find(id, "kallsyms", m->state->rights);
	CLEANUP(free_ptr) char *vmlinux = NULL;
	const struct file_search search = module_search(m);
	struct elf_file *f;

	if (copy) {
		use_copy(m, copy);
		return true;
	}
	f = find_debug_file(NULL, "/vmlinux", id, &search, &vmlinux);
	elf_close(f);
	if (f)
		use_vmlinux(m, vmlinux);
	return f;
}

static void open_core_kernel(struct module *m)
{
	struct module_state *s = m->state;
	const struct module_request *r = &s->request;
	const struct symbol_options *o = &s->all->options;
	char now[BUILD_ID_SHORT], then[BUILD_ID_SHORT];
	struct kernel_text text = {};
	struct build_id running = {};

	if (o->vmlinux || o->kallsyms) {
		if (o->vmlinux)
			use_vmlinux(m, o->vmlinux);
		else
			use_copy(m, o->kallsyms);
		return;
	}
	if (r->kernel_hidden) {
		module_problem(m, "%s", kernel_hidden_when_recorded);
		return;
	}
	build_id_of_kernel(&s->all->roots, &running);
	synth_read_kernel(&s->all->roots, &text);
	if (r->build_id.size ? build_id_same(&running, &r->build_id)
			     : !r->kernel_text || r->kernel_text == text.start) {
		use_running(m, &text);
		return;
	}
	if (!r->build_id.size) {
		module_problem(m, "the recording does not tell which kernel it is of: give "
				  "--kallsyms or --vmlinux of the recorded kernel");
		return;
	}
	if (use_kept(m))
		return;
	build_id_short(&running, now);
	build_id_short(&r->build_id, then);
	module_problem(m,
		       "another kernel was recorded (build id %s now, %s then): give --kallsyms or "
		       "--vmlinux of it",
		       now, then);
}

/* ---- loadable modules ---- */

/* Returns "ext4" for "[ext4]" or "/lib/modules/6.1.0/kernel/fs/ext4/ext4.ko.xz". */
static char *part_name(const char *path)
{
	const char *slash = strrchr(path, '/'), *start = slash ? slash + 1 : path;
	size_t len;
	char *name;

	if (*start == '[')
		start++;
	len = strcspn(start, ".]");
	name = xstrndup(start, len);
	for (char *c = name; *c; c++)
		if (*c == '-')
			*c = '_';
	return name;
}

struct seen_part {
	const char *name;
	uint64_t address;
	bool loaded;
};

static bool visit_part(void *ctx, const char *name, uint64_t address, uint64_t size)
{
	struct seen_part *seen = ctx;

	(void)size;
	if (strcmp(name, seen->name))
		return true;
	seen->address = address;
	seen->loaded = true;
	return false;
}

static void open_part(struct module *m)
{
	struct module_state *s = m->state;
	const struct module_request *r = &s->request;
	CLEANUP(free_ptr) char *name = part_name(m->path);
	struct seen_part seen = {.name = name};
	struct build_id now = {};

	if (s->all->options.kallsyms) {
		use_copy(m, s->all->options.kallsyms);
		s->moved = 0;
		return;
	}
	build_id_of_module(&s->all->roots, name, &now);
	synth_read_modules(&s->all->roots, visit_part, &seen);
	if (r->build_id.size ? build_id_same(&now, &r->build_id)
			     : seen.loaded && (!r->start || r->start == seen.address)) {
		use_running(m, &(struct kernel_text){});
		if (r->start && seen.address)
			s->moved = seen.address - r->start;
		return;
	}
	pthread_mutex_lock(&s->all->lock);
	s->kernel = s->all->copied_kernel;
	pthread_mutex_unlock(&s->all->lock);
	if (s->kernel) {
		m->file = xstrdup(s->kernel->file);
	} else if (now.size && r->build_id.size) {
		module_problem(m, "the kernel module '%s' is not the one that was recorded", name);
	} else {
		module_problem(m, "the kernel module '%s' is not loaded any more", name);
	}
}

void module_open_kernel(struct module *m)
{
	if (!strncmp(m->path, "[guest", 6)) {
		module_problem(m, "code of a guest's kernel: its names are not known here");
		return;
	}
	if (m->kind == MODULE_KERNEL)
		open_core_kernel(m);
	else
		open_part(m);
}

void module_load_kernel_names(struct module *m)
{
	struct module_state *s = m->state;

	if (s->kernel) {
		read_names(s->kernel);
		if (s->kernel->problem)
			module_problem(m, "%s", s->kernel->problem);
		else
			s->names = &s->kernel->kallsyms.symbols;
	} else if (s->own_names.symbols.len) {
		s->names = &s->own_names;
	}
}

/* ---- code ---- */

size_t module_kernel_code(struct module *m, uint64_t address, void *to, size_t size)
{
	struct module_state *s = m->state;
	struct elf_file *core;

	if (s->elf)
		return elf_read_address(s->elf, address, to, size);
	if (!s->kernel || strcmp(s->kernel->file, RUNNING_KERNEL))
		return 0;
	pthread_mutex_lock(&s->lock);
	if (!s->core_asked) {
		s->core_asked = true;
		if (as_user_chosen() || elf_open(&s->core, "/proc/kcore", NULL) < 0)
			s->core = NULL;
	}
	core = s->core;
	pthread_mutex_unlock(&s->lock);
	return core ? elf_read_address(core, address, to, size) : 0;
}
