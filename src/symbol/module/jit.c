/* Code that was generated at run time: named by a perf map, or stored in a jitdump file. */
#include "symbol/jit_keep.h"
#include "symbol/module/state.h"
#include "symbol/perf_map.h"

#include <errno.h>

void modules_set_recording(struct modules *all, uint64_t wall_ns, uint64_t clock_ns)
{
	pthread_mutex_lock(&all->lock);
	if (all->wall_ns != wall_ns || all->clock_ns != clock_ns) {
		free(all->jit_dir);
		all->jit_dir = jit_keep_dir(wall_ns);
		all->wall_ns = wall_ns;
		all->clock_ns = clock_ns;
	}
	pthread_mutex_unlock(&all->lock);
}

void module_open_jit(struct module *m)
{
	struct module_state *s = m->state;
	struct jitdump_source source = {
		.path = m->path, .pid = s->request.pid, .kept_dir = s->all->jit_dir};
	struct err e = {};

	module_find_rights(m);
	if (m->kind != MODULE_JITDUMP)
		return;
	source.rights = s->rights;
	if (jitdump_find(&s->jitdump, &source, &e) < 0)
		module_problem(m, "%s", e.text);
	else if (jitdump_damage(s->jitdump))
		module_problem(m, "'%s' could be read in part only: %s", m->path,
			       jitdump_damage(s->jitdump));
}

static void load_perf_map(struct module *m)
{
	struct module_state *s = m->state;
	const struct modules *all = s->all;
	struct perf_map_source source = {.pid = s->request.pid,
					 .pid_inside = s->request.pid_inside,
					 .uid = PERF_MAP_UID_UNKNOWN,
					 .kept_dir = all->jit_dir,
					 .rights = s->rights};
	struct err e = {};

	if (all->wall_ns && s->request.begun_ns > all->clock_ns)
		source.start_ns = all->wall_ns + (s->request.begun_ns - all->clock_ns);
	/* Text becomes a table that grows by doubling. */
	s->memory.max = 4ull * PERF_MAP_BYTES_MAX;
	if (perf_map_load(&source, &s->own_names, &m->file, &e) < 0)
		module_problem(m, "%s", e.text);
	else
		s->names = &s->own_names;
	if (s->own_names.refused && !s->memory.refused)
		module_problem(m, "'%s' is too long: only its first %u lines were read", m->file,
			       PERF_MAP_LINES_MAX);
}

void module_load_jit_names(struct module *m)
{
	struct module_state *s = m->state;

	if (m->kind == MODULE_PERF_MAP)
		load_perf_map(m);
	else if (s->jitdump)
		s->names = jitdump_symbols(s->jitdump);
}

bool module_line(struct module *m, uint64_t address, const char **ret_file, uint32_t *ret_line)
{
	return m->state->jitdump && jitdump_line(m->state->jitdump, address, ret_file, ret_line);
}

const struct jitdump *module_jitdump(struct module *m)
{
	return m->state->jitdump;
}
