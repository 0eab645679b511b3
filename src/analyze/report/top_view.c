#include "analyze/report/top_view.h"

#include <string.h>
#include <strings.h>

#define CHAIN_DEPTH_MAX 1024 /* neither kernel nor unwinder gives more */

/* ---- which samples ---- */

static const struct top_sum *sum_of(const struct top_cell *cell, const struct top_question *q)
{
	return q->all ? &cell->all : &cell->window;
}

/*
 * A CPU that has nothing to do waits in the idle task, process 0. Clock events take samples there,
 * too, which would hide where CPU time goes. Interrupts that the idle task handles are work.
 */
static bool is_idle(const struct top_table *t, const struct top_cell *cell)
{
	static const char *const waiting[] = {"idle", "halt", "mwait"};
	const struct top_function *leaf = &t->functions.items[t->nodes.items[cell->node].function];

	if (t->processes.items[cell->process].pid || leaf->kind != CODE_KERNEL)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(waiting); i++)
		if (strstr(top_text(t, leaf->name), waiting[i]))
			return true;
	return false;
}

static bool is_wanted(const struct top_table *t, const struct top_question *q,
		      const struct top_cell *cell)
{
	const struct top_process *p = &t->processes.items[cell->process];
	const struct top_function *leaf = &t->functions.items[t->nodes.items[cell->node].function];
	bool kernel = leaf->kind == CODE_KERNEL;

	if ((kernel && q->no_kernel) || (!kernel && q->no_user))
		return false;
	if (q->zoom_comm && strcmp(top_text(t, p->comm), q->zoom_comm))
		return false;
	if (q->zoom_pid && p->pid != q->zoom_pid)
		return false;
	return !q->zoom_dso || !strcmp(top_text(t, leaf->dso), q->zoom_dso);
}

/* ---- rows ---- */

static struct top_row key_of(const struct top_table *t, unsigned by, uint32_t process,
			     uint32_t function)
{
	const struct top_process *p = &t->processes.items[process];
	const struct top_function *f = &t->functions.items[function];

	return (struct top_row){.process = process,
				.function = function,
				.pid = by & TOP_BY_PID ? p->pid : 0,
				.comm = by & (TOP_BY_COMM | TOP_BY_PID) ? p->comm : 0,
				.dso = by & TOP_BY_DSO ? f->dso : 0,
				.name = by & TOP_BY_SYM ? f->name : 0};
}

static bool is_same(const struct top_row *a, const struct top_row *b)
{
	return a->pid == b->pid && a->comm == b->comm && a->dso == b->dso && a->name == b->name;
}

static struct top_row *row_of(struct top_view *v, const struct top_table *t, unsigned by,
			      uint32_t process, uint32_t function)
{
	struct top_row key = key_of(t, by, process, function);
	uint64_t hash = hash_mix(hash_mix((uint64_t)key.pid << 32 | key.comm, t->seed),
				 (uint64_t)key.dso << 32 | key.name);
	size_t at = slots_begin(&v->slots, hash);
	uint32_t n;

	while ((n = slots_next(&v->slots, hash, &at)))
		if (is_same(&v->rows.items[n - 1], &key))
			return &v->rows.items[n - 1];
	vec_push(&v->rows, key);
	slots_add(&v->slots, hash, (uint32_t)v->rows.len);
	return &v->rows.items[v->rows.len - 1];
}

static void add_sum(struct top_sum *to, const struct top_sum *sum)
{
	to->samples += sum->samples;
	to->weight += sum->weight;
}

