/*
 * Two call trees as one: each node has what it weighs before and after. Nodes meet by name along their
 * way from the root, not by module or address, because those are different in every build; a function
 * that was inlined in one of them meets the one that was not.
 *
 * The views may go once it is built; it keeps the names itself. Reading is for any number of threads.
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
	bool group;                         /* a task or so, no function */
	uint64_t self[2], total[2];
	uint64_t samples[2];
};

struct diff_name {
	uint32_t start;  /* in diff.text */
	uint32_t module; /* the name of one that has it, in diff.text; 0: unknown */
	enum code_kind kind;
};

struct diff {
	VEC(struct diff_node) nodes; /* node 0: the root; a parent before its children */
	VEC(struct diff_name) names;
	struct buf text;
	struct slots node_slots, name_slots;
	uint64_t seed;
	/* By how much a weight is multiplied to be a share of the whole. */
	double scale[2];
};

/* @normalize: shares of their own whole; else both of what came after. */
void diff_build(struct diff *d, const struct view *before, const struct view *after,
		bool normalize);
/* The same of two selections: what each weighs at the nodes of its call paths. */
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

/* A function in all places together, as shares. Recursion does not count twice. */
struct diff_function {
	uint32_t name;
	double self[2], total[2];
};

struct diff_table {
	VEC(struct diff_function) functions; /* the largest change of self first */
};

void diff_table_make(struct diff_table *t, const struct diff *d);
void diff_table_release(struct diff_table *t);

/* Whether two views have most of their weight in groups of the same names. */
bool diff_groups_meet(const struct view *before, const struct view *after);

#endif
