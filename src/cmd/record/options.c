/* Turns the options of `tacho record` into a plan. */
#include "cmd/record/record.h"
#include "base/clock.h"
#include "base/number.h"
#include "base/text.h"
#include "cmd/command.h"
#include "event/filter.h"
#include "event/parse/parse.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_FREQ_HZ     4000
#define DEFAULT_KEEP_S      30
#define DEFAULT_KEEP_BYTES  ((uint64_t)256 << 20)
#define DEFAULT_ZSTD_LEVEL  1
#define ZSTD_LEVEL_MAX      22
#define RING_BYTES_MAX      ((uint64_t)1 << 30)
#define MAX_STACK_LIMIT     65535u
#define WAKEUP_BYTES_MIN    4096u
#define WAKEUPS_A_FILE      8
#define EVENT_OPTION_LETTER 'e'

#define AT(member) offsetof(struct record_options, member)

const struct option_def record_table_of_options[] = {
	{0, NULL, NULL, OPT_HEADING, 0, "What to record"},
	{EVENT_OPTION_LETTER, "event", "EVENT", OPT_ORDERED, AT(events),
	 "events, separated by commas: names, {groups}, pmu/terms/, tracepoints, globs; see tacho "
	 "list"},
	{0, "filter", "EXPR", OPT_ORDERED, AT(events),
	 "record tracepoints of the preceding -e only if their fields match: 'prev_pid == 0 && "
	 "next_comm ~ \"ba*\"'; == != < <= > >= & of numbers, == != ~ of texts in quotes, && || ! "
	 "(); FIELD.ustring is the text of the program that a field points to; all filters of an "
	 "event must match"},
	{'F', "freq", "HZ", OPT_STR, AT(freq), "samples a second, or max; 4000 without it"},
	{'c', "count", "N", OPT_STR, AT(period), "a sample every N events instead"},
	{0, "all-user", NULL, OPT_FLAG, AT(all_user), "all events in user mode only"},
	{0, "all-kernel", NULL, OPT_FLAG, AT(all_kernel), "all events in the kernel only"},
	{'n', "no-samples", NULL, OPT_FLAG, AT(no_samples),
	 "no samples, only processes, mappings and the like"},
	{0, NULL, NULL, OPT_HEADING, 0, "What comes with each sample"},
	{'g', NULL, NULL, OPT_FLAG, AT(calls), "call stacks, by frame pointers"},
	{0, "call-graph", "MODE", OPT_STR, AT(call_graph),
	 "call stacks: fp, dwarf (with a copy of the stack), dwarf,SIZE or lbr"},
	{0, "max-stack", "N", OPT_UINT, AT(max_stack), "at most N frames of a stack"},
	{'d', "data", NULL, OPT_FLAG, AT(address), "addresses of data"},
	{'W', "weight", NULL, OPT_FLAG, AT(weight), "cost as the CPU tells it (latency)"},
	{'b', "branch-any", NULL, OPT_FLAG, AT(branches), "the last branches taken"},
	{'j', "branch-filter", "LIST", OPT_STR, AT(branch_filter),
	 "branches of these kinds: any, any_call, any_ret, ind_call, cond, u, k …"},
	{'R', "raw-samples", NULL, OPT_FLAG, AT(raw), "raw data of all events that have any"},
	{0, "all-cgroups", NULL, OPT_FLAG, AT(cgroups), "cgroups"},
	{0, "switch-events", NULL, OPT_FLAG, AT(switches), "a record for each context switch"},
	{0, "namespaces", NULL, OPT_FLAG, AT(namespaces), "namespaces of processes"},
	{0, NULL, NULL, OPT_HEADING, 0, "Where"},
	{'a', "all-cpus", NULL, OPT_FLAG, AT(where.all_cpus),
	 "the whole system; the default without a command, -p, -t or -u"},
	{'C', "cpu", "LIST", OPT_STR, AT(where.cpus), "only these CPUs (0-3,8)"},
	{'p', "pid", "PID", OPT_STR, AT(where.pids), "running processes, with all their threads"},
	{'t', "tid", "TID", OPT_STR, AT(where.tids), "running threads"},
	{'u', "uid", "USER", OPT_STR, AT(where.user), "all processes of a user"},
	{'G', "cgroup", "NAME", OPT_STR, AT(where.cgroups), "only tasks in these cgroups"},
	{'i', "no-inherit", NULL, OPT_FLAG, AT(where.no_inherit), "do not record child processes"},
	{0, NULL, NULL, OPT_HEADING, 0, "Names for later"},
	{0, "no-jvm", NULL, OPT_FLAG, AT(no_jvm),
	 "leave Java alone: no JAVA_TOOL_OPTIONS for the command, running JVMs are not asked"},
	{'N', "no-buildid-cache", NULL, OPT_FLAG, AT(no_keep),
	 "copy nothing into the cache: neither programs nor maps of JITs"},
	{0, "buildid-all", NULL, OPT_FLAG, AT(keep_all),
	 "keep all mapped programs and libraries, not only those with samples"},
	{0, NULL, NULL, OPT_HEADING, 0, "When"},
	{'D', "delay", "MS", OPT_UINT, AT(delay_ms),
	 "take samples from MS milliseconds after the start on"},
	{0, "timeout", "MS", OPT_UINT, AT(timeout_ms), "stop after MS milliseconds"},
	{0, "max-size", "SIZE", OPT_STR, AT(max_size),
	 "stop when there is no room for samples below SIZE any more (100M, 2G)"},
	{0, NULL, NULL, OPT_HEADING, 0, "Output"},
	{'o', "output", "FILE", OPT_STR, AT(output),
	 "write to FILE instead of perf.data; - for a pipe"},
	{'z', "compression-level", "N", OPT_OPTIONAL, AT(level), "compress (zstd), level 1 to 22"},
	{0, "switch-output", "WHEN", OPT_OPTIONAL, AT(switch_output),
	 "a new file by signal (SIGUSR2), by size (100M) or time (30s, 5m, 1h)"},
	{0, "switch-max-files", "N", OPT_UINT, AT(switch_max_files),
	 "keep only the last N of these files"},
	{0, "overwrite", "SECONDS", OPT_OPTIONAL, AT(overwrite),
	 "keep the last 30 or SECONDS in memory; SIGUSR2 writes them to a file, and so does the "
	 "end"},
	{0, "tail-synthesize", NULL, OPT_FLAG, AT(tail_synthesize),
	 "with --overwrite: describe the processes that exist when a file is written, not those at "
	 "the start"},
	{'q', "quiet", NULL, OPT_FLAG, AT(quiet), "say nothing but errors"},
	{'v', "verbose", NULL, OPT_COUNT, AT(verbose), "say more"},
	{0, NULL, NULL, OPT_HEADING, 0, "Tuning"},
	{'m', "mmap-pages", "SIZE", OPT_STR, AT(ring),
	 "buffer of each CPU: pages, or a size (512K, 8M)"},
	{0, "threads", "N", OPT_UINT, AT(threads), "N threads empty the buffers"},
	{0, "strict-freq", NULL, OPT_FLAG, AT(strict_freq),
	 "fail if the kernel does not allow the frequency, instead of taking what it does"},
	{'k', "clockid", "CLOCK", OPT_STR, AT(clock), "only monotonic is supported"},
	{0, NULL, NULL, OPT_HEADING, 0, "Always so, accepted for those used to them"},
	{'T', "timestamp", NULL, OPT_FLAG, AT(ignored), "time of each sample"},
	{'P', "period", NULL, OPT_FLAG, AT(ignored), "period of each sample"},
	{0, "sample-cpu", NULL, OPT_FLAG, AT(ignored), "CPU of each sample"},
	{'B', "no-buildid", NULL, OPT_FLAG, AT(ignored),
	 "no second pass for build ids: they are taken on the way"},
	{0, "jvm", NULL, OPT_FLAG, AT(ignored), "Java is told and asked to name its code"},
	{0, "aio", "N", OPT_OPTIONAL, AT(aio),
	 "samples do not wait for the disk: it is written to in the background"},
	{},
};

