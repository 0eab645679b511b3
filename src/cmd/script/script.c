#include "cmd/script/script.h"
#include "base/fs.h"
#include "cmd/command.h"
#include "cmd/input/default_input.h"
#include "cmd/input/profile_input.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define FLUSH_BYTES       (256u << 10)
#define MAX_STACK_DEFAULT 127
#define CGROUPS_MAX       65536

#define OPT(letter, name, arg, kind, member, help)                                                 \
	{                                                                                          \
		letter, name, arg, kind, offsetof(struct script_options, member), help             \
	}

static const struct option_def script_table[] = {
	OPT('i', "input", "FILE", OPT_STR, input,
	    "the recording (default: a pipe on standard input, else perf.data; -: standard input)"),
	OPT('F', "fields", "[TYPE:]FIELDS", OPT_LIST, fields,
	    "what to print: a list, or changes to the usual one (+x,-y), of perf's fields and "
	    "those of "
	    "tracepoints; for events of TYPE (hw, sw, trace, raw, break, synth) or of all"),
	OPT('j', "json", NULL, OPT_FLAG, json,
	    "JSON lines: one object for each record, with all of its parts"),
	OPT('D', "dump-raw-trace", NULL, OPT_FLAG, dump, "every record with its bytes and parts"),
	OPT(0, "header", NULL, OPT_FLAG, header, "first what the file says about itself"),
	OPT(0, "header-only", NULL, OPT_FLAG, header_only, "only what the file says about itself"),
	{0, NULL, NULL, OPT_HEADING, 0, "Which samples"},
	OPT(0, "time", "RANGES", OPT_STR, filter.time,
	    "START,STOP in seconds, either may be missing; or shares: 10%/2 (the second tenth), "
	    "10%-20%; several: separated by blanks, shares by commas"),
	OPT('c', "comms", "NAMES", OPT_STR, filter.comms, "only of tasks with these names"),
	OPT(0, "pid", "PIDS", OPT_STR, filter.pids, "only of these processes"),
	OPT(0, "tid", "TIDS", OPT_STR, filter.tids, "only of these threads"),
	OPT('C', "cpu", "CPUS", OPT_STR, filter.cpus, "only of these CPUs (0,2-3)"),
	{0, NULL, NULL, OPT_HEADING, 0, "How they are printed"},
	OPT('G', "hide-call-graph", NULL, OPT_FLAG, hide_chains,
	    "one line a sample, no call chains"),
	OPT(0, "max-stack", "N", OPT_UINT, max_stack,
	    "at most N frames of a chain (kernel.perf_event_max_stack)"),
	OPT('f', "force", NULL, OPT_FLAG, ignored, NULL),
	OPT('v', "verbose", NULL, OPT_FLAG, ignored, NULL),
	OPT(0, "inline", NULL, OPT_FLAG, ignored, NULL),
	OPT(0, "demangle", NULL, OPT_FLAG, ignored, NULL),
	OPT(0, "no-inline", NULL, OPT_FLAG, no_inline, "no inlined functions in call chains"),
	OPT(0, "no-demangle", NULL, OPT_FLAG, no_demangle, "names as the linker has them"),
	OPT(0, "symfs", "DIR", OPT_STR, symfs, "look for programs and libraries below DIR"),
	OPT('k', "vmlinux", "FILE", OPT_STR, vmlinux, "the kernel's program, for its names"),
	OPT(0, "kallsyms", "FILE", OPT_STR, kallsyms, "the kernel's names (/proc/kallsyms)"),
	OPT(0, "ns", NULL, OPT_FLAG, ns, "nine decimals of the time"),
	OPT(0, "reltime", NULL, OPT_FLAG, reltime, "times since the first line"),
	OPT(0, "deltatime", NULL, OPT_FLAG, deltatime, "times since the line before"),
	{0, NULL, NULL, OPT_HEADING, 0, "Other records, if they were recorded"},
	OPT(0, "show-mmap-events", NULL, OPT_FLAG, show_mmap, "mappings of programs and libraries"),
	OPT(0, "show-task-events", NULL, OPT_FLAG, show_task, "names, forks and ends of tasks"),
	OPT(0, "show-lost-events", NULL, OPT_FLAG, show_lost, "what was lost"),
	OPT(0, "show-switch-events", NULL, OPT_FLAG, show_switch, "context switches"),
	OPT(0, "show-namespace-events", NULL, OPT_FLAG, show_namespace, "namespaces of tasks"),
	OPT(0, "show-cgroup-events", NULL, OPT_FLAG, show_cgroup, "names of cgroups"),
	OPT(0, "show-bpf-events", NULL, OPT_FLAG, show_bpf, "BPF programs and kernel symbols"),
	OPT(0, "show-text-poke-events", NULL, OPT_FLAG, show_text_poke, "changes of kernel code"),
	OPT(0, "show-round-events", NULL, OPT_FLAG, show_round,
	    "where the recorder went round; records as they stand in the file"),
	{},
};

