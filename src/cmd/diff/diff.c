#include "cmd/diff/diff.h"
#include "base/number.h"
#include "cmd/command.h"
#include "cmd/input/export_file.h"
#include "cmd/terminal/pager.h"
#include "export/svg_diff.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define AT(member) offsetof(struct diff_options, member)

static const struct option_def diff_table[] = {
	{'i', "input", "FILE", OPT_LIST, AT(inputs),
	 "twice: before and after; perf.data, folded stacks or text of perf script"},
	{'o', "output", "FILE", OPT_STR, AT(output),
	 "where to write it (default: diff.svg, or standard output if that is a pipe or file)"},
	{0, "table", NULL, OPT_FLAG, AT(table), "print the functions with the largest change"},
	{0, "json", NULL, OPT_FLAG, AT(json), "all functions with their change, as JSON"},
	{0, "limit", "N", OPT_UINT, AT(limit), "so many functions (default: 30; JSON: all)"},
	{0, "no-normalize", NULL, OPT_FLAG, AT(no_normalize),
	 "compare what was counted, not shares of each"},
	{0, "negate", NULL, OPT_FLAG, AT(negate),
	 "widths are those of before; what is new stands below"},
	{0, "by", "WHAT", OPT_STR, AT(by),
	 "first level: comm or none (default: comm if both have the same ones)"},
	{0, "reverse", NULL, OPT_FLAG, AT(reverse), "begin at the innermost function"},
	{0, "icicle", NULL, OPT_FLAG, AT(icicle), "the root on top"},
	{0, "min", "PCT", OPT_STR, AT(min),
	 "leave out frames below this share (default: a tenth of a pixel; 0: none)"},
	{0, "title", "TEXT", OPT_STR, AT(title), "what stands on top"},
	{0, "width", "PIXELS", OPT_UINT, AT(width), "as a picture (default: 1200)"},
	{'q', "quiet", NULL, OPT_FLAG, AT(quiet), "say nothing of what was written"},
	PROFILE_ROWS(struct diff_options, profile),
	{},
};

/* ---- input ---- */

static bool find_event(const struct profile *p, const char *name, event_id *ret)
{
	for (uint32_t i = 0; i < p->events.len; i++)
		if (!strcmp(profile_text(p, p->events.items[i].name), name)) {
			ret->n = i;
			return true;
		}
	return false;
}

/* Picks the busiest event of "after", and of "before" the same one or else its own busiest. */
static void choose_events(const struct diff_options *o, struct pair *pair)
{
	const struct profile *after = pair->profiles[1];
	const char *name;

	pair->events[1] = profile_input_event(&pair->inputs[1]);
	if (!after->events.len)
		return;
	if (!o->quiet)
		profile_input_tell_event(&pair->inputs[1], pair->events[1], "diff: compares",
					 "--event chooses another");
	name = profile_text(after, after->events.items[pair->events[1].n].name);
	if (find_event(pair->profiles[0], name, &pair->events[0]) &&
	    pair->profiles[0]->events.items[pair->events[0].n].samples)
		return;
	pair->events[0] = profile_input_event(&pair->inputs[0]);
	if (pair->inputs[0].report.samples && !o->quiet)
		command_fail(0, "diff: '%s' has no %s: %s is compared with it", pair->names[0],
			     name,
			     profile_text(pair->profiles[0],
					  pair->profiles[0]->events.items[pair->events[0].n].name));
}

static int load(const struct diff_options *o, const struct resolve_options *resolve,
		struct pair *pair, struct err *e)
{
	for (size_t i = 0; i < o->inputs.len; i++) {
		int r = profile_input_load(o->inputs.items[i], resolve, &pair->inputs[i], e);

		if (r < 0)
			return r;
		pair->loaded++;
		pair->profiles[i] = &pair->inputs[i].profile;
		pair->names[i] = pair->inputs[i].path;
	}
	if (o->inputs.len == 2) {
		choose_events(o, pair);
		return 0;
	}
	/* Folded text with two counts per line holds both sides. */
	if (!pair->inputs[0].differential)
		return err_set(e, EINVAL, "two recordings are compared: -i BEFORE -i AFTER");
	pair->profiles[1] = pair->profiles[0];
	pair->names[0] = "the first count";
	pair->names[1] = "the second count";
	find_event(pair->profiles[0], "before", &pair->events[0]);
	find_event(pair->profiles[0], "after", &pair->events[1]);
	return 0;
}

