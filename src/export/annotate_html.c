#include "export/annotate_html.h"
#include "base/text.h"
#include "export/annotate_text.h"

#include <stdio.h>
#include <string.h>

#define ROW_PX  20
#define LANE_PX 8
#define TIP_PX  6

static const char *const style[] = {
#include "annotate_css.inc"
};

static const char *const script[] = {
#include "annotate_js.inc"
};

static void add_lines(struct buf *out, const char *const *lines, size_t count)
{
	for (size_t i = 0; i < count; i++)
		buf_add(out, lines[i]);
}

static void add_escaped(struct buf *out, const char *text)
{
	CLEANUP(buf_release) struct buf clean = {};

	text_add_printable(&clean, text);
	text_add_html(out, buf_str(&clean));
}

/* Tabs are kept: the page shows them as such. */
static void add_source(struct buf *out, const char *text)
{
	for (const char *tab; (tab = strchr(text, '\t')); text = tab + 1) {
		CLEANUP(free_ptr) char *part = xstrndup(text, (size_t)(tab - text));

		add_escaped(out, part);
		buf_add_char(out, '\t');
	}
	add_escaped(out, text);
}

struct page {
	const struct annotation *a;
	const struct annotate_page *o;
	struct buf *out;
};

/* The beginning of a row: its heat, and the share as a number. */
static void row_begin(struct page *p, uint64_t weight, uint64_t samples, bool hottest,
		      const char *more)
{
	static const char *const classes[] = {"", "", " h2", " h3"};
	double share = annotation_share(p->a, p->o->percent, weight, samples);
	bool counted = weight || samples;

	buf_addf(p->out, "<div class=\"r%s%s%s\"", classes[annotation_heat(counted ? share : 0)],
		 hottest ? " top1" : "", more);
	if (share >= 5)
		buf_addf(p->out, " style=\"--p:%.0f\"", share);
}

static void share_cell(struct page *p, uint64_t weight, uint64_t samples)
{
	buf_add(p->out, "><span class=s>");
	if (weight || samples)
		buf_addf(p->out, "%.2f", annotation_share(p->a, p->o->percent, weight, samples));
	buf_add(p->out, "</span>");
}

static const char *path_of(const struct annotation *a, uint32_t line)
{
	return annotation_text(a, a->files.items[a->lines.items[line].file].path);
}

static void source_line(struct page *p, uint32_t n, bool hottest)
{
	const struct annotated_line *line = &p->a->lines.items[n];

	row_begin(p, line->weight, line->samples, hottest, line->has_code ? "" : " none");
	if (line->has_code)
		buf_addf(p->out, " data-l=%u", n);
	share_cell(p, line->weight, line->samples);
	buf_addf(p->out, "<span class=n>%u</span><span class=t>", line->number);
	add_source(p->out, annotation_text(p->a, line->text));
	buf_add(p->out, "</span></div>\n");
}

static bool has_source(const struct page *p)
{
	if (p->o->no_source)
		return false;
	vec_each(&p->a->lines, line)
		if (line->has_text)
			return true;
	return false;
}

static void source_pane(struct page *p)
{
	const struct annotation *a = p->a;
	uint32_t hottest = UINT32_MAX, hot[1];

	if (annotation_hot_lines(a, hot, 1))
		hottest = hot[0];
	buf_add(p->out,
		"<div class=\"pane source\" tabindex=0 aria-label=\"Source\"><div class=rows>\n");
	for (uint32_t n = 0; n < a->lines.len; n++) {
		bool first = !n || a->lines.items[n].file != a->lines.items[n - 1].file;

		if (first) {
			buf_add(p->out, "<div class=f>");
			add_escaped(p->out, path_of(a, n));
			buf_add(p->out, "</div>\n");
		} else if (a->lines.items[n].number != a->lines.items[n - 1].number + 1) {
			buf_add(p->out, "<div class=\"r gap\"><span class=s></span><span class=n>⋮"
					"</span></div>\n");
		}
		source_line(p, n, n == hottest);
	}
	buf_add(p->out, "</div></div>\n");
}

