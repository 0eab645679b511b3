/*
 * The index of every tree that is merged from stacks: from a node and a key to its child with that
 * key. The tree keeps its own nodes, and what a key means; number 0 is its root, or none.
 *
 *	uint32_t *child = children_at(&t->children, parent, key);
 *
 *	if (!*child) {
 *		*child = (uint32_t)t->nodes.len;
 *		vec_push(&t->nodes, …);
 *	}
 *
 * The slots hold the keys, so that a lookup needs no node. Keys come from files: the hash is seeded.
 * All zeros is an empty index. One thread changes it.
 */
#ifndef TACHO_ANALYZE_TREE_CHILDREN_H
#define TACHO_ANALYZE_TREE_CHILDREN_H

#include "profile/slots.h"

struct child_slot {
	uint32_t parent, key;
	uint32_t node; /* 0: free */
};

struct children {
	struct child_slot *slots;
	size_t mask, count;
	uint64_t seed;
};

void children_grow(struct children *c);
/* Makes room for @count children, so that adding them does not grow the index step by step. */
void children_reserve(struct children *c, size_t count);
void children_release(struct children *c);

static inline struct child_slot *children_slot(const struct children *c, uint32_t parent,
					       uint32_t key)
{
	size_t at = hash_mix(c->seed ^ parent, key) & c->mask;
	struct child_slot *slot;

	for (; (slot = &c->slots[at])->node; at = (at + 1) & c->mask)
		if (slot->parent == parent && slot->key == key)
			break;
	return slot;
}

/* Returns where the number of the child is kept. If it is 0, there is no such child yet: the caller
 * must store its number before the index is used again. */
static inline uint32_t *children_at(struct children *c, uint32_t parent, uint32_t key)
{
	struct child_slot *slot;

	if (c->count * 3 >= c->mask * 2)
		children_grow(c);
	slot = children_slot(c, parent, key);
	if (!slot->node) {
		slot->parent = parent;
		slot->key = key;
		c->count++;
	}
	return &slot->node;
}

/* Returns the child, or 0 if there is none; adds nothing. */
static inline uint32_t children_known(const struct children *c, uint32_t parent, uint32_t key)
{
	return c->slots ? children_slot(c, parent, key)->node : 0;
}

#endif
