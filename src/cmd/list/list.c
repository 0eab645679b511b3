#include "cmd/list/list.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/terminal/pager.h"
#include "perf/open.h"

#include <string.h>
#include <unistd.h>

static const struct option_def list_table[] = {
	{'s', "search", "TEXT", OPT_STR, offsetof(struct list_options, search),
	 "only events with TEXT in their name or description"},
	{'g', "group", "GROUP", OPT_STR, offsetof(struct list_options, group),
	 "only hw, sw, cache, pmu, tracepoint, sdt, probe or raw"},
	{'u', "uarch", "NAME", OPT_STR, offsetof(struct list_options, uarch),
	 "events of another microarchitecture (zen4, icelakex, skl …), of all, or help to name "
	 "them"},
	{'b', "binary", "FILE", OPT_LIST, offsetof(struct list_options, binaries),
	 "also show the SDT markers of a program or library"},
	{'j', "json", NULL, OPT_FLAG, offsetof(struct list_options, json), "as JSON"},
	{'n', "names", NULL, OPT_FLAG, offsetof(struct list_options, names),
	 "only the names, one a line, untested"},
	{},
};

static bool mask_contains(const struct catalog_entry *entry, const char *text)
{
	for (size_t i = 0; i < entry->mask_count; i++)
		if (text_contains(entry->masks[i].name, text) ||
		    text_contains(entry->masks[i].description, text))
			return true;
	return false;
}

static bool name_matches(const char *pattern, const struct catalog_entry *entry)
{
	if (text_is_glob(pattern))
		return text_glob(pattern, entry->name) ||
		       (entry->alias && text_glob(pattern, entry->alias));
	return text_contains(entry->name, pattern) || text_contains(entry->alias, pattern) ||
	       text_contains(entry->pmu, pattern);
}

static bool is_wanted(const struct list *list, const struct catalog_entry *entry)
{
	const char *text = list->options->search;

	if (list->glob && !name_matches(list->glob, entry))
		return false;
	return !text || text_contains(entry->name, text) || text_contains(entry->alias, text) ||
	       text_contains(entry->description, text) || text_contains(entry->details, text) ||
	       mask_contains(entry, text);
}

/* Tries to open the event; @verdict gets the result, and the reason if that fails. */
static void examine(struct list *list, const struct catalog_entry *entry, struct verdict *verdict)
{
	int code;

	verdict->tested = entry->openable && !list->options->names;
	verdict->code = 0;
	buf_clear(&verdict->reason);
	if (!verdict->tested)
		return;
	code = availability_of(&list->availability, entry);
	if (code < 0)
		verdict->tested = false;
	else if (code > 0)
		perf_open_reason(code, &entry->attr, entry->cpu >= 0, catalog_no_pmu(list->catalog),
				 &verdict->reason);
	verdict->code = code;
}

static bool visit(void *ctx, const struct catalog_entry *entry)
{
	struct list *list = ctx;

	if (!is_wanted(list, entry))
		return true;
	examine(list, entry, &list->verdict);
	list->shown++;
	if (list->options->json)
		list_json_entry(list, entry);
	else if (list->options->names)
		buf_addf(&list->out, "%s\n", entry->name);
	else
		list_text_entry(list, entry);
	/* Do not keep all JSON in memory: it may have a hundred thousand lines. */
	if (list->options->json && list->out.len > (1 << 20))
		return command_flush(&list->out, STDOUT_FILENO);
	return true;
}

static void note_problem(void *ctx, enum event_kind kind, const char *sentence)
{
	struct list *list = ctx;

	list->problems++;
	/* Unreadable tracepoints are a note, not an error, unless the user chose a group. */
	if (kind == KIND_TRACEPOINT && !list->options->json && !list->options->names &&
	    list->query.kind < 0)
		list_text_note(list, kind, sentence);
	else
		command_fail(0, "list: %s", sentence);
}

static void print_uarch(void *ctx, const char *name, const char *description, bool present)
{
	struct buf *out = ctx;

	buf_addf(out, "  %-24s %s%s\n", name, description, present ? "  (this machine)" : "");
}

