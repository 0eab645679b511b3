#include "base/number.h"
#include "cmd/command.h"
#include "cmd/input/export_file.h"
#include "cmd/input/profile_input.h"

#include <errno.h>
#include <string.h>

struct flame_options {
	struct profile_options profile;
	const char *output, *format, *by, *min, *title, *color;
	unsigned width;
	bool reverse, icicle, quiet;
};

#define AT(member) offsetof(struct flame_options, member)

static const struct option_def flame_table[] = {
	PROFILE_FILE_ROW(struct flame_options, profile),
	{'o', "output", "FILE", OPT_STR, AT(output),
	 "where to write it (default: flame.svg, or standard output if that is a pipe or file)"},
	{0, "format", "FORMAT", OPT_STR, AT(format), "svg (default), folded or json"},
	{0, "by", "WHAT", OPT_STR, AT(by),
	 "first level: comm (default), pid, tid, cpu, event or none; or the name of an event"},
	{0, "reverse", NULL, OPT_FLAG, AT(reverse), "begin at the innermost function"},
	{0, "icicle", NULL, OPT_FLAG, AT(icicle), "the root on top"},
	{0, "min", "PCT", OPT_STR, AT(min),
	 "leave out frames below this share (default: a tenth of a pixel; 0: none)"},
	{0, "title", "TEXT", OPT_STR, AT(title), "what stands on top"},
	{0, "width", "PIXELS", OPT_UINT, AT(width), "as a picture (default: 1200)"},
	{0, "color", "HOW", OPT_STR, AT(color), "by kind of code (kind, default), module or grey"},
	{'q', "quiet", NULL, OPT_FLAG, AT(quiet), "say nothing of what was written"},
	PROFILE_ROWS(struct flame_options, profile),
	{},
};

/* ---- what was asked for ---- */

struct choice {
	const struct exporter *exporter;
	struct view_options view;
	struct export_options export;
	const char *event; /* chosen by --by, or NULL */
	bool by_given;
};

static const struct {
	const char *name;
	enum view_group group;
} groups[] = {
	{"comm", GROUP_COMM}, {"pid", GROUP_PID},     {"tid", GROUP_TID},
	{"cpu", GROUP_CPU},   {"event", GROUP_EVENT}, {"none", GROUP_NONE},
};

static void choose_group(const struct flame_options *o, struct choice *c)
{
	c->view.group = GROUP_COMM;
	if (!o->by)
		return;
	for (size_t i = 0; i < ARRAY_LEN(groups); i++)
		if (!strcmp(o->by, groups[i].name)) {
			c->view.group = groups[i].group;
			c->by_given = true;
			return;
		}
	c->event = o->by;
}

static int choose_palette(const char *name, enum export_palette *ret, struct err *e)
{
	*ret = PALETTE_KIND;
	if (!name || !strcmp(name, "kind"))
		return 0;
	*ret = !strcmp(name, "module") ? PALETTE_MODULE : PALETTE_GREY;
	if (!strcmp(name, "module") || !strcmp(name, "grey"))
		return 0;
	return err_set(e, EINVAL, "--color: '%s' is none of kind, module and grey", name);
}

static int choose(const struct flame_options *o, struct choice *c, struct err *e)
{
	double pct = 0;

	choose_group(o, c);
	c->exporter = exporter_find(o->format ? o->format : "svg");
	if (!c->exporter)
		return err_set(e, EINVAL, "--format: '%s' is none of svg, folded and json",
			       o->format);
	if (o->min && (!parse_double(o->min, &pct) || pct < 0 || pct > 100))
		return err_set(e, EINVAL, "--min: '%s' is not a percentage", o->min);
	if (o->width && (o->width < 200 || o->width > 20000))
		return err_set(e, EINVAL, "--width goes from 200 to 20000 pixels, not %u",
			       o->width);
	c->view.style = c->exporter->style;
	c->view.reverse = o->reverse;
	c->view.join_inlined = c->exporter == &export_folded;
	c->view.no_ends = c->exporter == &export_folded;
	c->export.min_pct = pct;
	c->export.all = o->min && pct == 0;
	c->export.width = o->width;
	c->export.icicle = o->icicle;
	return choose_palette(o->color, &c->export.palette, e);
}

/* ---- the event ---- */

static int find_event(const struct profile *p, const char *name, event_id *ret, struct err *e)
{
	CLEANUP(buf_release) struct buf known = {};

	for (uint32_t i = 0; i < p->events.len; i++) {
		const char *event = profile_text(p, p->events.items[i].name);

		if (!strcmp(event, name)) {
			ret->n = i;
			return 0;
		}
		buf_addf(&known, "%s%s", i ? ", " : "", event);
	}
	return err_set(e, EINVAL, "--by: the recording has no event '%s'; it has: %s", name,
		       buf_str(&known));
}

static int choose_event(const struct flame_options *o, const struct profile_input *in,
			struct choice *c, struct err *e)
{
	const struct profile *p = &in->profile;
	int r = 0;

	c->view.event = profile_input_event(in);
	/* Of a difference show the second count, "after". */
	if (in->differential && p->events.len > 1)
		c->view.event.n = 1;
	if (c->event)
		r = find_event(p, c->event, &c->view.event, e);
	if (r == 0 && !c->event && c->view.group != GROUP_EVENT && !o->quiet)
		profile_input_tell_event(in, c->view.event, "flame: shows",
					 "--event or --by event shows others");
	return r;
}

/* ---- output ---- */

