/*
 * tacho-server: the commands that need HTTP, SQL and HDF5. `tacho` describes them and executes this
 * program; see cmd/command.h. To add a command: describe it in a file that both programs have, and
 * add a row below.
 */
#include "base/alloc.h"
#include "cmd/command.h"
#include "cmd/server/commands.h"

#include <signal.h>
#include <string.h>

const struct command *const commands[] = {&cmd_serve, &cmd_config, &cmd_users,  &cmd_run,  &cmd_ls,
					  &cmd_show,  &cmd_rm,     &cmd_export, &cmd_view, NULL};

static const struct {
	const struct command *command;
	int (*run)(const struct command *self, int argc, char **argv);
} table[] = {
	{&cmd_serve, server_serve}, {&cmd_config, server_config_show},
	{&cmd_users, server_users}, {&cmd_run, server_run},
	{&cmd_ls, server_ls},       {&cmd_show, server_show},
	{&cmd_rm, server_rm},       {&cmd_export, server_export},
	{&cmd_view, server_view},
};

int command_exec_server(const struct command *self, int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].command == self)
			return table[i].run(self, argc, argv);
	return command_fail(EXIT_USAGE, "'%s' is not a command of tacho-server", self->name);
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	alloc_keep_freed();
	alloc_share_arenas();
	for (size_t i = 0; argc > 1 && commands[i]; i++)
		if (!strcmp(commands[i]->name, argv[1]))
			return commands[i]->run(commands[i], argc - 2, argv + 2);
	return command_fail(EXIT_USAGE, "tacho-server is started by tacho: see tacho help");
}
