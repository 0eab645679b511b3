#include "base/clock.h"
#include "base/text.h"
#include "cmd/report/report.h"

#include <string.h>

/* Limits the heading of the last column: C++ names can be much longer. */
#define LAST_WIDTH 60

double report_share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

bool column_is_number(const struct column *c)
{
	return c->kind != COLUMN_KEY || c->key == REPORT_CPU || c->key == REPORT_TIME ||
	       (c->key == REPORT_FIELDS && c->number);
}

bool column_field(const struct report_view *v, const struct column *c, const struct report_entry *e,
		  struct trace_cell *ret)
{
	const char *key = profile_text(&v->in.profile, v->report.groups.items[e->group].fields);

	return (c->by_name ? trace_key_cell_named(key, c->cell, c->title, ret)
			   : trace_key_cell(key, c->cell, ret)) &&
	       ret->kind != TRACE_CELL_NONE;
}

static void add_field(const struct report_view *v, const struct column *c,
		      const struct report_entry *e, struct buf *out)
{
	struct trace_cell cell;
	CLEANUP(free_ptr) char *text = NULL;

	if (!column_field(v, c, e, &cell))
		return;
	text = xstrndup(cell.shown, cell.shown_len);
	report_add_name(out, text);
}

/* A column holds numbers if its first cell does: flags and functions have names instead. */
static bool holds_numbers(const struct report_view *v, const struct column *c,
			  const struct report_section *s, size_t shown)
{
	struct trace_cell cell;

	for (size_t i = 0; i < shown; i++)
		if (column_field(v, c, &v->report.entries.items[s->entries.items[i]], &cell))
			return cell.kind != TRACE_CELL_TEXT && cell.shown_len &&
			       strspn(cell.shown, "-0123456789abcdefx") >= cell.shown_len;
	return false;
}

void report_add_name(struct buf *out, const char *name)
{
	for (const char *c = name; *c; c++)
		if ((unsigned char)*c < 0x20 || (unsigned char)*c > 0x7e) {
			text_add_printable(out, name);
			return;
		}
	buf_add(out, name);
}

static void add_known(struct buf *out, const char *name)
{
	report_add_name(out, *name ? name : "[unknown]");
}

void report_add_function(const struct report_view *v, function_id f, bool inlined, struct buf *out)
{
	add_known(out, function_text(&v->in.profile, f));
	if (inlined)
		buf_add(out, " (inlined)");
}

void report_add_step(const struct report_view *v, const struct chain_node *node, struct buf *out)
{
	const struct report_place *step = &v->report.steps.items[node->key];
	const char *file = profile_text(&v->in.profile, step->file), *slash = strrchr(file, '/');

	add_known(out, function_text(&v->in.profile, node->function));
	if (v->ro.chain_key != CHAIN_BY_FUNCTION && *file) {
		buf_add_char(out, ' ');
		report_add_name(out, slash ? slash + 1 : file);
		buf_addf(out, ":%u", step->line);
	}
	if (node->inlined)
		buf_add(out, " (inlined)");
}

static void add_thread(const struct report_view *v, uint32_t id, thread_id thread, struct buf *out)
{
	const struct profile *p = &v->in.profile;

	buf_addf(out, "%7u:", id);
	report_add_name(out, profile_text(p, p->threads.items[thread.n].comm));
}

static void add_line(const struct report_view *v, const struct report_place *place, bool line,
		     struct buf *out)
{
	const char *file = profile_text(&v->in.profile, place->file), *slash = strrchr(file, '/');

	if (!*file) {
		report_add_function(v, place->function, place->inlined, out);
		return;
	}
	report_add_name(out, slash ? slash + 1 : file);
	if (line)
		buf_addf(out, ":%u", place->line);
}

static void add_key(const struct report_view *v, const struct column *c,
		    const struct report_entry *e, struct buf *out)
{
	const struct profile *p = &v->in.profile;
	const struct report_group *g = &v->report.groups.items[e->group];
	const struct report_place *place = &v->report.places.items[e->place];
	uint64_t ns;

	switch (c->key) {
	case REPORT_EVENT:
		report_add_name(out, p->events.len
					     ? profile_text(p, p->events.items[g->event.n].name)
					     : "");
		break;
	case REPORT_COMM:
		report_add_name(out, profile_text(p, g->comm));
		break;
	case REPORT_PID:
		add_thread(v, g->pid, g->thread, out);
		break;
	case REPORT_TID:
		add_thread(v, g->tid, g->thread, out);
		break;
	case REPORT_CPU:
		buf_addf(out, "%03u", g->cpu);
		break;
	case REPORT_TIME:
		ns = p->first_ns + g->bucket * p->bucket_ns;
		buf_addf(out, "%llu.%06llu", (unsigned long long)(ns / NS_PER_SEC),
			 (unsigned long long)(ns % NS_PER_SEC / 1000));
		break;
	case REPORT_DSO:
		add_known(out, profile_text(p, place->module));
		break;
	case REPORT_SYM:
		buf_add(out,
			function_of(p, place->function)->kind == CODE_KERNEL ? "[k] " : "[.] ");
		report_add_function(v, place->function, place->inlined, out);
		break;
	case REPORT_SRCLINE:
	case REPORT_SRCFILE:
		add_line(v, place, c->key == REPORT_SRCLINE, out);
		break;
	case REPORT_FIELDS:
		add_field(v, c, e, out);
		break;
	case REPORT_KEYS:
		break;
	}
}

