#include "cmd/input/profile_input.h"
#include "analyze/plot/gaps.h"
#include "analyze/tree/jvm_stacks.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/input/default_input.h"
#include "cmd/terminal/progress.h"
#include "import/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MODULES_TOLD  5 /* modules with missing names that are listed */
#define PEEK_BYTES    8
#define CALLERS_SHARE 0.01 /* of the samples: report unnamed callers from this share on */
#define HINT_SHARE    0.05 /* of the samples: suggest a remedy above this share */

/* ---- options ---- */

/* Without this check a missing file would silently leave names out. */
static int check_place(const char *option, const char *path, bool folder, struct err *e)
{
	struct stat st;

	if (!path)
		return 0;
	if (stat(path, &st) < 0 || access(path, R_OK) < 0)
		return err_set(e, EINVAL, "--%s: cannot open '%s': %s", option, path,
			       strerror(errno));
	if (folder != S_ISDIR(st.st_mode))
		return err_set(e, EINVAL, "--%s: '%s' is %s", option, path,
			       folder ? "not a directory" : "a directory");
	return 0;
}

int symbol_places_check(const struct symbol_options *o, struct err *e)
{
	int r = check_place("symfs", o->symfs, true, e);

	if (!r)
		r = check_place("vmlinux", o->vmlinux, false, e);
	return r ? r : check_place("kallsyms", o->kallsyms, false, e);
}

int profile_options_check(const struct profile_options *o, struct resolve_options *ret,
			  struct err *e)
{
	struct filter filter = {};
	int r;

	*ret = (struct resolve_options){
		.symbols = {.symfs = o->symfs,
			    .kallsyms = o->kallsyms,
			    .vmlinux = o->vmlinux,
			    .no_demangle = o->no_demangle},
		.filter = {o->time, o->comms, o->pids, o->tids, o->cpus, o->events},
		.max_stack = o->max_stack,
		.no_inlines = o->no_inline,
		.trace.sum = o->sum,
	};
	vec_each(&o->source_map, pair) {
		const char *equals = strchr(*pair, '=');

		if (!equals || equals == *pair)
			return err_set(e, EINVAL, "--source-map: '%s' is not FROM=TO", *pair);
		vec_push(&ret->symbols.source_from, xstrndup(*pair, (size_t)(equals - *pair)));
		vec_push(&ret->symbols.source_to, xstrdup(equals + 1));
	}
	r = symbol_places_check(&ret->symbols, e);
	if (r < 0)
		return r;
	/* Shares in --time need the recording; all other filters can be checked now. */
	struct sample_filter early = ret->filter;

	if (early.time && strchr(early.time, '%'))
		early.time = NULL;
	r = text_filter_make(&filter, &early, e);
	filter_release(&filter);
	return r;
}

void profile_options_release(struct profile_options *o, struct resolve_options *resolve)
{
	vec_release(&o->source_map);
	strvec_release(&resolve->symbols.source_from);
	strvec_release(&resolve->symbols.source_to);
}

/* ---- what kind of file it is ---- */

/* Copies the first bytes of a pipe without consuming them. Returns false if that fails. */
static bool peek_pipe(int fd, char *to, size_t *ret_len)
{
	struct timespec a_moment = {0, 2000000};
	int copy[2];
	ssize_t n = -1, before = -1;

	if (pipe2(copy, O_CLOEXEC) < 0)
		return false;
	for (;;) {
		n = tee(fd, copy[1], PEEK_BYTES, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n > 0)
			n = read(copy[0], to, PEEK_BYTES);
		/* Retry while the writer adds bytes; give up when 2 ms have brought none. */
		if (n <= 0 || n == PEEK_BYTES || n == before)
			break;
		before = n;
		nanosleep(&a_moment, NULL);
	}
	close(copy[0]);
	close(copy[1]);
	*ret_len = n > 0 ? (size_t)n : 0;
	return n >= 0;
}

static bool has_perf_magic(const char *bytes, size_t len)
{
	return len == PEEK_BYTES &&
	       (!memcmp(bytes, "PERFILE2", 8) || !memcmp(bytes, "2ELIFREP", 8) ||
		!memcmp(bytes, "PERFFILE", 8) || !memcmp(bytes, "ELIFFREP", 8));
}

static int open_failed(const char *path, int code, struct err *e)
{
	bool guess = code == ENOENT && !strcmp(path, "perf.data");

	return err_set(e, code, "cannot open '%s': %s%s", path, strerror(code),
		       guess ? "; -i FILE says which recording to read" : "");
}

