#include "analyze/tree/view.h"
#include "base/json.h"
#include "base/number.h"
#include "base/text.h"
#include "cmd/annotate/build.h"
#include "cmd/annotate/name.h"
#include "cmd/command.h"
#include "cmd/input/export_file.h"
#include "cmd/terminal/pager.h"
#include "export/annotate_html.h"
#include "export/annotate_json.h"
#include "export/annotate_text.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define FUNCTIONS_DEFAULT     5   /* functions shown if the user names none, */
#define PERCENT_LIMIT_DEFAULT 1.0 /* with at least this percentage of the samples */
#define LISTED                10  /* functions in the overview list above the code */

struct annotate_options {
	struct profile_options profile;
	const char *symbol, *dso, *syntax, *percent_type, *percent_limit, *output;
	unsigned limit;
	bool stdio, html, json, no_source, no_jumps, print_line, full_paths;
};

#define AT(member) offsetof(struct annotate_options, member)

static const struct option_def annotate_table[] = {
	PROFILE_FILE_ROW(struct annotate_options, profile),
	{'s', "symbol", "NAME", OPT_STR, AT(symbol),
	 "the function to show; the same as the argument FUNCTION"},
	{'d', "dso", "NAMES", OPT_STR, AT(dso),
	 "only functions of these programs and libraries: paths, or their last parts"},
	{0, "dsos", "NAMES", OPT_STR, AT(dso), NULL},
	{'S', "symbols", "NAME", OPT_STR, AT(symbol), NULL},
	{0, "limit", "N", OPT_UINT, AT(limit),
	 "without a name: at most so many functions (default: 5, or all of --percent-limit)"},
	{0, "percent-limit", "PCT", OPT_STR, AT(percent_limit),
	 "without a name: functions with at least this share of the samples (default: 1)"},
	{.kind = OPT_HEADING, .help = "What is shown"},
	{'M', "disassembler-style", "SYNTAX", OPT_STR, AT(syntax),
	 "of x86: att (the default) or intel"},
	{0, "no-source", NULL, OPT_FLAG, AT(no_source), "instructions only"},
	{0, "no-jumps", NULL, OPT_FLAG, AT(no_jumps), "no arrows for jumps"},
	{'l', "print-line", NULL, OPT_FLAG, AT(print_line),
	 "file and line where the line changes, not only the number"},
	{'P', "full-paths", NULL, OPT_FLAG, AT(full_paths), "whole paths of source files"},
	{0, "percent-type", "TYPE", OPT_STR, AT(percent_type),
	 "shares of the function or of all (local, global), by period or by number of samples: "
	 "local-period (the default), local-hits, global-period, global-hits"},
	{.kind = OPT_HEADING, .help = "Output"},
	{0, "stdio", NULL, OPT_FLAG, AT(stdio), "text, which is the default"},
	{0, "html", NULL, OPT_FLAG, AT(html), "one page with everything in it"},
	{0, "json", NULL, OPT_FLAG, AT(json), "one JSON object"},
	{'o', "output", "FILE", OPT_STR, AT(output), "write to FILE"},
	PROFILE_ROWS(struct annotate_options, profile),
	{},
};

struct annotate {
	struct annotate_options o;
	struct profile_input in;
	struct annotate_builder builder;
	struct annotate_style style;
	double percent_limit;
	struct wanted_places *wanted; /* NULL: all functions */
	event_id event;
	uint64_t weight, samples; /* totals of the event */
	hot_list hot;             /* all functions, the hottest first */
	hot_list chosen;
	struct buf out;
};

/* ---- which functions ---- */

static void count_event(struct annotate *an, uint64_t *weight, uint64_t *samples)
{
	const struct profile *p = &an->in.profile;

	*weight = *samples = 0;
	vec_each(&p->rows, row) {
		if (row->event.n != an->event.n)
			continue;
		*weight += row->weight;
		*samples += row->samples;
	}
}

/* Picks the busiest event; --event was applied on reading. Returns false if it has no samples. */
static bool choose_event(struct annotate *an)
{
	if (!an->in.profile.events.len)
		return false;
	an->event = profile_input_event(&an->in);
	count_event(an, &an->weight, &an->samples);
	return an->samples;
}

