#include "base/text.h"
#include "cmd/report/report.h"
#include "cmd/command.h"
#include "cmd/script/script.h"

#include <string.h>

void report_flush(struct report_view *v, bool all)
{
	if (v->write_failed)
		buf_clear(&v->out);
	else if (all || v->out.len >= REPORT_FLUSH_BYTES)
		v->write_failed = !command_flush(&v->out, v->fd);
}

/* Large counts as perf prints them: "5K". */
static void add_short(struct buf *out, uint64_t n)
{
	static const char units[] = {'\0', 'K', 'M', 'G', 'T'};
	size_t unit = 0;

	while (n > 1000 && unit + 1 < ARRAY_LEN(units)) {
		n /= 1000;
		unit++;
	}
	buf_add_u64(out, n);
	if (unit)
		buf_add_char(out, units[unit]);
}

static void add_section_head(struct report_view *v, const struct report_section *s)
{
	const struct profile *p = &v->in.profile;
	struct buf *out = &v->out;

	buf_add(out, "# Samples: ");
	add_short(out, s->samples);
	if (v->ro.one_section) {
		buf_add(out, " of all events\n#\n");
		return;
	}
	buf_add(out, " of event '");
	if (p->events.len)
		report_add_name(out, profile_text(p, p->events.items[s->event.n].name));
	buf_add(out, "'\n# Event count (approx.): ");
	buf_add_u64(out, s->weight);
	buf_add(out, "\n#\n");
}

static void add_cell(struct buf *out, const struct column *c, const char *text, size_t columns,
		     bool last)
{
	size_t pad = columns < c->width ? c->width - columns : 0;

	if (column_is_number(c))
		buf_pad(out, pad, ' ');
	buf_add(out, text);
	if (!column_is_number(c) && !last)
		buf_pad(out, pad, ' ');
}

static void add_titles(struct report_view *v)
{
	struct buf *out = &v->out;
	const struct column *last = v->columns.items + v->columns.len - 1;

	buf_add(out, "# ");
	vec_each(&v->columns, c) {
		buf_add(out, v->term.bold);
		add_cell(out, c, c->title, strlen(c->title), c == last);
		buf_add(out, v->term.reset);
		buf_add(out, c == last ? "\n" : "  ");
	}
	buf_add(out, "# ");
	vec_each(&v->columns, c) {
		buf_pad(out, c->width, '.');
		buf_add(out, c == last ? "\n" : "  ");
	}
	buf_add(out, "#\n");
}

static double share_in_column(const struct report_view *v, const struct column *c,
			      const struct report_entry *e)
{
	uint64_t whole = report_whole(&v->report, e);

	return report_share(c->kind == COLUMN_CHILDREN ? e->total : e->self, whole);
}

static void add_entry(struct report_view *v, const struct report_entry *e, struct buf *cell)
{
	struct buf *out = &v->out;
	const struct column *last = v->columns.items + v->columns.len - 1;

	buf_add(out, "  ");
	vec_each(&v->columns, c) {
		const char *heat = "";

		buf_clear(cell);
		column_text(v, c, e, cell);
		if (c->kind == COLUMN_CHILDREN || c->kind == COLUMN_SELF)
			heat = report_heat(v, share_in_column(v, c, e));
		buf_add(out, heat);
		add_cell(out, c, buf_str(cell),
			 c == last && !column_is_number(c) ? 0 : text_columns(buf_str(cell)),
			 c == last);
		if (*heat)
			buf_add(out, v->term.reset);
		buf_add(out, c == last ? "\n" : "  ");
	}
}

/* Separator characters inside a name become '.', so that a name stays one column. */
static void add_separated(struct report_view *v, const struct report_section *s)
{
	const char *separator = v->o.separator;
	struct buf *out = &v->out;
	CLEANUP(buf_release) struct buf cell = {};
	size_t shown = report_shown(v, s);

	report_view_choose(v, s);
	buf_add(out, "# ");
	vec_each(&v->columns, c)
		buf_addf(out, "%s%s", c == v->columns.items ? "" : separator, c->title);
	buf_add_char(out, '\n');
	for (size_t i = 0; i < shown && !v->write_failed; i++) {
		vec_each(&v->columns, c) {
			const char *text;

			buf_clear(&cell);
			column_text(v, c, &v->report.entries.items[s->entries.items[i]], &cell);
			text = buf_str(&cell) + strspn(buf_str(&cell), " ");
			buf_add(out, c == v->columns.items ? "" : separator);
			for (; *text; text++)
				buf_add_char(out, strchr(separator, *text) ? '.' : *text);
		}
		buf_add_char(out, '\n');
		report_flush(v, false);
	}
}

static void add_section(struct report_view *v, const struct report_section *s)
{
	CLEANUP(buf_release) struct buf cell = {};
	size_t shown = report_shown(v, s);

	if (!v->o.quiet)
		add_section_head(v, s);
	if (v->o.separator) {
		add_separated(v, s);
		return;
	}
	report_view_choose(v, s);
	columns_measure(v, s, 0);
	if (!v->o.quiet)
		add_titles(v);
	for (size_t i = 0; i < shown && !v->write_failed; i++) {
		const struct report_entry *e = &v->report.entries.items[s->entries.items[i]];

		add_entry(v, e, &cell);
		if (v->ro.chains)
			report_chain_text(v, e);
		report_flush(v, false);
	}
	buf_add(&v->out, "\n");
}

void report_show_text(struct report_view *v)
{
	struct buf *out = &v->out;
	bool any = false;

	if (v->o.header || v->o.header_only) {
		if (v->in.file)
			script_header_of(v->in.file, out);
		else
			buf_add(out, "# text has no header\n#\n");
	}
	if (!v->o.header_only && !v->o.quiet) {
		buf_add(out, "# Total Lost Samples: ");
		buf_add_u64(out, v->in.report.lost ? v->in.report.lost : v->in.profile.lost);
		buf_add(out, "\n#\n");
	}
	if (!v->o.header_only)
		vec_each(&v->report.sections, s) {
			/* Leave out events without samples. */
			if (!s->samples && v->report.sections.len > 1)
				continue;
			add_section(v, s);
			any = true;
		}
	if (!any && !v->o.header_only)
		buf_add(out, "# The recording contains no samples that match the options.\n");
	report_flush(v, true);
}