/* A function that occurs in a chain several times counts once in the total. */
static void count_cell(struct top_view *v, const struct top_table *t, const struct top_question *q,
		       uint32_t number)
{
	const struct top_cell *cell = &t->cells.items[number];
	const struct top_sum *sum = sum_of(cell, q);
	uint32_t node = cell->node;

	add_sum(&row_of(v, t, q->by, cell->process, t->nodes.items[node].function)->self, sum);
	for (unsigned depth = 0; node && depth < CHAIN_DEPTH_MAX; depth++) {
		struct top_row *row =
			row_of(v, t, q->by, cell->process, t->nodes.items[node].function);

		if (row->seen != number)
			add_sum(&row->total, sum);
		row->seen = number;
		node = q->chains ? t->nodes.items[node].parent : 0;
	}
}

/* ---- filter ---- */

void top_row_text(const struct top_table *t, const struct top_row *row, struct buf *out)
{
	if (row->comm)
		buf_addf(out, "%s ", top_text(t, row->comm));
	if (row->pid)
		buf_addf(out, "%u ", row->pid);
	if (row->dso)
		buf_addf(out, "%s ", top_text(t, row->dso));
	if (row->name)
		buf_add(out, top_text(t, row->name));
}

static void filter_rows(struct top_view *v, const struct top_table *t, const regex_t *filter)
{
	CLEANUP(buf_release) struct buf text = {};
	size_t kept = 0;

	vec_each(&v->rows, row) {
		buf_clear(&text);
		top_row_text(t, row, &text);
		if (!regexec(filter, buf_str(&text), 0, NULL, 0))
			v->rows.items[kept++] = *row;
	}
	v->rows.len = kept;
}

/* ---- order ---- */

struct order_by {
	const struct top_table *t;
	enum top_sort sort;
};

static int by_number(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b);
}

static int by_text(const struct top_table *t, uint32_t a, uint32_t b)
{
	int r = strcasecmp(top_text(t, a), top_text(t, b));

	return r ? r : strcmp(top_text(t, a), top_text(t, b));
}

/* Equal rows are ordered by name, so that they do not change places at every refresh. */
static int compare_rows(const void *x, const void *y, void *ctx)
{
	const struct top_row *a = x, *b = y;
	const struct order_by *o = ctx;
	int r = 0;

	if (o->sort == TOP_COMM)
		r = by_text(o->t, a->comm, b->comm);
	else if (o->sort == TOP_DSO)
		r = by_text(o->t, a->dso, b->dso);
	else if (o->sort == TOP_SYM)
		r = by_text(o->t, a->name, b->name);
	else if (o->sort == TOP_TOTAL)
		r = by_number(a->total.weight, b->total.weight);
	if (!r)
		r = by_number(a->self.weight, b->self.weight);
	if (!r)
		r = by_number(a->total.weight, b->total.weight);
	if (!r)
		r = by_text(o->t, a->name, b->name);
	if (!r)
		r = by_text(o->t, a->dso, b->dso);
	if (!r)
		r = by_text(o->t, a->comm, b->comm);
	return r ? r : (a->pid > b->pid) - (a->pid < b->pid);
}

void top_view_build(struct top_view *v, const struct top_table *t, const struct top_question *q)
{
	struct order_by order = {t, q->sort};

	v->rows.len = 0;
	v->shown = v->all = (struct top_sum){};
	slots_release(&v->slots);
	for (uint32_t i = 1; i < t->cells.len; i++) {
		const struct top_cell *cell = &t->cells.items[i];

		if (cell->event != q->event || !sum_of(cell, q)->samples ||
		    (!q->idle && is_idle(t, cell)))
			continue;
		add_sum(&v->all, sum_of(cell, q));
		if (!is_wanted(t, q, cell))
			continue;
		add_sum(&v->shown, sum_of(cell, q));
		count_cell(v, t, q, i);
	}
	if (q->filter)
		filter_rows(v, t, q->filter);
	if (v->rows.len)
		qsort_r(v->rows.items, v->rows.len, sizeof(*v->rows.items), compare_rows, &order);
}

void top_view_release(struct top_view *v)
{
	vec_release(&v->rows);
	slots_release(&v->slots);
}

/* ---- callers ---- */

