/* A view as a flame graph. */
#include "export/svg.h"

#include <string.h>

#define UNKNOWN "[unknown]"

struct place {
	uint32_t node;
	unsigned row;    /* below SVG_DEPTH_MAX */
	uint64_t before; /* weight to the left of it */
};

struct drawing {
	const struct view *view;
	const struct export_options *options;
	struct svg svg;
	uint64_t least; /* weight that is drawn */
	double whole;
	unsigned rows;
	uint64_t omitted;       /* frames too narrow */
	VEC(struct place) todo; /* the next one last */
	struct buf detail;
	bool kinds[128];
};

/* Adds the children of a place that are wide enough to what is to be done. */
static void add_children(struct drawing *d, const struct place *parent)
{
	const struct call_node *nodes = d->view->tree.nodes.items;

	if (parent->row + 1 >= SVG_DEPTH_MAX)
		return;
	for (uint32_t c = nodes[parent->node].first_child; c; c = nodes[c].next_sibling)
		if (nodes[c].total >= d->least)
			vec_push(&d->todo, (struct place){c, parent->row + 1, 0});
}

/* How deep it goes, and how much is left out. */
static void count_places(struct drawing *d)
{
	d->omitted = d->view->tree.linked;
	vec_push(&d->todo, (struct place){});
	while (d->todo.len) {
		struct place at = d->todo.items[--d->todo.len];

		d->omitted--;
		if (at.row + 1 > d->rows)
			d->rows = at.row + 1;
		add_children(d, &at);
	}
}

static int by_name(const void *a, const void *b, void *ctx)
{
	const struct drawing *d = ctx;
	const struct call_node *x = &d->view->tree.nodes.items[((const struct place *)a)->node];
	const struct call_node *y = &d->view->tree.nodes.items[((const struct place *)b)->node];
	int c = strcmp(view_name(d->view, x), view_name(d->view, y));

	if (c)
		return c;
	if (x->inlined != y->inlined)
		return (int)x->inlined - (int)y->inlined;
	return x->key < y->key ? -1 : x->key > y->key;
}

/* Children from left to right; what is not drawn stands to their right. */
static void push_children(struct drawing *d, const struct place *parent)
{
	const struct call_node *nodes = d->view->tree.nodes.items;
	size_t begin = d->todo.len, count;
	uint64_t before = parent->before;

	add_children(d, parent);
	count = d->todo.len - begin;
	if (count > 1)
		qsort_r(d->todo.items + begin, count, sizeof(struct place), by_name, d);
	for (size_t i = 0; i < count; i++) {
		d->todo.items[begin + i].before = before;
		before += nodes[d->todo.items[begin + i].node].total;
	}
	for (size_t i = 0; i < count / 2; i++) {
		struct place first = d->todo.items[begin + i];

		d->todo.items[begin + i] = d->todo.items[d->todo.len - 1 - i];
		d->todo.items[d->todo.len - 1 - i] = first;
	}
}

/* An address in no mapping, or the mark of a stack that was cut. */
static bool is_unknown(const struct profile_function *f, const char *name)
{
	return !strcmp(name, UNKNOWN) || (f->kind == CODE_UNKNOWN && !f->module.n && *name == '[');
}

static char kind_of(const struct drawing *d, const struct place *at, const struct call_node *node)
{
	const struct profile_function *f = function_of(d->view->profile, call_function(node));

	if (!at->node || (at->row == 1 && d->view->options.group != GROUP_NONE))
		return 'g';
	if (d->options->palette == PALETTE_GREY)
		return 'g';
	if (d->options->palette == PALETTE_MODULE)
		return 'm';
	if (node->inlined)
		return 'i';
	if (is_unknown(f, view_name(d->view, node)))
		return 'g';
	return f->kind == CODE_KERNEL ? 'k' : f->kind == CODE_JIT ? 'j' : 'u';
}

static const char *module_of(const struct drawing *d, const struct call_node *node)
{
	const struct profile *p = d->view->profile;
	const struct profile_function *f = function_of(p, call_function(node));

	return profile_text(p, p->modules.items[f->module.n].name);
}