static void draw_arrow(struct page *p, const struct arrow *arrow, unsigned width)
{
	unsigned x = width - TIP_PX - 4 - arrow->lane * LANE_PX, right = width - 3;
	unsigned long y;

	buf_addf(p->out, "<path d=\"M%u.5 %lu.5V%lu.5", x, (unsigned long)arrow->from * ROW_PX + 10,
		 (unsigned long)arrow->to * ROW_PX + 10);
	for (uint32_t n = arrow->from; n <= arrow->to; n++)
		if (n == arrow->target || p->a->instructions.items[n].jumps_to == arrow->target + 1)
			buf_addf(p->out, "M%u.5 %lu.5H%u", x, (unsigned long)n * ROW_PX + 10,
				 right);
	y = (unsigned long)arrow->target * ROW_PX + 10;
	buf_addf(p->out, "\"/><path class=tip d=\"M%u %lu.5l-%d -3.5v7z\"/>", width, y, TIP_PX);
}

static void draw_arrows(struct page *p, const arrow_list *arrows, unsigned width)
{
	buf_addf(p->out, "<svg width=%u height=%d aria-hidden=true>", width, ROW_PX);
	vec_each(arrows, arrow)
		draw_arrow(p, arrow, width);
	buf_add(p->out, "</svg>");
}

/* The place that a jump names becomes a link, if it is in this function. */
static void instruction_text(struct page *p, const struct annotated_instruction *i)
{
	const char *text = annotation_text(p->a, i->text), *at = NULL;
	char target[32];

	if (i->jumps_to) {
		snprintf(target, sizeof(target), "0x%llx", (unsigned long long)i->target);
		at = strstr(text, target);
	}
	if (at) {
		CLEANUP(free_ptr) char *before = xstrndup(text, (size_t)(at - text));

		add_escaped(p->out, before);
		buf_addf(p->out, "<a href=\"#\" data-to=%u>%s</a>", i->jumps_to - 1, target);
		text = at + strlen(target);
	}
	add_escaped(p->out, text);
}

static void line_cell(struct page *p, uint32_t line, uint32_t before)
{
	const struct annotated_line *l = line ? &p->a->lines.items[line - 1] : NULL;
	const char *path, *slash;

	if (!l || line == before) {
		buf_add(p->out, "<span class=l></span>");
		return;
	}
	path = path_of(p->a, line - 1);
	slash = strrchr(path, '/');
	buf_add(p->out, "<span class=l title=\"");
	add_escaped(p->out, path);
	buf_addf(p->out, ":%u\n", l->number);
	add_escaped(p->out, annotation_text(p->a, l->text));
	buf_add(p->out, "\">");
	if (l->file)
		add_escaped(p->out, slash ? slash + 1 : path);
	buf_addf(p->out, "%s%u</span>", l->file ? ":" : "", l->number);
}

static void code_row(struct page *p, uint32_t n, const arrow_list *arrows, unsigned width)
{
	const struct annotated_instruction *i = &p->a->instructions.items[n];
	const char *comment = annotation_text(p->a, i->comment);

	row_begin(p, i->weight, i->samples, n + 1 == p->a->hottest, "");
	if (i->line)
		buf_addf(p->out, " data-l=%u", i->line - 1);
	buf_addf(p->out, " data-i=%u", n);
	share_cell(p, i->weight, i->samples);
	line_cell(p, i->line, n ? i[-1].line : 0);
	buf_addf(p->out, "<span class=n>%llx</span>", (unsigned long long)i->address);
	if (width) {
		buf_addf(p->out, "<span class=a style=\"width:%upx\">", width + 4);
		if (!n)
			draw_arrows(p, arrows, width);
		buf_add(p->out, "</span>");
	}
	buf_add(p->out, "<span class=t>");
	instruction_text(p, i);
	buf_add(p->out, "</span>");
	if (*comment || i->scope.at) {
		buf_add(p->out, "<span class=c>");
		add_escaped(p->out, comment);
		if (i->scope.at && (!n || i[-1].line != i->line)) {
			buf_add(p->out, *comment ? " · in " : "in ");
			add_escaped(p->out, annotation_text(p->a, i->scope));
		}
		buf_add(p->out, "</span>");
	}
	buf_add(p->out, "</div>\n");
}

