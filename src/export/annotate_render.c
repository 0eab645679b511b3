#include "export/annotate_text.h"
#include "base/text.h"

#include <stdio.h>

#define SHARE_WIDTH 7

struct render {
	const struct annotate_style *style;
	struct buf *out;
	size_t left; /* columns of this line that are free yet */
};

/* As much of it as fits, between escape sequences that take no room. */
static void put(struct render *r, const char *before, const char *text)
{
	const struct term *t = &r->style->term;

	if (!*text || !r->left)
		return;
	buf_add(r->out, before);
	for (const char *s = text; *s && r->left; r->left--) {
		size_t len = text_utf8_len((const unsigned char *)s);

		buf_add_mem(r->out, s, len ? len : 1);
		s += len ? len : 1;
	}
	if (*before)
		buf_add(r->out, t->reset);
}

static const char *heat_color(const struct term *t, const struct annotate_row *row)
{
	switch (annotation_heat(row->counted ? row->share_pct : 0)) {
	case HEAT_HOT:
		return t->red;
	case HEAT_WARM:
		return t->green;
	default:
		return "";
	}
}

static void put_share(struct render *r, const struct annotate_row *row)
{
	const struct term *t = &r->style->term;
	char share[32];

	if (row->counted)
		snprintf(share, sizeof(share), "%*.2f ", SHARE_WIDTH, row->share_pct);
	else
		snprintf(share, sizeof(share), "%*s ", SHARE_WIDTH, "");
	put(r, heat_color(t, row), share);
	put(r, t->red, row->hottest ? t->utf8 ? "▶" : ">" : " ");
	put(r, t->dim, t->utf8 ? "│" : "|");
	put(r, "", " ");
}

static void put_place(struct render *r, const struct annotate_row *row)
{
	const struct term *t = &r->style->term;
	bool code = row->kind != ROW_LINE;

	put_share(r, row);
	put(r, t->dim, row->label);
	put(r, "", code ? " " : "  ");
	put(r, t->dim, row->arrows);
	put(r, row->kind == ROW_SOURCE ? t->blue : row->hottest ? t->bold : "", row->text);
	if (*row->comment) {
		put(r, "", "  ");
		put(r, t->yellow, row->kind == ROW_SOURCE ? "in " : "# ");
		put(r, t->yellow, row->comment);
	}
}

static bool render_row(void *ctx, const struct annotate_row *row)
{
	struct render *r = ctx;
	const struct term *t = &r->style->term;

	r->left = t->tty ? t->width : SIZE_MAX;
	switch (row->kind) {
	case ROW_TITLE:
	case ROW_HEADING:
		put(r, t->bold, row->text);
		break;
	case ROW_NOTE:
		/* Sentences are not cut. */
		buf_add_wrapped(r->out, row->text, 0, t->tty ? t->width : SIZE_MAX);
		break;
	case ROW_BLANK:
		break;
	case ROW_LINE:
	case ROW_SOURCE:
	case ROW_INSTRUCTION:
		put_place(r, row);
		break;
	}
	while (r->out->len && r->out->s[r->out->len - 1] == ' ')
		r->out->s[--r->out->len] = '\0';
	buf_add_char(r->out, '\n');
	return true;
}

void annotate_render(const struct annotation *a, const struct annotate_style *style,
		     struct buf *out)
{
	struct render r = {.style = style, .out = out};

	annotate_rows(a, style, render_row, &r);
}