/* ---- events ---- */

/* Several filters of an event must all be met, as with perf. */
static const char *join_filters(struct record_session *s, const char *one, const char *other)
{
	if (!one)
		return other;
	vec_push(&s->joined_filters, xasprintf("(%s) && (%s)", one, other));
	return s->joined_filters.items[s->joined_filters.len - 1];
}

/* Applies a --filter to the events from @first on: those of the -e before it. */
static int take_filter(struct record_session *s, size_t first, const char *filter, struct err *e)
{
	for (size_t i = first; i < s->events.events.len; i++) {
		int r = event_filter_check(&s->catalog.roots, &s->events.events.items[i], filter,
					   e);

		if (r < 0) {
			err_prefix(e, "--filter");
			return r;
		}
		s->filters.items[i] = join_filters(s, s->filters.items[i], filter);
	}
	return 0;
}

static int parse_events(struct record_session *s, struct err *e)
{
	size_t first = 0;
	int r = 0;

	vec_each(&s->o.events, item) {
		if (item->option->letter == EVENT_OPTION_LETTER) {
			first = s->events.events.len;
			r = events_parse(&s->catalog, item->value, &s->events, e);
			if (r < 0)
				return r;
			while (s->filters.len < s->events.events.len)
				vec_push(&s->filters, NULL);
			continue;
		}
		if (!s->events.events.len)
			return err_set(e, EINVAL,
				       "--filter stands behind the -e whose events it is for");
		r = take_filter(s, first, item->value, e);
		if (r < 0)
			return r;
	}
	return 0;
}

