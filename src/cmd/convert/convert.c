#include "base/text.h"
#include "cmd/command.h"
#include "cmd/convert/folded.h"
#include "cmd/input/default_input.h"
#include "cmd/info/info.h"
#include "cmd/terminal/progress.h"
#include "cmd/script/script.h"
#include "perfdata/rewrite.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct convert_options {
	const char *input, *output, *to;
	unsigned level;
	bool quiet;
	struct fold_options fold;
};

#define AT(member) offsetof(struct convert_options, member)

static const struct option_def convert_table[] = {
	{'i', "input", "FILE", OPT_STR, AT(input),
	 "the recording (default: a pipe on standard input, else perf.data; -: standard input)"},
	{0, "to", "FORMAT", OPT_STR, AT(to), "perfdata, json or folded"},
	{'o', "output", "FILE", OPT_STR, AT(output), "where to write it (-: standard output)"},
	{'z', "compression-level", "N", OPT_UINT, AT(level),
	 "perfdata: compress by zstd, level 1 to 22"},
	{0, "kernel", NULL, OPT_FLAG, AT(fold.kernel),
	 "folded: mark functions of the kernel, _[k]"},
	{0, "all", NULL, OPT_FLAG, AT(fold.all),
	 "folded: mark inlined and JIT functions too, _[i] and _[j]"},
	{'q', "quiet", NULL, OPT_FLAG, AT(quiet), "say nothing of what was done"},
	PROFILE_ROWS(struct convert_options, fold.profile),
	{},
};

/*
 * Whether records must be sorted over the whole file, which only reading it can tell. Returns true
 * for inputs that can be read only once (standard input, a pipe): the check would consume them.
 */
