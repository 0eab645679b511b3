/* Makes both --help for the terminal and the manual pages from struct command. */
#include "cmd/command.h"
#include "base/term.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

#define HELP_WIDTH_MAX 100

struct help_options {
	bool man;
	bool help;
};

static void option_head(const struct option_def *d, struct buf *out)
{
	if (d->letter)
		buf_addf(out, "-%c%s", d->letter, d->name ? ", " : "");
	else
		buf_add(out, "    ");
	if (d->name)
		buf_addf(out, "--%s", d->name);
	if (d->arg && d->kind == OPT_OPTIONAL)
		buf_addf(out, "[=%s]", d->arg);
	else if (d->arg)
		buf_addf(out, " %s", d->arg);
}

static void add_options(const struct option_def *table, size_t width, struct buf *out)
{
	for (const struct option_def *d = table; d && d->kind; d++) {
		size_t start = out->len, indent = 30;

		if (!d->help)
			continue;
		if (d->kind == OPT_HEADING) {
			buf_addf(out, "\n%s:\n", d->help);
			continue;
		}
		buf_add(out, "  ");
		option_head(d, out);
		if (out->len - start > indent - 2) {
			buf_add_char(out, '\n');
			start = out->len;
		}
		buf_pad(out, indent - (out->len - start), ' ');
		buf_add_wrapped(out, d->help, indent, width);
		buf_add_char(out, '\n');
	}
}

static void add_usage(const struct command *c, struct buf *out)
{
	const char *line = c->usage;

	for (bool first = true; *line; first = false) {
		size_t len = strcspn(line, "\n");

		buf_addf(out, "%s tacho %s %.*s\n", first ? "Usage:" : "   or:", c->name, (int)len,
			 line);
		line += len + (line[len] == '\n');
	}
}

void help_of_command(const struct command *c, struct buf *out)
{
	struct term t = term_of(STDOUT_FILENO);
	size_t width = t.width > HELP_WIDTH_MAX ? HELP_WIDTH_MAX : t.width;

	add_usage(c, out);
	buf_addf(out, "\n%c%s.\n", toupper((unsigned char)c->summary[0]), c->summary + 1);
	add_options(c->options, width, out);
	if (c->details) {
		buf_add_char(out, '\n');
		buf_add_wrapped(out, c->details, 0, width);
		buf_add_char(out, '\n');
	}
	if (c->examples)
		buf_addf(out, "\nExamples:\n%s\n", c->examples);
	if (c->exit_status) {
		buf_add(out, "\nExit status:\n");
		buf_add_wrapped(out, c->exit_status, 0, width);
		buf_add_char(out, '\n');
	}
}

void help_of_all(struct buf *out)
{
	struct term t = term_of(STDOUT_FILENO);

	buf_addf(out, "%stacho%s: why is it slow, and did my change help?\n\n", t.bold, t.reset);
	buf_add(out, "Usage: tacho COMMAND [OPTIONS] …\n\n");
	for (size_t i = 0; commands[i]; i++)
		if (!commands[i]->hidden)
			buf_addf(out, "  %s%-12s%s %s\n", t.bold, commands[i]->name, t.reset,
				 commands[i]->summary);
	buf_add(out,
		"\ntacho COMMAND --help says more about one; tacho doctor says what works here.\n");
}

/* ---- manual pages ---- */

static void roff(struct buf *out, const char *s)
{
	bool line_start = true;

	for (; *s; s++) {
		if (line_start && (*s == '.' || *s == '\''))
			buf_add(out, "\\&");
		if (*s == '\\')
			buf_add(out, "\\e");
		else if (*s == '-')
			buf_add(out, "\\-");
		else
			buf_add_char(out, *s);
		line_start = *s == '\n';
	}
}

/* No .PP before the first paragraph: the heading already begins one. */
static void roff_paragraphs(struct buf *out, const char *text)
{
	for (bool first = true; *text; first = false) {
		const char *end = strstr(text, "\n\n");
		CLEANUP(free_ptr)
		char *part = xstrndup(text, end ? (size_t)(end - text) : strlen(text));

		if (!first)
			buf_add(out, ".PP\n");
		roff(out, part);
		buf_add_char(out, '\n');
		if (!end)
			return;
		text = end + 2;
	}
}

static void roff_options(const struct option_def *table, struct buf *out)
{
	for (const struct option_def *d = table; d && d->kind; d++) {
		CLEANUP(buf_release) struct buf head = {};

		if (!d->help)
			continue;
		if (d->kind == OPT_HEADING) {
			buf_addf(out, ".SS %s\n", d->help);
			continue;
		}
		option_head(d, &head);
		buf_add(out, ".TP\n.B ");
		roff(out, buf_str(&head) + strspn(buf_str(&head), " "));
		buf_add_char(out, '\n');
		roff(out, d->help);
		buf_add_char(out, '\n');
	}
}