static int choose_events(struct record_session *s, struct err *e)
{
	int r = s->o.events.len ? parse_events(s, e)
				: events_default_sampled(&s->catalog, &s->events, &s->no_pmu, e);

	while (s->filters.len < s->events.events.len)
		vec_push(&s->filters, NULL);
	s->plan.sampling.filters = s->filters.items;
	if (r == 0)
		r = events_limit_modes(&s->events, s->o.all_user, s->o.all_kernel, e);
	if (r == 0)
		r = events_apply_defaults(&s->events, e);
	if (r == 0 && events_sample_clock(&s->events))
		s->no_pmu = true;
	return r;
}

/* ---- samples ---- */

static int choose_rate(struct record_session *s, struct err *e)
{
	struct sampling_options *o = &s->plan.sampling;
	uint64_t max = sampling_rate_max(), bare = 0;

	o->freq_hz = s->default_hz ? s->default_hz : DEFAULT_FREQ_HZ;
	o->rate_chosen = s->o.freq || s->o.period;
	if (s->o.freq && s->o.period)
		return err_set(e, EINVAL, "choose one: a frequency (-F) or a period (-c)");
	if (s->o.period && (!parse_u64(s->o.period, &o->period) || !o->period))
		return err_set(e, EINVAL, "-c takes a number of events from 1 on, not '%s'",
			       s->o.period);
	if (s->o.freq && !strcmp(s->o.freq, "max"))
		o->freq_hz = max ? max : DEFAULT_FREQ_HZ;
	else if (s->o.freq && (!parse_u64(s->o.freq, &bare) || !bare))
		return err_set(e, EINVAL, "-F takes a number of samples a second or max, not '%s'",
			       s->o.freq);
	else if (s->o.freq)
		o->freq_hz = bare;
	if (!max || o->period || o->freq_hz <= max)
		return 0;
	if (s->o.strict_freq)
		return err_set(e, EINVAL,
			       "%llu samples a second are more than the kernel allows (%llu, "
			       "/proc/sys/kernel/perf_event_max_sample_rate)",
			       (unsigned long long)o->freq_hz, (unsigned long long)max);
	record_note(s,
		    "the frequency is lowered from %llu to %llu Hz, which is what the kernel "
		    "allows (/proc/sys/kernel/perf_event_max_sample_rate)",
		    (unsigned long long)o->freq_hz, (unsigned long long)max);
	o->freq_hz = max;
	return 0;
}

static int choose_calls(struct record_session *s, struct err *e)
{
	const char *mode = s->o.call_graph ? s->o.call_graph : s->o.calls ? "fp" : "no";
	int r = call_graph_parse(mode, &s->plan.sampling, e);

	if (r < 0) {
		err_prefix(e, "--call-graph");
		return r;
	}
	if (s->o.max_stack > MAX_STACK_LIMIT)
		return err_set(e, EINVAL, "--max-stack takes at most %u frames", MAX_STACK_LIMIT);
	s->plan.sampling.max_stack = (uint16_t)s->o.max_stack;
	return 0;
}