struct caller_node {
	uint32_t parent, function;
	uint32_t first_child, next_sibling;
	uint64_t weight;
};

struct caller_tree {
	VEC(struct caller_node) nodes; /* 0 is the row itself */
	struct children children;      /* by function */
};

static uint32_t caller_of(struct caller_tree *tree, uint32_t parent, uint32_t function)
{
	uint32_t *child = children_at(&tree->children, parent, function);
	uint32_t n = *child;

	if (n)
		return n;
	*child = n = (uint32_t)tree->nodes.len;
	vec_push(&tree->nodes,
		 (struct caller_node){.parent = parent,
				      .function = function,
				      .next_sibling = tree->nodes.items[parent].first_child});
	tree->nodes.items[parent].first_child = n;
	return n;
}

/* Returns the node of a cell's chain that belongs to the row, the nearest to the leaf, or 0. */
static uint32_t node_of_row(const struct top_table *t, const struct top_question *q,
			    const struct top_cell *cell, const struct top_row *row)
{
	uint32_t node = cell->node;

	for (unsigned depth = 0; node && depth < CHAIN_DEPTH_MAX; depth++) {
		struct top_row key = key_of(t, q->by, cell->process, t->nodes.items[node].function);

		if (is_same(&key, row))
			return node;
		node = t->nodes.items[node].parent;
	}
	return 0;
}

static void grow_tree(struct caller_tree *tree, const struct top_table *t,
		      const struct top_question *q, const struct top_row *row)
{
	vec_push(&tree->nodes, (struct caller_node){});
	vec_each(&t->cells, cell) {
		uint64_t weight = sum_of(cell, q)->weight;
		uint32_t node, at = 0;

		if (!cell->node || !weight || cell->event != q->event ||
		    (!q->idle && is_idle(t, cell)) || !is_wanted(t, q, cell))
			continue;
		node = node_of_row(t, q, cell, row);
		if (!node)
			continue;
		tree->nodes.items[0].weight += weight;
		for (unsigned depth = 0; depth < CHAIN_DEPTH_MAX; depth++) {
			node = t->nodes.items[node].parent;
			if (!node)
				break;
			at = caller_of(tree, at, t->nodes.items[node].function);
			tree->nodes.items[at].weight += weight;
		}
	}
}

/* Returns the heaviest child lighter than @below (or as heavy, with a larger number), or 0. */
static uint32_t next_child(const struct caller_tree *tree, uint32_t parent, uint32_t below)
{
	uint64_t limit = below ? tree->nodes.items[below].weight : UINT64_MAX;
	uint32_t best = 0, n;

	for (n = tree->nodes.items[parent].first_child; n; n = tree->nodes.items[n].next_sibling) {
		uint64_t weight = tree->nodes.items[n].weight;

		if (weight > limit || (weight == limit && n <= below))
			continue;
		if (!best || weight > tree->nodes.items[best].weight ||
		    (weight == tree->nodes.items[best].weight && n < best))
			best = n;
	}
	return best;
}

void top_callers(const struct top_table *t, const struct top_question *q, const struct top_row *row,
		 double min_share, size_t max, top_caller_list *ret)
{
	struct caller_tree tree = {};
	uint32_t at = 0, depth = 0, last = 0;
	double least;

	ret->len = 0;
	grow_tree(&tree, t, q, row);
	least = min_share * (double)tree.nodes.items[0].weight;
	while (ret->len < max) {
		uint32_t child = next_child(&tree, at, last);

		if (child && (double)tree.nodes.items[child].weight >= least) {
			vec_push(ret, (struct top_caller){depth, tree.nodes.items[child].function,
							  tree.nodes.items[child].weight});
			at = child;
			last = 0;
			depth++;
		} else if (at) {
			last = at;
			at = tree.nodes.items[at].parent;
			depth--;
		} else {
			break;
		}
	}
	vec_release(&tree.nodes);
	children_release(&tree.children);
}
