#include "cmd/stat/stat.h"
#include "base/clock.h"
#include "base/text.h"
#include "cmd/command.h"
#include "event/usage.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <time.h>
#include <unistd.h>

#define AT(member) offsetof(struct stat_options, member)

static const struct option_def stat_table_of_options[] = {
	{0, NULL, NULL, OPT_HEADING, 0, "What to count"},
	{'e', "event", "EVENT", OPT_LIST, AT(events),
	 "events, separated by commas: names, {groups}, pmu/terms/, tracepoints, globs; see tacho "
	 "list"},
	{'M', "metrics", "METRIC", OPT_LIST, AT(metrics),
	 "metrics made of events; help lists them"},
	{'d', "detailed", NULL, OPT_COUNT, AT(detail), "cache events too; -dd and -ddd for more"},
	{'n', "null", NULL, OPT_FLAG, AT(null_run), "no events, only the time"},
	{0, "all-user", NULL, OPT_FLAG, AT(all_user), "all events in user mode only"},
	{0, "all-kernel", NULL, OPT_FLAG, AT(all_kernel), "all events in the kernel only"},
	{0, NULL, NULL, OPT_HEADING, 0, "Where"},
	{'a', "all-cpus", NULL, OPT_FLAG, AT(where.all_cpus), "the whole system"},
	{'C', "cpu", "LIST", OPT_STR, AT(where.cpus), "only these CPUs (0-3,8)"},
	{'p', "pid", "PID", OPT_STR, AT(where.pids), "running processes, with all their threads"},
	{'t', "tid", "TID", OPT_STR, AT(where.tids), "running threads"},
	{'G', "cgroup", "NAME", OPT_STR, AT(where.cgroups),
	 "only tasks in these cgroups, every event in each of them"},
	{0, "for-each-cgroup", "NAME", OPT_STR, AT(where.cgroups), "the same as --cgroup"},
	{'i', "no-inherit", NULL, OPT_FLAG, AT(where.no_inherit), "do not count child processes"},
	{0, NULL, NULL, OPT_HEADING, 0, "When"},
	{'I', "interval-print", "MS", OPT_UINT, AT(interval_ms),
	 "print counts every MS milliseconds, from 1 on"},
	{0, "interval-count", "N", OPT_UINT, AT(interval_count), "stop after N intervals"},
	{'r', "repeat", "N", OPT_UINT, AT(repeat),
	 "run N times, print mean and standard error of the mean; 0: again and again"},
	{'D', "delay", "MS", OPT_UINT, AT(delay_ms),
	 "start to count MS milliseconds after the start"},
	{0, "timeout", "MS", OPT_UINT, AT(timeout_ms), "stop after MS milliseconds"},
	{0, NULL, NULL, OPT_HEADING, 0, "How to add up"},
	{'A', "no-aggr", NULL, OPT_FLAG, AT(no_aggregation), "each CPU on its own"},
	{0, "per-core", NULL, OPT_FLAG, AT(per_core), "each core"},
	{0, "per-die", NULL, OPT_FLAG, AT(per_die), "each die"},
	{0, "per-socket", NULL, OPT_FLAG, AT(per_socket), "each socket"},
	{0, "per-thread", NULL, OPT_FLAG, AT(per_thread), "each thread of -p or -t"},
	{0, NULL, NULL, OPT_HEADING, 0, "Output"},
	{'x', "field-separator", "SEP", OPT_STR, AT(separator), "columns as those of perf stat -x"},
	{'j', "json-output", NULL, OPT_FLAG, AT(json), "one JSON object a line"},
	{'o', "output", "FILE", OPT_STR, AT(output), "write to FILE instead of standard error"},
	{0, "append", NULL, OPT_FLAG, AT(append), "with -o: add to the file"},
	{0, "log-fd", "FD", OPT_UINT, AT(log_fd), "write to this descriptor"},
	{'B', "big-num", NULL, OPT_ORDERED, AT(forms), "commas between thousands; the default"},
	{0, "no-big-num", NULL, OPT_ORDERED, AT(forms), "no commas between thousands"},
	{0, "scale", NULL, OPT_ORDERED, AT(forms),
	 "estimate the whole of what was counted for a part of the time; this is so if nothing "
	 "else is said"},
	{0, "no-scale", NULL, OPT_ORDERED, AT(forms),
	 "print counts as they are, also of a part of the time"},
	{'v', "verbose", NULL, OPT_COUNT, AT(verbose),
	 "also print each count as the kernel gave it, with the nanoseconds enabled and running, "
	 "and why an event is not counted"},
	{0, "no-live", NULL, OPT_FLAG, AT(no_live),
	 "with -I on a terminal: plain lines, no sparklines"},
	{},
};

