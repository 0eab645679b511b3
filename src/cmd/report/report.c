#include "cmd/report/report.h"
#include "cmd/command.h"
#include "cmd/terminal/pager.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define AT(member) offsetof(struct report_cmd_options, member)

static const struct option_def report_table[] = {
	PROFILE_FILE_ROW(struct report_cmd_options, profile),
	{0, "stdio", NULL, OPT_FLAG, AT(stdio), "text (this is the default; for perf's users)"},
	{0, "tui", NULL, OPT_FLAG, AT(tui), "an interactive browser"},
	{0, "json", NULL, OPT_FLAG, AT(json), "one JSON object"},
	{.kind = OPT_HEADING, .help = "What is shown"},
	{'s', "sort", "KEYS", OPT_STR, AT(sort),
	 "add up by these: comm, pid, tid, dso, sym, srcline, srcfile, cpu, event, time; fields of "
	 "tracepoints: next_comm, sched:sched_switch.next_pid, trace_fields (all of them), or "
	 "trace "
	 "(the text that the tracepoint prints) (default: comm,dso,sym)"},
	{'F', "fields", "COLUMNS", OPT_STR, AT(fields),
	 "exactly these columns: any key, and overhead, children, sample, period; +period: the "
	 "usual ones and these"},
	{0, "children", NULL, OPT_FLAG, AT(children),
	 "callers have what they called, too (default, if stacks were recorded)"},
	{0, "no-children", NULL, OPT_FLAG, AT(no_children), "only what was sampled itself"},
	{'g', "call-graph", "HOW", OPT_OPTIONAL, AT(call_graph),
	 "chains below entries: graph, fractal, flat, folded or none; a threshold in percent, then "
	 "a "
	 "number of branches; caller or callee; steps by function, address or srcline; percent, "
	 "period or count (default: graph,0.5,caller,function,percent; with --no-children: "
	 "callee)"},
	{'G', "inverted", NULL, OPT_FLAG, AT(inverted), "the same as -g caller"},
	{0, "percent-limit", "PERCENT", OPT_STR, AT(percent_limit),
	 "no entries and chains below this"},
	{0, "percentage", "HOW", OPT_STR, AT(percentage),
	 "100 % is all that was recorded (absolute, the default), or what is shown (relative)"},
	{'n', "show-nr-samples", NULL, OPT_FLAG, AT(nr_samples), "a column of samples"},
	{0, "show-total-period", NULL, OPT_FLAG, AT(total_period), "a column of periods"},
	{0, "group", NULL, OPT_FLAG, AT(group), "all events in one list, the same as a key event"},
	{0, "time-quantum", "TIME", OPT_STR, AT(time_quantum),
	 "steps for the key time: 1s, 100ms (default), 50us"},
	{0, "raw-trace", NULL, OPT_FLAG, AT(raw_trace),
	 "fields of tracepoints as they were recorded, without names of flags and functions"},
	{0, "header", NULL, OPT_FLAG, AT(header), "first what the recording says of the machine"},
	{0, "header-only", NULL, OPT_FLAG, AT(header_only), "only that"},
	{'q', "quiet", NULL, OPT_FLAG, AT(quiet), "no headings"},
	{'t', "field-separator", "SEP", OPT_STR, AT(separator),
	 "columns with this between them and without padding; no chains"},
	{.kind = OPT_HEADING, .help = "Which entries"},
	{'d', "dsos", "NAMES", OPT_STR, AT(dsos), "only of these programs and libraries"},
	{'S', "symbols", "NAMES", OPT_STR, AT(symbols), "only these functions"},
	{0, "symbol", "NAMES", OPT_STR, AT(symbols), NULL},
	{0, "symbol-filter", "TEXT", OPT_STR, AT(symbol_filter),
	 "only functions with this in their name"},
	PROFILE_ROWS(struct report_cmd_options, profile),
	{},
};

static bool has_callers(const struct profile *p)
{
	for (size_t i = 1; i < p->stacks.len; i++)
		if (p->stacks.items[i].parent.n)
			return true;
	return false;
}

static void show_text(struct report_view *v)
{
	struct pager pager;

	v->term = term_of(STDOUT_FILENO);
	pager_begin(&pager);
	v->fd = pager.fd;
	report_show_text(v);
	pager_end(&pager);
	/* Leaving the pager early closes the pipe; that is not a failure. */
	if (v->term.tty)
		v->write_failed = false;
}

