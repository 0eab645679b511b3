#include "cmd/convert/folded.h"
#include "cmd/command.h"
#include "cmd/input/export_file.h"

#include <errno.h>

static int write_folded(struct profile_input *in, const char *output, const struct fold_options *o,
			struct err *e)
{
	struct view_options view = {
		.group = in->source == PROFILE_FOLDED ? GROUP_NONE : GROUP_COMM,
		.style = o->all || o->kernel ? NAMES_FOLDED_KINDS : NAMES_FOLDED,
		.event = profile_input_event(in),
		.join_inlined = !o->all,
		.no_ends = true,
	};
	struct export_options export = {.annotate = o->all, .annotate_kernel = o->kernel};
	struct export_file file;
	struct view v;
	int r = export_file_begin(&file, output, e);

	if (r < 0)
		return r;
	profile_input_tell_event(in, view.event, "convert: takes", "--event chooses another");
	if (!in->report.samples) {
		struct err why = {};

		profile_input_nothing(in, &why);
		command_fail(0, "convert: %s", why.text);
	}
	view_build(&v, &in->profile, &view);
	export_folded.run(&v, &export, &file.out, e);
	r = export_file_end(&file, e);
	view_release(&v);
	return r;
}

int convert_folded(const char *input, const char *output, struct fold_options *o)
{
	struct resolve_options resolve;
	struct profile_input in;
	struct err e = {};
	int status, r = profile_options_check(&o->profile, &resolve, &e);

	resolve.precision = RESOLVE_LABELS;
	resolve.by_comm = true;
	if (r < 0) {
		status = command_fail(EXIT_USAGE, "convert: %s", e.text);
	} else if (profile_input_load(input, &resolve, &in, &e) < 0) {
		status = command_fail(EXIT_FAILED, "convert: %s", e.text);
	} else {
		r = write_folded(&in, output, o, &e);
		if (r < 0 && r != -EPIPE)
			command_fail(0, "convert: %s", e.text);
		status = profile_input_end(&in, "convert");
		if (r < 0)
			status = EXIT_FAILED;
	}
	profile_options_release(&o->profile, &resolve);
	return status;
}