/* ---- during a run ---- */

static bool is_core_event(const struct event *event)
{
	uint32_t type = event->units.len ? event->units.items[0].type : PERF_TYPE_SOFTWARE;

	return event->missing || type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE ||
	       type == PERF_TYPE_RAW;
}

/* True if hardware events were chosen, none is supported, and the kernel shows no core PMU. */
static bool pmu_is_missing(struct stat_session *s, const struct counters *c)
{
	bool wanted = false;

	for (size_t i = 0; i < c->row_count; i++) {
		if (!is_core_event(c->rows[i].event))
			continue;
		if (c->rows[i].state != EVENT_UNSUPPORTED)
			return false;
		wanted = true;
	}
	return wanted && catalog_no_pmu(&s->catalog);
}

/*
 * An event that the machine does not have is shown as <not supported>, and the command runs. If no
 * event can be counted because the kernel refuses them, fails before the command runs.
 */
static int on_open(void *ctx, struct counters *c, struct err *e)
{
	struct stat_session *s = ctx;

	s->no_pmu = pmu_is_missing(s, c);
	if (c->note && !s->note)
		s->note = xstrdup(c->note);
	for (size_t i = 0; i < c->row_count; i++)
		if (c->rows[i].state == EVENT_COUNTED)
			return 0;
	for (size_t i = 0; i < c->row_count; i++)
		if (c->rows[i].state == EVENT_REFUSED)
			return err_set(e, c->rows[i].code, "no event can be counted here: '%s' %s",
				       c->rows[i].name, c->rows[i].reason);
	return 0;
}

static void read_usage(struct stat_session *s, struct counter_table *t)
{
	const struct rusage *u = &s->result.workload.usage;

	t->user_s = t->system_s = NAN;
	if (!stat_counts_workload(&s->o, s->plan.argv))
		return;
	t->user_s = (double)u->ru_utime.tv_sec + (double)u->ru_utime.tv_usec / 1e6;
	t->system_s = (double)u->ru_stime.tv_sec + (double)u->ru_stime.tv_usec / 1e6;
}

/* -v: prints the raw count and times behind each value, or why there is none. */
static void print_raw(struct stat_session *s, const struct counter_table *t)
{
	for (size_t i = 0; i < t->row_count; i++) {
		const struct table_row *row = &t->rows[i];

		for (size_t a = 0; a < t->aggregate_count && !row->timer; a++) {
			const struct cell *cell = table_cell(t, i, a);
			const char *label = t->aggregates[a].label;
			CLEANUP(free_ptr) char *line = NULL;

			if (row->state != ROW_COUNTED && a)
				break;
			line = row->state == ROW_COUNTED
				       ? xasprintf("%s%s%s: %llu %llu %llu", label,
						   *label ? " " : "", row->name,
						   (unsigned long long)cell->raw,
						   (unsigned long long)cell->enabled_ns,
						   (unsigned long long)cell->running_ns)
				       : xasprintf("%s: %s", row->name, row->reason);
			s->format->detail(s, line);
		}
	}
}

static bool on_tick(void *ctx, struct counters *c, uint64_t time_ns, uint64_t duration_ns)
{
	struct stat_session *s = ctx;

	s->tick.time_s = (double)time_ns / 1e9;
	s->tick.duration_s = (double)duration_ns / 1e9;
	s->tick.user_s = s->tick.system_s = NAN;
	table_build(s, &s->tick, c, true);
	if (s->live) {
		live_tick(s->live, s, &s->tick);
		return true;
	}
	s->format->interval(s, &s->tick);
	s->write_failed |= !command_flush_on(&s->out, s->out_fd);
	return !s->write_failed;
}

static void on_end(void *ctx, struct counters *c, uint64_t elapsed_ns)
{
	struct stat_session *s = ctx;

	/* An interrupted run would distort the mean of the complete ones. */
	if (s->result.interrupted && s->table.runs)
		return;
	s->table.time_s = NAN;
	s->table.duration_s = (double)elapsed_ns / 1e9;
	read_usage(s, &s->table);
	table_build(s, &s->table, c, false);
	if (s->o.verbose)
		print_raw(s, &s->table);
	counter_table_add_run(&s->table, (double)elapsed_ns / 1e9);
	/* The kernel may take seconds to close the counters: say so before. */
	if (c->slow_close && s->format == &stat_text)
		command_fail(0, "%s …", c->note);
	if (c->tally && tally_missed(c->tally) && !s->note)
		s->note = xasprintf("%llu tasks could not be followed: their events are missing",
				    (unsigned long long)tally_missed(c->tally));
}

