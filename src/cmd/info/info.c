#include "cmd/info/info.h"
#include "cmd/command.h"
#include "cmd/input/default_input.h"
#include "cmd/terminal/progress.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define AT(member) offsetof(struct info_options, member)

static const struct option_def info_table[] = {
	{'i', "input", "FILE", OPT_STR, AT(input),
	 "the recording (default: a pipe on standard input, else perf.data; -: standard input)"},
	{'v', "verbose", NULL, OPT_FLAG, AT(verbose),
	 "every event with all that it was opened with"},
	{0, "json", NULL, OPT_FLAG, AT(json), "one JSON object"},
	{},
};

static void add_cuts(const struct info *info, strvec *out)
{
	const struct perfdata *p = info->file;

	if (p->cut_off)
		vec_push(out,
			 xstrdup("The recorder was cut off before it could write down the size of "
				 "the data: all that follows is read."));
	/* FEATURE_COMPRESSED may come at the beginning; all other features come at the end. */
	if (!p->pipe && !(p->features.present & ~(1ull << FEATURE_COMPRESSED)))
		vec_push(out,
			 xstrdup("There is no header of the machine (host, command, build ids): "
				 "the recorder was cut off, or the end of the file is missing."));
	if (!p->stream.events.len)
		vec_push(out, xstrdup("The recording describes no event, so its samples cannot be "
				      "decoded."));
}

static void add_order(const struct info *info, strvec *out)
{
	const struct stream *s = &info->file->stream;

	if (s->order.late)
		vec_push(out, xasprintf("%llu records are out of order, by up to %.6f s; "
					"tacho convert sorts them.",
					(unsigned long long)s->order.late,
					(double)s->order.worst_late_ns / 1e9));
	if (s->unknown_ids)
		vec_push(out, xasprintf("%llu records belong to no event of the file.",
					(unsigned long long)s->unknown_ids));
	if (s->without_event)
		vec_push(out, xasprintf("%llu records came before any event was described.",
					(unsigned long long)s->without_event));
}

static void add_unknown_types(const struct info *info, strvec *out)
{
	uint64_t unknown = 0;

	for (uint32_t type = 0; type <= COUNTED_TYPES; type++)
		if (!perfdata_record_name(type))
			unknown += info->file->stream.counts[type];
	if (unknown)
		vec_push(out, xasprintf("%llu records are of types that tacho does not know; they "
					"were passed over.",
					(unsigned long long)unknown));
}

void info_oddities(const struct info *info, strvec *out)
{
	const struct perfdata *p = info->file;
	const struct summary *s = &info->summary;

	add_cuts(info, out);
	add_order(info, out);
	add_unknown_types(info, out);
	if (p->stream.swap)
		vec_push(out, xstrdup("It was recorded on a machine of the other byte order."));
	if (s->throttled)
		vec_push(out,
			 xasprintf("The kernel throttled sampling %llu times, because it took too "
				   "much of the CPU.",
				   (unsigned long long)s->throttled));
	vec_each(&p->stream.damages, d)
		vec_push(out,
			 xasprintf("At offset %llu: %s.", (unsigned long long)d->offset, d->text));
	if (p->stream.damage_count > p->stream.damages.len)
		vec_push(out, xasprintf("… and %llu more damaged places.",
					(unsigned long long)(p->stream.damage_count -
							     p->stream.damages.len)));
}

static int run_info(const struct command *self, int argc, char **argv)
{
	struct info info = {};
	struct progress bar = progress_of("reading");
	struct perfdata_options options = {.progress = progress_show, .ctx = &bar};
	int status = 0, used = command_options(self, &info.o, argc, argv, &status), r;
	struct err e = {};

	if (used < 0)
		return status;
	if (argc - used > 1 || (argc > used && info.o.input))
		return command_fail(EXIT_USAGE, "info: one file at a time");
	if (argc > used)
		info.o.input = argv[used];
	if (default_input(info.o.input, &info.o.input, &e) < 0 ||
	    perfdata_open(&info.file, info.o.input, &options, &e) < 0)
		return command_fail(EXIT_FAILED, "info: %s", e.text);
	info.summary.file = info.file;
	r = perfdata_read(info.file, &summary_visitor, &info.summary, &e);
	progress_clear(&bar);
	/* perfdata_read() does not fail for records that the visitor could not decode. */
	status = r < 0 || info.summary.undecodable ? EXIT_FAILED : EXIT_DONE;
	if (r < 0 && r != -EBADMSG)
		command_fail(0, "info: %s", e.text);
	info.term = term_of(STDOUT_FILENO);
	if (info.o.json)
		info_json(&info);
	else
		info_text(&info);
	if (!command_flush(&info.out, STDOUT_FILENO))
		status = EXIT_FAILED;
	summary_release(&info.summary);
	perfdata_close(info.file);
	buf_release(&info.out);
	return status;
}

const struct command cmd_info = {
	.name = "info",
	.summary = "show what a recording holds: machine, events, records, losses, oddities",
	.usage = "[OPTIONS] [FILE]",
	.details = "Reads the whole file, decodes every record and says what there is: the machine "
		   "and "
		   "command that it came from, the events as they were opened, records by type, "
		   "the span "
		   "of time, what was lost, and whatever is odd about it. A damaged file is read "
		   "as far "
		   "as it goes; the place and kind of the damage stand at the end, and the exit "
		   "status "
		   "is 1.",
	.examples = "  tacho info\n"
		    "  tacho info -v old.data\n"
		    "  perf record -o - -- make | tacho info -i -\n"
		    "  tacho info --json perf.data | jq .events\n",
	.options = info_table,
	.run = run_info,
};