static const struct {
	const char *name;
	uint64_t bit;
} branch_kinds[] = {
	{"any", PERF_SAMPLE_BRANCH_ANY},
	{"any_call", PERF_SAMPLE_BRANCH_ANY_CALL},
	{"any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN},
	{"ind_call", PERF_SAMPLE_BRANCH_IND_CALL},
	{"ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP},
	{"call", PERF_SAMPLE_BRANCH_CALL},
	{"cond", PERF_SAMPLE_BRANCH_COND},
	{"abort_tx", PERF_SAMPLE_BRANCH_ABORT_TX},
	{"in_tx", PERF_SAMPLE_BRANCH_IN_TX},
	{"no_tx", PERF_SAMPLE_BRANCH_NO_TX},
	{"stack", PERF_SAMPLE_BRANCH_CALL_STACK},
	{"hw_index", PERF_SAMPLE_BRANCH_HW_INDEX},
	{"save_type", PERF_SAMPLE_BRANCH_TYPE_SAVE},
	{"u", PERF_SAMPLE_BRANCH_USER},
	{"k", PERF_SAMPLE_BRANCH_KERNEL},
	{"hv", PERF_SAMPLE_BRANCH_HV},
};

/* Chooses branches. Without a kind: all; without u, k or hv: in the modes of the event. */
static int choose_branches(struct record_session *s, struct err *e)
{
	const uint64_t modes = PERF_SAMPLE_BRANCH_PLM_ALL;
	CLEANUP(strvec_release) strvec words = {};
	uint64_t bits = s->o.branches ? PERF_SAMPLE_BRANCH_ANY : 0;

	text_split(s->o.branch_filter ? s->o.branch_filter : "", ",", &words);
	vec_each(&words, word) {
		uint64_t bit = 0;

		for (size_t i = 0; i < ARRAY_LEN(branch_kinds); i++)
			if (!strcasecmp(*word, branch_kinds[i].name))
				bit = branch_kinds[i].bit;
		if (!bit)
			return err_set(e, EINVAL,
				       "-j: '%s' is no kind of branch (any, any_call, any_ret, "
				       "ind_call, ind_jmp, call, cond, abort_tx, in_tx, no_tx, "
				       "stack, hw_index, save_type, u, k, hv)",
				       *word);
		bits |= bit;
	}
	if (words.len && !(bits & ~modes))
		bits |= PERF_SAMPLE_BRANCH_ANY;
	s->plan.sampling.branches = bits;
	return 0;
}

/* ---- output ---- */

/* "30s", "5m", "2h", "1d" */
static bool parse_duration(const char *text, uint64_t *ret_ns)
{
	static const struct {
		char letter;
		unsigned seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
	size_t len = strlen(text);
	CLEANUP(free_ptr) char *digits = xstrndup(text, len ? len - 1 : 0);
	uint64_t number;

	for (size_t i = 0; len && i < ARRAY_LEN(units); i++)
		if (text[len - 1] == units[i].letter && parse_u64(digits, &number) && number &&
		    number < UINT32_MAX) {
			*ret_ns = number * units[i].seconds * NS_PER_SEC;
			return true;
		}
	return false;
}

static int choose_switching(struct record_session *s, struct err *e)
{
	struct sink_options *o = &s->plan.output;
	const char *when = s->o.switch_output;
	struct stat st;

	if (s->o.switch_max_files && !when)
		return err_set(e, EINVAL, "--switch-max-files needs --switch-output");
	if (!when)
		return 0;
	if (!lstat(o->writer.path, &st) && !S_ISREG(st.st_mode))
		return err_set(e, EINVAL,
			       "--switch-output renames its files, and '%s' is not a plain file: "
			       "name another with -o",
			       o->writer.path);
	o->kind = SINK_SWITCH;
	o->switch_max_files = s->o.switch_max_files;
	if (!*when || !strcmp(when, "signal") || parse_duration(when, &o->switch_ns))
		return 0;
	if (!parse_bytes(when, 1, &o->switch_bytes) || !o->switch_bytes)
		return err_set(e, EINVAL,
			       "--switch-output takes signal, a size (100M) or a time (30s), not "
			       "'%s'",
			       when);
	return 0;
}

static int choose_memory(struct record_session *s, struct err *e)
{
	struct sink_options *o = &s->plan.output;
	uint64_t seconds = DEFAULT_KEEP_S;

	if (!s->o.overwrite)
		return 0;
	if (o->kind == SINK_SWITCH)
		return err_set(e, EINVAL, "choose one: --switch-output or --overwrite");
	if (*s->o.overwrite &&
	    (!parse_u64(s->o.overwrite, &seconds) || !seconds || seconds > UINT32_MAX))
		return err_set(e, EINVAL, "--overwrite takes a number of seconds, not '%s'",
			       s->o.overwrite);
	o->kind = SINK_MEMORY;
	o->begin_late = s->o.tail_synthesize;
	o->keep_ns = seconds * NS_PER_SEC;
	o->keep_bytes = DEFAULT_KEEP_BYTES;
	return 0;
}

/* The smaller the limit of the file, the earlier rings must be emptied to stop in time. */
static size_t wakeup_for(uint64_t max_bytes, size_t rings)
{
	uint64_t bytes = max_bytes / WAKEUPS_A_FILE / (rings ? rings : 1);

	return bytes < WAKEUP_BYTES_MIN ? WAKEUP_BYTES_MIN : bytes;
}

static int choose_output(struct record_session *s, struct err *e)
{
	struct sink_options *o = &s->plan.output;
	uint64_t level = DEFAULT_ZSTD_LEVEL;
	int r;

	o->writer.path = s->o.output ? s->o.output : "perf.data";
	if (s->o.level && *s->o.level && (!parse_u64(s->o.level, &level) || level > ZSTD_LEVEL_MAX))
		return err_set(e, EINVAL, "-z takes a level of 1 to %d, not '%s'", ZSTD_LEVEL_MAX,
			       s->o.level);
	o->writer.zstd_level = s->o.level ? (int)level : 0;
	if (s->o.max_size &&
	    (!parse_bytes(s->o.max_size, 1, &s->plan.max_bytes) || !s->plan.max_bytes))
		return err_set(e, EINVAL, "--max-size takes a size such as 100M, not '%s'",
			       s->o.max_size);
	if (s->plan.max_bytes)
		s->plan.sampling.wakeup_bytes = wakeup_for(s->plan.max_bytes, s->topology.count);
	r = choose_switching(s, e);
	if (r == 0)
		r = choose_memory(s, e);
	if (r == 0 && !strcmp(o->writer.path, "-")) {
		if (o->kind != SINK_FILE)
			return err_set(e, EINVAL,
				       "a pipe (-o -) is one file: without --switch-output and "
				       "--overwrite");
		if (isatty(STDOUT_FILENO))
			return err_set(e, EINVAL,
				       "-o - writes binary data, not for a terminal: "
				       "send it to a pipe or a file");
	}
	return r;
}

static int choose_ring(struct record_session *s, struct err *e)
{
	uint64_t bytes, page = (uint64_t)sysconf(_SC_PAGESIZE);

	if (!s->o.ring)
		return 0;
	if (!parse_bytes(s->o.ring, page, &bytes) || !bytes || bytes > RING_BYTES_MAX)
		return err_set(e, EINVAL,
			       "-m takes a number of pages or a size up to 1G (512K, 8M), not '%s'",
			       s->o.ring);
	s->plan.sampling.ring_bytes = (size_t)bytes;
	return 0;
}

static int check_clock(const struct record_session *s, struct err *e)
{
	const char *name = s->o.clock;

	if (!name || !strcasecmp(name, "monotonic") || !strcasecmp(name, "mono") ||
	    !strcasecmp(name, "CLOCK_MONOTONIC"))
		return 0;
	return err_set(e, EINVAL,
		       "clock '%s': tacho always records with monotonic, so that recordings, "
		       "counts and traces can be laid over each other",
		       name);
}

static void copy_plain(struct record_session *s)
{
	struct sampling_options *o = &s->plan.sampling;

	o->address = s->o.address;
	o->weight = s->o.weight;
	o->raw = s->o.raw;
	o->switches = s->o.switches;
	o->namespaces = s->o.namespaces;
	o->cgroups = s->o.cgroups;
	o->no_samples = s->o.no_samples;
	o->delayed = s->o.delay_ms;
	o->topology = &s->topology;
	o->roots = &s->catalog.roots;
	s->plan.delay_ns = s->o.delay_ms * NS_PER_MSEC;
	s->plan.timeout_ns = s->o.timeout_ms * NS_PER_MSEC;
	s->plan.threads = s->o.threads;
	s->plan.no_jvm = s->o.no_jvm;
	s->plan.no_keep = s->o.no_keep;
	s->plan.keep_all = s->o.keep_all;
	s->plan.events = &s->events;
	s->plan.catalog = &s->catalog;
}

int record_make_plan(struct record_session *s, struct err *e)
{
	static int (*const steps[])(struct record_session *,
				    struct err *) = {choose_rate,   choose_calls, choose_branches,
						     choose_output, choose_ring,  choose_events};
	int r = check_clock(s, e);

	copy_plain(s);
	if (s->catalog.roots.foreign)
		return err_set(e, EINVAL,
			       "cannot record on another machine's files (unset TACHO_SYSFS and "
			       "TACHO_PROCFS)");
	topology_load(&s->topology, &s->catalog.roots);
	for (size_t i = 0; i < ARRAY_LEN(steps) && r == 0; i++)
		r = steps[i](s, e);
	if (!s->plan.argv && !target_has_tasks(&s->o.where) && !target_is_cpu_wide(&s->o.where))
		s->o.where.all_cpus = true;
	return r < 0 ? r : target_choose(&s->o.where, &s->topology, &s->plan.target, NULL, e);
}
