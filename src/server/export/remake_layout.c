#include "server/export/remake_internal.h"

#include <string.h>

/* Far above the addresses of programs, far below those of libraries. */
#define FILES_START 0x100000000000ull
#define FILES_END   0x600000000000ull
#define FILE_MAX    (1ull << 32) /* larger modules are taken as invalid */
#define USER_END    0x7ffffffff000ull
#define PAGE        4096ull

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static enum remade_kind kind_of(const struct profile *p, const struct profile_module *m)
{
	const char *path = profile_text(p, m->path);

	switch (m->kind) {
	case CODE_KERNEL:
		return *path == '[' || *path == '/' ? REMADE_KERNEL : REMADE_SYMBOL;
	case CODE_JIT:
		return begins(path, "/tmp/perf-") ? REMADE_RUNTIME : REMADE_FILE;
	case CODE_USER:
	case CODE_VDSO:
		return REMADE_FILE;
	case CODE_UNKNOWN:
		break;
	}
	return REMADE_NOWHERE;
}

/* Sets the range of each module: from the lowest to the highest page that has a frame. */
static void find_ranges(const struct profile *p, remade_modules *all)
{
	for (uint32_t n = 1; n < p->frames.len; n++) {
		const struct profile_frame *f = &p->frames.items[n];
		struct remade_module *m = &all->items[f->module.n];
		uint64_t page = f->address & ~(PAGE - 1);

		/* NAMELESS_ADDRESS, or an impossible address. */
		if (f->address >= UINT64_MAX - PAGE)
			continue;
		if (!m->size || page < m->first) {
			m->size = m->size ? m->size + (m->first - page) : PAGE;
			m->first = page;
		}
		if (page - m->first >= m->size)
			m->size = page - m->first + PAGE;
	}
}

void remake_layout(const struct profile *p, remade_modules *ret)
{
	uint64_t next = FILES_START;

	for (uint32_t n = 0; n < p->modules.len; n++)
		vec_push(ret, (struct remade_module){.kind = n ? kind_of(p, &p->modules.items[n])
							       : REMADE_NOWHERE});
	find_ranges(p, ret);
	vec_each(ret, m) {
		switch (m->kind) {
		case REMADE_FILE:
			m->start = next;
			if (!m->size || m->size > FILE_MAX || m->size > FILES_END - next)
				m->kind = REMADE_NOWHERE;
			else
				next += m->size + PAGE;
			break;
		case REMADE_RUNTIME:
			m->start = m->first;
			if (!m->size || m->first >= USER_END || m->size > USER_END - m->first)
				m->kind = REMADE_NOWHERE;
			break;
		case REMADE_KERNEL:
		case REMADE_SYMBOL:
			/* Any address is valid: on 32-bit machines the kernel may lie anywhere. */
			m->start = m->first;
			if (!m->size)
				m->kind = REMADE_NOWHERE;
			break;
		case REMADE_NOWHERE:
			break;
		}
	}
}

uint64_t remade_ip(const remade_modules *modules, const struct profile_frame *f)
{
	const struct remade_module *m = &modules->items[f->module.n];

	if (m->kind == REMADE_NOWHERE || f->address - m->first >= m->size)
		return 0;
	return m->start + (f->address - m->first);
}
