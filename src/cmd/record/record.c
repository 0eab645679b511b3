#include "cmd/record/record.h"
#include "base/clock.h"
#include "base/text.h"
#include "cmd/command.h"
#include "collect/workload.h"
#include "event/usage.h"
#include "perfdata/summary.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROGRESS_NS (250 * NS_PER_MSEC)

/* ---- what the user is told ---- */

static void erase_progress(struct record_session *s)
{
	CLEANUP(buf_release) struct buf out = {};

	if (!s->drawn)
		return;
	s->drawn = false;
	buf_add(&out, "\r\x1b[K");
	command_flush(&out, STDERR_FILENO);
}

void record_note(struct record_session *s, const char *fmt, ...)
{
	CLEANUP(buf_release) struct buf text = {};
	va_list ap;

	if (s->o.quiet)
		return;
	erase_progress(s);
	va_start(ap, fmt);
	buf_addv(&text, fmt, ap);
	va_end(ap);
	command_fail(0, "%s: %s", s->name ? s->name : "record", buf_str(&text));
}

static void on_progress(void *ctx, const struct record_counts *counts)
{
	struct record_session *s = ctx;
	CLEANUP(buf_release) struct buf out = {};

	buf_add(&out, "\r\x1b[Ktacho record: ");
	buf_add_grouped(&out, counts->samples, 0);
	buf_add(&out, " samples, ");
	buf_add_size(&out, counts->bytes);
	if (counts->lost) {
		buf_add(&out, ", ");
		buf_add_grouped(&out, counts->lost, 0);
		buf_add(&out, " lost");
	}
	s->drawn = true;
	command_flush(&out, STDERR_FILENO);
}

static void on_started(void *ctx, unsigned events, unsigned rings, uint64_t ring_bytes)
{
	struct record_session *s = ctx;

	s->started = true;
	if (s->o.verbose)
		record_note(s, "%u events, %u buffers of %llu KiB", events, rings,
			    (unsigned long long)ring_bytes / 1024);
}

static void on_note(void *ctx, const char *text)
{
	record_note(ctx, "%s", text);
}

/* run_record() reports errors before the start, because record_explain() may extend them. */
static void on_error(void *ctx, const struct err *e)
{
	struct record_session *s = ctx;

	if (!s->started)
		return;
	erase_progress(s);
	command_fail(0, "record: %s", e->text);
	s->error_told = true;
}

static void on_switched(void *ctx, const char *path)
{
	struct record_session *s = ctx;

	vec_push(&s->files, xstrdup(path));
	record_note(s, "wrote '%s'", path);
}

/* Adds to @sum what the file really contains. */
static void read_back(const char *path, struct record_counts *sum)
{
	struct perfdata_options how = {.unordered = true};
	struct perfdata *file;
	struct summary found = {};
	struct stat st;

	/* Opening a pipe would block until it has a writer. */
	if (stat(path, &st) || !S_ISREG(st.st_mode) || perfdata_open(&file, path, &how, NULL) < 0)
		return;
	found.file = file;
	perfdata_read(file, &summary_visitor, &found, NULL);
	sum->samples += summary_samples(&found);
	sum->bytes += (uint64_t)st.st_size;
	sum->lost += MAX(found.lost_records, found.lost_samples);
	sum->throttled += found.throttled;
	summary_release(&found);
	perfdata_close(file);
}

/*
 * The collector counts the samples that it took. After a failure fewer may be in the file, and with
 * --overwrite only the last ones are: then count what the file contains.
 */
static struct record_counts counts_written(const struct record_session *s,
					   const struct record_summary *summary, bool failed)
{
	const char *path = s->plan.output.writer.path;
	struct record_counts counts = summary->counts;
	struct stat st;

	if (!strcmp(path, "-"))
		return counts;
	if (failed || s->plan.output.kind == SINK_MEMORY) {
		counts = (struct record_counts){};
		vec_each(&s->files, name)
			if (s->plan.output.kind == SINK_SWITCH)
				read_back(*name, &counts);
		/* With --switch-output this is the current file, which was not renamed yet. */
		read_back(path, &counts);
	} else if (s->plan.output.kind == SINK_FILE && !stat(path, &st) && S_ISREG(st.st_mode)) {
		counts.bytes = (uint64_t)st.st_size;
	}
	return counts;
}

static void add_place(const struct record_session *s, struct buf *out)
{
	const char *path = s->plan.output.writer.path;
	unsigned max = s->plan.output.switch_max_files;
	size_t files = s->files.len;

	if (!strcmp(path, "-")) {
		buf_add(out, " to the pipe");
	} else if (s->plan.output.kind != SINK_SWITCH) {
		buf_add(out, " in ");
		text_add_printable(out, path);
	} else {
		buf_addf(out, " in %zu file%s", files, files == 1 ? "" : "s");
		if (max && files > max)
			buf_addf(out, ", the last %u of which %s kept", max,
				 max == 1 ? "is" : "are");
	}
}

