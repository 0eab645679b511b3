#include "analyze/report/report.h"

#include <string.h>

/*
 * A node of the call tree that belongs to a node of the chains. There are two kinds of weight: that
 * of samples below a caller (BELOW), and that of samples of the entry itself (SAMPLED). Going down,
 * the latter are shown from the outermost function on.
 */
enum element_kind { BELOW, SAMPLED };

struct element {
	uint32_t node, chain;
	enum element_kind kind;
	uint64_t weight; /* used going up, where it stays the same */
};

typedef VEC(struct element) element_list;

struct merge {
	struct report *r;
	struct chains *chains;
	struct children children; /* chains by key and whether it is inlined */
	element_list now, next;
	VEC(uint32_t) touched; /* nodes whose scratch value is set */
	struct chain_options o;
};

static bool is_shown(const struct merge *m, uint32_t chain)
{
	const struct chain_node *nodes = m->chains->nodes.items, *node = &nodes[chain];

	return node->weight >= m->o.min &&
	       (double)node->weight >= m->o.min_part * (double)nodes[node->parent].below;
}

static uint32_t chain_below(struct merge *m, uint32_t parent, const struct call_node *node)
{
	struct chains *c = m->chains;
	uint32_t *child = children_at(&m->children, parent, node->key << 1 | node->inlined);

	if (!*child) {
		*child = (uint32_t)c->nodes.len;
		vec_push(&c->nodes,
			 (struct chain_node){.parent = parent,
					     .key = node->key,
					     .function = m->r->steps.items[node->key].function,
					     .inlined = node->inlined});
	}
	return *child;
}

static void put(struct merge *m, uint32_t parent, uint32_t node, enum element_kind kind,
		uint64_t weight)
{
	uint32_t chain;

	if (!weight)
		return;
	chain = chain_below(m, parent, &m->r->tree.nodes.items[node]);
	m->chains->nodes.items[chain].weight += weight;
	m->chains->nodes.items[parent].below += weight;
	vec_push(&m->next, (struct element){node, chain, kind, weight});
}

/* Makes the level just built the current one, without chains that are too light. */
static bool next_level(struct merge *m)
{
	m->now.len = 0;
	vec_each(&m->next, e)
		if (is_shown(m, e->chain))
			vec_push(&m->now, *e);
	m->next.len = 0;
	return m->now.len > 0;
}

static uint64_t self_of(const struct merge *m, uint32_t node)
{
	struct call_self self = call_self(&m->r->tree, node);

	return m->o.samples ? self.samples : self.weight;
}

static uint64_t total_of(const struct merge *m, uint32_t node)
{
	const struct call_node *n = &m->r->tree.nodes.items[node];

	return m->o.samples ? n->total_samples : n->total;
}

static bool is_group(const struct report *r, uint32_t node)
{
	return !r->tree.nodes.items[node].parent;
}

static uint64_t *scratch(struct merge *m, uint32_t node)
{
	uint64_t *value = &m->r->scratch[node];

	if (!*value)
		vec_push(&m->touched, node);
	return value;
}

static void forget_scratch(struct merge *m)
{
	vec_each(&m->touched, node)
		m->r->scratch[*node] = 0;
	m->touched.len = 0;
}

/* ---- from callers down ---- */

/* Adds the weight of the entry's own samples to all nodes from the leaf to the outermost. */
static void mark_sampled(struct merge *m, const struct report_entry *entry)
{
	const struct call_node *nodes = m->r->tree.nodes.items;

	for (uint32_t leaf = entry->first_leaf; leaf; leaf = m->r->next_leaf[leaf]) {
		uint64_t self = self_of(m, leaf);

		for (uint32_t n = leaf; !is_group(m->r, n); n = nodes[n].parent)
			*scratch(m, n) += self;
	}
}

static void descend(struct merge *m)
{
	const struct report *r = m->r;
	const struct call_node *nodes = r->tree.nodes.items;

	while (next_level(m))
		vec_each(&m->now, e)
			for (uint32_t c = nodes[e->node].first_child; c; c = nodes[c].next_sibling)
				put(m, e->chain, c, e->kind,
				    e->kind == SAMPLED ? r->scratch[c]
						       : total_of(m, c) - r->scratch[c]);
}

static void callers_down(struct merge *m, const struct report_entry *entry)
{
	const struct report *r = m->r;
	const struct call_node *nodes = r->tree.nodes.items;
	VEC(uint32_t) tops = {};

	mark_sampled(m, entry);
	/* The parent of an outermost function is its group. */
	vec_each(&m->touched, node)
		if (is_group(r, nodes[*node].parent))
			vec_push(&tops, *node);
	vec_each(&tops, top)
		put(m, 0, *top, SAMPLED, r->scratch[*top]);
	vec_release(&tops);
	if (r->o.children)
		for (uint32_t n = entry->first_node; n; n = r->next_same[n])
			if (!r->same_above[n])
				put(m, 0, n, BELOW, total_of(m, n) - r->scratch[n]);
	descend(m);
}