static bool in_wanted_dso(const struct annotate *an, const struct profile_function *f)
{
	const struct profile *p = &an->in.profile;

	return !an->o.dso ||
	       module_is_listed(an->o.dso, profile_text(p, p->modules.items[f->module.n].path));
}

/* Chooses all functions that match the name at the strictest level that finds any. */
static bool choose_named(struct annotate *an)
{
	const struct profile *p = &an->in.profile;

	for (int way = NAME_SAME; way < NAME_OTHER && !an->chosen.len; way++)
		vec_each(&an->hot, h)
			if (in_wanted_dso(an, function_of(p, h->function)) &&
			    (int)name_match(function_text(p, h->function), an->o.symbol) == way)
				vec_push(&an->chosen, *h);
	return an->chosen.len;
}

static int say_nothing_found(struct annotate *an, struct err *e)
{
	const struct profile *p = &an->in.profile;
	struct suggest near = {.wanted = an->o.symbol};
	CLEANUP(buf_release) struct buf hint = {};

	vec_each(&an->hot, h) {
		const char *name = function_text(p, h->function);
		CLEANUP(free_ptr) char *start = xstrndup(name, strcspn(name, "<("));

		suggest_offer(&near, *start ? start : name);
	}
	suggest_sentence(&near, &hint);
	suggest_release(&near);
	return err_set(e, ENOENT, "no sample of '%s' is in a function '%s'%s%s%s",
		       profile_text(p, p->events.items[an->event.n].name), an->o.symbol,
		       an->o.dso ? " of " : "", an->o.dso ? an->o.dso : "", buf_str(&hint));
}

static double share_of_all(const struct annotate *an, const struct hot_function *h)
{
	return an->weight ? 100.0 * (double)h->weight / (double)an->weight : 0;
}

static int choose_hottest(struct annotate *an, struct err *e)
{
	const struct profile *p = &an->in.profile;
	size_t limit = an->o.limit           ? an->o.limit
		       : an->o.percent_limit ? SIZE_MAX
					     : FUNCTIONS_DEFAULT;

	vec_each(&an->hot, h) {
		const struct profile_function *f = function_of(p, h->function);

		if (an->chosen.len >= limit || share_of_all(an, h) < an->percent_limit)
			break;
		/* Code without a symbol has no known start and end. */
		if (f->named && f->size && in_wanted_dso(an, f))
			vec_push(&an->chosen, *h);
	}
	if (an->chosen.len)
		return 0;
	return err_set(e, ENOENT,
		       "no function%s%s has a name and at least %g %% of the samples; "
		       "--percent-limit may be lower",
		       an->o.dso ? " of " : "", an->o.dso ? an->o.dso : "", an->percent_limit);
}

/* ---- output ---- */

static void add_list(struct annotate *an)
{
	const struct profile *p = &an->in.profile;
	const struct term *t = &an->style.term;
	struct buf *out = &an->out;

	buf_addf(out, "%sHottest functions by ", t->bold);
	text_add_printable(out, profile_text(p, p->events.items[an->event.n].name));
	buf_addf(out, "%s (", t->reset);
	buf_add_grouped(out, an->samples, 0);
	buf_addf(out, " %s); %zu %s below, with at least %g %%\n",
		 an->samples == 1 ? "sample" : "samples", an->chosen.len,
		 an->chosen.len == 1 ? "follows" : "follow", an->percent_limit);
	for (size_t i = 0; i < an->hot.len && i < LISTED; i++) {
		const struct hot_function *h = &an->hot.items[i];
		const struct profile_function *f = function_of(p, h->function);

		buf_addf(out, "%7.2f %%  ", share_of_all(an, h));
		text_add_printable(out, profile_text(p, f->name));
		buf_addf(out, "  %s", t->dim);
		text_add_printable(out, profile_text(p, p->modules.items[f->module.n].name));
		buf_addf(out, "%s\n", t->reset);
	}
	buf_add_char(out, '\n');
}

