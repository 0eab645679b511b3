#include "export/svg_diff.h"
#include "export/svg.h"

#include <math.h>
#include <string.h>

#define STRONGEST   8      /* shade of the largest change */
#define HARDLY      0.0005 /* a change of less than this share is none */
#define LEAST_SCALE 0.10   /* small changes everywhere are not to look dramatic */

struct place {
	uint32_t node;
	unsigned row;
	double x;
};

/* One of the two graphs: which weights it shows, by node. */
struct layer {
	double *share;
	unsigned rows; /* 0: there is nothing to show */
	uint64_t omitted;
};

struct drawing {
	const struct diff *diff;
	const struct diff_svg_options *options;
	struct svg svg;
	struct layer layers[2];
	enum diff_side side; /* whose widths the first graph shows */
	double whole;        /* the share that is the whole width, in both graphs */
	double largest;      /* change */
	VEC(struct place) todo;
	struct buf detail;
};

/* What the first graph shows: everything on its side. */
static void measure_first(struct drawing *d)
{
	const struct diff_node *nodes = d->diff->nodes.items;

	for (size_t i = 0; i < d->diff->nodes.len; i++)
		d->layers[0].share[i] = diff_share(d->diff, &nodes[i], d->side);
}

/* The second: what is not there on that side, with the way that leads to it. */
static void measure_second(struct drawing *d)
{
	const struct diff_node *nodes = d->diff->nodes.items;
	enum diff_side other = !d->side;

	for (size_t i = d->diff->nodes.len; i-- > 0;) {
		if (!nodes[i].total[d->side])
			d->layers[1].share[i] +=
				(double)nodes[i].self[other] * d->diff->scale[other];
		if (i)
			d->layers[1].share[nodes[i].parent] += d->layers[1].share[i];
	}
}

/* Too narrow to draw becomes 0; how deep the rest goes. */
static void prune(struct drawing *d, struct layer *layer)
{
	const struct diff_node *nodes = d->diff->nodes.items;
	size_t count = d->diff->nodes.len;
	uint16_t *depth = xcalloc(count, sizeof(*depth));
	double least;

	layer->rows = layer->share[0] > 0;
	least = svg_least_share(&d->options->export) * d->whole;
	for (size_t i = 1; i < count; i++) {
		uint32_t parent = nodes[i].parent;
		bool wide = layer->share[parent] > 0 && layer->share[i] >= least &&
			    layer->share[i] > 0 && depth[parent] + 1 < SVG_DEPTH_MAX;

		if (!wide) {
			layer->omitted += layer->share[i] > 0;
			layer->share[i] = 0;
			continue;
		}
		depth[i] = (uint16_t)(depth[parent] + 1);
		if (depth[i] + 1u > layer->rows)
			layer->rows = depth[i] + 1u;
	}
	free(depth);
}

static void find_largest(struct drawing *d)
{
	d->largest = LEAST_SCALE;
	for (size_t i = 0; i < d->diff->nodes.len; i++) {
		double change = fabs(diff_change(d->diff, &d->diff->nodes.items[i]));

		if (d->layers[0].share[i] > 0 && change > d->largest)
			d->largest = change;
	}
}

static int by_name(const void *a, const void *b, void *ctx)
{
	const struct drawing *d = ctx;
	const struct diff_node *nodes = d->diff->nodes.items;

	return strcmp(diff_text(d->diff, nodes[((const struct place *)a)->node].name),
		      diff_text(d->diff, nodes[((const struct place *)b)->node].name));
}

static void push_children(struct drawing *d, const struct layer *layer, const struct place *parent)
{
	const struct diff_node *nodes = d->diff->nodes.items;
	size_t begin = d->todo.len, count;
	double x = parent->x;

	for (uint32_t c = nodes[parent->node].first_child; c; c = nodes[c].next_sibling)
		if (layer->share[c] > 0)
			vec_push(&d->todo, (struct place){c, parent->row + 1, 0});
	count = d->todo.len - begin;
	if (count > 1)
		qsort_r(d->todo.items + begin, count, sizeof(struct place), by_name, d);
	for (size_t i = 0; i < count; i++) {
		d->todo.items[begin + i].x = x;
		x += layer->share[d->todo.items[begin + i].node];
	}
	for (size_t i = 0; i < count / 2; i++) {
		struct place first = d->todo.items[begin + i];

		d->todo.items[begin + i] = d->todo.items[d->todo.len - 1 - i];
		d->todo.items[d->todo.len - 1 - i] = first;
	}
}

