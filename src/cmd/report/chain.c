/* The chains below an entry as text: a tree drawn with lines, or a list of chains. */
#include "cmd/report/report.h"

#include <string.h>

#define MARGIN 12 /* column at which the tree begins */

struct drawing {
	struct report_view *v;
	const struct chains *chains;
	uint64_t whole; /* 100 % */
	struct buf pad; /* begins each line: margin, and '|' for each branch that continues */
};

const char *report_heat(const struct report_view *v, double percent)
{
	if (percent >= 5)
		return v->term.red;
	return percent >= 0.5 ? v->term.green : "";
}

static void add_amount(const struct drawing *d, uint64_t weight, uint64_t whole)
{
	struct buf *out = &d->v->out;
	double percent = report_share(weight, whole);
	const char *heat = report_heat(d->v, percent);

	buf_add(out, heat);
	if (d->v->chain_value != CHAIN_PERCENT) {
		buf_add_u64(out, weight);
	} else {
		buf_add_fixed(out, percent, 2, 0);
		buf_add_char(out, '%');
	}
	if (*heat)
		buf_add(out, d->v->term.reset);
}

static void add_name(const struct drawing *d, uint32_t n)
{
	const struct chain_node *node = &d->chains->nodes.items[n];

	report_add_step(d->v, node, &d->v->out);
	buf_add_char(&d->v->out, '\n');
}

static void begin_line(const struct drawing *d)
{
	buf_add_mem(&d->v->out, buf_str(&d->pad), d->pad.len);
}

/*
 * Returns the child to draw below @n without a branch, because it is the only one and has all of
 * the weight of @n; 0 if there is none.
 */
static uint32_t straight_on(const struct drawing *d, uint32_t n)
{
	const struct chain_node *nodes = d->chains->nodes.items;
	uint32_t child = nodes[n].first_child;

	if (!child || nodes[child].next_sibling || nodes[child].weight != nodes[n].weight)
		return 0;
	return child;
}

/* Adds the names below @n until a step has branches; returns that step. */
static uint32_t add_straight(const struct drawing *d, uint32_t n)
{
	for (;;) {
		uint32_t child = straight_on(d, n);

		if (!child)
			return n;
		begin_line(d);
		add_name(d, child);
		n = child;
	}
}

/* Adds "|--12.34%--name" and the names below it until a step has branches; returns that step. */
static uint32_t add_branch(struct drawing *d, uint32_t n)
{
	const struct chain_node *nodes = d->chains->nodes.items, *node = &nodes[n];
	uint64_t whole = d->v->mode == CHAINS_FRACTAL ? nodes[node->parent].below : d->whole;

	begin_line(d);
	buf_add(&d->v->out, "|\n");
	begin_line(d);
	buf_add(&d->v->out, node->next_sibling ? "|--" : " --");
	add_amount(d, node->weight, whole);
	buf_add(&d->v->out, "--");
	add_name(d, n);
	buf_add(&d->pad, node->next_sibling ? "|          " : "           ");
	return add_straight(d, n);
}

/* Adds all branches below @top, depth first. Each level adds 11 characters to the pad. */
static void add_branches(struct drawing *d, uint32_t top)
{
	const struct chain_node *nodes = d->chains->nodes.items;
	VEC(uint32_t) path = {}; /* first steps of the branches from @top to @n */
	uint32_t n = nodes[top].first_child;

	while (n || path.len) {
		if (!n) {
			n = nodes[path.items[--path.len]].next_sibling;
			d->pad.len -= 11;
			d->pad.s[d->pad.len] = '\0';
			continue;
		}
		vec_push(&path, n);
		n = nodes[add_branch(d, n)].first_child;
	}
	vec_release(&path);
}

static void add_graph(struct drawing *d)
{
	struct buf *out = &d->v->out;
	uint32_t first = straight_on(d, 0), last = 0;

	buf_pad(&d->pad, MARGIN, ' ');
	if (first) {
		begin_line(d);
		buf_add(out, "|\n");
		begin_line(d);
		buf_add(out, "---");
		add_name(d, first);
		buf_add(&d->pad, "   ");
		last = add_straight(d, first);
	}
	add_branches(d, last);
	buf_add_char(out, '\n');
}

/* ---- lists ---- */

typedef VEC(uint32_t) node_list;

struct listed {
	uint32_t node;
	uint64_t weight;
};

static int heavier(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->node < y->node ? -1 : 1;
}

static void add_path(const struct drawing *d, uint32_t end, node_list *path)
{
	const struct chain_node *nodes = d->chains->nodes.items;
	struct buf *out = &d->v->out;

	path->len = 0;
	for (uint32_t n = end; n; n = nodes[n].parent)
		vec_push(path, n);
	while (path->len) {
		uint32_t n = path->items[--path->len];

		if (d->v->mode == CHAINS_FLAT)
			buf_pad(out, 16, ' ');
		report_add_step(d->v, &nodes[n], out);
		buf_add_char(out, d->v->mode == CHAINS_FLAT || !path->len ? '\n' : ';');
	}
}

/* Lists whole chains, heaviest first, with the weight of the samples that end there. */
static void add_list(const struct drawing *d, uint64_t min)
{
	const struct chains *c = d->chains;
	uint64_t *own = xcalloc(c->nodes.len, sizeof(*own));
	VEC(struct listed) list = {};
	node_list path = {};

	for (uint32_t i = 0; i < c->nodes.len; i++) {
		own[i] += c->nodes.items[i].weight;
		if (i)
			own[c->nodes.items[i].parent] -= c->nodes.items[i].weight;
	}
	for (uint32_t i = 1; i < c->nodes.len; i++)
		if (own[i] && own[i] >= min)
			vec_push(&list, (struct listed){i, own[i]});
	if (list.len)
		qsort(list.items, list.len, sizeof(*list.items), heavier);
	if (d->v->chain_limit && list.len > d->v->chain_limit)
		list.len = d->v->chain_limit;
	vec_each(&list, at) {
		if (d->v->mode == CHAINS_FLAT)
			buf_pad(&d->v->out, 11, ' ');
		add_amount(d, at->weight, d->whole);
		buf_add_char(&d->v->out, d->v->mode == CHAINS_FLAT ? '\n' : ' ');
		add_path(d, at->node, &path);
		if (d->v->mode == CHAINS_FLAT)
			buf_add_char(&d->v->out, '\n');
	}
	vec_release(&path);
	vec_release(&list);
	free(own);
}

void report_chain_text(struct report_view *v, const struct report_entry *e)
{
	struct chains chains;
	struct drawing d = {.v = v, .chains = &chains, .whole = report_whole(&v->report, e)};
	struct chain_options o = report_chain_options(v, e);

	if (v->chain_value == CHAIN_COUNT) {
		d.whole = report_whole_samples(&v->report, e);
		o.samples = true;
		o.min = (uint64_t)((double)d.whole * (v->chain_min_pct / 100));
		o.min = v->mode == CHAINS_FRACTAL ? 0 : o.min;
	}
	if (report_chain_weight(&v->report, e, &o) < o.min)
		return;
	report_chains(&v->report, e, &o, &chains);
	if (chains.nodes.items[0].first_child) {
		if (v->mode == CHAINS_FLAT || v->mode == CHAINS_FOLDED)
			add_list(&d, o.min);
		else
			add_graph(&d);
	}
	chains_release(&chains);
	buf_release(&d.pad);
}