/* If no entry is shown, says which option or limit left the table empty. */
static void explain_nothing(const struct report_view *v)
{
	const struct profile_options *o = &v->o.profile;
	bool chosen = v->ro.want_thread || v->ro.want_function;
	struct err e = {};

	vec_each(&v->report.sections, section)
		if (report_shown(v, section))
			return;
	if (!v->in.report.samples) {
		profile_input_nothing(&v->in, &e);
		command_fail(0, "report: %s", e.text);
	} else if (chosen) {
		const char *option = o->comms       ? "--comms"
				     : o->pids      ? "--pid"
				     : o->tids      ? "--tid"
				     : v->o.dsos    ? "--dsos"
				     : v->o.symbols ? "--symbols"
						    : "--symbol-filter";

		command_fail(0, "report: nothing in '%s' matches %s%s", v->in.path, option,
			     v->min_pct > 0 ? " and --percent-limit" : "");
	} else if (v->min_pct > 0) {
		command_fail(0, "report: nothing has %g %% or more", v->min_pct);
	}
}

static int show(struct report_view *v)
{
	struct err e = {};
	int status = EXIT_DONE;

	report_view_defaults(v, has_callers(&v->in.profile));
	if (!v->o.tui) /* the browser builds the report itself */
		report_build(&v->report, &v->in.profile, &v->ro);
	v->fd = STDOUT_FILENO;
	if (v->o.tui && report_show_tui(v, &e) < 0)
		status = command_fail(EXIT_FAILED, "report: %s", e.text);
	else if (v->o.json)
		report_show_json(v);
	else if (!v->o.tui)
		show_text(v);
	if (!v->o.tui && !v->o.header_only)
		explain_nothing(v);
	report_release(&v->report);
	return v->write_failed ? EXIT_FAILED : status;
}

static int run_view(struct report_view *v)
{
	struct err e = {};
	int status, end, r;

	if (report_view_options(v, &e) < 0)
		return command_fail(EXIT_USAGE, "report: %s", e.text);
	r = profile_input_load(v->o.profile.input, &v->resolve, &v->in, &e);
	if (r < 0)
		return command_fail(r == -EINVAL && trace_key_wanted(&v->resolve.trace)
					    ? EXIT_USAGE
					    : EXIT_FAILED,
				    "report: %s", e.text);
	v->loaded = true;
	if (v->ro.want_thread && v->in.profile.threads.len <= 1 && v->in.profile.rows.len) {
		command_fail(0,
			     "report: '%s' does not tell threads apart; leave out --comms, --pid "
			     "and --tid",
			     v->in.path);
		profile_input_release(&v->in);
		return EXIT_FAILED;
	}
	status = show(v);
	end = profile_input_end(&v->in, "report");
	return status ? status : end;
}

static int run_report(const struct command *self, int argc, char **argv)
{
	CLEANUP(strvec_release) strvec words = {};
	struct report_view v = {};
	int status = 0, used, left;
	const char *word = NULL;
	char **rest;

	report_join_words(argc, argv, &words);
	left = (int)words.len;
	rest = words.items;
	/* Options may also follow the file. */
	while ((used = command_options(self, &v.o, left, rest, &status)) < left) {
		if (used < 0)
			return status;
		if (word || v.o.profile.input)
			break;
		v.o.profile.input = word = rest[used];
		rest += used + 1;
		left -= used + 1;
	}
	if (used < left || (word && v.o.profile.input != word))
		return command_fail(EXIT_USAGE,
				    "report: unexpected argument '%s': the input is already '%s'",
				    used < left ? rest[used] : word, v.o.profile.input);
	status = run_view(&v);
	report_view_release(&v);
	return status;
}

const struct command cmd_report = {
	.name = "report",
	.summary = "show where the samples of a recording are: functions, libraries, callers",
	.usage = "[OPTIONS] [FILE]",
	.details =
		"Adds up the samples by command, library and function (or whatever --sort says) "
		"and shows the largest first. If stacks were recorded, Children is the share of "
		"samples that have the function anywhere in their stack, recursion counted once, "
		"and Self the share that were in it; below an entry stand the chains of calls "
		"that lead through it. Chains under half a percent are left out.\n\n"
		"Each event has a section of its own. Shares are by period, as in perf. What was "
		"inlined is marked so; its samples are those of the function that it is inlined "
		"in.\n\n"
		"On a terminal the text goes through a pager. --tui is a browser: Enter opens and "
		"closes chains, d and t zoom into a library or thread, / searches, h shows all "
		"keys.",
	.examples = "  tacho report  # perf.data, with call chains\n"
		    "  tacho report --no-children -g caller -i old.data\n"
		    "  tacho report -s dso -g none  # which libraries\n"
		    "  tacho report --comm nginx -s sym,srcline --percent-limit 1\n"
		    "  tacho report --tui\n"
		    "  tacho report --json | jq '.sections[0].entries[:10]'\n",
	.options = report_table,
	.run = run_report,
};
