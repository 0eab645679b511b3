#include "analyze/paths/path_functions.h"
#include "analyze/paths/path_flame.h"

/* Children of each node, only those with samples. */
struct links {
	uint32_t *first_child, *next_sibling;
};

static void link_nodes(struct links *l, const struct call_paths *c, const uint64_t *samples)
{
	l->first_child = table_alloc(c->nodes.len, sizeof(*l->first_child));
	l->next_sibling = table_alloc(c->nodes.len, sizeof(*l->next_sibling));
	for (size_t i = c->nodes.len; i-- > 1;) {
		uint32_t parent = c->nodes.items[i].parent;

		if (!samples[i])
			continue;
		l->next_sibling[i] = l->first_child[parent];
		l->first_child[parent] = (uint32_t)i;
	}
}

static int by_self(const void *a, const void *b)
{
	const struct path_function *x = a, *y = b;

	if (x->self != y->self)
		return x->self > y->self ? -1 : 1;
	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/* Returns the name of the function that holds the code of a node. */
static uint32_t holder(const struct call_paths *c, uint32_t node)
{
	while (c->nodes.items[node].inlined && c->nodes.items[node].parent)
		node = c->nodes.items[node].parent;
	return c->nodes.items[node].name;
}

/* Walks the tree and counts how often each function is on the path, for recursion. */
static void add_totals(struct path_function *all, const struct call_paths *c, const uint64_t *total,
		       const uint64_t *samples)
{
	uint32_t *open = xcalloc(c->names.len, sizeof(*open));
	struct links l;
	uint32_t node;

	link_nodes(&l, c, samples);
	node = l.first_child[0];
	while (node) {
		uint32_t name = c->nodes.items[node].name;

		if (!open[name]++) {
			all[name].total += total[node];
			all[name].total_samples += samples[node];
		}
		if (l.first_child[node]) {
			node = l.first_child[node];
			continue;
		}
		while (node && !l.next_sibling[node]) {
			open[c->nodes.items[node].name]--;
			node = c->nodes.items[node].parent;
		}
		if (node) {
			open[c->nodes.items[node].name]--;
			node = l.next_sibling[node];
		}
	}
	free(open);
	table_free(l.first_child, c->nodes.len, sizeof(*l.first_child));
	table_free(l.next_sibling, c->nodes.len, sizeof(*l.next_sibling));
}

void path_functions_make(path_functions *ret, const struct call_paths *c, const uint64_t *self,
			 const uint64_t *samples)
{
	struct path_function *all = xcalloc(c->names.len, sizeof(*all));
	uint64_t *total = table_alloc(c->nodes.len, sizeof(*total));
	uint64_t *total_samples = table_alloc(c->nodes.len, sizeof(*total_samples));

	path_totals(c, self, total);
	path_totals(c, samples, total_samples);
	add_totals(all, c, total, total_samples);
	for (uint32_t i = 1; i < c->nodes.len; i++) {
		if (!samples[i])
			continue;
		all[holder(c, i)].self += self[i];
		all[holder(c, i)].self_samples += samples[i];
	}
	for (uint32_t i = 1; i < c->names.len; i++) {
		all[i].name = i;
		if (all[i].total_samples || all[i].self_samples)
			vec_push(ret, all[i]);
	}
	if (ret->len)
		qsort(ret->items, ret->len, sizeof(*ret->items), by_self);
	free(all);
	table_free(total, c->nodes.len, sizeof(*total));
	table_free(total_samples, c->nodes.len, sizeof(*total_samples));
}
