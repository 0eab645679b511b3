/*
 * Folded stacks, line by line in the order of their bytes. A node's own line and the lines below it
 * are sorted for themselves among those of its siblings: "a;x" comes after "a.cold", "a" before it.
 */
#include "base/digits.h"
#include "export/exporter.h"

#include <string.h>

struct item {
	uint32_t node;
	bool below; /* the lines below it, not its own */
};

struct folding {
	const struct view *view;
	const struct export_options *options;
	struct export_out *out;
	struct buf line;
	VEC(struct item) todo; /* the next one last */
};

static const char *ending_of(const struct folding *f, const struct call_node *node)
{
	enum code_kind kind = function_of(f->view->profile, call_function(node))->kind;

	if (kind == CODE_KERNEL && (f->options->annotate || f->options->annotate_kernel))
		return "_[k]";
	if (!f->options->annotate)
		return "";
	return node->inlined ? "_[i]" : kind == CODE_JIT ? "_[j]" : "";
}

/* Name, ending and what follows them, one after the other. */
struct parts {
	const char *at, *ending;
	unsigned char last;
};

static unsigned char next_byte(struct parts *p)
{
	unsigned char last = p->last;

	if (!*p->at && *p->ending) {
		p->at = p->ending;
		p->ending = "";
	}
	if (*p->at)
		return (unsigned char)*p->at++;
	p->last = 0;
	return last;
}

static struct parts parts_of(const struct folding *f, const struct item *item)
{
	const struct call_node *node = &f->view->tree.nodes.items[item->node];

	return (struct parts){view_name(f->view, node), ending_of(f, node), item->below ? ';' : 0};
}

static int compare(const void *a, const void *b, void *ctx)
{
	struct parts x = parts_of(ctx, a), y = parts_of(ctx, b);
	unsigned char c, d;

	do {
		c = next_byte(&x);
		d = next_byte(&y);
	} while (c && c == d);
	return (int)c - (int)d;
}

/* What stands below a node, sorted, onto the list of what is to be done: the first last. */
static void push_children(struct folding *f, uint32_t parent)
{
	const struct call_node *nodes = f->view->tree.nodes.items;
	size_t begin = f->todo.len, count;

	for (uint32_t c = nodes[parent].first_child; c; c = nodes[c].next_sibling) {
		if (call_self(&f->view->tree, c).weight)
			vec_push(&f->todo, (struct item){c, false});
		if (nodes[c].first_child)
			vec_push(&f->todo, (struct item){c, true});
	}
	count = f->todo.len - begin;
	if (count > 1)
		qsort_r(f->todo.items + begin, count, sizeof(struct item), compare, f);
	for (size_t i = 0; i < count / 2; i++) {
		struct item first = f->todo.items[begin + i];

		f->todo.items[begin + i] = f->todo.items[f->todo.len - 1 - i];
		f->todo.items[f->todo.len - 1 - i] = first;
	}
}

static void write_line(struct folding *f, size_t prefix, uint32_t n)
{
	const struct call_node *node = &f->view->tree.nodes.items[n];
	const char *name = view_name(f->view, node), *ending = ending_of(f, node);
	size_t name_len = strlen(name);
	char *p = buf_room(&f->out->buf, prefix + name_len + 8 + DIGITS_MAX + 2);

	p = put_mem(p, buf_str(&f->line), prefix);
	p = put_mem(p, name, name_len);
	p = put_mem(p, ending, strlen(ending));
	*p++ = ' ';
	p = put_u64(p, call_self(&f->view->tree, n).weight);
	*p++ = '\n';
	buf_commit(&f->out->buf, p);
}

/* Where the line of a node's children begins: behind that of its parent's. */
struct level {
	uint32_t node;
	size_t prefix;
};

static int run_folded(const struct view *v, const struct export_options *o, struct export_out *out,
		      struct err *e)
{
	struct folding f = {.view = v, .options = o, .out = out};
	VEC(struct level) levels = {};

	(void)e;
	vec_push(&levels, (struct level){});
	push_children(&f, 0);
	while (f.todo.len && export_flush_full(out)) {
		struct item item = f.todo.items[--f.todo.len];
		const struct call_node *node = &v->tree.nodes.items[item.node];

		while (levels.items[levels.len - 1].node != node->parent)
			levels.len--;
		f.line.len = levels.items[levels.len - 1].prefix;
		if (!item.below) {
			write_line(&f, f.line.len, item.node);
			continue;
		}
		buf_add(&f.line, view_name(v, node));
		buf_add(&f.line, ending_of(&f, node));
		buf_add_char(&f.line, ';');
		vec_push(&levels, (struct level){item.node, f.line.len});
		push_children(&f, item.node);
	}
	vec_release(&f.todo);
	vec_release(&levels);
	buf_release(&f.line);
	return 0;
}

const struct exporter export_folded = {
	.name = "folded",
	.summary = "a line a stack: outer;inner COUNT",
	.extension = "folded",
	.style = NAMES_FOLDED,
	.run = run_folded,
};
