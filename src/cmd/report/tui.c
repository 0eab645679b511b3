#include "cmd/report/tui.h"
#include "cmd/terminal/screen.h"

#include <string.h>

/* Bounds the memory when everything is opened; nobody scrolls through more lines. */
#define LINES_MAX (1u << 20)

static struct tui_chains *chains_of(struct tui *t, uint32_t entry)
{
	struct report_view *v = t->view;
	struct tui_chains *c = t->opened[entry];
	const struct report_entry *e = &v->report.entries.items[entry];
	struct chain_options o;

	if (c || !v->ro.chains)
		return c;
	o = report_chain_options(v, e);
	c = xcalloc(1, sizeof(*c));
	report_chains(&v->report, e, &o, &c->chains);
	c->open = xcalloc(c->chains.nodes.len, sizeof(*c->open));
	t->opened[entry] = c;
	return c;
}

static void close_all(struct tui *t)
{
	for (size_t i = 0; t->opened && i < t->view->report.entries.len; i++) {
		if (!t->opened[i])
			continue;
		chains_release(&t->opened[i]->chains);
		free(t->opened[i]->open);
		free(t->opened[i]);
	}
	free(t->opened);
	t->opened = NULL;
}

/* An only child with all of its parent's weight is shown with the parent. */
static bool is_straight(const struct chains *c, uint32_t child)
{
	const struct chain_node *node = &c->nodes.items[child],
				*parent = &c->nodes.items[node->parent];

	return node->parent && parent->first_child == child && !node->next_sibling &&
	       parent->weight == node->weight;
}

static uint32_t end_of_straight(const struct chains *c, uint32_t n)
{
	while (c->nodes.items[n].first_child && is_straight(c, c->nodes.items[n].first_child))
		n = c->nodes.items[n].first_child;
	return n;
}

bool tui_can_open(struct tui *t, const struct tui_line *line)
{
	struct report_view *v = t->view;
	struct tui_chains *c = t->opened[line->entry];
	const struct report_entry *e = &v->report.entries.items[line->entry];

	if (line->straight || !v->ro.chains)
		return false;
	/* Chains are not built yet: an entry that reaches the chain threshold has some. */
	if (!line->node && !c)
		return (v->ro.children ? e->total : e->self) >= report_chain_options(v, e).min;
	return c->chains.nodes.items[end_of_straight(&c->chains, line->node)].first_child;
}

bool tui_is_open(const struct tui *t, const struct tui_line *line)
{
	const struct tui_chains *c = t->opened[line->entry];

	return c && c->open[line->node];
}

void tui_open(struct tui *t, const struct tui_line *line, bool open)
{
	struct tui_chains *c;
	uint32_t first;

	if (!tui_can_open(t, line))
		return;
	c = chains_of(t, line->entry);
	if (!c)
		return;
	c->open[line->node] = open;
	/* An only child is opened too: there is nothing to choose. */
	first = c->chains.nodes.items[0].first_child;
	if (open && !line->node && first && !c->chains.nodes.items[first].next_sibling)
		c->open[first] = true;
}

void tui_open_all(struct tui *t, uint32_t entry, bool open)
{
	struct tui_chains *c = open ? chains_of(t, entry) : t->opened[entry];

	if (c)
		memset(c->open, open, c->chains.nodes.len * sizeof(*c->open));
}

/* ---- lines ---- */

static void add_line(struct tui *t, uint32_t entry, uint32_t node, uint32_t indent, bool straight)
{
	if (t->lines.len < LINES_MAX)
		vec_push(&t->lines, (struct tui_line){entry, node, indent, straight});
}

/* Adds @n and its straight descendants; returns the last of these, which has the children. */
static uint32_t add_node(struct tui *t, const struct chains *c, uint32_t entry, uint32_t n,
			 uint32_t indent)
{
	uint32_t end = end_of_straight(c, n);

	add_line(t, entry, n, indent, false);
	while (n != end) {
		n = c->nodes.items[n].first_child;
		add_line(t, entry, n, indent, true);
	}
	return end;
}

static void add_chain_lines(struct tui *t, uint32_t entry)
{
	const struct tui_chains *o = t->opened[entry];
	const struct chain_node *nodes = o->chains.nodes.items;
	VEC(uint32_t) path = {}; /* nodes whose children are being added */
	uint32_t n = nodes[0].first_child;

	while (n || path.len) {
		uint32_t end;

		if (!n) {
			n = nodes[path.items[--path.len]].next_sibling;
			continue;
		}
		end = add_node(t, &o->chains, entry, n, (uint32_t)path.len + 1);
		if (o->open[n] && nodes[end].first_child) {
			vec_push(&path, n);
			n = nodes[end].first_child;
		} else {
			n = nodes[n].next_sibling;
		}
	}
	vec_release(&path);
}

void tui_make_lines(struct tui *t)
{
	const struct report_section *s = tui_section(t);
	size_t shown = report_shown(t->view, s);

	t->lines.len = 0;
	for (size_t i = 0; i < shown; i++) {
		uint32_t entry = s->entries.items[i];

		add_line(t, entry, 0, 0, false);
		if (t->opened[entry] && t->opened[entry]->open[0])
			add_chain_lines(t, entry);
	}
	if (t->cursor >= t->lines.len)
		t->cursor = t->lines.len ? t->lines.len - 1 : 0;
}

static void build(struct tui *t)
{
	struct report_view *v = t->view;

	report_build(&v->report, &v->in.profile, &v->ro);
	t->opened = xcalloc(v->report.entries.len, sizeof(*t->opened));
	if (t->section >= v->report.sections.len)
		t->section = 0;
	report_view_choose(v, tui_section(t));
	columns_measure(v, tui_section(t), 32);
	tui_make_lines(t);
}

void tui_rebuild(struct tui *t)
{
	close_all(t);
	report_release(&t->view->report);
	build(t);
	t->cursor = t->top = 0;
}

int report_show_tui(struct report_view *v, struct err *e)
{
	struct tui t = {.view = v};
	int r = screen_open(e);

	if (r < 0)
		return r;
	build(&t);
	/* Begin with the first section that has samples. */
	while (t.section + 1 < v->report.sections.len && !tui_section(&t)->samples)
		t.section++;
	report_view_choose(v, tui_section(&t));
	columns_measure(v, tui_section(&t), 32);
	tui_make_lines(&t);
	while (!t.quit) {
		tui_draw(&t);
		tui_key(&t, screen_key(-1));
	}
	screen_close();
	close_all(&t);
	vec_release(&t.lines);
	buf_release(&t.status);
	free(t.zoom_comm);
	free(t.zoom_dso);
	free(t.find);
	return 0;
}