/* ---- around the runs ---- */

static int open_output(struct stat_session *s, struct err *e)
{
	const struct stat_options *o = &s->o;
	time_t now = time(NULL);
	char when[64];
	int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (o->append ? O_APPEND : O_TRUNC);

	s->out_fd = o->log_fd ? (int)o->log_fd : STDERR_FILENO;
	if (o->log_fd && fcntl((int)o->log_fd, F_GETFD) < 0)
		return err_set(e, EBADF, "descriptor %u is not open", o->log_fd);
	if (!o->output)
		return 0;
	s->out_fd = open(o->output, flags, 0644);
	if (s->out_fd < 0)
		return err_set(e, errno, "cannot write '%s': %s", o->output, strerror(errno));
	if (!o->json) {
		ctime_r(&now, when);
		buf_addf(&s->out, "# started on %s\n", when);
	}
	return 0;
}

/* Sets the title for the heading: the command line, the processes, or the system. */
static void choose_title(struct stat_session *s)
{
	struct buf title = {};

	if (s->o.where.pids || s->o.where.tids) {
		buf_addf(&title, "%s id '%s'", s->o.where.pids ? "process" : "thread",
			 s->o.where.pids ? s->o.where.pids : s->o.where.tids);
	} else if (s->plan.argv && !stat_is_cpu_wide(&s->o)) {
		for (char *const *arg = s->plan.argv; *arg; arg++) {
			buf_add(&title, arg == s->plan.argv ? "'" : " ");
			text_add_printable(&title, *arg);
		}
		buf_add_char(&title, '\'');
	} else {
		buf_add(&title, s->o.where.cpus ? "'CPU(s) " : "'system wide'");
		if (s->o.where.cpus)
			buf_addf(&title, "%s'", s->o.where.cpus);
	}
	s->title = buf_steal(&title);
}

static bool wants_usage(const struct stat_session *s)
{
	vec_each(&s->events.events, event)
		if (event->tool == TOOL_USER || event->tool == TOOL_SYSTEM)
			return true;
	return false;
}

static void no_pmu_note(struct stat_session *s)
{
	const char *reason = catalog_no_pmu(&s->catalog);
	CLEANUP(free_ptr)
	char *text = xasprintf("No hardware counters: %s; tacho doctor says more.", reason);

	s->format->note(s, text);
}

static void print_notes(struct stat_session *s)
{
	const struct tick_ledger *l = &s->result.ledger;
	CLEANUP(buf_release) struct buf ticks = {};

	/* CSV says so in every row. */
	if (s->no_pmu && s->format != &stat_csv)
		no_pmu_note(s);
	if (s->note)
		s->format->note(s, s->note);
	if (wants_usage(s) && !stat_counts_workload(&s->o, s->plan.argv))
		s->format->note(s, "user_time and system_time are those of a command that is "
				   "counted from its start on with its children: there are none "
				   "with -p, -t, -a, -C, -G, -i or -D.");
	for (size_t i = 0; i < s->table.row_count; i++)
		if (s->table.rows[i].state == ROW_REFUSED) {
			CLEANUP(free_ptr)
			char *text = xasprintf("%s was not counted: %s.", s->table.rows[i].name,
					       s->table.rows[i].reason);
			s->format->note(s, text);
			break;
		}
	if (l->stretched_ns)
		buf_addf(&ticks,
			 "Reading and printing the counters took up to %.1f ms, so intervals were "
			 "stretched up "
			 "to "
			 "%.0f ms in order not to slow the workload.",
			 (double)l->worst_cost_ns / 1e6, (double)l->stretched_ns / 1e6);
	if (l->missed)
		buf_addf(&ticks, "%s%llu of %llu ticks were missed, the latest by %.1f ms.",
			 ticks.len ? " " : "", (unsigned long long)l->missed,
			 (unsigned long long)(l->missed + l->ticks),
			 (double)l->worst_late_ns / 1e6);
	if (ticks.len)
		s->format->note(s, buf_str(&ticks));
}

static int exit_status(const struct stat_session *s, int r, const struct err *e)
{
	if (r < 0 && s->result.exec_failed)
		return e->code == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
	if (r < 0)
		return EXIT_TACHO_FAILED;
	if (s->result.ended_by_plan)
		return EXIT_DONE;
	return s->plan.argv ? workload_exit_status(&s->result.workload) : EXIT_DONE;
}

