#include "cmd/pager.h"
#include "cmd/command.h"

#include <spawn.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static size_t line_count(const struct buf *text)
{
	size_t lines = 0;

	for (size_t i = 0; i < text->len; i++)
		lines += text->s[i] == '\n';
	return lines;
}

bool pager_show(struct buf *text)
{
	const char *pager = getenv("PAGER");
	char *argv[] = {(char *)(pager && *pager ? pager : "less"), NULL};
	posix_spawn_file_actions_t actions;
	struct winsize size;
	int pipes[2];
	pid_t child;
	bool ok;

	/* A pager with arguments would need a shell to take it apart; less knows ours by LESS. */
	if (!isatty(STDOUT_FILENO) || strchr(argv[0], ' ') || !strcmp(argv[0], "cat") ||
	    (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && line_count(text) < size.ws_row) ||
	    pipe(pipes))
		return command_flush(text, STDOUT_FILENO);
	setenv("LESS", "FRX", 0);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, pipes[0], STDIN_FILENO);
	posix_spawn_file_actions_addclose(&actions, pipes[1]);
	ok = posix_spawnp(&child, argv[0], &actions, NULL, argv, environ) == 0;
	posix_spawn_file_actions_destroy(&actions);
	close(pipes[0]);
	if (!ok) {
		close(pipes[1]);
		return command_flush(text, STDOUT_FILENO);
	}
	command_flush(text, pipes[1]);
	close(pipes[1]);
	waitpid(child, NULL, 0);
	return true;
}