static void make_titles(const struct flame_options *o, const struct profile_input *in,
			const struct view *v, struct buf *title, struct buf *subtitle)
{
	const struct profile *p = &in->profile;
	const struct call_node *root = &v->tree.nodes.items[0];

	if (o->title)
		buf_add(title, o->title);
	else
		buf_addf(title, "%s", o->reverse ? "Reversed flame graph" : "Flame graph");
	buf_add_grouped(subtitle, root->total_samples, 0);
	buf_add(subtitle, root->total_samples == 1 ? " sample" : " samples");
	if (v->options.group != GROUP_EVENT && p->events.len &&
	    strcmp(profile_text(p, p->events.items[v->options.event.n].name), "samples"))
		buf_addf(subtitle, " of %s",
			 profile_text(p, p->events.items[v->options.event.n].name));
	if (in->file && in->file->facts.cmdline.len) {
		buf_add(subtitle, " ·");
		vec_each(&in->file->facts.cmdline, word)
			buf_addf(subtitle, " %s", *word);
	} else if (strcmp(in->path, "standard input")) {
		buf_addf(subtitle, " · %s", in->path);
	}
}

static int write_view(const struct flame_options *o, const struct profile_input *in,
		      struct choice *c, const struct view *v, struct err *e)
{
	const char *path = o->output;
	CLEANUP(buf_release) struct buf title = {}, subtitle = {};
	struct export_file file;
	int r;

	if (!path)
		path = c->exporter == &export_svg ? export_file_default("flame.svg") : "-";
	r = export_file_begin(&file, path, e);
	if (r < 0)
		return r;
	make_titles(o, in, v, &title, &subtitle);
	c->export.title = buf_str(&title);
	c->export.subtitle = buf_str(&subtitle);
	r = c->exporter->run(v, &c->export, &file.out, e);
	if (r < 0)
		export_file_end(&file, NULL);
	else
		r = export_file_end(&file, e);
	if (!r && !o->quiet && strcmp(path, "-"))
		command_fail(0, "flame: %s written to '%s'", c->exporter->name, path);
	return r;
}

static int show(const struct flame_options *o, struct choice *c, struct profile_input *in,
		struct err *e)
{
	struct view view;
	int r = choose_event(o, in, c, e);

	if (r < 0)
		return r;
	/* Add no first level to folded stacks: they already contain one, if they have any. */
	if (in->source == PROFILE_FOLDED && c->view.group != GROUP_EVENT) {
		if (c->by_given && c->view.group != GROUP_NONE)
			return err_set(e, EINVAL,
				       "--by %s: folded stacks do not contain this; use perf.data",
				       o->by);
		c->view.group = GROUP_NONE;
	}
	/* Weights of different events (nanoseconds, faults) cannot be compared: count samples. */
	if (c->view.group == GROUP_EVENT && c->exporter == &export_svg)
		vec_each(&in->profile.rows, row)
			row->weight = row->samples;
	view_build(&view, &in->profile, &c->view);
	if (!in->report.samples)
		r = profile_input_nothing(in, e);
	else if (!view.tree.nodes.items[0].total)
		r = err_set(e, ENODATA, "'%s' has no samples of this event", in->path);
	else
		r = write_view(o, in, c, &view, e);
	view_release(&view);
	return r;
}

static int run_flame(const struct command *self, int argc, char **argv)
{
	struct flame_options o = {};
	int status = 0, r;
	struct resolve_options resolve = {};
	struct profile_input in;
	struct choice c = {};
	struct err e = {};

	if (!command_one_word(self, &o, argc, argv, &o.profile.input, "file", &status))
		goto out;
	if (choose(&o, &c, &e) < 0 || profile_options_check(&o.profile, &resolve, &e) < 0) {
		status = command_fail(EXIT_USAGE, "flame: %s", e.text);
		goto out;
	}
	resolve.precision = RESOLVE_LABELS;
	resolve.no_frames = true;
	resolve.by_comm = c.view.group != GROUP_TID && c.view.group != GROUP_PID;
	resolve.by_cpu = c.view.group == GROUP_CPU;
	if (profile_input_load(o.profile.input, &resolve, &in, &e) < 0) {
		status = command_fail(EXIT_FAILED, "flame: %s", e.text);
		goto out;
	}
	r = show(&o, &c, &in, &e);
	if (r < 0 && r != -EPIPE)
		command_fail(0, "flame: %s", e.text);
	status = profile_input_end(&in, "flame");
	if (r < 0)
		status = r == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
out:
	profile_options_release(&o.profile, &resolve);
	return status;
}

const struct command cmd_flame = {
	.name = "flame",
	.summary = "draw a flame graph of a recording",
	.usage = "[OPTIONS] [FILE]",
	.details =
		"Writes one SVG file that needs nothing else: open it in a browser, click on a "
		"frame to zoom, press / to search and ? for all keys. The width of a frame is its "
		"share of the event; its colour says what code it is, and a function has the same "
		"colour in every graph. Frames too narrow to be seen are left out; how many, "
		"stands below.\n\n"
		"The input may be perf.data, folded stacks (a;b;c 12) or the text of perf "
		"script.\n\n"
		"--format folded writes a line a stack instead, as stackcollapse-perf.pl does; "
		"--format json nested objects.",
	.examples = "  tacho flame\n"
		    "  tacho flame -i old.data -o old.svg --by tid\n"
		    "  tacho flame --time 10,20 --comm postgres\n"
		    "  tacho flame --reverse --icicle -o callers.svg\n"
		    "  perf script | tacho flame -i - >out.svg\n",
	.options = flame_table,
	.run = run_flame,
};
