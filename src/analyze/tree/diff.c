#include "analyze/tree/diff.h"
#include "analyze/paths/path_flame.h"

#include <math.h>
#include <string.h>

/* ---- merging two trees ---- */

static uint32_t add_text(struct diff *d, const char *text)
{
	uint32_t start = (uint32_t)d->text.len;

	buf_add(&d->text, text);
	buf_add_char(&d->text, '\0');
	return start;
}

static uint32_t name_of(struct diff *d, const char *name, const char *module, enum code_kind kind)
{
	uint64_t hash = hash_bytes(name, strlen(name), d->seed);
	size_t at = slots_begin(&d->name_slots, hash);
	struct diff_name new = {.kind = kind};
	uint32_t n;

	while ((n = slots_next(&d->name_slots, hash, &at)))
		if (!strcmp(diff_text(d, n), name))
			break;
	if (!n) {
		new.start = add_text(d, name);
		n = (uint32_t)d->names.len;
		vec_push(&d->names, new);
		slots_add(&d->name_slots, hash, n);
	}
	if (!d->names.items[n].module && *module) {
		uint32_t start = add_text(d, module);

		d->names.items[n].module = start;
	}
	return n;
}

static uint32_t child_of(struct diff *d, uint32_t parent, uint32_t name, bool group)
{
	uint32_t *child = children_at(&d->children, parent, name);
	uint32_t n = *child;

	if (n)
		return n;
	*child = n = (uint32_t)d->nodes.len;
	vec_push(&d->nodes, (struct diff_node){.parent = parent,
					       .next_sibling = d->nodes.items[parent].first_child,
					       .name = name,
					       .group = group});
	d->nodes.items[parent].first_child = n;
	return n;
}

static void add_view(struct diff *d, const struct view *v, enum diff_side side)
{
	const struct profile *p = v->profile;
	const struct calltree *t = &v->tree;
	uint32_t *to = xcalloc(t->nodes.len, sizeof(*to));
	uint32_t *names = xcalloc(v->names.count, sizeof(*names));

	for (size_t i = 0; i < t->nodes.len; i++) {
		const struct call_node *node = &t->nodes.items[i];
		uint32_t f = call_function(node).n;
		struct diff_node *n;

		if (i && !names[f]) {
			module_id module = p->functions.items[f].module;

			names[f] = name_of(d, view_name(v, node),
					   profile_text(p, p->modules.items[module.n].name),
					   p->functions.items[f].kind);
		}
		if (i)
			to[i] = child_of(d, to[node->parent], names[f],
					 !node->parent && v->options.group != GROUP_NONE);
		n = &d->nodes.items[to[i]];
		n->self[side] += call_self(t, (uint32_t)i).weight;
		n->total[side] += node->total;
		n->samples[side] += node->total_samples;
	}
	free(to);
	free(names);
}

/* Weight and samples of the subtree of each node of the call paths, for both sides. */
struct path_sums {
	size_t len;
	uint64_t *total[2], *samples[2];
};

static void sum_paths(struct path_sums *s, const struct call_paths *c,
		      const struct diff_weights sides[2])
{
	s->len = c->nodes.len;
	for (int side = 0; side < 2; side++) {
		if (!sides[side].self)
			continue;
		s->total[side] = table_alloc(s->len, sizeof(uint64_t));
		s->samples[side] = table_alloc(s->len, sizeof(uint64_t));
		path_totals(c, sides[side].self, s->total[side]);
		path_totals(c, sides[side].samples, s->samples[side]);
	}
}

static void path_sums_release(struct path_sums *s)
{
	for (int side = 0; side < 2; side++) {
		table_free(s->total[side], s->len, sizeof(uint64_t));
		table_free(s->samples[side], s->len, sizeof(uint64_t));
	}
}

static bool is_there(const struct path_sums *s, size_t node)
{
	return (s->samples[0] && s->samples[0][node]) || (s->samples[1] && s->samples[1][node]);
}

static void make_room(struct diff *d, const struct path_sums *s)
{
	size_t count = 0;

	for (size_t i = 0; i < s->len; i++)
		count += is_there(s, i);
	vec_reserve(&d->nodes, d->nodes.len + count);
	children_reserve(&d->children, d->nodes.len + count);
}

void diff_add_paths(struct diff *d, const struct call_paths *c, const struct profile *p,
		    const struct diff_weights sides[2])
{
	struct path_sums s = {};
	uint32_t *to = table_alloc(c->nodes.len, sizeof(*to));
	uint32_t *names = xcalloc(c->names.len, sizeof(*names));

	sum_paths(&s, c, sides);
	make_room(d, &s);
	for (size_t i = 0; i < c->nodes.len; i++) {
		const struct call_path *node = &c->nodes.items[i];
		const struct path_name *name = &c->names.items[node->name];
		struct diff_node *n;

		if (!is_there(&s, i))
			continue;
		if (i && !names[node->name])
			names[node->name] = name_of(d, profile_text(p, name->label),
						    profile_text(p, name->module), name->kind);
		if (i)
			to[i] = child_of(d, to[node->parent], names[node->name], false);
		n = &d->nodes.items[to[i]];
		for (int side = 0; side < 2; side++) {
			if (!s.samples[side] || !s.samples[side][i])
				continue;
			n->self[side] += sides[side].self[i];
			n->total[side] += s.total[side][i];
			n->samples[side] += s.samples[side][i];
		}
	}
	path_sums_release(&s);
	table_free(to, c->nodes.len, sizeof(*to));
	free(names);
}

