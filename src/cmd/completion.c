/* Scripts that complete tacho's command line, made from the same table as --help. */
#include "cmd/command.h"
#include "base/text.h"

#include <string.h>
#include <unistd.h>

static const struct option_def completion_table[] = {{}};

static bool completes_files(const char *arg)
{
	return arg && (!strcmp(arg, "FILE") || !strcmp(arg, "DIR"));
}

static bool completes_events(const char *arg)
{
	return arg && !strcmp(arg, "EVENT");
}

/* Whether the options are followed by a command line to run. */
static bool takes_command(const struct command *c)
{
	return !strcmp(c->name, "stat") || !strcmp(c->name, "record") || !strcmp(c->name, "run");
}

static void bash_words(const struct command *c, struct buf *out)
{
	for (const struct option_def *d = c->options; d && d->kind; d++) {
		if (d->name && d->help)
			buf_addf(out, "--%s ", d->name);
		if (d->letter && d->help)
			buf_addf(out, "-%c ", d->letter);
	}
	buf_addf(out, "--help %s", c->words ? c->words : "");
}

static void script_bash(struct buf *out)
{
	buf_add(out,
		"# tacho completion for bash: source this file, or put it where bash looks\n"
		"_tacho() {\n"
		"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=\n"
		"\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n\t\tCOMPREPLY=($(compgen -W '");
	for (size_t i = 0; commands[i]; i++)
		if (!commands[i]->hidden)
			buf_addf(out, "%s ", commands[i]->name);
	buf_add(out, "--help --version' -- \"$cur\"))\n\t\treturn\n\tfi\n"
		     "\tcase $prev in\n"
		     "\t-e|--event)\n"
		     "\t\tcompopt -o nospace 2>/dev/null\n"
		     "\t\tCOMPREPLY=($(compgen -W \"$(tacho list --names 2>/dev/null)\" -- "
		     "\"${cur##*,}\"))\n"
		     "\t\t[ \"$cur\" != \"${cur%,*}\" ] && "
		     "COMPREPLY=(\"${COMPREPLY[@]/#/${cur%,*},}\")\n"
		     "\t\treturn ;;\n"
		     "\t-o|--output|-b|--binary) COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n"
		     "\tesac\n"
		     "\tcase ${COMP_WORDS[1]} in\n");
	for (size_t i = 0; commands[i]; i++) {
		if (commands[i]->hidden)
			continue;
		buf_addf(out, "\t%s) words='", commands[i]->name);
		bash_words(commands[i], out);
		buf_add(out, "' ;;\n");
	}
	buf_add(out, "\tesac\n"
		     "\tif [[ $cur == -* || ! ${COMP_WORDS[1]} =~ ^(stat|record|run)$ ]]; then\n"
		     "\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n\tfi\n"
		     "\t[ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -c -- \"$cur\"))\n"
		     "}\ncomplete -F _tacho tacho\n");
}

/* zsh and fish show the help beside each option; a quote in it would end the string. */
static void add_help(const char *help, const char *unwanted, struct buf *out)
{
	for (; *help; help++)
		if (!strchr(unwanted, *help))
			buf_add_char(out, *help);
}

static void zsh_option(const struct option_def *d, struct buf *out)
{
	const char *action = completes_files(d->arg)             ? ":file:_files"
			     : completes_events(d->arg)          ? ":event:_tacho_events"
			     : d->arg && d->kind != OPT_OPTIONAL ? ":value: "
								 : "";
	if (d->letter) {
		buf_addf(out, "\t\t\t'*-%c[", d->letter);
		add_help(d->help, "'[]:", out);
		buf_addf(out, "]%s' \\\n", action);
	}
	if (d->name) {
		buf_addf(out, "\t\t\t'*--%s[", d->name);
		add_help(d->help, "'[]:", out);
		buf_addf(out, "]%s' \\\n", action);
	}
}

