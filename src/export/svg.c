#include "export/svg.h"
#include "base/digits.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

#define CHARACTER_PX  6.7 /* of the frames' font, for the picture without a script */
#define THIN_PX       3
#define DEFAULT_WIDTH 1200.0

static const char *const flame_css[] = {
#include "flame_css.inc"
};

static const char *const flame_js[] = {
#include "flame_js.inc"
};

void svg_add_escaped(struct buf *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	while (*s) {
		size_t len = *s < 0x80 ? 1 : text_utf8_len(s);

		if (*s == '&')
			buf_add(out, "&amp;");
		else if (*s == '<')
			buf_add(out, "&lt;");
		else if (*s == '>')
			buf_add(out, "&gt;");
		else if (!len || *s < ' ' || *s == 0x7f ||
			 (len == 3 && s[0] == 0xef && s[1] == 0xbf && s[2] >= 0xbe))
			buf_add_char(out, '?'); /* what XML cannot have */
		else
			buf_add_mem(out, s, len);
		s += len ? len : 1;
	}
}

void svg_add_pct(struct buf *out, double share)
{
	double pct = 100 * share;

	buf_add_fixed(out, pct, pct >= 0.1 || pct == 0 ? 2 : 4, 0);
	buf_add(out, " %");
}

unsigned svg_shade_of(const char *name)
{
	uint32_t h = 2166136261u;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 16777619u;
	return (h ^ h >> 15) % SVG_SHADES;
}

double svg_least_share(const struct export_options *o)
{
	double width = o->width > 0 ? o->width : DEFAULT_WIDTH;

	if (o->all)
		return 0;
	return o->min_pct > 0 ? o->min_pct / 100 : SVG_NARROWEST_PX / (width - 2 * SVG_MARGIN_PX);
}

/* Nothing is missing from the width: what they hold is part of the frame below them. */
void svg_add_omitted(struct buf *out, uint64_t frames, const struct export_options *o)
{
	buf_add_grouped(out, frames, 0);
	buf_add(out, frames == 1 ? " frame below " : " frames below ");
	svg_add_pct(out, svg_least_share(o));
	buf_add(out, frames == 1 ? " is not drawn" : " are not drawn");
}

/* A share as "12.3456", in percent. */
static char *put_share(char *p, double share)
{
	uint64_t v = share <= 0 ? 0 : share >= 1 ? 1000000 : (uint64_t)llround(share * 1e6);
	unsigned part = (unsigned)(v % 10000), digits = 4;

	p = put_u64(p, v / 10000);
	if (!part)
		return p;
	for (; part % 10 == 0; part /= 10)
		digits--;
	*p++ = '.';
	return put_digits(p, part, digits);
}

static void add_lines(struct buf *b, const char *const *lines, size_t count)
{
	for (size_t i = 0; i < count; i++)
		buf_add(b, lines[i]);
}

static unsigned place_sections(struct svg *s)
{
	unsigned y = SVG_HEADER_PX;

	for (size_t i = 0; i < s->section_count; i++) {
		struct svg_section *section = &s->sections[i];

		if (section->rows > SVG_DEPTH_MAX)
			section->rows = SVG_DEPTH_MAX;
		if (section->heading)
			y += SVG_HEADING_PX;
		section->y = y;
		y += section->rows * SVG_ROW_PX;
	}
	return y + SVG_FOOTER_PX;
}

void svg_begin(struct svg *s, struct svg_section *sections, size_t count)
{
	struct buf *b = &s->out->buf;

	if (s->width <= 0)
		s->width = DEFAULT_WIDTH;
	s->sections = sections;
	s->section_count = count;
	s->height = place_sections(s);
	buf_addf(b,
		 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		 "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"tacho\" width=\"%.0f\" "
		 "height=\"%u\" viewBox=\"0 0 %.0f %u\" data-direction=\"%s\">\n<title>",
		 s->width, s->height, s->width, s->height, s->icicle ? "down" : "up");
	svg_add_escaped(b, s->title);
	buf_add(b, "</title>\n<style>\n");
	add_lines(b, flame_css, ARRAY_LEN(flame_css));
	buf_add(b, "</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n");
}

void svg_section_begin(struct svg *s, size_t section)
{
	const struct svg_section *at = &s->sections[section];
	struct buf *b = &s->out->buf;

	s->section = section;
	if (at->heading) {
		buf_addf(b, "<text class=\"heading\" x=\"%d\" y=\"%u\">", SVG_MARGIN_PX, at->y - 9);
		svg_add_escaped(b, at->heading);
		buf_add(b, "</text>\n");
	}
	buf_addf(b, "<svg class=\"graph\" x=\"%d\" y=\"%u\" width=\"%.0f\" height=\"%u\">\n",
		 SVG_MARGIN_PX, at->y, s->width - 2 * SVG_MARGIN_PX, at->rows * SVG_ROW_PX);
}

