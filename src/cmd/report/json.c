/* The report as one JSON object; the form is in docs/FORMATS.md. */
#include "base/json.h"
#include "base/clock.h"
#include "cmd/report/report.h"
#include "analyze/plot/gaps.h"

#include <stdio.h>
#include <string.h>

static const char *const kinds[] = {
	[CODE_UNKNOWN] = "unknown", [CODE_USER] = "user", [CODE_KERNEL] = "kernel",
	[CODE_JIT] = "jit",         [CODE_VDSO] = "vdso",
};

static const char *event_name(const struct report_view *v, event_id event)
{
	const struct profile *p = &v->in.profile;

	return p->events.len ? profile_text(p, p->events.items[event.n].name) : NULL;
}

static void add_function(const struct report_view *v, struct json *j, function_id f, bool inlined)
{
	const struct profile *p = &v->in.profile;

	jw_kv_str(j, "symbol", f.n ? function_text(p, f) : NULL);
	jw_kv_str(j, "kind", kinds[function_of(p, f)->kind]);
	if (inlined)
		jw_kv_bool(j, "inlined", true);
}

static void add_key(const struct report_view *v, struct json *j, enum report_key key,
		    const struct report_entry *e)
{
	const struct profile *p = &v->in.profile;
	const struct report_group *g = &v->report.groups.items[e->group];
	const struct report_place *place = &v->report.places.items[e->place];

	switch (key) {
	case REPORT_EVENT:
		jw_kv_str(j, "event", event_name(v, g->event));
		break;
	case REPORT_COMM:
		jw_kv_str(j, "comm", profile_text(p, g->comm));
		break;
	case REPORT_PID:
		jw_kv_u64(j, "pid", g->pid);
		break;
	case REPORT_TID:
		jw_kv_u64(j, "tid", g->tid);
		break;
	case REPORT_CPU:
		jw_kv_u64(j, "cpu", g->cpu);
		break;
	case REPORT_TIME:
		jw_kv_u64(j, "time_ns", p->first_ns + g->bucket * p->bucket_ns);
		break;
	case REPORT_DSO:
		jw_kv_str(j, "dso", place->module.n ? profile_text(p, place->module) : NULL);
		break;
	case REPORT_SYM:
		add_function(v, j, place->function, place->inlined);
		break;
	case REPORT_SRCLINE:
	case REPORT_SRCFILE:
		jw_kv_str(j, "file", place->file.n ? profile_text(p, place->file) : NULL);
		if (key == REPORT_SRCLINE)
			jw_kv_u64(j, "line", place->line);
		break;
	case REPORT_FIELDS: /* see add_fields() */
	case REPORT_KEYS:
		break;
	}
}

/* Addresses are strings, because many JSON readers keep numbers as doubles, which lose digits. */
static void add_cell(struct json *j, const char *name, const struct trace_cell *cell)
{
	CLEANUP(free_ptr) char *text = xstrndup(cell->text, cell->text_len);
	char address[24];

	jw_key(j, name);
	switch (cell->kind) {
	case TRACE_CELL_UNSIGNED:
		jw_u64(j, cell->number);
		break;
	case TRACE_CELL_SIGNED:
		jw_i64(j, (int64_t)cell->number);
		break;
	case TRACE_CELL_ADDRESS:
		snprintf(address, sizeof(address), "0x%llx", (unsigned long long)cell->number);
		jw_str(j, address);
		break;
	case TRACE_CELL_TEXT:
		jw_str(j, text);
		break;
	case TRACE_CELL_NONE:
		jw_null(j);
		break;
	}
}

static bool is_field(const struct column *c)
{
	return c->kind == COLUMN_KEY && c->key == REPORT_FIELDS;
}

static const char *field_name(const struct report_view *v, const struct column *c)
{
	return c->by_name ? c->title : v->resolve.trace.fields.items[c->cell];
}

/* Adds what is printed in place of numbers: names of flags and functions. */
static void add_printed(const struct report_view *v, struct json *j, const struct report_entry *e)
{
	struct trace_cell cell;

	jw_key(j, "printed");
	jw_open(j, '{');
	vec_each(&v->columns, c)
		if (is_field(c) && column_field(v, c, e, &cell) && cell.kind != TRACE_CELL_TEXT &&
		    (cell.shown_len != cell.text_len ||
		     memcmp(cell.shown, cell.text, cell.text_len))) {
			CLEANUP(free_ptr) char *shown = xstrndup(cell.shown, cell.shown_len);

			jw_kv_str(j, field_name(v, c), shown);
		}
	jw_close(j, '}');
}

static void add_fields(const struct report_view *v, struct json *j, const struct report_entry *e)
{
	struct trace_cell cell;

	jw_key(j, "fields");
	jw_open(j, '{');
	vec_each(&v->columns, c) {
		if (!is_field(c))
			continue;
		if (column_field(v, c, e, &cell))
			add_cell(j, field_name(v, c), &cell);
		else if (!c->by_name)
			jw_kv_str(j, field_name(v, c), NULL);
	}
	jw_close(j, '}');
	add_printed(v, j, e);
}

/* A string, because many JSON readers keep numbers as doubles, which lose digits. */
static void add_address(struct json *j, uint64_t address)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)address);
	jw_kv_str(j, "address", text);
}