/* Opens the input and detects perf.data, whose reader will open @path again. */
static int open_input(const char *path, struct profile_input *in, int *ret_fd, bool *ret_perfdata,
		      uint64_t *ret_size, struct err *e)
{
	char first[PEEK_BYTES];
	size_t len = 0;
	struct stat st;
	int fd = !strcmp(path, "-") ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return open_failed(path, errno, e);
	if (fstat(fd, &st) < 0) {
		int code = errno;

		close(fd);
		return open_failed(path, code, e);
	}
	in->once = !strcmp(path, "-") || !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
	*ret_size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
	if (S_ISREG(st.st_mode)) {
		ssize_t n = pread(fd, first, sizeof(first), lseek(fd, 0, SEEK_CUR));

		len = n > 0 ? (size_t)n : 0;
	} else if (S_ISFIFO(st.st_mode) && !peek_pipe(fd, first, &len)) {
		len = 0;
	}
	/* Leave empty files and directories to the reader of perf.data. */
	*ret_perfdata =
		S_ISDIR(st.st_mode) || has_perf_magic(first, len) || (S_ISREG(st.st_mode) && !len);
	*ret_fd = fd;
	return 0;
}

/* ---- text ---- */

struct text_progress {
	struct progress *bar;
	uint64_t size;
};

static void show_text(void *ctx, uint64_t done, uint64_t total)
{
	struct text_progress *p = ctx;

	(void)total;
	progress_show(p->bar, done, p->size);
}

/* Refuses a filter on a field that no sample has: every sample would pass it. */
static int check_filter(const struct text_import *t, const struct sample_filter *f, struct err *e)
{
	const char *option = NULL, *what = NULL;

	if (f->time && !t->has_times) {
		option = "--time";
		what = "times";
	} else if (f->cpus && !t->has_cpus) {
		option = "--cpu";
		what = "CPUs";
	} else if ((f->pids || f->tids || f->comms) && !t->has_threads) {
		option = f->comms ? "--comms" : f->pids ? "--pid" : "--tid";
		what = "threads";
	} else if (f->events && t->format == &text_folded && !t->differential) {
		option = "--event";
		what = "events";
	}
	if (!option || !t->lines)
		return 0;
	return err_set(e, EINVAL, "%s cannot be used: the text says nothing of %s", option, what);
}

static int load_text(int fd, uint64_t size, const struct resolve_options *o,
		     struct profile_input *in, struct err *e)
{
	struct progress bar = progress_of("reading");
	struct text_progress progress = {&bar, size};
	const struct perfdata_facts no_facts = {};
	const struct stream no_stream = {};
	struct filter filter = {};
	struct text_import t = {
		.profile = &in->profile,
		.want = text_filter_wants,
		.want_event = text_filter_wants_event,
		.by_cpu = o->by_cpu,
		.leaf_only = o->leaf_only,
		.no_inlines = o->no_inlines,
		.no_frames = o->no_frames,
		.bucket_ns = o->bucket_ns,
		.max_stack = o->max_stack,
		.progress = show_text,
		.progress_ctx = &progress,
	};
	/* Text has no fields of tracepoints. */
	int r = trace_key_check(&o->trace, &no_facts, &no_stream, e);

	if (!r)
		r = text_filter_make(&filter, &o->filter, e);

	t.want_ctx = &filter;
	if (!r)
		r = text_import_fd(&t, fd, e);
	progress_clear(&bar);
	filter_release(&filter);
	if (!r)
		r = check_filter(&t, &o->filter, e);
	in->source = t.format == &text_folded ? PROFILE_FOLDED : PROFILE_PERF_SCRIPT;
	in->differential = t.differential;
	in->bad_lines = t.bad_lines;
	in->first_bad_line = t.first_bad_line;
	in->report = (struct resolve_report){
		.samples = t.samples,
		.weight = t.weight,
		.unnamed_frames = t.unnamed_frames,
		.cut_stacks = t.cut_stacks,
		.main_event = t.main_event,
	};
	if (r < 0)
		err_prefix(e, "'%s'", in->path);
	return r < 0 ? r : 0;
}

/* ---- perf.data ---- */

static int load_perfdata(const char *path, const struct resolve_options *o,
			 struct profile_input *in, struct err *e)
{
	struct progress bar = progress_of("reading");
	struct perfdata_options options = {.progress = progress_show, .ctx = &bar};
	struct resolve_options resolve = *o;
	int r = perfdata_open(&in->file, path, &options, e);

	if (r < 0)
		return r;
	/* The formats of a pipe come with its records. */
	if (!in->file->pipe && trace_key_wanted(&o->trace))
		r = trace_key_check(&o->trace, &in->file->facts, &in->file->stream, e);
	if (r < 0)
		return r;
	in->modules = modules_new(&o->symbols);
	if (!resolve.progress) {
		resolve.progress = progress_show;
		resolve.ctx = &bar;
	}
	r = resolve_file(in->file, in->modules, &resolve, &in->profile, &in->report, e);
	progress_clear(&bar);
	if (r == 0 || r == -EBADMSG)
		jvm_name_main(&in->profile);
	/* All that is readable has been loaded; profile_input_end() reports the damage. */
	if (r == -EBADMSG) {
		in->damaged = true;
		memcpy(in->damage, e->text, sizeof(in->damage));
		r = 0;
	}
	if (r == 0 && in->file->pipe && trace_key_wanted(&o->trace))
		r = trace_key_check(&o->trace, &in->file->facts, &in->file->stream, e);
	return r;
}