static void ledger_add(struct tick_ledger *sum, const struct tick_ledger *run)
{
	sum->ticks += run->ticks;
	sum->missed += run->missed;
	sum->worst_late_ns = MAX(sum->worst_late_ns, run->worst_late_ns);
	sum->stretched_ns = MAX(sum->stretched_ns, run->stretched_ns);
	sum->worst_cost_ns = MAX(sum->worst_cost_ns, run->worst_cost_ns);
}

/* Prints the results of the run, or of all repeats, and the notes about them. */
static int print_summary(struct stat_session *s, struct err *e)
{
	s->format->summary(s, &s->table);
	print_notes(s);
	if (!command_flush_on(&s->out, s->out_fd) || s->write_failed)
		return err_set(e, EIO, "cannot write the results");
	return 0;
}

/* -r 0: repeats the run until interrupted, and prints each one on its own. */
static int run_forever(struct stat_session *s, struct err *e)
{
	int r = 0;

	while (r == 0 && !s->result.interrupted) {
		struct counter_table next = {.mode = s->table.mode,
					     .by_aggregate = s->table.by_aggregate};

		r = counting_run(&s->plan, &s->result, e);
		if (r == 0)
			r = print_summary(s, e);
		counter_table_release(&s->table);
		s->table = next;
	}
	return r;
}

/* Runs all repeats, then prints the summary. Intervals are printed during the runs. */
static int run_all(struct stat_session *s, struct err *e)
{
	struct tick_ledger all = {};
	int r = 0;

	if (!s->o.repeat)
		return run_forever(s, e);
	for (unsigned i = 0; i < s->o.repeat && r == 0 && !s->result.interrupted; i++) {
		r = counting_run(&s->plan, &s->result, e);
		ledger_add(&all, &s->result.ledger);
	}
	if (s->live) {
		live_free(s->live, s);
		s->live = NULL;
		s->o.interval_ms = 0; /* they were shown live; now print the whole run */
	}
	if (r < 0)
		return r;
	s->result.ledger = all;
	return print_summary(s, e);
}

static void choose_forms(struct stat_session *s)
{
	vec_each(&s->o.forms, item) {
		const char *name = item->option->name;
		bool off = !strncmp(name, "no-", 3);

		*(strstr(name, "scale") ? &s->no_scale : &s->plain_numbers) = off;
	}
}

static int prepare(struct stat_session *s, int argc, char **argv, struct err *e)
{
	int r;

	s->plan.argv = argc ? argv : NULL;
	s->plan.on_open = on_open;
	s->plan.on_tick = on_tick;
	s->plan.on_end = on_end;
	s->plan.ctx = s;
	s->plan.events = &s->events;
	s->plan.interval_ns = s->o.interval_ms * NS_PER_MSEC;
	s->plan.tick_limit = s->o.interval_count;
	s->plan.delay_ns = s->o.delay_ms * NS_PER_MSEC;
	s->plan.timeout_ns = s->o.timeout_ms * NS_PER_MSEC;
	choose_forms(s);
	if (stat_is_cpu_wide(&s->o) || s->o.metrics.len)
		topology_load(&s->topology, &s->catalog.roots);
	if (s->catalog.roots.foreign)
		return err_set(e, EINVAL,
			       "cannot count on another machine's files (unset TACHO_SYSFS and "
			       "TACHO_PROCFS)");
	r = stat_choose_events(s, e);
	/* Threads come and go: the later they are looked up, the fewer are missed. */
	if (r == 0)
		r = stat_choose_target(s, e);
	if (r == 0)
		r = open_output(s, e);
	if (r < 0)
		return r;
	if (s->o.separator && !strcmp(s->o.separator, "\\t"))
		s->o.separator = "\t";
	s->format = s->o.json ? &stat_json : s->o.separator ? &stat_csv : &stat_text;
	s->term = term_of(s->out_fd);
	if (s->plan.interval_ns && s->term.tty && s->format == &stat_text && !s->o.no_live &&
	    s->o.repeat)
		s->live = live_new();
	choose_title(s);
	return 0;
}

