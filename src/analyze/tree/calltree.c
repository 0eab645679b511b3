#include "analyze/tree/calltree.h"
#include "analyze/tree/stack_nodes.h"

#include <string.h>

_Static_assert(sizeof(struct call_node) == 32, "there may be millions");

static uint32_t child_of(struct calltree *t, uint32_t parent, uint32_t key, bool inlined)
{
	uint32_t *child = children_at(&t->children, parent, key << 1 | inlined);
	uint32_t n = *child;

	if (n)
		return n;
	*child = n = (uint32_t)t->nodes.len;
	vec_push(&t->nodes, (struct call_node){.parent = parent,
					       .next_sibling = t->nodes.items[parent].first_child,
					       .key = key,
					       .inlined = inlined});
	t->nodes.items[parent].first_child = n;
	return n;
}

static uint32_t descend(struct calltree *t, const struct calltree_options *o, uint32_t node,
			const struct frame_name *name)
{
	function_id f = o->as ? o->as[name->function.n] : name->function;

	if (o->skip && o->skip[name->function.n])
		return node;
	return child_of(t, node, o->keys ? o->keys[name - t->profile->names.items] : f.n,
			name->inlined && !o->join_inlined);
}

struct building {
	struct calltree *tree;
	const struct calltree_options *o;
	struct stack_nodes known; /* below one root at a time */
};

/* Descends through all functions of a frame, the outermost first. */
static uint32_t through_frame(void *ctx, uint32_t node, uint32_t frame)
{
	const struct building *b = ctx;
	const struct calltree_options *o = b->o;
	struct calltree *t = b->tree;
	const struct frame_name *names;
	struct frame_name own;
	uint32_t count;

	names = frame_names(t->profile, frame, &own, &count);
	if (o->no_inlines && count > 1)
		count = 1;
	for (uint32_t i = 0; i < count; i++)
		node = descend(t, o, node, &names[i]);
	return node;
}

/* The same, the innermost function first. */
static uint32_t back_through_frame(struct calltree *t, const struct calltree_options *o,
				   uint32_t node, frame_id frame)
{
	const struct frame_name *names;
	struct frame_name own;
	uint32_t count;

	names = frame_names(t->profile, frame.n, &own, &count);
	if (o->no_inlines && count > 1)
		count = 1;
	while (count-- > 0)
		node = descend(t, o, node, &names[count]);
	return node;
}

static uint32_t root_of(struct calltree *t, const struct calltree_options *o,
			const struct profile_row *row)
{
	return o->root ? child_of(t, 0, o->root(o->ctx, row).n, false) : 0;
}

static uint32_t node_of_stack(struct building *b, uint32_t root, stack_id stack)
{
	if (b->known.root != root) {
		b->known.root = root;
		b->known.before = (uint32_t)b->tree->nodes.len;
	}
	return stack_nodes_walk(&b->known, b->tree->profile, stack.n, through_frame, b);
}

static uint32_t node_of_reversed(struct calltree *t, const struct calltree_options *o,
				 uint32_t node, stack_id stack)
{
	const struct profile *p = t->profile;

	for (; stack.n; stack = p->stacks.items[stack.n].parent)
		node = back_through_frame(t, o, node, p->stacks.items[stack.n].frame);
	return node;
}

/* Totals are those of the rows alone until then. */
static void add_totals(struct calltree *t)
{
	struct call_node *nodes = t->nodes.items;

	for (size_t i = t->nodes.len; i-- > 1;) {
		nodes[nodes[i].parent].total += nodes[i].total;
		nodes[nodes[i].parent].total_samples += nodes[i].total_samples;
	}
}

struct rooted_row {
	uint32_t root, row;
};

typedef VEC(struct rooted_row) rooted_rows;

/*
 * Sorts rows by root, otherwise keeping their order. Roots are the first nodes of the tree, so a
 * counting sort is enough.
 */
static void order_by_root(rooted_rows *rows, size_t roots)
{
	uint32_t *place = xcalloc(roots + 2, sizeof(*place));
	rooted_rows ordered = {};

	vec_reserve(&ordered, rows->len);
	vec_each(rows, row)
		place[row->root + 1]++;
	for (size_t i = 1; i <= roots; i++)
		place[i] += place[i - 1];
	vec_each(rows, row)
		ordered.items[place[row->root]++] = *row;
	ordered.len = rows->len;
	free(place);
	free(rows->items);
	*rows = ordered;
}

