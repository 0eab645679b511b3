#include "analyze/tree/view.h"
#include "profile/stack_end.h"

#include <string.h>

/* In the tree groups are functions; this start keeps them apart from functions of that name. */
#define GROUP_START UINT64_MAX

static function_id group_function(struct profile *p, enum name_style style, const char *name)
{
	CLEANUP(free_ptr) char *copy = xstrdup(*name ? name : "[unknown]");
	struct profile_function f = {.start = GROUP_START, .named = true};

	/* Blanks have a meaning in folded text; add_folded_name() replaces semicolons. */
	for (char *c = copy; style != NAMES_PLAIN && *c; c++)
		if (*c == ' ')
			*c = '_';
	f.name = profile_string(p, copy);
	return profile_function(p, &f);
}

static function_id group_of_thread(struct profile *p, const struct view_options *o, size_t i)
{
	const struct profile_thread t = p->threads.items[i];
	CLEANUP(free_ptr) char *name = NULL;
	const char *comm = profile_text(p, t.comm);

	if (!i)
		name = xstrdup("");
	else if (o->group == GROUP_PID)
		name = xasprintf("%s-%u", comm, t.pid);
	else if (o->group == GROUP_TID)
		name = xasprintf("%s-%u/%u", comm, t.pid, t.tid);
	else
		name = xstrdup(comm);
	return group_function(p, o->style, name);
}

static size_t count_cpus(const struct profile *p)
{
	size_t count = 0;

	vec_each(&p->rows, row)
		if (row->cpu >= count)
			count = (size_t)row->cpu + 1;
	/* Files are not trusted, and no machine has more CPUs. */
	return count < 65536 ? count : 65536;
}

static void make_groups(struct view *v, struct profile *p)
{
	const struct view_options *o = &v->options;

	if (o->group == GROUP_NONE)
		return;
	v->group_count = o->group == GROUP_CPU     ? count_cpus(p)
			 : o->group == GROUP_EVENT ? p->events.len
						   : p->threads.len;
	v->groups = xcalloc(v->group_count + 1, sizeof(*v->groups));
	for (size_t i = 0; i < v->group_count; i++) {
		if (o->group == GROUP_CPU) {
			CLEANUP(free_ptr) char *name = xasprintf("CPU %zu", i);

			v->groups[i] = group_function(p, o->style, name);
		} else if (o->group == GROUP_EVENT) {
			CLEANUP(free_ptr)
			char *name = xstrdup(profile_text(p, p->events.items[i].name));

			v->groups[i] = group_function(p, o->style, name);
		} else {
			v->groups[i] = group_of_thread(p, o, i);
		}
	}
}

static bool want_row(void *ctx, const struct profile_row *row)
{
	const struct view *v = ctx;

	return v->options.group == GROUP_EVENT || row->event.n == v->options.event.n;
}

static function_id group_of_row(void *ctx, const struct profile_row *row)
{
	const struct view *v = ctx;
	size_t i = v->options.group == GROUP_CPU     ? row->cpu
		   : v->options.group == GROUP_EVENT ? row->event.n
						     : row->thread.n;

	return i < v->group_count ? v->groups[i] : (function_id){};
}

/* Returns, by function, whether it only says how a stack ended. */
static bool *find_ends(const struct profile *p)
{
	bool *ends = xcalloc(p->functions.len, sizeof(*ends));

	for (size_t i = 0; i < p->functions.len; i++) {
		const struct profile_function *f = &p->functions.items[i];

		ends[i] = !f->module.n && !f->start && stack_end_is(profile_text(p, f->name));
	}
	return ends;
}

void view_build(struct view *v, struct profile *p, const struct view_options *o)
{
	CLEANUP(free_ptr) bool *ends = NULL;
	struct calltree_options tree = {
		.reverse = o->reverse,
		.join_inlined = o->join_inlined,
		.want = want_row,
		.ctx = v,
	};

	*v = (struct view){.profile = p, .options = *o};
	make_groups(v, p);
	shown_names_make(&v->names, p, o->style);
	tree.as = v->names.as;
	if (o->group != GROUP_NONE)
		tree.root = group_of_row;
	if (o->no_ends)
		ends = find_ends(p);
	tree.skip = ends;
	calltree_build(&v->tree, p, &tree);
}

void view_release(struct view *v)
{
	calltree_release(&v->tree);
	shown_names_release(&v->names);
	free(v->groups);
	*v = (struct view){};
}