const char *pair_event_name(const struct pair *pair, int side)
{
	/* One input with two counts a line has no events. */
	return pair->loaded == 2 ? profile_input_event_name(&pair->inputs[side], pair->events[side])
				 : NULL;
}

/* ---- comparing ---- */

static void build_views(const struct diff_options *o, struct pair *pair, enum view_group group,
			struct view views[2])
{
	for (int i = 0; i < 2; i++) {
		struct view_options options = {
			.group =
				pair->inputs[i < (int)pair->loaded ? i : 0].source == PROFILE_FOLDED
					? GROUP_NONE
					: group,
			.event = pair->events[i],
			.reverse = o->reverse,
			.join_inlined = true,
		};

		view_build(&views[i], pair->profiles[i], &options);
	}
}

static int compare(const struct diff_options *o, struct pair *pair, struct diff *ret, struct err *e)
{
	bool grouped = !o->by || !strcmp(o->by, "comm");
	struct view views[2];

	build_views(o, pair, grouped ? GROUP_COMM : GROUP_NONE, views);
	if (!o->by && !diff_groups_meet(&views[0], &views[1])) {
		/* The process names differ, as after renaming a program: compare without them. */
		for (int i = 0; i < 2; i++)
			view_release(&views[i]);
		build_views(o, pair, GROUP_NONE, views);
	}
	diff_build(ret, &views[0], &views[1], !o->no_normalize);
	for (int i = 0; i < 2; i++)
		view_release(&views[i]);
	for (int i = 0; i < 2; i++)
		if (i < (int)pair->loaded && !pair->inputs[i].report.samples)
			return profile_input_nothing(&pair->inputs[i], e);
	for (int i = 0; i < 2; i++)
		if (!ret->nodes.items[0].total[i])
			return err_set(e, ENODATA, "'%s' has no samples to compare",
				       pair->names[i]);
	return 0;
}

/* ---- output ---- */

static int write_svg(const struct diff_options *o, const struct pair *pair, const struct diff *d,
		     struct err *e)
{
	const char *path = o->output ? o->output : export_file_default("diff.svg");
	CLEANUP(buf_release) struct buf subtitle = {};
	struct diff_svg_options svg = {
		.export = {.title = o->title ? o->title : "Difference",

			   .width = o->width,
			   .icicle = o->icicle},
		.names = {pair->names[0], pair->names[1]},
		.negate = o->negate,
	};
	struct export_file file;
	int r = export_file_begin(&file, path, e);

	if (r < 0)
		return r;
	for (int i = 0; i < 2; i++) {
		buf_addf(&subtitle, "%s %s (", i ? " to" : "from", pair->names[i]);
		buf_add_grouped(&subtitle, d->nodes.items[0].samples[i], 0);
		buf_add(&subtitle, d->nodes.items[0].samples[i] == 1 ? " sample" : " samples");
		if (pair_event_name(pair, i))
			buf_addf(&subtitle, " of %s", pair_event_name(pair, i));
		buf_add(&subtitle, ")");
	}
	svg.export.subtitle = buf_str(&subtitle);
	if (o->min)
		svg.export.all =
			parse_double(o->min, &svg.export.min_pct) && svg.export.min_pct == 0;
	export_diff_svg(d, &svg, &file.out);
	r = export_file_end(&file, e);
	if (!r && !o->quiet && strcmp(path, "-"))
		command_fail(0, "diff: svg written to '%s'", path);
	return r;
}

static int write_table(const struct diff_options *o, struct pair *pair, const struct diff *d,
		       struct err *e)
{
	struct export_file file;
	int r;