static void make_detail(struct drawing *d, const struct place *at, const struct call_node *node,
			char kind)
{
	uint64_t self = call_self(&d->view->tree, at->node).weight;
	const char *module = module_of(d, node);
	struct buf *b = &d->detail;

	buf_clear(b);
	buf_add_grouped(b, node->total_samples, 0);
	buf_add(b, node->total_samples == 1 ? " sample, " : " samples, ");
	svg_add_pct(b, (double)node->total / d->whole);
	if (self && self != node->total) {
		buf_add(b, " (self ");
		svg_add_pct(b, (double)self / d->whole);
		buf_add_char(b, ')');
	}
	if (!at->node)
		return;
	if (*module) {
		buf_add_char(b, '\n');
		svg_add_escaped(b, module);
	}
	if (kind == 'i')
		buf_add(b, *module ? ", inlined" : "\ninlined");
}

static bool draw(struct drawing *d, const struct place *at)
{
	const struct call_node *node = &d->view->tree.nodes.items[at->node];
	const char *name = at->node ? view_name(d->view, node) : "all";
	char kind = kind_of(d, at, node);
	const char *module = kind == 'm' ? module_of(d, node) : "";
	struct svg_frame f = {
		.x = (double)at->before / d->whole,
		.width = (double)node->total / d->whole,
		.row = at->row,
		.kind = kind,
		.name = *name ? name : UNKNOWN,
	};

	f.shade = kind == 'g' ? 0 : svg_shade_of(kind == 'm' ? module : name);
	d->kinds[(unsigned char)kind] = true;
	d->kinds['?'] |= kind == 'g' && at->row > 1 && d->options->palette == PALETTE_KIND;
	make_detail(d, at, node, kind);
	f.detail = buf_str(&d->detail);
	return svg_frame(&d->svg, &f);
}

static void finish(struct drawing *d)
{
	static const struct {
		char kind;
		const char *class, *meaning;
	} all[] = {{'u', "u3", "user"}, {'k', "k3", "kernel"},    {'i', "i3", "inlined"},
		   {'j', "j3", "JIT"},  {'m', "m3", "by module"}, {'?', "g0", "unknown"}};
	const char *legend[2 * ARRAY_LEN(all) + 1] = {};
	CLEANUP(buf_release) struct buf note = {};
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (d->kinds[(unsigned char)all[i].kind]) {
			legend[n++] = all[i].class;
			legend[n++] = all[i].meaning;
		}
	if (d->omitted) {
		svg_add_omitted(&note, d->omitted, d->options);
	}
	svg_end(&d->svg, legend, note.len ? buf_str(&note) : NULL);
}

static int run_svg(const struct view *v, const struct export_options *o, struct export_out *out,
		   struct err *e)
{
	const struct call_node *root = &v->tree.nodes.items[0];
	struct drawing d = {
		.view = v, .options = o, .whole = root->total ? (double)root->total : 1};
	struct svg_section section = {};

	(void)e;
	d.svg = (struct svg){
		.out = out,
		.title = o->title,
		.subtitle = o->subtitle,
		.width = o->width,
		.icicle = o->icicle,
	};
	d.least = (uint64_t)(svg_least_share(o) * d.whole);
	if (!d.least)
		d.least = 1;
	count_places(&d);
	section.rows = d.rows;
	svg_begin(&d.svg, &section, 1);
	svg_section_begin(&d.svg, 0);
	vec_push(&d.todo, (struct place){});
	while (d.todo.len) {
		struct place at = d.todo.items[--d.todo.len];

		if (!draw(&d, &at))
			break;
		push_children(&d, &at);
	}
	svg_section_end(&d.svg);
	finish(&d);
	vec_release(&d.todo);
	buf_release(&d.detail);
	return 0;
}

const struct exporter export_svg = {
	.name = "svg",
	.summary = "a flame graph for the browser, one file",
	.extension = "svg",
	.style = NAMES_PLAIN,
	.run = run_svg,
};
