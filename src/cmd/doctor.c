#include "doctor/doctor.h"
#include "cmd/command.h"

#include <errno.h>
#include <unistd.h>

struct doctor_options {
	const char *fix; /* NULL: no --fix; "": only harmless fixes */
	bool json;
};

static size_t count_checks(void)
{
	size_t n = 0;

	for (const struct check_group *g = check_groups; g->title; g++)
		for (const struct check *c = g->checks; c->name; c++)
			n++;
	return n;
}

static int examine(bool as_json)
{
	CLEANUP(doctor_release) struct doctor d;
	CLEANUP(buf_release) struct buf text = {};
	CLEANUP(free_ptr) struct finding *findings = NULL;
	struct term t = term_of(STDOUT_FILENO);
	size_t count = count_checks(), i = 0;

	doctor_init(&d);
	findings = xcalloc(count, sizeof(*findings));
	for (const struct check_group *g = check_groups; g->title; g++)
		for (const struct check *c = g->checks; c->name; c++)
			c->fn(&d, &findings[i++]);
	if (as_json)
		report_json(&d, findings, &text);
	else
		report_text(&d, findings, &t, &text);
	for (i = 0; i < count; i++)
		finding_release(&findings[i]);
	return command_flush(&text, STDOUT_FILENO) ? EXIT_DONE : EXIT_FAILED;
}

static int fix(const char *names, bool as_json)
{
	CLEANUP(strvec_release) strvec failures = {};
	CLEANUP(buf_release) struct buf text = {};
	struct roots roots = roots_find();
	struct err e = {};
	int r = fix_run(&roots, names, as_json, &text, &failures, &e);

	if (r < 0)
		return command_fail(r == -EINVAL ? EXIT_USAGE : EXIT_FAILED, "doctor: %s", e.text);
	vec_each(&failures, sentence)
		command_fail(EXIT_FAILED, "doctor: %s", *sentence);
	return command_flush(&text, STDOUT_FILENO) && !failures.len ? EXIT_DONE : EXIT_FAILED;
}

static int run_doctor(const struct command *self, int argc, char **argv)
{
	struct doctor_options o = {};
	int status, used = command_options(self, &o, argc, argv, &status);

	if (used < 0)
		return status;
	if (used < argc)
		return command_fail(
			EXIT_USAGE,
			"doctor: takes no argument '%s' (names of fixes: --fix=NAME,...)",
			argv[used]);
	return o.fix ? fix(o.fix, o.json) : examine(o.json);
}

static const struct option_def doctor_table[] = {
	{0, "fix", "NAME,...", OPT_OPTIONAL, offsetof(struct doctor_options, fix),
	 "change this machine instead of examining it: without names only what is harmless "
	 "(tracefs), with names those as well: paranoid, kptr, watchdog, governor"},
	{0, "json", NULL, OPT_FLAG, offsetof(struct doctor_options, json),
	 "write one JSON object instead of text"},
	{},
};

const struct command cmd_doctor = {
	.name = "doctor",
	.summary = "say what can be measured on this machine, what not, and how to change that",
	.usage = "[--json]\n--fix[=NAME,...] [--json]",
	.details =
		"Each line is one check: its status, what was looked at, and what was found. The "
		"status is 'ok'; 'limited' when it works in part, or makes results less steady; "
		"'missing' when it does not work; or 'info'. Below what is not ok stand what that "
		"costs, and the command that changes it. Nothing is guessed where it can be tried: "
		"events are opened, a BPF program is loaded, the clock is read, and the other "
		"processes are watched for a tenth of a second. Nothing is changed.\n"
		"\n"
		"With --fix the machine is changed, which takes root:\n"
		"tracefs mounts tracefs on /sys/kernel/tracing;\n"
		"paranoid sets kernel.perf_event_paranoid to 1, so that plain users may measure "
		"their own processes, in the kernel too;\n"
		"kptr sets kernel.kptr_restrict to 0, so that kernel functions have names;\n"
		"watchdog sets kernel.nmi_watchdog to 0, which frees a hardware counter;\n"
		"governor keeps all CPUs at their highest frequency.\n"
		"Without names only tracefs is done. What is changed is printed with the old and "
		"the new value, lasts until the next boot, and comes with the line of a "
		"configuration "
		"file that makes it last. A setting that is wider already is left alone.\n"
		"\n"
		"With TACHO_SYSFS and TACHO_PROCFS set, the files of another machine are examined. "
		"Then nothing is opened, run or measured, and --fix refuses to work.",
	.examples = "  tacho doctor                       # examine this machine\n"
		    "  sudo tacho doctor --fix            # mount tracefs\n"
		    "  sudo tacho doctor --fix=paranoid   # let plain users measure the kernel\n"
		    "  tacho doctor --json | jq '.checks[] | select(.status == \"missing\")'",
	.exit_status = "0 when the examination worked, whatever it found, or when all of --fix is "
		       "done; 1 when something failed; 2 wrong usage.",
	.options = doctor_table,
	.run = run_doctor,
};