static void add_chain(const struct report_view *v, struct json *j, const struct chain_node *node)
{
	const struct profile *p = &v->in.profile;
	const struct report_place *step = &v->report.steps.items[node->key];
	const struct profile_module *m =
		&p->modules.items[function_of(p, node->function)->module.n];

	jw_open(j, '{');
	add_function(v, j, node->function, node->inlined);
	jw_kv_str(j, "dso", m->name.n ? profile_text(p, m->name) : NULL);
	if (v->ro.chain_key != CHAIN_BY_FUNCTION && step->file.n) {
		jw_kv_str(j, "file", profile_text(p, step->file));
		jw_kv_u64(j, "line", step->line);
	}
	if (v->ro.chain_key == CHAIN_BY_ADDRESS)
		add_address(j, step->address);
	jw_kv_u64(j, "weight", node->weight);
}

/* Nests the JSON like the calls. No recursion: the input decides how deep the calls go. */
static void add_chains(struct report_view *v, struct json *j, const struct report_entry *e)
{
	struct chain_options o = report_chain_options(v, e);
	struct chains chains;
	const struct chain_node *nodes;
	uint32_t n;

	report_chains(&v->report, e, &o, &chains);
	nodes = chains.nodes.items;
	jw_key(j, "chains");
	jw_open(j, '[');
	n = nodes[0].first_child;
	while (n) {
		add_chain(v, j, &nodes[n]);
		if (nodes[n].first_child) {
			jw_key(j, "children");
			jw_open(j, '[');
			n = nodes[n].first_child;
			continue;
		}
		jw_close(j, '}');
		while (n && !nodes[n].next_sibling) {
			n = nodes[n].parent;
			if (n) {
				jw_close(j, ']');
				jw_close(j, '}');
			}
		}
		n = n ? nodes[n].next_sibling : 0;
	}
	jw_close(j, ']');
	chains_release(&chains);
}

static void add_entry(struct report_view *v, struct json *j, const struct report_entry *e)
{
	uint64_t whole = report_whole(&v->report, e);

	jw_open(j, '{');
	vec_each(&v->columns, c)
		if (c->kind == COLUMN_KEY && c->key != REPORT_FIELDS)
			add_key(v, j, c->key, e);
	if (v->ro.keys >> REPORT_FIELDS & 1)
		add_fields(v, j, e);
	jw_kv_u64(j, "self", e->self);
	jw_kv_double(j, "self_percent", report_share(e->self, whole));
	jw_kv_u64(j, "self_samples", e->self_samples);
	if (v->ro.children) {
		jw_kv_u64(j, "total", e->total);
		jw_kv_double(j, "total_percent", report_share(e->total, whole));
		jw_kv_u64(j, "total_samples", e->total_samples);
	}
	if (v->ro.chains)
		add_chains(v, j, e);
	jw_close(j, '}');
}

static void add_modules(const struct report_view *v, struct json *j)
{
	const struct profile *p = &v->in.profile;

	jw_key(j, "problems");
	jw_open(j, '[');
	vec_each(&p->modules, m) {
		if (!m->problem.n)
			continue;
		jw_open(j, '{');
		jw_kv_str(j, "dso", profile_text(p, m->path));
		jw_kv_str(j, "problem", profile_text(p, m->problem));
		jw_close(j, '}');
	}
	jw_close(j, ']');
}

void report_show_json(struct report_view *v)
{
	const struct resolve_report *r = &v->in.report;
	struct json j = jw_to(&v->out);
	struct profile_gaps gaps;

	profile_gaps(&v->in.profile, &gaps);
	jw_open(&j, '{');
	jw_kv_str(&j, "input", v->in.path);
	jw_kv_u64(&j, "lost_samples", r->lost ? r->lost : v->in.profile.lost);
	jw_kv_u64(&j, "cut_stacks", r->cut_stacks);
	jw_kv_u64(&j, "unnamed_samples", gaps.unnamed);
	jw_kv_u64(&j, "unnamed_caller_samples", gaps.unnamed_callers);
	if (v->ro.chains)
		jw_kv_str(&j, "chain_order", v->caller ? "caller" : "callee");
	add_modules(v, &j);
	jw_key(&j, "sections");
	jw_open(&j, '[');
	vec_each(&v->report.sections, s) {
		size_t shown = report_shown(v, s);

		if (!s->samples && v->report.sections.len > 1)
			continue;
		jw_open(&j, '{');
		jw_kv_str(&j, "event", v->ro.one_section ? NULL : event_name(v, s->event));
		jw_kv_u64(&j, "samples", s->samples);
		if (!v->ro.one_section)
			jw_kv_u64(&j, "weight", s->weight);
		jw_key(&j, "entries");
		jw_open(&j, '[');
		for (size_t i = 0; i < shown && !v->write_failed; i++) {
			add_entry(v, &j, &v->report.entries.items[s->entries.items[i]]);
			report_flush(v, false);
		}
		jw_close(&j, ']');
		jw_close(&j, '}');
	}
	jw_close(&j, ']');
	jw_close(&j, '}');
	buf_add_char(&v->out, '\n');
	report_flush(v, true);
}