static void manual_of_tacho(struct buf *out)
{
	buf_add(out, ".TH TACHO 1 \"\" \"tacho\" \"User Commands\"\n.SH NAME\n"
		     "tacho \\- performance workbench for Linux\n.SH SYNOPSIS\n"
		     ".B tacho\n.I COMMAND\n[\\fIOPTIONS\\fR] ...\n.SH COMMANDS\n");
	for (size_t i = 0; commands[i]; i++) {
		if (commands[i]->hidden)
			continue;
		buf_addf(out, ".TP\n.BR tacho\\-%s (1)\n", commands[i]->name);
		roff(out, commands[i]->summary);
		buf_add_char(out, '\n');
	}
	buf_add(out,
		".SH ENVIRONMENT\n"
		".TP\n.B TACHO_SYSFS, TACHO_PROCFS\nuse these instead of /sys and /proc, to "
		"look at a machine from a copy of its files\n"
		".TP\n.B NO_COLOR\nno colours on a terminal\n"
		".SH FILES\n"
		".TP\n.I $XDG_CONFIG_HOME/tacho/events.conf\ndefault modifiers per event: lines "
		"\\(lqPATTERN MODIFIERS\\(rq\n"
		".TP\n.I $XDG_DATA_HOME/tacho/events/\nevent files added by tacho events load\n");
}

void help_manual(const struct command *c, struct buf *out)
{
	const char *line;

	if (!c) {
		manual_of_tacho(out);
		return;
	}
	buf_add(out, ".TH TACHO\\-");
	for (const char *s = c->name; *s; s++)
		buf_add_char(out, (char)toupper((unsigned char)*s));
	buf_addf(out, " 1 \"\" \"tacho\" \"User Commands\"\n.SH NAME\ntacho\\-%s \\- ", c->name);
	roff(out, c->summary);
	buf_add(out, "\n.SH SYNOPSIS\n.nf\n");
	for (line = c->usage; *line;) {
		size_t len = strcspn(line, "\n");
		CLEANUP(free_ptr) char *form = xstrndup(line, len);

		buf_addf(out, "\\fBtacho %s\\fR ", c->name);
		roff(out, form);
		buf_add_char(out, '\n');
		line += len + (line[len] == '\n');
	}
	buf_add(out, ".fi\n");
	if (c->details) {
		buf_add(out, ".SH DESCRIPTION\n");
		roff_paragraphs(out, c->details);
	}
	if (c->options && c->options->kind) {
		buf_add(out, ".SH OPTIONS\n");
		roff_options(c->options, out);
	}
	buf_add(out, ".SH EXIT STATUS\n");
	roff(out, c->exit_status ? c->exit_status : "0 done, 1 failed, 2 wrong usage.");
	buf_add_char(out, '\n');
	if (c->examples) {
		buf_add(out, ".SH EXAMPLES\n.nf\n");
		roff(out, c->examples);
		buf_add(out, "\n.fi\n");
	}
	buf_add(out, ".SH SEE ALSO\n.BR tacho (1)\n");
}

/* Commands of perf that tacho does not have, and the nearest command of tacho. */
static const struct {
	const char *name, *instead;
} commands_of_perf[] = {
	{"archive", NULL},
	{"bench", NULL},
	{"buildid-cache", NULL},
	{"buildid-list", "tacho script --show-mmap-events"},
	{"c2c", NULL},
	{"daemon", "tacho serve"},
	{"data", "tacho convert"},
	{"evlist", "tacho info"},
	{"ftrace", NULL},
	{"inject", NULL},
	{"iostat", NULL},
	{"kallsyms", NULL},
	{"kmem", NULL},
	{"kvm", NULL},
	{"kwork", NULL},
	{"lock", NULL},
	{"mem", NULL},
	{"probe", NULL},
	{"sched", NULL},
	{"test", NULL},
	{"timechart", NULL},
	{"trace", NULL},
};

int help_unknown(const char *name)
{
	CLEANUP(buf_release) struct buf hint = {};
	struct suggest near = {.wanted = name};

	for (size_t i = 0; i < ARRAY_LEN(commands_of_perf); i++) {
		const char *instead = commands_of_perf[i].instead;

		if (!strcmp(name, commands_of_perf[i].name))
			return command_fail(
				EXIT_USAGE,
				"'%s' is a command of perf that tacho does not have%s%s "
				"(tacho help lists those that it has)",
				name, instead ? "; the nearest is " : "", instead ? instead : "");
	}
	for (size_t i = 0; commands[i]; i++)
		if (!commands[i]->hidden)
			suggest_offer(&near, commands[i]->name);
	suggest_sentence(&near, &hint);
	suggest_release(&near);
	return command_fail(EXIT_USAGE, "unknown command '%s'%s (tacho help lists them)", name,
			    buf_str(&hint));
}

static int run_help(const struct command *self, int argc, char **argv)
{
	CLEANUP(buf_release) struct buf text = {};
	const struct command *wanted = NULL;
	struct help_options o = {};
	int status, used = command_options(self, &o, argc, argv, &status);

	if (used < 0)
		return status;
	for (size_t i = 0; used < argc && commands[i]; i++)
		if (!strcmp(commands[i]->name, argv[used]))
			wanted = commands[i];
	if (used < argc && !wanted && strcmp(argv[used], "tacho"))
		return help_unknown(argv[used]);
	if (o.man)
		help_manual(wanted, &text);
	else if (wanted)
		help_of_command(wanted, &text);
	else
		help_of_all(&text);
	return command_flush(&text, STDOUT_FILENO) ? EXIT_DONE : EXIT_FAILED;
}

static const struct option_def help_table[] = {
	{0, "man", NULL, OPT_FLAG, offsetof(struct help_options, man),
	 "as a manual page (roff) instead of plain text"},
	{},
};

const struct command cmd_help = {
	.name = "help",
	.summary = "explain a command, or list them all",
	.usage = "[--man] [COMMAND]",
	.examples = "  tacho help stat\n  tacho help --man stat | man -l -",
	.options = help_table,
	.run = run_help,
};