static bool is_out_of_order(const char *path)
{
	struct progress bar = progress_of("checking");
	struct perfdata_options options = {.progress = progress_show, .ctx = &bar};
	struct perfdata *p;
	struct summary s = {};
	struct stat st;
	bool late;

	if (!strcmp(path, "-") ||
	    (!stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
		return true;
	if (perfdata_open(&p, path, &options, NULL) < 0)
		return false;
	s.file = p;
	perfdata_read(p, &summary_visitor, &s, NULL);
	progress_clear(&bar);
	late = p->stream.order.late;
	summary_release(&s);
	perfdata_close(p);
	return late;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether writing @output would change @input: one file, or @output is in directory @input. */
static bool is_same_file(const char *input, const char *output)
{
	CLEANUP(free_ptr) char *copy = xstrdup(output);
	struct stat in, out, parent;

	if (strcmp(input, "-") ? stat(input, &in) : fstat(STDIN_FILENO, &in))
		return false;
	if (S_ISDIR(in.st_mode) && !stat(dirname(copy), &parent) && is_same(&in, &parent))
		return true;
	return !stat(output, &out) && is_same(&in, &out) && !S_ISCHR(in.st_mode);
}

static void report(const struct convert_options *o, const struct rewrite *r)
{
	CLEANUP(buf_release) struct buf text = {};
	const struct order *order = &r->from->stream.order;

	buf_add(&text, "[ tacho convert: ");
	buf_add_grouped(&text, r->records, 0);
	buf_add(&text, " records in ");
	text_add_printable(&text, o->output);
	if (r->dropped) {
		buf_add(&text, ", ");
		buf_add_grouped(&text, r->dropped, 0);
		buf_add(&text, " broken ones left out");
	}
	if (r->left_out)
		buf_addf(&text, ", %llu of a tool's left out", (unsigned long long)r->left_out);
	if (order->late)
		buf_addf(&text, ", %llu still out of order", (unsigned long long)order->late);
	buf_add(&text, " ]\n");
	command_flush(&text, STDERR_FILENO);
}

static int to_perfdata(const struct convert_options *o, struct err *e)
{
	struct progress bar = progress_of("converting");
	struct perfdata_options options = {.progress = progress_show, .ctx = &bar};
	struct rewrite r = {.path = o->output, .zstd_level = (int)o->level};
	bool written = false;
	int result;

	options.whole = is_out_of_order(o->input);
	result = perfdata_open(&r.from, o->input, &options, e);
	if (result < 0)
		return result;
	result = rewrite_run(&r, &written, e);
	progress_clear(&bar);
	if (written && !o->quiet)
		report(o, &r);
	/* convert is used to repair damaged files: report the damage, but do not fail. */
	if (written && result == -EBADMSG) {
		command_fail(0, "convert: %s; what can be read was written", e->text);
		result = 0;
	}
	perfdata_close(r.from);
	return result;
}

static int to_json(const struct convert_options *o, struct err *e)
{
	struct progress bar = progress_of("converting");
	struct perfdata_options options = {.progress = progress_show, .ctx = &bar};
	bool pipe = !strcmp(o->output, "-");
	struct info info = {};
	int r, fd;

	options.whole = is_out_of_order(o->input);
	r = perfdata_open(&info.file, o->input, &options, e);
	if (r < 0)
		return r;
	info.summary.file = info.file;
	fd = pipe ? STDOUT_FILENO : open(o->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0) {
		r = err_set(e, errno, "cannot write '%s': %s", o->output, strerror(errno));
	} else {
		r = script_document(&info, fd, e);
		progress_clear(&bar);
	}
	if (fd >= 0 && !pipe)
		close(fd);
	if (r == -EBADMSG) {
		command_fail(0, "convert: %s; what can be read was written", e->text);
		r = 0;
	}
	summary_release(&info.summary);
	buf_release(&info.out);
	perfdata_close(info.file);
	return r;
}

static int check(struct convert_options *o, struct err *e)
{
	if (!o->to)
		return err_set(e, EINVAL,
			       "say what to convert to: --to perfdata, --to json or --to folded");
	if (!o->output)
		return err_set(e, EINVAL, "say where to write it: -o FILE");
	if (o->level > 22)
		return err_set(e, EINVAL, "compression levels go from 1 to 22, not %u", o->level);
	if (strcmp(o->to, "perfdata") && o->level)
		return err_set(e, EINVAL, "-z is for perfdata; pipe %s through zstd instead",
			       !strcmp(o->to, "json") ? "JSON" : "it");
	if (strcmp(o->to, "perfdata") && strcmp(o->to, "json") && strcmp(o->to, "folded"))
		return err_set(e, EINVAL, "unknown format '%s' (perfdata, json, folded)", o->to);
	return 0;
}

static int run_convert(const struct command *self, int argc, char **argv)
{
	struct convert_options o = {};
	int status = 0, used = command_options(self, &o, argc, argv, &status);
	struct err e = {};

	if (used < 0)
		return status;
	if (argc > used && !o.input)
		o.input = argv[used++];
	if (argc > used)
		return command_fail(EXIT_USAGE, "convert: one file at a time");
	if (check(&o, &e) < 0)
		return command_fail(EXIT_USAGE, "convert: %s", e.text);
	if (default_input(o.input, &o.input, &e) < 0)
		return command_fail(EXIT_FAILED, "convert: %s", e.text);
	if (strcmp(o.output, "-") && is_same_file(o.input, o.output))
		return command_fail(EXIT_USAGE, "convert: '%s' cannot be both input and output",
				    o.input);
	if (!strcmp(o.to, "folded"))
		return convert_folded(o.input, o.output, &o.fold);
	if ((!strcmp(o.to, "json") ? to_json(&o, &e) : to_perfdata(&o, &e)) < 0) {
		if (e.code == EPIPE && !strcmp(o.output, "-"))
			command_end_by_pipe();
		return command_fail(EXIT_FAILED, "convert: %s", e.text);
	}
	return EXIT_DONE;
}

const struct command cmd_convert = {
	.name = "convert",
	.summary = "write a recording anew, repaired, as JSON or as folded stacks",
	.usage = "-i FILE --to perfdata|json|folded -o OUT",
	.details =
		"Reads any perf.data (file or pipe form, compressed, of the other byte order, "
		"damaged) and writes what can be read of it.\n\n"
		"--to perfdata makes a plain file: records in the order of time, in this machine's "
		"byte order, not compressed unless -z says so, without a broken tail and without "
		"records that cannot be decoded. Damage is reported with its offset; the result is "
		"a "
		"whole file, so the exit status is 0.\n\n"
		"--to json makes one document: \"records\" has an object a record, as those of "
		"tacho script --json, \"recording\" what tacho info --json says.\n\n"
		"--to folded makes a line a stack, \"comm;outer;inner COUNT\", as "
		"stackcollapse-perf.pl does of perf script; folded text and text of perf script "
		"are "
		"taken too. The options on samples, stacks and names are for this format.",
	.examples = "  tacho convert -i broken.data --to perfdata -o good.data\n"
		    "  perf record -o - -- make | tacho convert -i - --to perfdata -o make.data\n"
		    "  tacho convert --to folded -o - | head\n"
		    "  tacho convert --to json -o - | jq .recording.events\n",
	.options = convert_table,
	.run = run_convert,
};
