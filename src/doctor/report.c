/* Writes the findings as text and as JSON. */
#include "doctor/doctor.h"

#include <string.h>
#include <unistd.h>

#define WIDTH_MAX      100
#define WIDTH_MIN      50
#define TITLE_COLUMNS  17
#define STATUS_COLUMNS 9

struct layout {
	const struct term *term;
	bool symbols;
	size_t width;
	size_t title_column, text_column;
};

static struct layout layout_for(const struct term *t)
{
	struct layout l = {.term = t, .symbols = t->tty && t->utf8};

	l.width = t->width > WIDTH_MAX ? WIDTH_MAX : t->width < WIDTH_MIN ? WIDTH_MIN : t->width;
	l.title_column = 2 + (l.symbols ? 2 : 0) + STATUS_COLUMNS;
	l.text_column = l.title_column + TITLE_COLUMNS;
	return l;
}

static const char *colour_of(const struct term *t, enum check_status status)
{
	switch (status) {
	case CHECK_OK:
		return t->green;
	case CHECK_LIMITED:
		return t->yellow;
	case CHECK_MISSING:
		return t->red;
	default:
		return t->blue;
	}
}

static void add_status(const struct layout *l, enum check_status status, struct buf *out)
{
	static const char *const symbols[CHECK_STATUS_COUNT] = {"\u2713 ", "! ", "\u2717 ",
								"\u00b7 "};
	const char *word = status_word(status);

	buf_addf(out, "  %s%s%s%s", colour_of(l->term, status), l->symbols ? symbols[status] : "",
		 word, l->term->reset);
	buf_pad(out, STATUS_COLUMNS - strlen(word), ' ');
}

/* "costs: …" below the title, wrapped; a command is not wrapped, so that it can be copied. */
static void add_line(const struct layout *l, const char *label, const char *text, bool command,
		     struct buf *out)
{
	const size_t label_columns = 7;

	buf_pad(out, l->title_column, ' ');
	buf_addf(out, "%s%s%s", l->term->dim, label, l->term->reset);
	buf_pad(out, label_columns - strlen(label), ' ');
	if (command)
		buf_addf(out, "%s%s%s", l->term->bold, text, l->term->reset);
	else
		buf_add_wrapped(out, text, l->title_column + label_columns, l->width);
	buf_add_char(out, '\n');
}

static void add_check(const struct doctor *d, const struct layout *l, const struct check *c,
		      const struct finding *f, struct buf *out)
{
	add_status(l, f->status, out);
	buf_addf(out, "%-*s", TITLE_COLUMNS, c->title);
	buf_add_wrapped(out, buf_str(&f->text), l->text_column, l->width);
	buf_add_char(out, '\n');
	if (f->status == CHECK_OK)
		return;
	if (f->cost.len)
		add_line(l, "costs:", buf_str(&f->cost), false, out);
	if (f->fix.len)
		add_line(l, "fix:", buf_str(&f->fix), f->fix_is_command, out);
	if (f->fix_name && !d->roots.foreign && !fix_find(f->fix_name)->harmless) {
		CLEANUP(free_ptr)
		char *command = xasprintf("%stacho doctor --fix=%s", d->sudo, f->fix_name);

		add_line(l, "or:", command, true, out);
	}
}

static size_t count_findings(const struct finding *findings, size_t counts[CHECK_STATUS_COUNT])
{
	size_t i = 0;

	for (const struct check_group *g = check_groups; g->title; g++)
		for (const struct check *c = g->checks; c->name; c++)
			counts[findings[i++].status]++;
	return i;
}

/* Names for --fix that findings ask for, each once, in the order of fixes[]. */
static void add_fix_names(const struct finding *findings, bool harmless, struct buf *out)
{
	size_t counts[CHECK_STATUS_COUNT] = {}, total = count_findings(findings, counts);

	for (const struct fix *x = fixes; x->name; x++)
		for (size_t i = 0; i < total && x->harmless == harmless; i++) {
			if (!findings[i].fix_name || strcmp(findings[i].fix_name, x->name))
				continue;
			buf_addf(out, "%s%s", out->len ? "," : "", x->name);
			break;
		}
}

static void add_suggestions(const struct doctor *d, const struct layout *l,
			    const struct finding *findings, struct buf *out)
{
	CLEANUP(buf_release) struct buf harmless = {}, others = {};
	const struct term *t = l->term;

	if (d->roots.foreign)
		return;
	add_fix_names(findings, true, &harmless);
	add_fix_names(findings, false, &others);
	if (harmless.len)
		buf_addf(out, "%s%stacho doctor --fix%s mounts tracefs.\n", t->bold, d->sudo,
			 t->reset);
	if (others.len)
		buf_addf(out, "%s%stacho doctor --fix=%s%s changes %s for now.\n", t->bold, d->sudo,
			 buf_str(&others), t->reset, strchr(others.s, ',') ? "these" : "that");
}