bool script_flush(struct script *s)
{
	if (command_flush(&s->out, s->pager.fd))
		return true;
	/* A reader that closes the pipe is not a failure. */
	if (errno != EPIPE)
		s->problem.code = errno;
	return false;
}

/* ---- cgroups ---- */

/* Returns the index of the cgroup, or the index at which to insert it. */
static size_t cgroup_place(const struct script *s, uint64_t id)
{
	size_t from = 0, to = s->cgroups.len;

	while (from < to) {
		size_t middle = (from + to) / 2;

		if (s->cgroups.items[middle].id < id)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

const char *script_cgroup_path(const struct script *s, uint64_t id)
{
	size_t at = cgroup_place(s, id);

	return at < s->cgroups.len && s->cgroups.items[at].id == id ? s->cgroups.items[at].path
								    : NULL;
}

static void note_cgroup(struct script *s, const struct cgroup_view *cgroup)
{
	size_t at = cgroup_place(s, cgroup->id);

	if (script_cgroup_path(s, cgroup->id) || s->cgroups.len >= CGROUPS_MAX || !cgroup->path)
		return;
	vec_push(&s->cgroups, (struct script_cgroup){});
	memmove(&s->cgroups.items[at + 1], &s->cgroups.items[at],
		(s->cgroups.len - 1 - at) * sizeof(*s->cgroups.items));
	s->cgroups.items[at] = (struct script_cgroup){cgroup->id, xstrdup(cgroup->path)};
}

/* ---- samples ---- */

struct thread *script_thread(struct script *s, uint32_t pid, uint32_t tid)
{
	return threads_get(&s->names.analysis.history.threads, pid, tid);
}

/*
 * A sample with the values of a group is printed as one sample of each member. Values are totals
 * and periods are their differences, so the values of samples that are not shown count as well.
 */
static void show_members(struct script *s, const struct record *r, const struct thread *thread,
			 bool shown)
{
	const struct read_view *read = &r->sample.read;
	struct stream *stream = &s->data->stream;

	for (uint64_t i = 0; i < read->count; i++) {
		struct read_value v = read_values_get(read, i);
		struct stream_event *event = stream_find_id(stream, v.id);
		uint64_t period;

		if (!event)
			continue;
		period = group_count_since(&s->counts, v.id, v.value);
		if (period && shown)
			script_sample(s, r, event, &s->plans.items[event - stream->events.items],
				      thread, period);
	}
}

static void show_sample(struct script *s, const struct record *r, const struct stream_record *raw)
{
	const struct stream_event *event = raw->event;
	const struct script_plan *plan = &s->plans.items[raw->event_index];
	uint64_t parts = event->attr.sample_type;
	const struct filter *filter = &s->names.analysis.shared.filter;
	const struct thread *thread = script_thread(s, r->id.pid, r->id.tid);
	bool wanted = filter_time(filter, raw->time_ns) && filter_cpu(filter, r->id.cpu) &&
		      filter_task(filter, thread->pid, thread->tid, thread->comm);

	if ((r->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL)
		history_need_kernel(&s->names.analysis.history);
	if (!s->o.json && (parts & PERF_SAMPLE_READ) && r->sample.read.has_id)
		show_members(s, r, thread, wanted);
	else if (!wanted)
		return;
	else if (s->o.json)
		script_json(s, r, raw, plan);
	else
		script_sample(s, r, event, plan, thread,
			      parts & PERF_SAMPLE_PERIOD ? r->sample.period
							 : event->attr.sample_period);
}

/* ---- all records ---- */

static bool is_shown(const struct script_options *o, uint32_t type)
{
	switch (type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return o->show_mmap;
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return o->show_task;
	case PERF_RECORD_LOST: /* as perf does: LOST_SAMPLES only in JSON and with -D */
		return o->show_lost;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return o->show_switch;
	case PERF_RECORD_NAMESPACES:
		return o->show_namespace;
	case PERF_RECORD_CGROUP:
		return o->show_cgroup;
	case PERF_RECORD_KSYMBOL:
		return o->show_bpf || o->show_text_poke;
	case PERF_RECORD_BPF_EVENT:
		return o->show_bpf;
	case PERF_RECORD_TEXT_POKE:
		return o->show_text_poke;
	default:
		return false;
	}
}

/* Parts that the event does not record are unknown (-1), not 0. */
static void mark_unknown(struct record *r, uint64_t parts)
{
	if (!(parts & PERF_SAMPLE_TID))
		r->id.pid = r->id.tid = UINT32_MAX;
	if (!(parts & PERF_SAMPLE_CPU))
		r->id.cpu = UINT32_MAX;
}

static void show_other(struct script *s, const struct record *r, const struct stream_record *raw)
{
	const struct script_plan *plan = &s->plans.items[raw->event_index];
	bool exits = r->type == PERF_RECORD_EXIT;

	if (!exits)
		history_record(&s->names.analysis.history, r, raw->time_ns);
	if (r->type == PERF_RECORD_CGROUP)
		note_cgroup(s, &r->cgroup);
	if (s->o.json)
		script_json(s, r, raw, plan);
	else if (is_shown(&s->o, r->type))
		script_record(s, r, raw->event, plan);
	if (exits)
		history_record(&s->names.analysis.history, r, raw->time_ns);
}

/* In pipe form events, names and formats arrive among the records: make plans as they come. */
static bool prepare_plans(struct script *s, uint32_t type)
{
	bool first = type == PERF_RECORD_SAMPLE && !s->sampled;

	if (s->plans.len == s->data->stream.events.len && !first)
		return true;
	s->sampled |= first;
	if (script_plans_make(s, first, &s->problem) < 0)
		return false;
	if (first && s->data->pipe && script_fields_check(s, &s->problem) < 0)
		return false;
	if (first && s->o.header && s->data->pipe)
		script_header(s);
	return true;
}

static bool on_record(void *ctx, const struct stream_record *raw)
{
	struct script *s = ctx;
	const char *reason = "";
	struct record r;

	if (s->o.header_only)
		return true;
	if (!prepare_plans(s, raw->header->type))
		return false;
	if (!raw->event)
		return true;
	if (s->document)
		summary_visitor.record(&s->document->summary, raw);
	if (record_decode(&raw->event->layout, raw->header, &r, &reason) < 0) {
		if (!s->document) /* then summary_visitor has noted the damage */
			stream_damage(&s->data->stream, raw->file_offset, "%s", reason);
		return true;
	}
	mark_unknown(&r, raw->event->attr.sample_type);
	history_catch_up(&s->names.analysis.history, raw->time_ns);
	if (s->o.dump)
		script_dump(s, &r, raw);
	else if (r.type == PERF_RECORD_SAMPLE)
		show_sample(s, &r, raw);
	else
		show_other(s, &r, raw);
	return s->out.len < FLUSH_BYTES || script_flush(s);
}

static void on_user(void *ctx, unsigned char *bytes, uint64_t file_offset, uint64_t *ret_skip)
{
	const struct perf_event_header *h = (const void *)bytes;
	struct script *s = ctx;

	(void)ret_skip;
	if (s->o.dump && !s->o.header_only)
		script_dump_user(s, bytes, file_offset);
	else if (s->o.show_round && h->type == USER_FINISHED_ROUND && !s->o.json &&
		 !s->o.header_only)
		buf_add(&s->out, "PERF_RECORD_FINISHED_ROUND\n");
}

/* ---- the command ---- */

static unsigned max_stack_of(const struct script_options *o)
{
	long long limit;

	if (o->max_stack)
		return o->max_stack;
	return fs_number(&limit, "/proc/sys/kernel/perf_event_max_stack") && limit > 0 &&
			       limit <= RECORD_BYTES_MAX
		       ? (unsigned)limit
		       : MAX_STACK_DEFAULT;
}

/* perf's layout has no place for why a stack ended early: reports the counts at the end. */
static void tell_ends(const struct script *s)
{
	const struct resolver *r = &s->names.analysis.resolver;
	CLEANUP(buf_release) struct buf reasons = {};

	if (!r->report.cut_stacks)
		return;
	for (int i = 0; i < UNWIND_ENDS; i++) {
		const char *text = unwind_end_text((enum unwind_end)i);

		if (!text || !r->ends[i])
			continue;
		buf_addf(&reasons, "%s%.*s: ", reasons.len ? ", " : "", (int)strlen(text) - 2,
			 text + 1);
		buf_add_grouped(&reasons, r->ends[i], 0);
	}
	command_fail(0, "script: %llu %s before the outermost function (%s)",
		     (unsigned long long)r->report.cut_stacks,
		     r->report.cut_stacks == 1 ? "stack ends" : "stacks end", buf_str(&reasons));
}

/* Says why kernel names are missing, if any were looked up. */
static void tell_kernel(const struct script *s)
{
	vec_each(&s->names.analysis.resolver.modules, m)
		if (*m && (*m)->kind == MODULE_KERNEL && (*m)->problem)
			command_fail(0, "script: %s: %s", (*m)->path, (*m)->problem);
}

static const struct stream_visitor visitor = {.record = on_record, .user = on_user};

static int read_all(struct script *s)
{
	struct err e = {};
	bool only = s->o.header_only;
	int r = 0;

	/* A file's header is complete now, a pipe's at its first sample or at the end. */
	if ((s->o.header || only) && !s->data->pipe)
		script_header(s);
	if (!only || s->data->pipe)
		r = perfdata_read(s->data, &visitor, s, &e);
	if (s->data->pipe && only)
		script_header(s);
	script_flush(s);
	pager_end(&s->pager);
	tell_ends(s);
	tell_kernel(s);
	if (s->problem.text[0])
		return command_fail(EXIT_FAILED, "script: %s", s->problem.text);
	if (r < 0)
		return command_fail(EXIT_FAILED, "script: %s", e.text);
	return s->problem.code ? EXIT_FAILED : EXIT_DONE;
}

static void release(struct script *s)
{
	script_plans_release(s);
	vec_each(&s->cgroups, cgroup)
		free(cgroup->path);
	vec_release(&s->cgroups);
	vec_release(&s->o.fields);
	strvec_release(&s->named);
	script_names_release(&s->names);
	group_counts_release(&s->counts);
	buf_release(&s->out);
	perfdata_close(s->data);
}

static int names_init(struct script *s, struct err *e)
{
	struct resolve_options options = {
		.symbols = {.symfs = s->o.symfs,
			    .kallsyms = s->o.kallsyms,
			    .vmlinux = s->o.vmlinux,
			    .no_demangle = s->o.no_demangle},
		.filter = s->o.filter,
		.max_stack = s->max_stack,
		.no_inlines = s->o.no_inline,
		.lines = true,
		.no_end_frames = true,
	};
	int r = symbol_places_check(&options.symbols, e);

	if (r < 0)
		return r;
	return script_names_init(&s->names, s->data, &options, e);
}

int script_document(struct info *info, int fd, struct err *e)
{
	struct script s = {.o.json = true, .pager.fd = fd, .data = info->file, .document = info};
	int r;

	script_fields_init(&s);
	r = names_init(&s, e);
	if (r < 0) {
		s.data = NULL;
		release(&s);
		return r;
	}
	buf_add(&s.out, "{\"records\":[\n");
	r = perfdata_read(info->file, &visitor, &s, e);
	buf_add(&s.out, "],\n\"recording\":");
	info_json(info);
	buf_add_mem(&s.out, info->out.s, info->out.len);
	buf_add(&s.out, "}\n");
	if (!script_flush(&s) || s.problem.code)
		r = err_set(e, s.problem.code ? s.problem.code : EPIPE,
			    "cannot write the output, which is incomplete: %s",
			    strerror(s.problem.code ? s.problem.code : EPIPE));
	s.data = NULL; /* belongs to the caller */
	release(&s);
	return r;
}

static int run_opened(struct script *s)
{
	struct err e = {};

	if (names_init(s, &e) < 0)
		return command_fail(EXIT_USAGE, "script: %s (see tacho script --help)", e.text);
	if (!s->data->pipe && script_plans_make(s, true, &e) < 0)
		return command_fail(EXIT_FAILED, "script: %s", e.text);
	if (!s->data->pipe && script_fields_check(s, &e) < 0)
		return command_fail(EXIT_USAGE, "script: %s", e.text);
	pager_begin(&s->pager);
	/* Ctrl-C also reaches the pager, which may continue; we end when it does. */
	if (s->pager.child)
		signal(SIGINT, SIG_IGN);
	return read_all(s);
}

static int run_script(const struct command *self, int argc, char **argv)
{
	struct script s = {.pager.fd = STDOUT_FILENO};
	int status = 0, used = command_options(self, &s.o, argc, argv, &status);
	struct perfdata_options options = {};
	struct err e = {};

	if (used < 0)
		return status;
	/* FINISHED_ROUND records tell something about the file order only: do not sort. */
	options.unordered = s.o.show_round;
	script_fields_init(&s);
	s.max_stack = max_stack_of(&s.o);
	if (used < argc)
		status = command_fail(EXIT_USAGE,
				      "script: unexpected argument '%s'; name the file with -i",
				      argv[used]);
	vec_each(&s.o.fields, text)
		if (!status && script_fields_parse(&s, *text, &e) < 0)
			status = command_fail(EXIT_USAGE, "script: %s", e.text);
	if (!status && (default_input(s.o.input, &s.o.input, &e) < 0 ||
			perfdata_open(&s.data, s.o.input, &options, &e) < 0))
		status = command_fail(EXIT_FAILED, "script: %s", e.text);
	if (!status)
		status = run_opened(&s);
	release(&s);
	return status;
}

const struct command cmd_script = {
	.name = "script",
	.summary = "print the samples and other records of a recording",
	.usage = "[OPTIONS]",
	.details =
		"Prints what perf record or tacho recorded, in the order of time, in the layout of "
		"perf script: a line a sample, or with call chains a block with an empty line "
		"behind it. Columns come in a fixed order, whatever the order of the fields. A "
		"sample of a group that is read together stands for one of each member.\n\n"
		"Fields: comm, tid, pid, time, cpu, event, trace, ip, sym, dso, addr, symoff, "
		"period, iregs, uregs, brstack, brstacksym, brstackoff, data_src, weight, "
		"bpf-output, synth, phys_addr, misc, tod, data_page_size, code_page_size, "
		"ins_lat, retire_lat, cgroup, srcline; and fields of tracepoints, which are "
		"printed as name=value in the place of the tracepoint's text: next_pid, or "
		"sched:sched_process_exec.pid (*.pid: of any event) where perf has a field of that "
		"name.\n\n"
		"Names in the file may hold anything; control characters and what is not UTF-8 "
		"are printed as '?'. In JSON, addresses are strings (\"0xffffffff81000000\"), "
		"times, counts and ids are numbers; all records are there, and the options that "
		"choose samples choose only samples.\n\n"
		"A damaged file is printed as far as it can be read; then the damage is reported, "
		"with its place in the file.",
	.examples = "  tacho script\n"
		    "  tacho script -F comm,tid,time,ip -G --time 10%/2\n"
		    "  tacho script -F comm,time,prev_pid,next_comm  # fields of tracepoints\n"
		    "  tacho script -F -sym,-dso --show-task-events\n"
		    "  tacho script --json | jq -r .comm | sort | uniq -c\n"
		    "  perf record -o - -- make | tacho script -i -",
	.options = script_table,
	.run = run_script,
};