static void make_detail(struct drawing *d, const struct diff_node *node)
{
	const struct diff_name *name = &d->diff->names.items[node->name];
	double change = diff_change(d->diff, node);
	struct buf *b = &d->detail;

	buf_clear(b);
	for (int side = 0; side < 2; side++) {
		buf_add(b, side ? ", after " : "before ");
		svg_add_pct(b, diff_share(d->diff, node, side));
	}
	buf_add(b, change < 0 ? "\n− " : "\n+ ");
	svg_add_pct(b, fabs(change));
	buf_add(b, " of all");
	if (name->module) {
		buf_add_char(b, '\n');
		svg_add_escaped(b, d->diff->text.s + name->module);
	}
}

static void colour(struct drawing *d, const struct layer *layer, const struct diff_node *node,
		   struct svg_frame *f)
{
	double change = diff_change(d->diff, node);
	double strength = sqrt(fabs(change) / d->largest);

	f->kind = change < 0 ? 'n' : 'p';
	if (layer == &d->layers[1]) {
		/* Grey leads to it; what is only there is as strong as can be. */
		bool leads = node->total[d->side] > 0;

		f->kind = leads ? 'g' : f->kind;
		f->shade = leads ? 0 : 5;
		return;
	}
	if (strength > 1)
		strength = 1;
	f->shade = fabs(change) < HARDLY ? 0 : (unsigned)lround(strength * STRONGEST);
}

static void draw_layer(struct drawing *d, size_t section, struct layer *layer)
{
	svg_section_begin(&d->svg, section);
	d->todo.len = 0;
	vec_push(&d->todo, (struct place){});
	while (d->todo.len) {
		struct place at = d->todo.items[--d->todo.len];
		const struct diff_node *node = &d->diff->nodes.items[at.node];
		const char *name = at.node ? diff_text(d->diff, node->name) : "all";
		struct svg_frame f = {
			.x = at.x / d->whole,
			.width = layer->share[at.node] / d->whole,
			.row = at.row,
			.name = *name ? name : "[unknown]",
		};

		colour(d, layer, node, &f);
		make_detail(d, node);
		f.detail = buf_str(&d->detail);
		if (!svg_frame(&d->svg, &f))
			break;
		push_children(d, layer, &at);
	}
	svg_section_end(&d->svg);
}

static void finish(struct drawing *d)
{
	static const char *const legend[] = {"p7", "more than before", "n7", "less",
					     "p0", "the same",         NULL};
	CLEANUP(buf_release) struct buf note = {};
	uint64_t omitted = d->layers[0].omitted + d->layers[1].omitted;

	buf_addf(&note, "widths: %s", d->options->negate ? "before" : "after");
	if (omitted) {
		buf_add(&note, "; ");
		svg_add_omitted(&note, omitted, &d->options->export);
	}
	svg_end(&d->svg, legend, buf_str(&note));
}

static void add_heading(struct drawing *d, struct buf *heading)
{
	buf_addf(heading, "Only %s (%s): ", d->options->negate ? "after" : "before",
		 d->options->names[!d->side]);
	svg_add_pct(heading, d->layers[1].share[0]);
}

void export_diff_svg(const struct diff *d, const struct diff_svg_options *o, struct export_out *out)
{
	struct drawing g = {.diff = d, .options = o, .side = o->negate ? DIFF_BEFORE : DIFF_AFTER};
	CLEANUP(buf_release) struct buf heading = {};
	struct svg_section sections[2] = {};
	size_t count = 0;

	g.svg = (struct svg){
		.out = out,
		.title = o->export.title,
		.subtitle = o->export.subtitle,
		.width = o->export.width,
		.icicle = o->export.icicle,
	};
	for (int i = 0; i < 2; i++)
		g.layers[i].share = xcalloc(d->nodes.len, sizeof(double));
	measure_first(&g);
	measure_second(&g);
	find_largest(&g);
	g.whole = fmax(g.layers[0].share[0], g.layers[1].share[0]);
	for (int i = 0; i < 2; i++)
		prune(&g, &g.layers[i]);
	add_heading(&g, &heading);
	if (g.layers[0].rows)
		sections[count++].rows = g.layers[0].rows;
	if (g.layers[1].rows)
		sections[count++] = (struct svg_section){buf_str(&heading), g.layers[1].rows, 0};
	svg_begin(&g.svg, sections, count);
	count = 0;
	for (int i = 0; i < 2; i++)
		if (g.layers[i].rows)
			draw_layer(&g, count++, &g.layers[i]);
	finish(&g);
	for (int i = 0; i < 2; i++)
		free(g.layers[i].share);
	vec_release(&g.todo);
	buf_release(&g.detail);
}
