#include "export/annotate_text.h"
#include "base/text.h"

#include <string.h>

#define HOT_LINES 5
#define TAB_WIDTH 8

static const char *const percent_names[] = {
	[LOCAL_PERIOD] = "local-period",
	[LOCAL_HITS] = "local-hits",
	[GLOBAL_PERIOD] = "global-period",
	[GLOBAL_HITS] = "global-hits",
};

const char *percent_type_name(enum percent_type type)
{
	return percent_names[type];
}

bool percent_type_parse(const char *name, enum percent_type *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(percent_names); i++) {
		/* perf takes the words in either order. */
		const char *dash = strchr(percent_names[i], '-');
		size_t first = (size_t)(dash - percent_names[i]), second = strlen(dash + 1);

		if (!strcmp(name, percent_names[i]) ||
		    (!strncmp(name, dash + 1, second) && name[second] == '-' &&
		     !strncmp(name + second + 1, percent_names[i], first) &&
		     !name[second + 1 + first])) {
			*ret = (enum percent_type)i;
			return true;
		}
	}
	return false;
}

struct rows {
	const struct annotation *a;
	const struct annotate_style *style;
	bool (*visit)(void *ctx, const struct annotate_row *row);
	void *ctx;
	bool ended;
	struct buf label, text, arrows, comment;
	arrow_list arrow_list;
	unsigned lanes;
	int address_width;
};

static void give(struct rows *r, struct annotate_row row)
{
	row.label = buf_str(&r->label);
	row.text = buf_str(&r->text);
	row.arrows = buf_str(&r->arrows);
	row.comment = buf_str(&r->comment);
	if (!r->ended && !r->visit(r->ctx, &row))
		r->ended = true;
	buf_clear(&r->label);
	buf_clear(&r->text);
	buf_clear(&r->arrows);
	buf_clear(&r->comment);
}

static void simple(struct rows *r, enum annotate_row_kind kind, const char *text)
{
	text_add_printable(&r->text, text);
	give(r, (struct annotate_row){.kind = kind});
}

/* Source as it stands, with tabs as blanks. */
static void add_source(struct buf *out, const char *text)
{
	CLEANUP(buf_release) struct buf wide = {};

	for (; *text; text++) {
		if (*text == '\t')
			buf_pad(&wide, TAB_WIDTH - wide.len % TAB_WIDTH, ' ');
		else
			buf_add_char(&wide, *text);
	}
	text_add_printable(out, buf_str(&wide));
}

static void add_trimmed(struct buf *out, const char *text)
{
	add_source(out, text + strspn(text, " \t"));
}