static void choose_rows(struct calltree *t, const struct calltree_options *o, rooted_rows *rows)
{
	const struct profile *p = t->profile;

	vec_reserve(rows, p->rows.len);
	vec_each(&p->rows, row)
		if (!o->want || o->want(o->ctx, row))
			vec_push(rows, (struct rooted_row){root_of(t, o, row),
							   (uint32_t)(row - p->rows.items)});
	/* struct stack_nodes is valid for one root at a time. */
	if (o->root)
		order_by_root(rows, t->nodes.len);
}

/*
 * Whether no two stacks become one node and none several: then each stack is its node, and the tree takes
 * half the memory while it is built.
 */
static bool stacks_are_nodes(const struct profile *p, const struct calltree_options *o)
{
	return p->frames_are_functions && !p->refused && !o->reverse && !o->root && !o->as &&
	       !o->skip && !o->keys;
}

static void build_of_stacks(struct calltree *t, const struct calltree_options *o)
{
	const struct profile *p = t->profile;
	struct call_node *nodes;

	vec_grow(&t->nodes, p->stacks.len);
	nodes = t->nodes.items;
	for (uint32_t i = 1; i < p->stacks.len; i++) {
		function_id function = {p->stacks.items[i].frame.n};

		nodes[i].parent = p->stacks.items[i].parent.n;
		nodes[i].key = function.n;
		nodes[i].inlined = !o->join_inlined && text_is_inlined(function_of(p, function));
	}
	vec_each(&p->rows, row)
		if (!o->want || o->want(o->ctx, row)) {
			nodes[row->stack.n].total += row->weight;
			nodes[row->stack.n].total_samples += row->samples;
		}
	add_totals(t);
	for (uint32_t i = 1; i < p->stacks.len; i++)
		if (nodes[i].total || nodes[i].total_samples) {
			nodes[i].next_sibling = nodes[nodes[i].parent].first_child;
			nodes[nodes[i].parent].first_child = i;
			t->linked++;
		}
}

static void build_of_rows(struct calltree *t, const struct calltree_options *o)
{
	const struct profile *p = t->profile;
	struct building b = {.tree = t, .o = o};
	rooted_rows rows = {};

	choose_rows(t, o, &rows);
	vec_each(&rows, at) {
		const struct profile_row *row = &p->rows.items[at->row];
		uint32_t node = o->reverse ? node_of_reversed(t, o, at->root, row->stack)
					   : node_of_stack(&b, at->root, row->stack);

		t->nodes.items[node].total += row->weight;
		t->nodes.items[node].total_samples += row->samples;
	}
	stack_nodes_release(&b.known);
	children_release(&t->children);
	vec_release(&rows);
	add_totals(t);
	t->linked = t->nodes.len;
}

void calltree_build(struct calltree *t, const struct profile *p, const struct calltree_options *o)
{
	*t = (struct calltree){.profile = p, .linked = 1};
	vec_push(&t->nodes, (struct call_node){});
	if (stacks_are_nodes(p, o))
		build_of_stacks(t, o);
	else
		build_of_rows(t, o);
}

void calltree_release(struct calltree *t)
{
	vec_release(&t->nodes);
}

/* ---- order ---- */

struct sorting {
	const struct calltree *tree;
	enum calltree_sort order;
};

static int compare(const void *a, const void *b, void *ctx)
{
	const struct sorting *s = ctx;
	const struct call_node *x = &s->tree->nodes.items[*(const uint32_t *)a];
	const struct call_node *y = &s->tree->nodes.items[*(const uint32_t *)b];
	int c;

	if (s->order == CALLTREE_BY_TOTAL && x->total != y->total)
		return x->total > y->total ? -1 : 1;
	c = strcmp(function_label(s->tree->profile, call_function(x)),
		   function_label(s->tree->profile, call_function(y)));
	return c ? c : (int)x->inlined - (int)y->inlined;
}

void calltree_sort(struct calltree *t, enum calltree_sort order)
{
	struct sorting s = {t, order};
	VEC(uint32_t) children = {};

	vec_each(&t->nodes, node) {
		uint32_t next = 0;

		children.len = 0;
		for (uint32_t c = node->first_child; c; c = t->nodes.items[c].next_sibling)
			vec_push(&children, c);
		if (children.len < 2)
			continue;
		qsort_r(children.items, children.len, sizeof(uint32_t), compare, &s);
		while (children.len) {
			uint32_t c = children.items[--children.len];

			t->nodes.items[c].next_sibling = next;
			next = c;
		}
		node->first_child = next;
	}
	vec_release(&children);
}