static void script_zsh(struct buf *out)
{
	buf_add(out, "#compdef tacho\n"
		     "_tacho_events() {\n"
		     "\tlocal -a names\n\tnames=(${(f)\"$(tacho list --names 2>/dev/null)\"})\n"
		     "\t_values -s , event ${names//:/\\\\:}\n}\n"
		     "_tacho() {\n\tlocal -a cmds\n\tcmds=(\n");
	for (size_t i = 0; commands[i]; i++)
		if (!commands[i]->hidden)
			buf_addf(out, "\t\t'%s:%s'\n", commands[i]->name, commands[i]->summary);
	buf_add(out,
		"\t)\n\tif (( CURRENT == 2 )); then\n\t\t_describe command cmds\n\t\treturn\n\tfi\n"
		"\tlocal cmd=${words[2]}\n\tshift words\n\t(( CURRENT-- ))\n\tcase $cmd in\n");
	for (size_t i = 0; commands[i]; i++) {
		if (commands[i]->hidden)
			continue;
		buf_addf(out, "\t%s)\n\t\t_arguments \\\n", commands[i]->name);
		for (const struct option_def *d = commands[i]->options; d && d->kind; d++)
			if (d->kind != OPT_HEADING && d->help)
				zsh_option(d, out);
		if (commands[i]->words)
			buf_addf(out, "\t\t\t'1:word:(%s)' \\\n", commands[i]->words);
		buf_addf(out, "\t\t\t'--help[explain]' '*::arg:%s'\n\t\t;;\n",
			 takes_command(commands[i]) ? "_normal" : "_files");
	}
	buf_add(out, "\tesac\n}\n_tacho \"$@\"\n");
}

static void script_fish(struct buf *out)
{
	buf_add(out, "# tacho completion for fish\n");
	for (size_t i = 0; commands[i]; i++) {
		const struct command *c = commands[i];

		if (c->hidden)
			continue;
		buf_addf(out, "complete -c tacho -n __fish_use_subcommand -f -a %s -d '%s'\n",
			 c->name, c->summary);
		for (const struct option_def *d = c->options; d && d->kind; d++) {
			if (d->kind == OPT_HEADING || !d->help)
				continue;
			buf_addf(out, "complete -c tacho -n '__fish_seen_subcommand_from %s'",
				 c->name);
			if (d->letter)
				buf_addf(out, " -s %c", d->letter);
			if (d->name)
				buf_addf(out, " -l %s", d->name);
			if (completes_events(d->arg))
				buf_add(out, " -x -a '(tacho list --names)'");
			else if (d->arg && d->kind != OPT_OPTIONAL)
				buf_add(out, completes_files(d->arg) ? " -r" : " -x");
			buf_add(out, " -d '");
			add_help(d->help, "'\\", out);
			buf_add(out, "'\n");
		}
		if (c->words)
			buf_addf(out,
				 "complete -c tacho -n '__fish_seen_subcommand_from %s' -a '%s'\n",
				 c->name, c->words);
	}
}

static const struct {
	const char *name;
	void (*script)(struct buf *out);
} shells[] = {{"bash", script_bash}, {"zsh", script_zsh}, {"fish", script_fish}};

static int run_completion(const struct command *self, int argc, char **argv)
{
	CLEANUP(buf_release) struct buf out = {};
	int status, used = command_options(self, &out, argc, argv, &status);

	if (used < 0)
		return status;
	for (size_t i = 0; used < argc && i < ARRAY_LEN(shells); i++) {
		if (strcmp(shells[i].name, argv[used]))
			continue;
		shells[i].script(&out);
		return command_flush(&out, STDOUT_FILENO) ? EXIT_DONE : EXIT_FAILED;
	}
	return command_fail(EXIT_USAGE, "completion: for which shell? bash, zsh or fish");
}

const struct command cmd_completion = {
	.name = "completion",
	.summary = "print a script that completes tacho's command line",
	.usage = "bash|zsh|fish",
	.examples = "  source <(tacho completion bash)\n"
		    "  tacho completion fish > ~/.config/fish/completions/tacho.fish",
	.words = "bash zsh fish",
	.options = completion_table,
	.run = run_completion,
};