static void add_heading(const struct doctor *d, const struct term *t, struct buf *out)
{
	buf_addf(out, "%sLinux %s", t->bold, d->release[0] ? d->release : "of unknown release");
	if (d->arch[0])
		buf_addf(out, " on %s", d->arch);
	buf_addf(out, "%s", t->reset);
	if (d->cpus)
		buf_addf(out, ", %zu CPU%s", d->cpus, d->cpus == 1 ? "" : "s");
	if (d->hypervisor)
		buf_addf(out, ", guest of %s", d->hypervisor->name);
	if (d->container[0])
		buf_add(out, ", in a container");
	if (d->roots.foreign)
		buf_addf(out, "\nfrom the files below %s and %s", d->roots.sys, d->roots.proc);
	buf_add_char(out, '\n');
}

void report_text(const struct doctor *d, const struct finding *findings, const struct term *t,
		 struct buf *out)
{
	size_t counts[CHECK_STATUS_COUNT] = {}, i = 0;
	struct layout l = layout_for(t);

	add_heading(d, t, out);
	for (const struct check_group *g = check_groups; g->title; g++) {
		buf_addf(out, "\n%s%s%s\n", t->bold, g->title, t->reset);
		for (const struct check *c = g->checks; c->name; c++)
			add_check(d, &l, c, &findings[i++], out);
	}
	count_findings(findings, counts);
	buf_add_char(out, '\n');
	for (enum check_status s = CHECK_OK; s <= CHECK_MISSING; s++)
		buf_addf(out, "%s%s%zu %s%s", s ? ", " : "", colour_of(t, s), counts[s],
			 status_word(s), t->reset);
	buf_add_char(out, '\n');
	add_suggestions(d, &l, findings, out);
}

static void json_machine(const struct doctor *d, struct json *j)
{
	jw_key(j, "machine");
	jw_open(j, '{');
	jw_kv_str(j, "release", d->release[0] ? d->release : NULL);
	jw_kv_str(j, "arch", d->arch[0] ? d->arch : NULL);
	jw_kv_str(j, "cpu", d->cpu_model[0] ? d->cpu_model : NULL);
	jw_kv_u64(j, "cpus", d->cpus);
	jw_kv_str(j, "hypervisor", d->hypervisor ? d->hypervisor->name : NULL);
	jw_kv_str(j, "product", d->product[strspn(d->product, " ")] ? d->product : NULL);
	jw_kv_str(j, "container", d->container[0] ? d->container : NULL);
	jw_kv_bool(j, "root", geteuid() == 0);
	jw_kv_bool(j, "foreign", d->roots.foreign);
	jw_close(j, '}');
}

static void json_finding(const struct doctor *d, const char *group, const struct check *c,
			 const struct finding *f, struct json *j)
{
	bool fixable = f->fix_name && !d->roots.foreign;

	jw_open(j, '{');
	jw_kv_str(j, "name", c->name);
	jw_kv_str(j, "title", c->title);
	jw_kv_str(j, "group", group);
	jw_kv_str(j, "status", status_word(f->status));
	jw_kv_str(j, "finding", buf_str(&f->text));
	jw_kv_str(j, "cost", f->cost.len ? f->cost.s : NULL);
	jw_kv_str(j, "fix", f->fix.len ? f->fix.s : NULL);
	jw_kv_bool(j, "fix_is_command", f->fix_is_command);
	jw_kv_bool(j, "fixable", fixable);
	jw_kv_str(j, "fix_name", fixable ? f->fix_name : NULL);
	jw_close(j, '}');
}

void report_json(const struct doctor *d, const struct finding *findings, struct buf *out)
{
	size_t counts[CHECK_STATUS_COUNT] = {}, i = 0;
	struct json j = jw_to(out);

	jw_open(&j, '{');
	json_machine(d, &j);
	jw_key(&j, "checks");
	jw_open(&j, '[');
	for (const struct check_group *g = check_groups; g->title; g++)
		for (const struct check *c = g->checks; c->name; c++)
			json_finding(d, g->title, c, &findings[i++], &j);
	jw_close(&j, ']');
	count_findings(findings, counts);
	jw_key(&j, "summary");
	jw_open(&j, '{');
	for (enum check_status s = CHECK_OK; s < CHECK_STATUS_COUNT; s++)
		jw_kv_u64(&j, status_word(s), counts[s]);
	jw_close(&j, '}');
	jw_close(&j, '}');
	buf_add_char(out, '\n');
}
