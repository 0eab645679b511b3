#include "cmd/command.h"
#include "base/caps.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifndef TACHO_VERSION
#define TACHO_VERSION "unknown"
#endif

const struct command *const commands[] = {
	&cmd_stat,       &cmd_record,  &cmd_top,   &cmd_report,  &cmd_annotate, &cmd_flame,
	&cmd_diff,       &cmd_script,  &cmd_info,  &cmd_convert, &cmd_list,     &cmd_events,
	&cmd_doctor,     &cmd_collect, &cmd_serve, &cmd_config,  &cmd_users,    &cmd_run,
	&cmd_ls,         &cmd_show,    &cmd_rm,    &cmd_export,  &cmd_view,     &cmd_demo,
	&cmd_completion, &cmd_help,    NULL,
};

int main(int argc, char **argv)
{
	CLEANUP(buf_release) struct buf text = {};
	const char *name = argc > 1 ? argv[1] : NULL;

	/* Let write() fail on a closed pipe: SIGPIPE would end a run that still counts. */
	signal(SIGPIPE, SIG_IGN);
	/* If our parent ignored SIGCHLD, we inherit that and do not see children end. */
	signal(SIGCHLD, SIG_DFL);
	alloc_keep_freed();
	if (!name || !strcmp(name, "--help") || !strcmp(name, "-h")) {
		bool done;

		help_of_all(&text);
		done = command_flush(&text, name ? STDOUT_FILENO : STDERR_FILENO);
		return !name ? EXIT_USAGE : done ? EXIT_DONE : EXIT_FAILED;
	}
	if (!strcmp(name, "--version") || !strcmp(name, "-v") || !strcmp(name, "version")) {
		buf_add(&text, "tacho " TACHO_VERSION "\n");
		return command_flush(&text, STDOUT_FILENO) ? EXIT_DONE : EXIT_FAILED;
	}
	for (size_t i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, name)) {
			/* The server starts collectors, which may inherit what it was given. */
			if (commands[i]->run != command_exec_server)
				caps_begin();
			return commands[i]->run(commands[i], argc - 2, argv + 2);
		}
	return help_unknown(name);
}