	/* A terminal gets a pager. */
	if (!o->json && (!o->output || !strcmp(o->output, "-"))) {
		CLEANUP(buf_release) struct buf text = {};

		diff_table_text(d, o, pair, &text);
		return pager_show(&text) ? 0 : -EPIPE;
	}
	r = export_file_begin(&file, o->output ? o->output : "-", e);
	if (r < 0)
		return r;
	if (o->json)
		diff_table_json(d, o, pair, &file.out.buf);
	else
		diff_table_text(d, o, pair, &file.out.buf);
	return export_file_end(&file, e);
}

static int show(const struct diff_options *o, const struct resolve_options *resolve,
		struct pair *pair, struct err *e)
{
	struct diff d = {};
	int r = load(o, resolve, pair, e);

	if (!r)
		r = compare(o, pair, &d, e);
	if (!r)
		r = o->table || o->json ? write_table(o, pair, &d, e) : write_svg(o, pair, &d, e);
	diff_release(&d);
	return r;
}

/* ---- the command ---- */

static int check(const struct diff_options *o, struct err *e)
{
	double pct;

	if (!o->inputs.len || o->inputs.len > 2)
		return err_set(e, EINVAL, "two recordings are compared: -i BEFORE -i AFTER");
	if (o->by && strcmp(o->by, "comm") && strcmp(o->by, "none"))
		return err_set(e, EINVAL, "--by: '%s' is neither comm nor none", o->by);
	if (o->min && (!parse_double(o->min, &pct) || pct < 0 || pct > 100))
		return err_set(e, EINVAL, "--min: '%s' is not a percentage", o->min);
	if (o->width && (o->width < 200 || o->width > 20000))
		return err_set(e, EINVAL, "--width goes from 200 to 20000 pixels, not %u",
			       o->width);
	return 0;
}

static int run_diff(const struct command *self, int argc, char **argv)
{
	struct diff_options o = {};
	int status = 0, used, r;
	struct resolve_options resolve = {};
	struct pair pair = {};
	struct err e = {};

	/* Options may also follow the files. */
	for (; (used = command_options(self, &o, argc, argv, &status)) < argc; argc -= used + 1) {
		if (used < 0)
			goto out;
		vec_push(&o.inputs, argv[used]);
		argv += used + 1;
	}
	if (check(&o, &e) < 0 || profile_options_check(&o.profile, &resolve, &e) < 0) {
		status = command_fail(EXIT_USAGE, "diff: %s", e.text);
		goto out;
	}
	resolve.precision = RESOLVE_LABELS;
	resolve.by_comm = true;
	r = show(&o, &resolve, &pair, &e);
	if (r < 0 && r != -EPIPE)
		command_fail(0, "diff: %s", e.text);
	for (size_t i = 0; i < pair.loaded; i++) {
		CLEANUP(free_ptr) char *of = xasprintf("diff: '%s'", pair.inputs[i].path);

		status |= profile_input_end(&pair.inputs[i], of);
	}
	if (r < 0)
		status = r == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
out:
	vec_release(&o.inputs);
	profile_options_release(&o.profile, &resolve);
	return status;
}

const struct command cmd_diff = {
	.name = "diff",
	.summary = "compare two recordings: a flame graph or a table of what changed",
	.usage = "[OPTIONS] -i BEFORE -i AFTER\n[OPTIONS] BEFORE AFTER",
	.details =
		"Draws what came after as a flame graph: red frames have a larger share than "
		"before, "
		"blue ones a smaller one. What is gone has no width there; it stands in a second "
		"graph "
		"below. Functions meet by their names along the call path, so two builds of a "
		"program "
		"can be compared, also when one of them inlined more.\n\n"
		"--table prints the functions with the largest change instead, for themselves and "
		"with "
		"all that they called.\n\n"
		"Folded text with two counts a line, as difffolded.pl makes it, is a difference in "
		"itself: tacho diff -i FILE.",
	.examples = "  tacho diff -i before.data -i after.data\n"
		    "  tacho diff --table before.data after.data\n"
		    "  tacho diff --negate -o gone.svg a.folded b.folded\n"
		    "  tacho diff --json a.data b.data | jq '.functions[0]'\n",
	.options = diff_table,
	.run = run_diff,
};