static void add_text(struct annotate *an, const struct annotation *all)
{
	if (!an->o.symbol)
		add_list(an);
	for (size_t i = 0; i < an->chosen.len; i++) {
		if (i)
			buf_add(&an->out, "\n\n");
		annotate_render(&all[i], &an->style, &an->out);
	}
}

/* Writes into an existing file instead of replacing it: it may be a device or a pipe. */
static int write_file(const char *path, struct buf *text, struct err *e)
{
	struct export_file file;
	int r = export_file_begin(&file, path, e);

	if (r < 0)
		return r;
	buf_add_mem(&file.out.buf, text->s, text->len);
	return export_file_end(&file, e);
}

/* Writes the output. HTML is useless on a terminal, so it goes to annotate.html instead. */
static bool deliver(struct annotate *an)
{
	const char *path = an->o.output;
	struct err e = {};
	int r;

	if (!path && an->o.html && isatty(STDOUT_FILENO))
		path = "annotate.html";
	if (path && strcmp(path, "-")) {
		r = write_file(path, &an->out, &e);
		if (r < 0)
			command_fail(0, "annotate: %s", e.text);
		else if (!an->o.output)
			command_fail(0, "annotate: the page is in %s", path);
		return r >= 0;
	}
	return an->o.html || an->o.json ? command_flush(&an->out, STDOUT_FILENO)
					: pager_show(&an->out);
}

static bool show(struct annotate *an)
{
	struct annotation *all = xcalloc(an->chosen.len, sizeof(*all));
	struct annotate_page page = {
		.title = an->in.path, .percent = an->style.percent, .no_source = an->o.no_source};
	bool ok;

	for (size_t i = 0; i < an->chosen.len; i++)
		annotate_function(&an->builder, an->event, an->chosen.items[i].function, &all[i]);
	if (an->o.json)
		annotate_json_document(all, an->chosen.len, an->style.percent, an->o.no_source,
				       &an->out);
	else if (an->o.html)
		annotate_html(all, an->chosen.len, &page, &an->out);
	else
		add_text(an, all);
	ok = deliver(an);
	/* Fail if the function that the user named has no instructions to show. */
	if (an->o.symbol && !all[0].instructions.len)
		ok = false;
	for (size_t i = 0; i < an->chosen.len; i++)
		annotation_release(&all[i]);
	free(all);
	return ok;
}

/* ---- the command ---- */

static int check_options(struct annotate *an, struct resolve_options *resolve, struct err *e)
{
	struct annotate_options *o = &an->o;

	an->percent_limit = PERCENT_LIMIT_DEFAULT;
	if (o->html + o->json + o->stdio > 1)
		return err_set(e, EINVAL, "--stdio, --html and --json exclude each other");
	if (o->syntax && strcmp(o->syntax, "intel") && strcmp(o->syntax, "att"))
		return err_set(e, EINVAL, "-M: '%s' is neither att nor intel", o->syntax);
	if (o->percent_type && !percent_type_parse(o->percent_type, &an->style.percent))
		return err_set(e, EINVAL,
			       "--percent-type: '%s' is none of local-period, local-hits, "
			       "global-period and global-hits",
			       o->percent_type);
	if (o->percent_limit &&
	    (!parse_double(o->percent_limit, &an->percent_limit) || an->percent_limit < 0))
		return err_set(e, EINVAL, "--percent-limit: '%s' is not a share in percent",
			       o->percent_limit);
	return profile_options_check(&o->profile, resolve, e);
}

static bool want_place(void *ctx, struct module *m, uint64_t address)
{
	return is_wanted_place(ctx, m, address);
}

/* Loads the samples of the function that the user named, or with @all of every function. */
static int load(struct annotate *an, struct resolve_options *resolve, bool all, struct err *e)
{
	int r;

	/* Count sampled addresses only, not callers, and only functions with a start and an end. */
	resolve->leaf_only = resolve->no_inlines = resolve->no_threads = true;
	resolve->want_place = all ? NULL : want_place;
	resolve->want_ctx = an->wanted;
	r = profile_input_load(an->o.profile.input, resolve, &an->in, e);
	if (r < 0)
		return r;
	if (an->in.source != PROFILE_PERFDATA)
		return err_set(e, EINVAL,
			       "'%s' is text without addresses of instructions; annotate needs a "
			       "recording (perf.data)",
			       an->in.path);
	if (!choose_event(an))
		return profile_input_nothing(&an->in, e);
	hot_functions(&an->in.profile, an->event, &an->hot);
	return 0;
}

