/*
 * The walk from stacks to the nodes of a tree. Stacks share their callers, so each one is walked
 * once: down from the nearest caller whose node is known. Trees say what a frame adds to a node.
 *
 * All zeros knows no stack. One thread walks.
 */
#ifndef TACHO_ANALYZE_TREE_STACK_NODES_H
#define TACHO_ANALYZE_TREE_STACK_NODES_H

#include "profile/profile.h"

struct stack_nodes {
	VEC(uint32_t) of_stack; /* node + 1; 0: not walked yet */
	/* Only this node and those after `before` count: a tree of many roots walks below each anew,
	 * one root after the other. */
	uint32_t root, before;
	VEC(uint32_t) todo; /* stacks below the one whose node is known */
};

/* Returns the node of @frame below @node. */
typedef uint32_t stack_step(void *tree, uint32_t node, uint32_t frame);

static inline bool stack_nodes_has(const struct stack_nodes *s, uint32_t stack)
{
	uint32_t node = s->of_stack.items[stack];

	return node > s->before || node == s->root + 1;
}

/* Returns the node of a stack, of the root if the profile has no such stack. */
static inline __attribute__((always_inline)) uint32_t stack_nodes_walk(struct stack_nodes *s,
								       const struct profile *p,
								       uint32_t stack,
								       stack_step *step, void *tree)
{
	uint32_t node;

	if (stack >= p->stacks.len)
		stack = 0;
	vec_grow(&s->of_stack, p->stacks.len);
	for (s->todo.len = 0; stack && !stack_nodes_has(s, stack);) {
		uint32_t parent = p->stacks.items[stack].parent.n;

		vec_push(&s->todo, stack);
		/* Parents have smaller numbers; ignore others, which could form a cycle. */
		stack = parent < stack ? parent : 0;
	}
	node = stack ? s->of_stack.items[stack] - 1 : s->root;
	while (s->todo.len) {
		stack = s->todo.items[--s->todo.len];
		node = step(tree, node, p->stacks.items[stack].frame.n);
		s->of_stack.items[stack] = node + 1;
	}
	return node;
}

static inline void stack_nodes_release(struct stack_nodes *s)
{
	vec_release(&s->of_stack);
	vec_release(&s->todo);
}

#endif