void column_text(const struct report_view *v, const struct column *c, const struct report_entry *e,
		 struct buf *out)
{
	uint64_t whole = report_whole(&v->report, e);

	switch (c->kind) {
	case COLUMN_CHILDREN:
		buf_add_fixed(out, report_share(e->total, whole), 2, 0);
		buf_add_char(out, '%');
		break;
	case COLUMN_SELF:
		buf_add_fixed(out, report_share(e->self, whole), 2, 0);
		buf_add_char(out, '%');
		break;
	case COLUMN_SAMPLES:
		buf_add_u64(out, e->self_samples);
		break;
	case COLUMN_PERIOD:
		buf_add_u64(out, e->self);
		break;
	case COLUMN_KEY:
		add_key(v, c, e, out);
		break;
	}
}

size_t report_shown(const struct report_view *v, const struct report_section *s)
{
	size_t shown = 0;

	if (v->min_pct <= 0)
		return s->entries.len;
	vec_each(&s->entries, n) {
		const struct report_entry *e = &v->report.entries.items[*n];

		if (report_share(v->ro.children ? e->total : e->self, report_whole(&v->report, e)) <
		    v->min_pct)
			break;
		shown++;
	}
	return shown;
}

struct chain_options report_chain_options(const struct report_view *v, const struct report_entry *e)
{
	struct chain_options o = {.caller = v->caller, .limit = v->chain_limit};

	if (v->mode == CHAINS_FRACTAL)
		o.min_part = v->chain_min_pct / 100;
	else
		o.min = (uint64_t)((double)report_whole(&v->report, e) * (v->chain_min_pct / 100));
	return o;
}

static size_t least_width(const struct column *c)
{
	size_t title = strlen(c->title);

	if (c->kind == COLUMN_CHILDREN || c->kind == COLUMN_SELF)
		return 8;
	if (c->kind == COLUMN_SAMPLES || c->kind == COLUMN_PERIOD)
		return 12;
	return title;
}

/* Returns the width of the widest cell among the entries shown, at most @enough. */
static size_t widest(const struct report_view *v, const struct column *c,
		     const struct report_section *s, size_t shown, size_t enough)
{
	const struct profile *p = &v->in.profile;
	const struct report *r = &v->report;
	CLEANUP(buf_release) struct buf text = {};
	size_t most = 0;
	uint32_t last = 0;

	for (size_t i = 0; i < shown && most < enough; i++) {
		const struct report_entry *e = &r->entries.items[s->entries.items[i]];
		string_id name = {};
		size_t width;

		/* Neighbours often have the same name: measure it once. */
		if (c->kind == COLUMN_KEY && c->key == REPORT_COMM)
			name = r->groups.items[e->group].comm;
		else if (c->kind == COLUMN_KEY && c->key == REPORT_DSO)
			name = r->places.items[e->place].module;
		if (name.n && name.n == last)
			continue;
		last = name.n;
		if (name.n) {
			width = text_columns(profile_text(p, name));
		} else {
			buf_clear(&text);
			column_text(v, c, e, &text);
			width = text_columns(buf_str(&text));
		}
		if (width > most)
			most = width;
	}
	return most < enough ? most : enough;
}

void columns_measure(struct report_view *v, const struct report_section *s, size_t limit)
{
	size_t shown = report_shown(v, s);

	vec_each(&v->columns, c) {
		bool last = c == v->columns.items + v->columns.len - 1;
		size_t enough = limit ? limit : last ? LAST_WIDTH : SIZE_MAX, width;

		if (c->kind == COLUMN_KEY && c->key == REPORT_FIELDS)
			c->number = holds_numbers(v, c, s, shown);
		c->width = least_width(c);
		if (c->kind == COLUMN_CHILDREN || c->kind == COLUMN_SELF)
			continue;
		width = widest(v, c, s, shown, enough);
		if (width > c->width)
			c->width = width;
	}
}