static void print_summary(struct record_session *s, const struct record_summary *summary,
			  bool failed)
{
	struct record_counts c = counts_written(s, summary, failed);
	CLEANUP(buf_release) struct buf out = {};

	erase_progress(s);
	buf_add(&out, "[ tacho record: ");
	buf_add_grouped(&out, c.samples, 0);
	buf_addf(&out, " sample%s, ", c.samples == 1 ? "" : "s");
	buf_add_size(&out, c.bytes);
	add_place(s, &out);
	buf_add(&out, " ]\n");
	if (failed && summary->counts.samples > c.samples) {
		buf_add(&out, "[ ");
		buf_add_grouped(&out, summary->counts.samples - c.samples, 0);
		buf_add(&out, " more were taken, but could not be written ]\n");
	}
	if (c.lost) {
		buf_add(&out, "[ ");
		buf_add_grouped(&out, c.lost, 0);
		buf_addf(&out,
			 " more were lost (%.1f %%): larger buffers (-m 8M) or fewer samples (-F, "
			 "-c) help ]\n",
			 100.0 * (double)c.lost / (double)(c.lost + c.samples));
	}
	if (c.throttled) {
		buf_add(&out, "[ the kernel paused sampling ");
		buf_add_grouped(&out, c.throttled, 0);
		buf_addf(&out, " time%s because it took too long: a lower frequency (-F) helps ]\n",
			 c.throttled == 1 ? "" : "s");
	}
	command_flush(&out, STDERR_FILENO);
}

/* Printed even with --quiet, because the command did not end by itself. */
static void tell_full(struct record_session *s, const struct record_summary *summary)
{
	const char *name = s->name ? s->name : "record";
	const char *ended = summary->has_workload ? " and the command was ended" : "";

	erase_progress(s);
	if (summary->counts.samples)
		command_fail(0,
			     "%s: the file is as large as --max-size allows (%s): recording has "
			     "stopped%s",
			     name, s->o.max_size, ended);
	else
		command_fail(0,
			     "%s: --max-size (%s) leaves no room for samples, because the programs "
			     "that run already must be described first: recording has stopped%s; "
			     "give a larger size",
			     name, s->o.max_size, ended);
}

static void on_finished(void *ctx, const struct record_summary *summary)
{
	struct record_session *s = ctx;

	if (summary->end == END_MAX_SIZE)
		tell_full(s, summary);
	if (!s->o.quiet)
		print_summary(s, summary, false);
}

/* ---- the run ---- */

/* A progress line would mix with what the command writes on the same terminal. */
static bool shows_progress(const struct record_session *s)
{
	return s->term.tty && !s->o.quiet && (!s->plan.argv || !isatty(STDOUT_FILENO));
}

void record_keep_command_line(struct record_session *s, const char *name, int argc, char **argv)
{
	vec_push(&s->whole_argv, xstrdup("tacho"));
	vec_push(&s->whole_argv, xstrdup(name));
	for (int i = 0; i < argc; i++)
		vec_push(&s->whole_argv, xstrdup(argv[i]));
	vec_push(&s->whole_argv, NULL);
	s->plan.whole_argv = s->whole_argv.items;
}

static int exit_status(const struct record_session *s, int r, const struct err *e)
{
	struct workload w = {.wait_status = s->summary.wait_status};

	if (r < 0 && s->summary.exec_failed)
		return e->code == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
	if (r < 0)
		return EXIT_TACHO_FAILED;
	if (s->summary.end != END_NATURAL || !s->summary.has_workload)
		return EXIT_DONE;
	return workload_exit_status(&w);
}

void record_release(struct record_session *s)
{
	vec_each(&s->whole_argv, arg)
		free(*arg);
	vec_release(&s->whole_argv);
	strvec_release(&s->files);
	vec_release(&s->o.events);
	vec_release(&s->filters);
	strvec_release(&s->joined_filters);
	event_list_release(&s->events);
	target_release(&s->plan.target);
	topology_release(&s->topology);
	catalog_release(&s->catalog);
}

void record_note_clock(struct record_session *s, const char *verb)
{
	if (s->no_pmu)
		record_note(s, "%s: cpu-clock is %s, not cycles (tacho doctor says more)",
			    catalog_no_pmu(&s->catalog), verb);
}

/* Points to tacho doctor, which says how to get a PMU in this machine. */
void record_explain(struct record_session *s, struct err *e)
{
	CLEANUP(free_ptr) char *text = xstrdup(e->text);
	bool hardware = false;

	vec_each(&s->events.events, event)
		hardware |= event->no_pmu || event->missing;
	if (!hardware || s->summary.exec_failed || !catalog_no_pmu(&s->catalog))
		return;
	if (e->code == ENOENT || e->code == EOPNOTSUPP || e->code == ENODEV)
		err_set(e, e->code, "%s; tacho doctor says more", text);
}

