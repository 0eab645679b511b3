#include "cmd/command.h"
#include "event/vendor.h"

#include <string.h>
#include <unistd.h>

struct events_options {
	const char *uarch, *cpu;
};

static const struct option_def events_table[] = {
	{'u', "uarch", "NAME", OPT_STR, offsetof(struct events_options, uarch),
	 "with load: name of the microarchitecture, if the files do not tell"},
	{'c', "cpu", "REGEX", OPT_STR, offsetof(struct events_options, cpu),
	 "with load: CPUs that the events are for, such as GenuineIntel-6-6A; without it a "
	 "mapfile.csv "
	 "beside or above the files tells"},
	{},
};

static void print_row(struct buf *out, const struct vendor_installed *item)
{
	buf_addf(out, "%-20s %6zu events %6zu metrics%s\n", item->uarch, item->events,
		 item->metrics, item->this_cpu ? "  (this CPU)" : "");
}

static int show(struct buf *out)
{
	struct roots roots = roots_find();
	vendor_installed_list list = {};
	char cpuid[128];

	cpuid_text(&roots, cpuid, sizeof(cpuid));
	vendor_list(&roots, &list);
	if (!list.len)
		buf_add(out, "No event files are loaded; tacho events load FILE|DIR adds them.\n");
	vec_each(&list, item)
		print_row(out, item);
	buf_addf(out, "This CPU is %s.\n", *cpuid ? cpuid : "of a kind that has no id");
	vendor_installed_release(&list);
	return command_flush(out, STDOUT_FILENO) ? EXIT_DONE : EXIT_FAILED;
}

static int load(const struct events_options *o, char **paths, int count, struct buf *out)
{
	int status = EXIT_DONE;

	for (int i = 0; i < count; i++) {
		vendor_installed_list list = {};
		struct err e;

		if (vendor_install(paths[i], o->uarch, o->cpu, &list, &e) < 0)
			status = command_fail(EXIT_FAILED, "events: %s", e.text);
		vec_each(&list, item)
			print_row(out, item);
		vendor_installed_release(&list);
	}
	command_flush(out, STDOUT_FILENO);
	return status;
}

static int run_events(const struct command *self, int argc, char **argv)
{
	CLEANUP(buf_release) struct buf out = {};
	struct events_options o = {};
	int status, used = command_options(self, &o, argc, argv, &status), more = 0;
	const char *verb = used >= 0 && used < argc ? argv[used] : "";
	struct err e;

	if (used < 0)
		return status;
	/* Options may also follow the verb. */
	if (*verb &&
	    (more = command_options(self, &o, argc - used - 1, argv + used + 1, &status)) < 0)
		return status;
	used += more + 1;
	if (!*verb || !strcmp(verb, "list"))
		return show(&out);
	if (used >= argc && (!strcmp(verb, "load") || !strcmp(verb, "remove")))
		return command_fail(EXIT_USAGE,
				    "events: %s needs an argument (load FILE|DIR, remove UARCH)",
				    verb);
	if (!strcmp(verb, "load"))
		return load(&o, argv + used, argc - used, &out);
	if (strcmp(verb, "remove"))
		return command_fail(EXIT_USAGE, "events: '%s' is not load, list or remove", verb);
	for (; used < argc; used++)
		if (vendor_remove(argv[used], &e) < 0)
			status = command_fail(EXIT_FAILED, "events: %s", e.text);
		else
			status = EXIT_DONE;
	return status;
}

const struct command cmd_events = {
	.name = "events",
	.summary = "load vendors' event files, list or remove what is loaded",
	.usage = "[list]\nload [--uarch NAME] [--cpu REGEX] FILE|DIR …\nremove UARCH …",
	.details =
		"Reads event and metric files in the JSON form that the Linux kernel (tools/perf/"
		"pmu-events) and Intel (perfmon) publish, one file or a folder with all below it. "
		"They "
		"are kept in the data directory, and for the CPU that they are for they win over "
		"libpfm4: their names can be given to -e, their metrics to -M. Loading a file "
		"again "
		"replaces the events of the same name.",
	.examples = "  tacho events load perfmon/ICX/events\n"
		    "  tacho events load --cpu 'AuthenticAMD-25-1[0-9A-F]' amdzen4/\n"
		    "  tacho list --uarch icelakex",
	.words = "list load remove",
	.options = events_table,
	.run = run_events,
};
