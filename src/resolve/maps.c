#include "resolve/maps.h"
#include "profile/slots.h"

/* A change copies the nodes on its way down; more than this on one way cannot be by chance. */
#define DEPTH_MAX 512

static struct map_node *at(struct maps *m, uint32_t n)
{
	return &m->nodes.items[n];
}

static uint32_t copy_of(struct maps *m, const struct map_node *node)
{
	struct map_node copy = *node; /* the array may move */

	vec_push(&m->nodes, copy);
	return (uint32_t)m->nodes.len - 1;
}

static uint32_t new_node(struct maps *m, uint64_t start, uint64_t end, uint32_t mapping)
{
	struct map_node node = {.start = start, .end = end, .mapping = mapping};

	m->dice = hash_mix(m->dice, 0x2545f4914f6cdd1dull);
	node.dice = (uint32_t)(m->dice >> 32);
	vec_push(&m->nodes, node);
	return (uint32_t)m->nodes.len - 1;
}

/* The nodes that begin before @key, and the others. Works downwards, without recursion: *hook is
 * where the next copied node of a side has to hang. */
static void split(struct maps *m, uint32_t root, uint64_t key, uint32_t *ret_before,
		  uint32_t *ret_from)
{
	uint32_t before = 0, from = 0, last_before = 0, last_from = 0;

	while (root) {
		uint32_t n = copy_of(m, at(m, root));

		if (at(m, n)->start < key) {
			if (last_before)
				at(m, last_before)->right = n;
			else
				before = n;
			last_before = n;
			root = at(m, n)->right;
		} else {
			if (last_from)
				at(m, last_from)->left = n;
			else
				from = n;
			last_from = n;
			root = at(m, n)->left;
		}
	}
	if (last_before)
		at(m, last_before)->right = 0;
	if (last_from)
		at(m, last_from)->left = 0;
	*ret_before = before;
	*ret_from = from;
}

/* Everything in @a lies before everything in @b. */
static uint32_t join(struct maps *m, uint32_t a, uint32_t b)
{
	uint32_t root = 0, last = 0;
	bool last_right = false;

	while (a || b) {
		bool take_a = !b || (a && at(m, a)->dice > at(m, b)->dice);
		/* Copied, because the set that it belongs to has to stay as it is; but where only one
		 * side is left, it can be shared as a whole. */
		uint32_t n = !a || !b ? (a ? a : b) : copy_of(m, at(m, take_a ? a : b));

		if (!last)
			root = n;
		else if (last_right)
			at(m, last)->right = n;
		else
			at(m, last)->left = n;
		if (!a || !b)
			break;
		last = n;
		last_right = take_a;
		if (take_a)
			a = at(m, n)->right;
		else
			b = at(m, n)->left;
	}
	return root;
}

static uint32_t rightmost(struct maps *m, uint32_t root)
{
	while (root && at(m, root)->right)
		root = at(m, root)->right;
	return root;
}

uint32_t maps_add(struct maps *m, uint32_t root, uint64_t start, uint64_t end, uint32_t mapping)
{
	uint32_t before, rest, covered, after, last;
	uint64_t tail_end = 0;
	uint32_t tail_mapping = 0;

	if (start >= end)
		return root;
	if (m->nodes.len + DEPTH_MAX > MAP_NODES_MAX) {
		m->refused++;
		return root;
	}
	split(m, root, start, &before, &rest);
	split(m, rest, end, &covered, &after);
	/* The last one that begins inside may reach beyond; so may the last before. */
	last = rightmost(m, covered);
	if (last && at(m, last)->end > end) {
		tail_end = at(m, last)->end;
		tail_mapping = at(m, last)->mapping;
	}
	last = rightmost(m, before);
	if (last && at(m, last)->end > start) {
		if (at(m, last)->end > end) {
			tail_end = at(m, last)->end;
			tail_mapping = at(m, last)->mapping;
		}
		/* On the way that split() has just copied, so nobody else's. */
		at(m, last)->end = start;
	}
	before = join(m, before, new_node(m, start, end, mapping));
	if (tail_end)
		before = join(m, before, new_node(m, end, tail_end, tail_mapping));
	return join(m, before, after);
}

/* ---- forgetting ---- */

static void mark(const struct maps *m, uint32_t root, uint32_t *to, void *todo_vec)
{
	VEC(uint32_t) *todo = todo_vec;

	if (root)
		vec_push(todo, root);
	while (todo->len) {
		uint32_t n = todo->items[--todo->len];

		if (to[n])
			continue;
		to[n] = 1;
		if (m->nodes.items[n].left)
			vec_push(todo, m->nodes.items[n].left);
		if (m->nodes.items[n].right)
			vec_push(todo, m->nodes.items[n].right);
	}
}

void maps_keep(struct maps *m, uint32_t **roots, size_t count, bool *used)
{
	size_t before = m->nodes.len, kept = 1;
	uint32_t *to = table_alloc(before, sizeof(*to)); /* by old number: 1, then the new one */
	VEC(uint32_t) todo = {};

	for (size_t i = 0; i < count; i++)
		mark(m, *roots[i], to, &todo);
	for (size_t n = 1; n < before; n++) {
		if (!to[n])
			continue;
		to[n] = (uint32_t)kept;
		used[m->nodes.items[n].mapping] = true;
		m->nodes.items[kept++] = m->nodes.items[n];
	}
	for (size_t n = 1; n < kept; n++) {
		m->nodes.items[n].left = to[m->nodes.items[n].left];
		m->nodes.items[n].right = to[m->nodes.items[n].right];
	}
	for (size_t i = 0; i < count; i++)
		*roots[i] = to[*roots[i]];
	m->nodes.len = kept;
	m->nodes.cap = kept;
	m->nodes.items = xrealloc(m->nodes.items, kept, sizeof(*m->nodes.items));
	vec_release(&todo);
	table_free(to, before, sizeof(*to));
}

void maps_init(struct maps *m)
{
	*m = (struct maps){.dice = hash_seed()};
	vec_push(&m->nodes, (struct map_node){});
}

void maps_release(struct maps *m)
{
	vec_release(&m->nodes);
}