/* As much of the name as has room; nothing if that is too little to be read. */
static void add_label(struct svg *s, const struct svg_frame *f, unsigned y)
{
	double room = (f->width * (s->width - 2 * SVG_MARGIN_PX) - 6) / CHARACTER_PX;
	size_t columns = text_columns(f->name);
	struct buf *b = &s->out->buf;
	char *p;

	if (room < 3)
		return;
	p = buf_room(b, 64);
	p = put_lit(p, "<text x=\"");
	p = put_share(p, f->x);
	p = put_lit(p, "%\" dx=\"3\" y=\"");
	p = put_u64(p, y + 12);
	p = put_lit(p, "\">");
	buf_commit(b, p);
	if ((double)columns <= room) {
		svg_add_escaped(b, f->name);
	} else {
		const unsigned char *c = (const unsigned char *)f->name;
		size_t bytes = 0;
		char *part;

		for (size_t i = 0; i + 1 < (size_t)room && c[bytes]; i++) {
			size_t len = text_utf8_len(c + bytes);

			bytes += len ? len : 1;
		}
		part = xstrndup(f->name, bytes);
		svg_add_escaped(b, part);
		buf_add(b, "…");
		free(part);
	}
	buf_add(b, "</text>\n");
}

bool svg_frame(struct svg *s, const struct svg_frame *f)
{
	const struct svg_section *section = &s->sections[s->section];
	unsigned row = s->icicle ? f->row : section->rows - 1 - f->row;
	struct buf *b = &s->out->buf;
	char *p;

	if (f->row >= section->rows || s->frames >= SVG_FRAMES_MAX)
		return !s->out->failed;
	s->frames++;
	p = buf_room(b, 160);
	p = put_lit(p, "<rect x=\"");
	p = put_share(p, f->x);
	p = put_lit(p, "%\" y=\"");
	p = put_u64(p, row * SVG_ROW_PX);
	p = put_lit(p, "\" width=\"");
	p = put_share(p, f->width);
	p = put_lit(p, "%\" height=\"17\" class=\"");
	*p++ = f->kind;
	p = put_u64(p, f->shade);
	if (f->width * (s->width - 2 * SVG_MARGIN_PX) < THIN_PX)
		p = put_lit(p, " t"); /* without a line around it, which would be all of it */
	p = put_lit(p, "\"><title>");
	buf_commit(b, p);
	svg_add_escaped(b, f->name);
	buf_add_char(b, '\n');
	buf_add(b, f->detail);
	buf_add(b, "</title></rect>\n");
	add_label(s, f, row * SVG_ROW_PX);
	return export_flush_full(s->out);
}

void svg_section_end(struct svg *s)
{
	buf_add(&s->out->buf, "</svg>\n");
}

void svg_end(struct svg *s, const char *const *legend, const char *note)
{
	struct buf *b = &s->out->buf;
	unsigned y = s->height - SVG_FOOTER_PX;
	double x = SVG_MARGIN_PX;

	buf_add(b, "<g class=\"legend\">\n");
	for (; legend[0]; legend += 2) {
		buf_addf(b,
			 "<rect x=\"%.0f\" y=\"%u\" width=\"11\" height=\"11\" class=\"%s\"/>"
			 "<text x=\"%.0f\" y=\"%u\">%s</text>\n",
			 x, y + 13, legend[0], x + 15, y + 22, legend[1]);
		x += 34 + 6.4 * (double)text_columns(legend[1]);
	}
	if (note) {
		buf_addf(b, "<text x=\"%d\" y=\"%u\">", SVG_MARGIN_PX, y + 42);
		svg_add_escaped(b, note);
		buf_add(b, "</text>\n");
	}
	buf_add(b, "</g>\n<g class=\"bar\">\n<rect class=\"paper\" width=\"100%\" "
		   "height=\"58\"/>\n<text class=\"name\" x=\"10\" y=\"26\">");
	svg_add_escaped(b, s->title);
	buf_add(b, "</text>\n<text class=\"detail\" x=\"10\" y=\"48\" role=\"status\">");
	svg_add_escaped(b, s->subtitle ? s->subtitle : "");
	buf_add(b, "</text>\n</g>\n<script><![CDATA[\n");
	add_lines(b, flame_js, ARRAY_LEN(flame_js));
	buf_add(b, "]]></script>\n</svg>\n");
}