void diff_init(struct diff *d)
{
	*d = (struct diff){.seed = hash_seed()};
	buf_add_char(&d->text, '\0');
	vec_push(&d->names, (struct diff_name){});
	vec_push(&d->nodes, (struct diff_node){});
}

void diff_build(struct diff *d, const struct view *before, const struct view *after, bool normalize)
{
	diff_init(d);
	add_view(d, before, DIFF_BEFORE);
	add_view(d, after, DIFF_AFTER);
	diff_finish(d, normalize);
}

void diff_finish(struct diff *d, bool normalize)
{
	const struct diff_node *root = &d->nodes.items[0];

	for (int side = 0; side < 2; side++) {
		uint64_t whole = root->total[normalize ? side : DIFF_AFTER];

		/* A side without samples has no shares of its own: take those of the other. */
		if (!whole)
			whole = root->total[normalize ? !side : DIFF_BEFORE];
		d->scale[side] = whole ? 1 / (double)whole : 0;
	}
}

void diff_release(struct diff *d)
{
	vec_release(&d->nodes);
	vec_release(&d->names);
	buf_release(&d->text);
	children_release(&d->children);
	slots_release(&d->name_slots);
}

/* ---- functions ---- */

static int by_change(const void *a, const void *b)
{
	const struct diff_function *x = a, *y = b;
	double self_x = fabs(x->self[1] - x->self[0]), self_y = fabs(y->self[1] - y->self[0]);
	double total_x = fabs(x->total[1] - x->total[0]), total_y = fabs(y->total[1] - y->total[0]);

	if (self_x != self_y)
		return self_x > self_y ? -1 : 1;
	if (total_x != total_y)
		return total_x > total_y ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/*
 * Returns, by node, whether its function is also one of its callers, so that it must not count
 * twice. The names above a node are kept as a set of 64 hash bits; the callers are compared only if
 * the bit of the name is set already.
 */
static bool *find_recursion(const struct diff *d)
{
	bool *again = xcalloc(d->nodes.len, sizeof(*again));
	uint64_t *above = table_alloc(d->nodes.len, sizeof(*above)); /* including the node itself */

	for (size_t i = 1; i < d->nodes.len; i++) {
		const struct diff_node *n = &d->nodes.items[i];
		uint64_t bit = n->group ? 0 : 1ull << (n->name * 0x9e3779b1u >> 26);

		above[i] = above[n->parent] | bit;
		if (!(above[n->parent] & bit))
			continue;
		for (uint32_t up = n->parent; up && !again[i]; up = d->nodes.items[up].parent)
			again[i] = !d->nodes.items[up].group && d->nodes.items[up].name == n->name;
	}
	table_free(above, d->nodes.len, sizeof(*above));
	return again;
}

struct function_sums {
	uint64_t self[2], total[2];
};

void diff_table_make(struct diff_table *t, const struct diff *d)
{
	struct function_sums *all = xcalloc(d->names.len, sizeof(*all));
	bool *again = find_recursion(d);

	*t = (struct diff_table){};
	for (size_t i = 1; i < d->nodes.len; i++) {
		const struct diff_node *n = &d->nodes.items[i];
		struct function_sums *f = &all[n->name];

		for (int side = 0; side < 2 && !n->group; side++) {
			f->self[side] += n->self[side];
			f->total[side] += again[i] ? 0 : n->total[side];
		}
	}
	for (uint32_t i = 1; i < d->names.len; i++) {
		struct diff_function f = {.name = i};

		for (int side = 0; side < 2; side++) {
			f.self[side] = (double)all[i].self[side] * d->scale[side];
			f.total[side] = (double)all[i].total[side] * d->scale[side];
		}
		if (f.total[0] > 0 || f.total[1] > 0)
			vec_push(&t->functions, f);
	}
	if (t->functions.len)
		qsort(t->functions.items, t->functions.len, sizeof(*t->functions.items), by_change);
	free(all);
	free(again);
}

void diff_table_release(struct diff_table *t)
{
	vec_release(&t->functions);
}

bool diff_groups_meet(const struct view *before, const struct view *after)
{
	struct diff d;
	uint64_t met = 0, whole;

	diff_build(&d, before, after, true);
	for (uint32_t c = d.nodes.items[0].first_child; c; c = d.nodes.items[c].next_sibling)
		if (d.nodes.items[c].total[0])
			met += d.nodes.items[c].total[1];
	whole = d.nodes.items[0].total[1];
	diff_release(&d);
	return met * 2 > whole;
}