/* ---- from the sampled function up ---- */

static void ascend(struct merge *m)
{
	const struct call_node *nodes = m->r->tree.nodes.items;

	while (next_level(m))
		vec_each(&m->now, e)
			if (!is_group(m->r, nodes[e->node].parent))
				put(m, e->chain, nodes[e->node].parent, e->kind, e->weight);
}

/* Returns the innermost node of the entry at or above node @n, whose samples are the entry's. */
static uint32_t nearest(const struct report *r, const struct report_entry *entry, uint32_t n)
{
	const struct call_node *nodes = r->tree.nodes.items;

	while (r->place_of_key[nodes[n].key] != entry->place && !is_group(r, nodes[n].parent))
		n = nodes[n].parent;
	return n;
}

/* Samples below the entry begin at the innermost of the entry's nodes on their stack. */
static void callees_up(struct merge *m, const struct report_entry *entry)
{
	const struct report *r = m->r;

	for (uint32_t leaf = entry->first_leaf; leaf; leaf = r->next_leaf[leaf]) {
		uint64_t self = self_of(m, leaf);

		if (is_group(r, leaf))
			continue;
		put(m, 0, leaf, SAMPLED, self);
		*scratch(m, nearest(r, entry, leaf)) += self;
	}
	if (r->o.children) {
		for (uint32_t n = entry->first_node; n; n = r->next_same[n])
			if (r->same_above[n])
				*scratch(m, r->same_above[n]) += total_of(m, n);
		for (uint32_t n = entry->first_node; n; n = r->next_same[n])
			put(m, 0, n, BELOW, total_of(m, n) - r->scratch[n]);
	}
	ascend(m);
}

/* ---- order ---- */

static int heavier_first(const void *a, const void *b, void *ctx)
{
	const struct merge *m = ctx;
	const struct chain_node *x = &m->chains->nodes.items[*(const uint32_t *)a];
	const struct chain_node *y = &m->chains->nodes.items[*(const uint32_t *)b];
	int c;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	c = strcmp(function_text(m->r->profile, x->function),
		   function_text(m->r->profile, y->function));
	if (c || (c = (int)x->inlined - (int)y->inlined))
		return c;
	if (function_of(m->r->profile, x->function)->start !=
	    function_of(m->r->profile, y->function)->start)
		return function_of(m->r->profile, x->function)->start <
				       function_of(m->r->profile, y->function)->start
			       ? -1
			       : 1;
	return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

/* Keeps only the heaviest @limit children of each node. */
static void limit_children(struct chains *c, size_t limit)
{
	struct chain_node *nodes = c->nodes.items;

	for (size_t i = 0; i < c->nodes.len; i++) {
		uint32_t last = nodes[i].first_child;

		for (size_t n = 1; last && n < limit; n++)
			last = nodes[last].next_sibling;
		if (last)
			nodes[last].next_sibling = 0;
	}
}

/* Links children to parents, the lightest first, so that the heaviest comes first in the list. */
static void link_chains(struct merge *m)
{
	struct chain_node *nodes = m->chains->nodes.items;
	VEC(uint32_t) order = {};

	for (uint32_t i = 1; i < m->chains->nodes.len; i++)
		if (is_shown(m, i))
			vec_push(&order, i);
	if (order.len)
		qsort_r(order.items, order.len, sizeof(uint32_t), heavier_first, m);
	for (size_t i = order.len; i-- > 0;) {
		struct chain_node *node = &nodes[order.items[i]];

		node->next_sibling = nodes[node->parent].first_child;
		nodes[node->parent].first_child = order.items[i];
	}
	if (m->o.limit)
		limit_children(m->chains, m->o.limit);
	vec_release(&order);
}

uint64_t report_chain_weight(const struct report *r, const struct report_entry *entry,
			     const struct chain_options *o)
{
	if (o->samples)
		return r->o.children ? entry->total_samples : entry->self_samples;
	return r->o.children ? entry->total : entry->self;
}

void report_chains(struct report *r, const struct report_entry *entry,
		   const struct chain_options *o, struct chains *ret)
{
	struct merge m = {.r = r, .chains = ret, .o = *o};

	*ret = (struct chains){};
	vec_push(&ret->nodes, (struct chain_node){.weight = report_chain_weight(r, entry, o)});
	if (ret->nodes.items[0].weight < o->min || !r->tree.nodes.len)
		return;
	if (!r->scratch)
		r->scratch = xcalloc(r->tree.nodes.len, sizeof(*r->scratch));
	if (o->caller)
		callers_down(&m, entry);
	else
		callees_up(&m, entry);
	forget_scratch(&m);
	link_chains(&m);
	children_release(&m.children);
	vec_release(&m.now);
	vec_release(&m.next);
	vec_release(&m.touched);
}

void chains_release(struct chains *c)
{
	vec_release(&c->nodes);
}