static int choose(struct annotate *an, struct resolve_options *resolve, struct err *e)
{
	int r = load(an, resolve, !an->o.symbol, e);

	if (r < 0)
		return r;
	if (!an->o.symbol)
		return choose_hottest(an, e);
	if (choose_named(an))
		return 0;
	/* Load all functions to suggest similar names. A pipe cannot be read again. */
	if (!an->in.once) {
		profile_input_release(&an->in);
		vec_release(&an->hot);
		r = load(an, resolve, true, e);
	}
	return r < 0 ? r : say_nothing_found(an, e);
}

static int annotate(struct annotate *an, struct resolve_options *resolve)
{
	struct code_options build = {
		.symbols = &resolve->symbols,
		.intel = an->o.syntax && !strcmp(an->o.syntax, "intel"),
		.no_source = an->o.no_source,
		.no_demangle = an->o.profile.no_demangle,
	};
	struct err e = {};
	bool ok = false;
	int status;

	if (an->o.symbol) {
		struct wanted_name name = wanted_name_of(an->o.symbol);

		an->wanted = wanted_places_new(&name, an->o.dso);
	}
	if (choose(an, resolve, &e) < 0) {
		command_fail(0, "annotate: %s", e.text);
	} else {
		annotate_builder_init(&an->builder, &an->in, &build);
		ok = show(an);
		annotate_builder_release(&an->builder);
	}
	wanted_places_free(an->wanted);
	status = an->in.path ? profile_input_end(&an->in, "annotate") : EXIT_FAILED;
	return ok ? status : EXIT_FAILED;
}

static int run_annotate(const struct command *self, int argc, char **argv)
{
	struct annotate an = {};
	struct resolve_options resolve = {};
	struct err e = {};
	int status = 0, used;

	/* Options may follow the name, too. */
	for (;; argc--, argv++) {
		used = command_options(self, &an.o, argc, argv, &status);
		if (used < 0)
			return status;
		argc -= used;
		argv += used;
		if (!argc)
			break;
		if (an.o.symbol)
			return command_fail(EXIT_USAGE, "annotate: one function at a time");
		an.o.symbol = *argv;
	}
	if (check_options(&an, &resolve, &e) < 0) {
		status = command_fail(EXIT_USAGE, "annotate: %s", e.text);
	} else {
		an.style.term = term_of(an.o.output ? -1 : STDOUT_FILENO);
		an.style.no_source = an.o.no_source;
		an.style.no_jumps = an.o.no_jumps;
		an.style.print_line = an.o.print_line;
		an.style.full_paths = an.o.full_paths;
		status = annotate(&an, &resolve);
	}
	vec_release(&an.hot);
	vec_release(&an.chosen);
	buf_release(&an.out);
	profile_options_release(&an.o.profile, &resolve);
	return status;
}

const struct command cmd_annotate = {
	.name = "annotate",
	.summary = "show source and instructions of hot functions, with the samples of each",
	.usage = "[OPTIONS] [FUNCTION]",
	.details =
		"For each instruction and each line of source: which share of the function's "
		"samples hit it. The hottest are marked. Arrows lead from jumps to their targets; "
		"calls have the name of what is called, lines of inlined functions that of the "
		"function.\n\n"
		"Without a name the hottest functions are shown. A name may be written without its "
		"namespace and template arguments, or as a pattern.\n\n"
		"Code comes from the program's file, from jitdump files, and for the kernel from "
		"/proc/kcore or --vmlinux. Lines need debug information; where the source lies "
		"elsewhere now, --source-map says where.",
	.examples = "  tacho annotate\n"
		    "  tacho annotate -i old.data main\n"
		    "  tacho annotate -M intel --no-source memcpy\n"
		    "  tacho annotate --html -o hot.html\n"
		    "  tacho annotate --source-map /build/src=$HOME/src 'parse_*'\n",
	.options = annotate_table,
	.run = run_annotate,
};