static const char *shown_path(const struct rows *r, const struct annotated_line *line)
{
	const char *path = annotation_text(r->a, r->a->files.items[line->file].path);
	const char *slash = r->style->full_paths ? NULL : strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void add_share(struct rows *r, struct annotate_row *row, uint64_t weight, uint64_t samples)
{
	row->counted = samples || weight;
	row->share_pct = annotation_share(r->a, r->style->percent, weight, samples);
}

static void hot_lines(struct rows *r)
{
	uint32_t hot[HOT_LINES];
	size_t count = annotation_hot_lines(r->a, hot, HOT_LINES);

	if (!count)
		return;
	simple(r, ROW_BLANK, "");
	simple(r, ROW_HEADING, "Hottest lines");
	for (size_t i = 0; i < count; i++) {
		const struct annotated_line *line = &r->a->lines.items[hot[i]];
		struct annotate_row row = {.kind = ROW_LINE, .number = hot[i], .hottest = i == 0};

		add_share(r, &row, line->weight, line->samples);
		text_add_printable(&r->label, shown_path(r, line));
		buf_addf(&r->label, ":%u", line->number);
		add_trimmed(&r->text, annotation_text(r->a, line->text));
		give(r, row);
	}
}

static int digits(uint32_t n)
{
	int count = 1;

	while (n >= 10) {
		n /= 10;
		count++;
	}
	return count;
}

static uint32_t hottest_line(const struct annotation *a)
{
	uint32_t hot[1];

	return annotation_hot_lines(a, hot, 1) ? hot[0] : UINT32_MAX;
}

/* Lines of one file; nothing if there is no text to show. */
static void source_of_file(struct rows *r, const struct annotated_file *f, uint32_t hottest)
{
	const struct annotation *a = r->a;
	bool any = false;
	int width = 1;

	for (uint32_t n = f->first; n < f->first + f->count; n++) {
		any |= a->lines.items[n].has_text;
		width = digits(a->lines.items[n].number);
	}
	if (!any)
		return;
	simple(r, ROW_BLANK, "");
	buf_add(&r->text, "Source ");
	simple(r, ROW_HEADING, annotation_text(a, f->path));
	for (uint32_t n = f->first; n < f->first + f->count; n++) {
		const struct annotated_line *line = &a->lines.items[n];
		struct annotate_row row = {.kind = ROW_LINE, .number = n, .hottest = n == hottest};

		if (n > f->first && line->number != line[-1].number + 1) {
			buf_addf(&r->label, "%*s", width, "");
			buf_add(&r->text, r->style->term.utf8 ? "…" : "...");
			give(r, (struct annotate_row){.kind = ROW_LINE, .number = n});
		}
		add_share(r, &row, line->weight, line->samples);
		buf_addf(&r->label, "%*u", width, line->number);
		add_source(&r->text, annotation_text(a, line->text));
		give(r, row);
	}
}

/* ---- arrows ---- */

struct glyphs {
	const char *down, *up, *across, *bar, *tip, *joint, *cross;
};

static const struct glyphs utf8 = {"╭", "╰", "─", "│", "▸", "├", "┼"};
static const struct glyphs ascii = {"/", "\\", "-", "|", ">", "+", "+"};

static bool touches(const struct annotation *a, const struct arrow *arrow, uint32_t n)
{
	return n == arrow->target || a->instructions.items[n].jumps_to == arrow->target + 1;
}

/* One row of the lanes; @first is moved to the first arrow that may still matter. Lane 0 is on the
 * right, next to the instruction. */
static void add_arrows(struct rows *r, uint32_t n, size_t *first, bool between)
{
	const struct glyphs *g = r->style->term.utf8 ? &utf8 : &ascii;
	const struct arrow *at[ARROW_LANES] = {};
	const struct arrow *across = NULL;

	while (*first < r->arrow_list.len && r->arrow_list.items[*first].to < n)
		++*first;
	for (size_t i = *first; i < r->arrow_list.len && r->arrow_list.items[i].from <= n; i++) {
		const struct arrow *arrow = &r->arrow_list.items[i];

		if (arrow->to >= n && (!between || arrow->from < n))
			at[arrow->lane] = arrow;
	}
	for (unsigned lane = r->lanes; lane-- > 0;) {
		const struct arrow *arrow = at[lane];

		if (arrow && !between && touches(r->a, arrow, n)) {
			buf_add(&r->arrows, n == arrow->from ? g->down
					    : n == arrow->to ? g->up
							     : g->joint);
			/* Of several that end here, the tip belongs to the one that leads here. */
			if (!across || arrow->target == n)
				across = arrow;
		} else {
			buf_add(&r->arrows, across && arrow ? g->cross
					    : across        ? g->across
					    : arrow         ? g->bar
							    : " ");
		}
	}
	if (r->lanes)
		buf_add(&r->arrows, across ? across->target == n ? g->tip : g->across : " ");
}

/* ---- code ---- */

static void source_row(struct rows *r, const struct annotated_instruction *i, uint32_t n,
		       size_t *first)
{
	const struct annotated_line *line = &r->a->lines.items[i->line - 1];
	struct annotate_row row = {.kind = ROW_SOURCE, .number = i->line - 1};
	bool named = line->file || !line->has_text || r->style->print_line || r->style->full_paths;

	buf_pad(&r->label, (size_t)r->address_width + 1, ' ');
	add_arrows(r, n, first, true);
	if (named) {
		text_add_printable(&r->text, shown_path(r, line));
		buf_add_char(&r->text, ':');
	}
	buf_addf(&r->text, line->text.at ? "%u  " : "%u", line->number);
	add_trimmed(&r->text, annotation_text(r->a, line->text));
	text_add_printable(&r->comment, annotation_text(r->a, i->scope));
	give(r, row);
}

static void instruction_row(struct rows *r, uint32_t n, size_t *first)
{
	const struct annotated_instruction *i = &r->a->instructions.items[n];
	struct annotate_row row = {.kind = ROW_INSTRUCTION, .number = n};

	row.hottest = n + 1 == r->a->hottest;
	add_share(r, &row, i->weight, i->samples);
	buf_addf(&r->label, "%*llx:", r->address_width, (unsigned long long)i->address);
	add_arrows(r, n, first, false);
	text_add_printable(&r->text, annotation_text(r->a, i->text));
	text_add_printable(&r->comment, annotation_text(r->a, i->comment));
	give(r, row);
}

static void code(struct rows *r)
{
	const struct annotation *a = r->a;
	uint32_t line = 0;
	size_t first = 0;

	if (!a->instructions.len)
		return;
	if (!r->style->no_jumps)
		r->lanes = annotation_arrows(a, &r->arrow_list);
	r->address_width = 1;
	for (uint64_t last = a->instructions.items[a->instructions.len - 1].address; last >>= 4;)
		r->address_width++;
	simple(r, ROW_BLANK, "");
	simple(r, ROW_HEADING, "Code");
	for (uint32_t n = 0; n < a->instructions.len && !r->ended; n++) {
		const struct annotated_instruction *i = &a->instructions.items[n];

		if (i->line && i->line != line && !r->style->no_source)
			source_row(r, i, n, &first);
		line = i->line;
		instruction_row(r, n, &first);
	}
}

static void head(struct rows *r)
{
	const struct annotation *a = r->a;

	text_add_printable(&r->text, annotation_text(a, a->function));
	buf_add(&r->text, " in ");
	simple(r, ROW_TITLE, annotation_text(a, a->module));
	text_add_printable(&r->text, annotation_text(a, a->event));
	buf_add(&r->text, ": ");
	buf_add_grouped(&r->text, a->samples, 0);
	buf_addf(&r->text, " sample%s, %.2f %% of all; percent: %s", a->samples == 1 ? "" : "s",
		 annotation_share(a, GLOBAL_PERIOD, a->weight, a->samples),
		 percent_type_name(r->style->percent));
	give(r, (struct annotate_row){.kind = ROW_NOTE});
	if (a->problem.at)
		simple(r, ROW_NOTE, annotation_text(a, a->problem));
	vec_each(&a->notes, note)
		simple(r, ROW_NOTE, annotation_text(a, *note));
}

void annotate_rows(const struct annotation *a, const struct annotate_style *style,
		   bool (*visit)(void *ctx, const struct annotate_row *row), void *ctx)
{
	struct rows r = {.a = a, .style = style, .visit = visit, .ctx = ctx};

	head(&r);
	if (!style->no_source) {
		uint32_t hottest = hottest_line(a);

		hot_lines(&r);
		vec_each(&a->files, f)
			source_of_file(&r, f, hottest);
	}
	code(&r);
	vec_release(&r.arrow_list);
	buf_release(&r.label);
	buf_release(&r.text);
	buf_release(&r.arrows);
	buf_release(&r.comment);
}