static int record(struct record_session *s, struct err *e)
{
	int r = record_make_plan(s, e);

	if (r < 0)
		return r;
	record_note_clock(s, "recorded");
	s->plan.on_progress = on_progress;
	s->plan.on_started = on_started;
	s->plan.on_note = on_note;
	s->plan.on_switched = on_switched;
	s->plan.on_error = on_error;
	s->plan.on_finished = on_finished;
	s->plan.ctx = s;
	s->plan.progress_ns = shows_progress(s) ? PROGRESS_NS : 0;
	r = recording_run(&s->plan, &s->summary, e);
	erase_progress(s);
	if (r < 0)
		record_explain(s, e);
	return r;
}

static int run_record(const struct command *self, int argc, char **argv)
{
	struct record_session s = {};
	int status = 0, used = command_options(self, &s.o, argc, argv, &status), r;
	struct err e = {};

	if (used < 0)
		return status == EXIT_USAGE ? EXIT_TACHO_FAILED : status;
	catalog_init(&s.catalog);
	record_keep_command_line(&s, self->name, argc, argv);
	s.plan.argv = used < argc ? argv + used : NULL;
	s.term = term_of(STDERR_FILENO);
	r = record(&s, &e);
	if (r < 0 && !s.error_told)
		command_fail(0, "record: %s", e.text);
	else if (r == 0 && s.o.events.len)
		usage_note(&s.events);
	if (r < 0 && s.started && !s.summary.exec_failed && !s.o.quiet)
		print_summary(&s, &s.summary, true);
	status = exit_status(&s, r, &e);
	record_release(&s);
	return status;
}

const struct command cmd_record = {
	.name = "record",
	.summary = "take samples of a command, a process or the whole system into perf.data",
	.usage = "[OPTIONS] [--] COMMAND [ARG…]\n[OPTIONS] [-a | -p PID | -t TID | -u USER]",
	.details =
		"Records where the CPU is (and, with -g, how it got there) whenever an event has "
		"happened so many times, together with what is needed to make sense of it: "
		"processes, mappings, build ids, the machine. Without -e the event is cycles, as "
		"precise as the CPU can tell; where there is no PMU, cpu-clock takes the place of "
		"cycles, also if they were asked for by -e, and a note says so. Only the first "
		"event of a group {…}:S is sampled; the values of the others come with its "
		"samples.\n\n"
		"Terms between slashes belong to one event, whatever kind it is: "
		"page-faults/period=100,name=mine/u. They are name, period, freq, call-graph (fp, "
		"dwarf, lbr, no), stack-size, max-stack, inherit, no-inherit, config, config1 and "
		"config2; they win over -F, -c, -g and -i.\n\n"
		"The file is that of perf: every tool that reads perf.data reads it. It can be "
		"read up to its last second at any time, also if tacho, the machine or the disk "
		"came to grief meanwhile. A file of that name that is there already becomes "
		"FILE.old.\n\n"
		"Ctrl-C ends the recording, when the command has ended by it, too; a second one "
		"ends everything at once, with all that the command has started, and a third one "
		"does not even wait for a pipe that takes no more. Lost samples and "
		"those that the kernel left out because they took too long are told at the end.\n\n"
		"Programs and libraries with samples that can be rebuilt, and those of containers, "
		"are kept by build id in $XDG_CACHE_HOME/tacho/build-id (at most 8 GiB, the oldest "
		"go first), names that JITs give their code (perf maps, jitdump) in "
		"$XDG_CACHE_HOME/tacho/jit, so that they can be named later, also after the next "
		"build. Files of the distribution are kept only where the file system can share "
		"their blocks. -N leaves that out, --buildid-all keeps also what had no "
		"samples.\n\n"
		"Java is made to name its code: COMMAND gets -XX:+PreserveFramePointer and "
		"-XX:+DumpPerfMapAtExit in JAVA_TOOL_OPTIONS, before what you have there (with "
		"-XX:+IgnoreUnrecognizedVMOptions, because older JVMs know less: they then also "
		"pass over your own misspelt options). JVMs that run already are asked for their "
		"names at the end, as jcmd PID Compiler.perfmap does (JDK 17); for whole stacks "
		"they must have been started with -XX:+PreserveFramePointer. --no-jvm leaves all "
		"of that out. Node has to be started with --perf-basic-prof, Python (3.12) with "
		"-X perf.\n\n"
		"With --switch-output and --overwrite files get the time behind their names: "
		"FILE.YYYYmmddHHMMSScc.",
	.examples = "  tacho record -g make\n"
		    "  tacho record -F 999 -a --timeout 10000\n"
		    "  tacho record --call-graph dwarf -p 1234\n"
		    "  tacho record -g java -jar app.jar\n"
		    "  tacho record -e sched:sched_switch --filter 'prev_pid == 1234' -a\n"
		    "  tacho record -a --overwrite=60 -o flight.data   # kill -USR2 writes a file\n"
		    "  tacho record -o - -g ./program | perf script -i -",
	.exit_status =
		"That of the command; 128+n if signal n ended it; 126 or 127 if it could not be "
		"executed or found; 125 if tacho failed (unknown event, no permission, disk full); "
		"0 if tacho ended the command because --timeout or --max-size said so.",
	.options = record_table_of_options,
	.run = run_record,
};
