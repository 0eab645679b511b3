/*
 * Two call trees merged into one: each node has its weight before and after. Nodes are matched by
 * the names on their path from the root, not by module or address, because those differ in every
 * build; a function that was inlined in one of them matches the one that was not.
 *
 * A diff copies the names, so the views may be released once it is built. Any number of threads may
 * read it.
 */
#ifndef TACHO_ANALYZE_TREE_DIFF_H
#define TACHO_ANALYZE_TREE_DIFF_H

#include "analyze/paths/call_paths.h"
#include "analyze/tree/view.h"

enum diff_side { DIFF_BEFORE, DIFF_AFTER };

struct diff_node {
	uint32_t parent;
	uint32_t first_child, next_sibling; /* 0: none; in no order */
	uint32_t name;                      /* in diff.names */
	bool group;                         /* a group such as a task, not a function */
	uint64_t self[2], total[2];
	uint64_t samples[2];
};

struct diff_name {
	uint32_t start;  /* in diff.text */
	uint32_t module; /* name of a module that has the function, in diff.text; 0: unknown */
	enum code_kind kind;
};

struct diff {
	VEC(struct diff_node) nodes; /* node 0: the root; a parent before its children */
	VEC(struct diff_name) names;
	struct buf text;
	struct children children; /* by name */
	struct slots name_slots;
	uint64_t seed;
	/* Factor from a weight to a share of the whole, by side. */
	double scale[2];
};

/* @normalize: each side's shares are of its own total; else all are of the total after. */
void diff_build(struct diff *d, const struct view *before, const struct view *after,
		bool normalize);
/* The same for two selections, given as their weights at the nodes of call paths. */
struct diff_weights {
	const uint64_t *self, *samples; /* NULL: that side has other call paths */
};

void diff_init(struct diff *d);
void diff_add_paths(struct diff *d, const struct call_paths *c, const struct profile *p,
		    const struct diff_weights sides[2]);
void diff_finish(struct diff *d, bool normalize);
void diff_release(struct diff *d);

static inline const char *diff_text(const struct diff *d, uint32_t name)
{
	return d->text.s + d->names.items[name].start;
}

static inline double diff_share(const struct diff *d, const struct diff_node *n, enum diff_side s)
{
	return (double)n->total[s] * d->scale[s];
}

static inline double diff_change(const struct diff *d, const struct diff_node *n)
{
	return diff_share(d, n, DIFF_AFTER) - diff_share(d, n, DIFF_BEFORE);
}

/* The sum of all nodes of a function, as shares. Recursion does not count twice. */
struct diff_function {
	uint32_t name;
	double self[2], total[2];
};

struct diff_table {
	VEC(struct diff_function) functions; /* largest change of self first */
};

void diff_table_make(struct diff_table *t, const struct diff *d);
void diff_table_release(struct diff_table *t);

/* Returns whether more than half of @after's weight is in groups that @before has, too. */
bool diff_groups_meet(const struct view *before, const struct view *after);

#endif