static void release(struct stat_session *s)
{
	vec_each(&s->metrics, m) {
		free(m->name);
		free(m->description);
		free(m->unit);
		expr_free(m->expr);
	}
	vec_release(&s->metrics);
	vec_release(&s->o.events);
	vec_release(&s->o.metrics);
	vec_release(&s->o.forms);
	event_list_release(&s->events);
	counter_table_release(&s->table);
	counter_table_release(&s->tick);
	topology_release(&s->topology);
	target_release(&s->plan.target);
	strvec_release(&s->task_names);
	catalog_release(&s->catalog);
	buf_release(&s->out);
	free(s->title);
	free(s->note);
	if (s->o.output && s->out_fd >= 0)
		close(s->out_fd);
}

static int run_stat(const struct command *self, int argc, char **argv)
{
	struct stat_session s = {.o.repeat = 1, .out_fd = -1};
	int status = 0, used = command_options(self, &s.o, argc, argv, &status), r;
	struct err e = {};

	if (used < 0)
		return status == EXIT_USAGE ? EXIT_TACHO_FAILED : status;
	catalog_init(&s.catalog);
	if (s.o.metrics.len == 1 && !strcmp(s.o.metrics.items[0], "help")) {
		stat_list_metrics(&s, &s.out);
		command_flush(&s.out, STDOUT_FILENO);
		release(&s);
		return EXIT_DONE;
	}
	r = prepare(&s, argc - used, argv + used, &e);
	if (r == 0)
		r = run_all(&s, &e);
	if (r < 0)
		command_fail(0, "stat: %s", e.text);
	else if (s.o.events.len)
		usage_note(&s.events);
	status = exit_status(&s, r, &e);
	release(&s);
	return status;
}

const struct command cmd_stat = {
	.name = "stat",
	.summary = "count events around a command, a process or the whole system",
	.usage = "[OPTIONS] [--] COMMAND [ARG…]\n[OPTIONS] -p PID | -t TID | -a",
	.details =
		"Counts events and shows them with the figures that follow from them: "
		"instructions a "
		"cycle, miss rates, CPUs kept busy. An event that this machine does not have is "
		"shown as "
		"<not supported>, one that never got a counter as <not counted>; when there are "
		"more events "
		"than counters, each line ends with the share of time that it was really "
		"counted.\n\n"
		"User and system time are printed where they belong to what is counted: a command "
		"with its children, from its start on. With -p, -t, -a, -C, -G, -i or -D "
		"they would be those of something else, so there are none.\n\n"
		"With -r the figure behind ± is the standard error of the mean in percent of the "
		"mean, as that of perf, in the text, in the columns of -x and as \"variance\" in "
		"JSON. The mean of many more runs is within about twice as much; the 95 % "
		"confidence interval (Student's t) of the elapsed time is printed below it, that "
		"of "
		"each event is in JSON.\n\n"
		"Intervals (-I) keep to the clock, and rates use the real time between "
		"readings. If "
		"reading the counters of many threads gets expensive, the intervals are "
		"stretched instead "
		"of slowing the program, and a note says so. Ctrl-C ends the run and prints "
		"what was "
		"counted; a second one ends the command too. With --delay the elapsed time is that "
		"after the delay.\n\n"
		"With -x, what a reader should know (late ticks, events that were refused) stands "
		"in lines "
		"that begin with #, as does the heading that -o writes.\n\n"
		"Terms between slashes belong to one event, whatever kind it is: "
		"page-faults/period=100,name=mine/u. They are name, period, freq, call-graph (fp, "
		"dwarf, lbr, no), stack-size, max-stack, inherit, no-inherit, config, config1 and "
		"config2; those about samples mean nothing for counts.\n\n"
		"Modifiers behind an event: u user, k kernel, h hypervisor, G guest, H host, p "
		"precise "
		"(for sampling), S read the group, D pinned, W weak group, e exclusive. "
		"Defaults for them "
		"come from events.conf in the configuration directory: lines \"PATTERN "
		"MODIFIERS\".",
	.examples = "  tacho stat make -j4\n"
		    "  tacho stat -e cycles:u,instructions:u -r 10 -- ./bench --fast\n"
		    "  tacho stat -I 10 -e page-faults,context-switches -p 1234\n"
		    "  tacho stat -e 'syscalls:sys_enter_*' -x, ls 2>calls.csv\n"
		    "  tacho stat -a --per-core -M ipc sleep 5",
	.exit_status =
		"That of the command; 128+n if signal n ended it; 126 or 127 if it could not be "
		"executed or found; 125 if tacho failed before (unknown event, no permission); 0 "
		"if tacho ended "
		"the command because --timeout or --interval-count said so.",
	.options = stat_table_of_options,
	.run = run_stat,
};