static int list_uarchs(struct catalog *c)
{
	CLEANUP(buf_release) struct buf out = {};

	catalog_uarchs(c, print_uarch, &out);
	return pager_show(&out) ? EXIT_DONE : EXIT_FAILED;
}

static int finish(struct list *list)
{
	const struct list_options *o = list->options;
	bool ok;

	if (o->json)
		buf_add(&list->out, list->shown ? "\n]\n" : "[]\n");
	else if (!o->names)
		list_text_finish(list);
	ok = o->json || o->names ? command_flush(&list->out, STDOUT_FILENO)
				 : pager_show(&list->out);
	if (!ok)
		return EXIT_FAILED;
	if (!list->shown && !list->problems)
		return command_fail(EXIT_FAILED,
				    "list: no event matches (tacho list --search TEXT looks in "
				    "descriptions too, --uarch all at every CPU)");
	return list->shown ? EXIT_DONE : EXIT_FAILED;
}

static int run_list(const struct command *self, int argc, char **argv)
{
	struct list_options o = {};
	struct list list = {.options = &o, .query.kind = -1};
	CLEANUP(catalog_release) struct catalog c;
	strvec binaries = {};
	enum event_kind kind;
	int status, used = command_options(self, &o, argc, argv, &status), more = 0;
	const char *word = used >= 0 && used < argc ? argv[used] : NULL;

	catalog_init(&c);
	if (used < 0)
		return status;
	/* Options may also follow the word. */
	if (word &&
	    (more = command_options(self, &o, argc - used - 1, argv + used + 1, &status)) < 0)
		return status;
	if (o.group && !event_kind_find(o.group, &kind))
		return command_fail(EXIT_USAGE,
				    "list: '%s' is not a group (hw, sw, cache, pmu, tracepoint, "
				    "sdt, probe, raw)",
				    o.group);
	if (o.group)
		list.query.kind = (int)kind;
	if (word && event_kind_find(word, &kind) && !o.group)
		list.query.kind = (int)kind;
	else if (word)
		list.glob = word;
	if (word && used + 1 + more < argc)
		return command_fail(EXIT_USAGE,
				    "list: one GROUP or GLOB at most; quote a pattern, so "
				    "that the shell does not expand it");
	if (o.uarch && !strcmp(o.uarch, "help"))
		return list_uarchs(&c);
	vec_each(&o.binaries, path)
		vec_push(&binaries, (char *)*path);
	list.query.uarch = o.uarch;
	list.query.binaries = &binaries;
	list.query.name_glob = list.glob && text_is_glob(list.glob) ? list.glob : NULL;
	list.availability.roots = &c.roots;
	list.catalog = &c;
	list_text_begin(&list);
	catalog_visit(&c, &list.query, visit, note_problem, &list);
	status = finish(&list);
	buf_release(&list.out);
	buf_release(&list.verdict.reason);
	usage_release(&list.usage);
	vec_release(&binaries);
	vec_release(&o.binaries);
	return status;
}

const struct command cmd_list = {
	.name = "list",
	.summary = "list the events of this machine, or of any other",
	.usage = "[OPTIONS] [GROUP|GLOB]",
	.details =
		"Shows every event that can be counted: the kernel's generic hardware, cache and "
		"software events, events of all PMUs, tracepoints, probes, and the symbolic events "
		"of "
		"this CPU from loaded event files (see tacho events) or libpfm4. Each is really "
		"opened "
		"to see whether it can be used here and now; where it cannot, the reason is "
		"shown.\n\n"
		"GROUP is hw, sw, cache, pmu, tracepoint, sdt, probe or raw. GLOB is matched with "
		"the "
		"whole name; without one of *?[ it is looked for inside of names. What you count "
		"most "
		"comes first.",
	.examples = "  tacho list 'sched:*'                       # all scheduler tracepoints\n"
		    "  tacho list --search LLC                    # in names and descriptions\n"
		    "  tacho list --uarch zen4 --search 'cache miss'\n"
		    "  tacho list --uarch all --json              # every event of every known CPU",
	.words = "hw sw cache pmu tracepoint sdt probe raw",
	.options = list_table,
	.run = run_list,
};
