#include "analyze/paths/call_paths.h"

/* ---- names ---- */

static bool same_name(const struct path_name *a, const struct path_name *b)
{
	return a->label.n == b->label.n && a->module.n == b->module.n && a->kind == b->kind;
}

static uint32_t name_number(struct call_paths *c, const struct profile *p,
			    const struct path_name *name)
{
	uint64_t hash =
		hash_mix(p->seed ^ name->label.n, (uint64_t)name->module.n << 8 | name->kind);
	size_t at = slots_begin(&c->name_slots, hash);
	uint32_t n;

	while ((n = slots_next(&c->name_slots, hash, &at)))
		if (same_name(&c->names.items[n], name))
			return n;
	n = (uint32_t)c->names.len;
	vec_push(&c->names, *name);
	slots_add(&c->name_slots, hash, n);
	return n;
}

static string_id module_name(const struct profile *p, module_id module)
{
	return module.n < p->modules.len ? p->modules.items[module.n].name : (string_id){};
}

static uint32_t name_of_function(struct call_paths *c, const struct profile *p, function_id id)
{
	const struct profile_function *f;
	uint32_t *known;

	if (id.n >= p->functions.len)
		id.n = 0;
	vec_grow(&c->of_function, p->functions.len);
	known = &c->of_function.items[id.n];
	if (!*known) {
		f = function_of(p, id);
		*known = name_number(
			c, p, &(struct path_name){f->label, module_name(p, f->module), f->kind});
	}
	return *known;
}

/* ---- nodes ---- */

/* Finds or adds the child. Returns @parent if that would exceed @nodes_max. */
static uint32_t child_of(struct call_paths *c, uint32_t parent, uint32_t name, bool inlined,
			 size_t nodes_max)
{
	uint32_t key = name << 1 | inlined, *child;

	if (c->nodes.len >= nodes_max)
		return children_known(&c->children, parent, key) ?: parent;
	child = children_at(&c->children, parent, key);
	if (!*child) {
		*child = (uint32_t)c->nodes.len;
		vec_push(&c->nodes, (struct call_path){parent, name, inlined});
	}
	return *child;
}

uint32_t call_path_below(struct call_paths *c, const struct profile *p, uint32_t node,
			 uint32_t frame, size_t nodes_max)
{
	const struct profile_frame *f;
	const struct frame_name *names;

	if (!frame || frame >= p->frames.len)
		return node;
	f = &p->frames.items[frame];
	if (!f->names || !f->name_count) {
		/* A frame without a name yet is shown as its module. */
		string_id module = module_name(p, f->module);
		struct path_name name = {module, module, CODE_UNKNOWN};

		return child_of(c, node, name_number(c, p, &name), false, nodes_max);
	}
	names = &p->names.items[f->names];
	for (uint32_t i = 0; i < f->name_count; i++) {
		uint32_t child = child_of(c, node, name_of_function(c, p, names[i].function),
					  names[i].inlined, nodes_max);

		if (child == node)
			break;
		node = child;
	}
	return node;
}

/* ---- stacks ---- */

struct path_step {
	struct call_paths *paths;
	const struct profile *profile;
};

static uint32_t step_below(void *ctx, uint32_t node, uint32_t frame)
{
	const struct path_step *s = ctx;

	return call_path_below(s->paths, s->profile, node, frame, SIZE_MAX);
}

uint32_t call_path_of(struct call_paths *c, const struct profile *p, uint32_t stack)
{
	return stack_nodes_walk(&c->stacks, p, stack, step_below, &(struct path_step){c, p});
}

void call_paths_all(struct call_paths *c, const struct profile *p)
{
	/* Usually there are fewer nodes than stacks; if not, the index grows. */
	if (!c->children.count)
		children_reserve(&c->children, p->stacks.len / 3 * 2);
	for (uint32_t stack = 1; stack < p->stacks.len; stack++)
		call_path_of(c, p, stack);
}

void call_paths_init(struct call_paths *c)
{
	*c = (struct call_paths){};
	vec_push(&c->nodes, (struct call_path){});
	vec_push(&c->names, (struct path_name){});
}

void call_paths_release(struct call_paths *c)
{
	vec_release(&c->nodes);
	vec_release(&c->names);
	stack_nodes_release(&c->stacks);
	vec_release(&c->of_function);
	children_release(&c->children);
	slots_release(&c->name_slots);
	*c = (struct call_paths){};
}