static void code_pane(struct page *p)
{
	arrow_list arrows = {};
	unsigned lanes = annotation_arrows(p->a, &arrows);
	unsigned width = lanes ? lanes * LANE_PX + TIP_PX + 6 : 0;

	buf_add(p->out,
		"<div class=\"pane asm\" tabindex=0 aria-label=\"Code\"><div class=rows>\n");
	for (uint32_t n = 0; n < p->a->instructions.len; n++)
		code_row(p, n, &arrows, width);
	buf_add(p->out, "</div></div>\n");
	vec_release(&arrows);
}

static void section(struct page *p, bool hidden)
{
	const struct annotation *a = p->a;
	bool source = has_source(p);

	buf_addf(p->out, "<section%s>\n<div class=facts><p><b>", hidden ? " hidden" : "");
	add_escaped(p->out, annotation_text(a, a->function));
	buf_add(p->out, "</b> in ");
	add_escaped(p->out, annotation_text(a, a->module));
	buf_add(p->out, "</p><p>");
	add_escaped(p->out, annotation_text(a, a->event));
	buf_add(p->out, ": ");
	buf_add_grouped(p->out, a->samples, 0);
	buf_addf(p->out, " sample%s, %.2f %% of all; percent: %s</p>", a->samples == 1 ? "" : "s",
		 annotation_share(a, GLOBAL_PERIOD, a->weight, a->samples),
		 percent_type_name(p->o->percent));
	vec_each(&a->notes, note) {
		buf_add(p->out, "<p>");
		add_escaped(p->out, annotation_text(a, *note));
		buf_add(p->out, "</p>");
	}
	if (a->problem.at) {
		buf_add(p->out, "<p class=odd>");
		add_escaped(p->out, annotation_text(a, a->problem));
		buf_add(p->out, "</p>");
	}
	buf_addf(p->out, "</div>\n<div class=\"panes%s\">\n", source ? "" : " one");
	if (source)
		source_pane(p);
	code_pane(p);
	buf_add(p->out, "</div></section>\n");
}

static void head(struct page *p, const struct annotation *all, size_t count)
{
	struct buf *out = p->out;

	buf_add(out,
		"<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
		"<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; "
		"style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
		"<meta name=viewport content=\"width=device-width, initial-scale=1\">\n<title>");
	add_escaped(out, count ? annotation_text(all, all->function) : p->o->title);
	buf_add(out, " – tacho annotate</title>\n<style>\n");
	add_lines(out, style, ARRAY_LEN(style));
	buf_add(out, "</style>\n</head>\n<body>\n<header><div class=top>"
		     "<select id=pick aria-label=Function>\n");
	for (size_t i = 0; i < count; i++) {
		buf_addf(out, "<option>%.2f %% ",
			 annotation_share(&all[i], GLOBAL_PERIOD, all[i].weight, all[i].samples));
		add_escaped(out, annotation_text(&all[i], all[i].function));
		buf_add(out, "\n");
	}
	buf_add(out, "</select>\n<div class=tabs><button data-tab=source aria-pressed=true>Source"
		     "</button><button data-tab=code aria-pressed=false>Code</button></div>\n"
		     "<button data-act=h>Hottest<kbd>h</kbd></button>"
		     "<button data-act=p aria-label=\"Previous hot line\">↑<kbd>p</kbd></button>"
		     "<button data-act=n aria-label=\"Next hot line\">↓<kbd>n</kbd></button>");
	if (count > 1)
		buf_add(out, "<button class=others data-act=\"[\" aria-label=\"Hotter "
			     "function\">←<kbd>[</kbd>"
			     "</button><button class=others data-act=\"]\" aria-label=\"Next "
			     "function\">→"
			     "<kbd>]</kbd></button>");
	buf_add(out, "</div></header>\n");
}

void annotate_html(const struct annotation *all, size_t count, const struct annotate_page *o,
		   struct buf *out)
{
	struct page p = {.o = o, .out = out};

	head(&p, all, count);
	for (size_t i = 0; i < count; i++) {
		p.a = &all[i];
		section(&p, i > 0);
	}
	buf_add(out, "<script>\n");
	add_lines(out, script, ARRAY_LEN(script));
	buf_add(out, "</script>\n</body>\n</html>\n");
}