int profile_input_load(const char *path, const struct resolve_options *o, struct profile_input *ret,
		       struct err *e)
{
	uint64_t size = 0;
	bool perfdata = false;
	int fd = -1, r;

	*ret = (struct profile_input){.filter = o->filter};
	r = default_input(path, &path, e);
	if (!r)
		r = open_input(path, ret, &fd, &perfdata, &size, e);
	if (r < 0)
		return r;
	ret->path = xstrdup(!strcmp(path, "-") ? "standard input" : path);
	profile_init(&ret->profile);
	r = perfdata ? load_perfdata(path, o, ret, e) : load_text(fd, size, o, ret, e);
	/* Do not close this earlier: a named pipe without a reader kills its writer by SIGPIPE. */
	close(fd);
	if (r < 0)
		profile_input_release(ret);
	return r;
}

void profile_input_release(struct profile_input *in)
{
	if (in->file)
		perfdata_close(in->file);
	if (in->modules)
		modules_free(in->modules);
	if (in->path)
		profile_release(&in->profile);
	free(in->path);
	*in = (struct profile_input){};
}

event_id profile_input_event(const struct profile_input *in)
{
	const struct profile *p = &in->profile;
	CLEANUP(free_ptr) uint64_t *samples = xcalloc(p->events.len + 1, sizeof(*samples));

	for (size_t i = 0; i < p->events.len; i++)
		samples[i] = p->events.items[i].samples;
	if (in->report.main_event < p->events.len && samples[in->report.main_event])
		return (event_id){in->report.main_event};
	return (event_id){events_busiest(samples, p->events.len)};
}

const char *profile_input_event_name(const struct profile_input *in, event_id event)
{
	const struct profile *p = &in->profile;
	const char *name = event.n < p->events.len ? profile_text(p, p->events.items[event.n].name)
						   : "samples";

	return in->differential || !strcmp(name, "samples") ? NULL : name;
}

void profile_input_tell_event(const struct profile_input *in, event_id shown, const char *shows,
			      const char *others)
{
	const char *name = profile_input_event_name(in, shown);
	const char *whole = profile_input_event_name(in, (event_id){in->report.main_event});
	size_t used = 0;

	vec_each(&in->profile.events, event)
		used += event->samples > 0;
	if (!name || !used)
		return;
	if (whole && shown.n != in->report.main_event)
		command_fail(0, "%s %s, as there are no samples of %s here; %s", shows, name, whole,
			     others);
	else if (used > 1)
		command_fail(0, "%s %s of %zu events; %s", shows, name, used, others);
}

/* ---- what the user should know ---- */

static void add_option(struct buf *b, const char *name, const char *value)
{
	if (value)
		buf_addf(b, " --%s %s", name, value);
}

static void add_events(struct buf *b, const struct profile *p)
{
	const char *between = "; its events: ";

	vec_each(&p->events, event) {
		buf_addf(b, "%s%s", between, profile_text(p, event->name));
		between = ", ";
	}
}

int profile_input_nothing(const struct profile_input *in, struct err *e)
{
	const struct perfdata_facts *facts = in->file ? &in->file->facts : NULL;
	const struct sample_filter *f = &in->filter;
	CLEANUP(buf_release) struct buf options = {}, hint = {};

	add_option(&options, "event", f->events);
	add_option(&options, "time", f->time);
	add_option(&options, "comms", f->comms);
	add_option(&options, "pid", f->pids);
	add_option(&options, "tid", f->tids);
	add_option(&options, "cpu", f->cpus);
	if (!options.len)
		return err_set(e, ENODATA, "'%s' has no samples", in->path);
	if (f->events)
		add_events(&hint, &in->profile);
	if (f->time && facts && facts->last_sample_ns)
		buf_addf(&hint, "; its times: %.6f,%.6f", (double)facts->first_sample_ns / 1e9,
			 (double)facts->last_sample_ns / 1e9);
	return err_set(e, ENODATA, "no sample in '%s' matches%s%s", in->path, buf_str(&options),
		       buf_str(&hint));
}

static void add_count(struct buf *b, uint64_t n, const char *one, const char *many)
{
	buf_add_grouped(b, n, 0);
	buf_addf(b, " %s", n == 1 ? one : many);
}

static void add_share(struct buf *b, uint64_t part, uint64_t whole)
{
	if (whole)
		buf_addf(b, " (%.1f %%)", 100.0 * (double)part / (double)whole);
}

/* Every recording has a few unnamed callers: they are reported only from CALLERS_SHARE on. */
static void warn_gaps(const struct profile_input *in, struct buf *b)
{
	struct profile_gaps gaps;

	profile_gaps(&in->profile, &gaps);
	if (gaps.unnamed) {
		add_count(b, gaps.unnamed, "sample", "samples");
		add_share(b, gaps.unnamed, gaps.samples);
		buf_addf(b, " %s in code without a name\n", gaps.unnamed == 1 ? "is" : "are");
	}
	if ((double)gaps.unnamed_callers < CALLERS_SHARE * (double)gaps.samples ||
	    !gaps.unnamed_callers)
		return;
	add_count(b, gaps.unnamed_callers, "sample", "samples");
	add_share(b, gaps.unnamed_callers, gaps.samples);
	buf_addf(b, " %s callers without a name%s\n", gaps.unnamed_callers == 1 ? "has" : "have",
		 in->file && (double)gaps.lost_callers > HINT_SHARE * (double)gaps.samples
			 ? ": code without frame pointers breaks call stacks, "
			   "record again with --call-graph dwarf"
			 : "");
}

static void warn_sum(const struct resolve_report *r, struct buf *b)
{
	if (r->no_field) {
		add_count(b, r->no_field, "sample", "samples");
		add_share(b, r->no_field, r->no_field + r->samples);
		buf_addf(b, " %s left out: the event has no such field for --sum\n",
			 r->no_field == 1 ? "is" : "are");
	}
	if (r->negative) {
		add_count(b, r->negative, "sample", "samples");
		add_share(b, r->negative, r->samples);
		buf_addf(b, " %s as 0: the value of the field for --sum is negative\n",
			 r->negative == 1 ? "counts" : "count");
	}
}

static void warn_counts(const struct profile_input *in, struct buf *b)
{
	const struct resolve_report *r = &in->report;
	uint64_t lost = r->lost ? r->lost : in->profile.lost;

	if (lost) {
		add_count(b, lost, "sample was lost", "samples were lost");
		add_share(b, lost, lost + r->samples);
		buf_add(b, " while recording\n");
	}
	warn_sum(r, b);
	if (r->cut_stacks) {
		add_count(b, r->cut_stacks, "stack ends", "stacks end");
		add_share(b, r->cut_stacks, r->samples);
		buf_add(b, " before the outermost function\n");
	}
	if (in->profile.refused)
		add_count(b, in->profile.refused,
			  "entry was dropped: a table of the profile is full\n",
			  "entries were dropped: a table of the profile is full\n");
	if (in->bad_lines) {
		add_count(b, in->bad_lines, "line is", "lines are");
		buf_addf(b, " not as expected and left out (the first: line %llu)\n",
			 (unsigned long long)in->first_bad_line);
	}
}

static void add_problem(const struct profile *p, const struct profile_module *m, struct buf *b)
{
	const char *path = profile_text(p, m->path), *problem = profile_text(p, m->problem);

	/* Most problem texts already name the file. */
	if (!strstr(problem, path))
		buf_addf(b, "%s: ", path);
	buf_addf(b, "%s\n", problem);
}

/* The kernel comes first: it often has most of the samples, and one command helps. */
static void warn_modules(const struct profile_input *in, struct buf *b)
{
	const struct profile *p = &in->profile;
	uint64_t told = 0;

	for (int kernel = 1; kernel >= 0; kernel--)
		vec_each(&p->modules, m)
			if (m->problem.n && (m->kind == CODE_KERNEL) == kernel &&
			    told++ < MODULES_TOLD)
				add_problem(p, m, b);
	if (told > MODULES_TOLD)
		buf_addf(b, "… and %llu more files whose names are missing\n",
			 (unsigned long long)(told - MODULES_TOLD));
}

static void warn_java(const struct profile_input *in, struct buf *b)
{
	CLEANUP(free_ptr) char *problem = jvm_stacks_problem(&in->profile);

	if (problem)
		buf_addf(b, "%s\n", problem);
}

void profile_input_warn(const struct profile_input *in, const char *command)
{
	CLEANUP(buf_release) struct buf b = {};
	CLEANUP(strvec_release) strvec lines = {};

	warn_counts(in, &b);
	warn_gaps(in, &b);
	warn_modules(in, &b);
	warn_java(in, &b);
	if (in->damaged)
		buf_addf(&b, "%s; what can be read is shown\n", in->damage);
	text_split(buf_str(&b), "\n", &lines);
	vec_each(&lines, line)
		command_fail(0, "%s: %s", command, *line);
}

int profile_input_end(struct profile_input *in, const char *command)
{
	int status = in->damaged ? EXIT_FAILED : EXIT_DONE;

	profile_input_warn(in, command);
	profile_input_release(in);
	return status;
}
