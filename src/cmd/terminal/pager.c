#include "cmd/terminal/pager.h"
#include "cmd/command.h"

#include <fcntl.h>
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

void pager_begin(struct pager *p)
{
	const char *pager = getenv("PAGER"), *terminal = getenv("TERM");
	char *argv[] = {(char *)(pager && *pager ? pager : "less"), NULL};
	posix_spawn_file_actions_t actions;
	int pipes[2];
	bool ok;

	*p = (struct pager){.fd = STDOUT_FILENO};
	/* A $PAGER with arguments would need a shell: not used. less gets its options by LESS. */
	if (!isatty(STDOUT_FILENO) || (terminal && !strcmp(terminal, "dumb")) ||
	    strchr(argv[0], ' ') || !strcmp(argv[0], "cat") || pipe2(pipes, O_CLOEXEC))
		return;
	/* S: do not wrap lines, because C++ template names would fill the screen. */
	setenv("LESS", "FRSX", 0);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, pipes[0], STDIN_FILENO);
	ok = posix_spawnp(&p->child, argv[0], &actions, NULL, argv, environ) == 0;
	posix_spawn_file_actions_destroy(&actions);
	close(pipes[0]);
	if (ok) {
		p->fd = pipes[1];
	} else {
		close(pipes[1]);
		p->child = 0;
	}
}

void pager_end(struct pager *p)
{
	if (!p->child)
		return;
	close(p->fd);
	waitpid(p->child, NULL, 0);
	*p = (struct pager){.fd = STDOUT_FILENO};
}

bool pager_show(struct buf *text)
{
	struct winsize size;
	struct pager pager;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && line_count(text) < size.ws_row)
		return command_flush(text, STDOUT_FILENO);
	pager_begin(&pager);
	if (!pager.child)
		return command_flush(text, STDOUT_FILENO);
	command_flush(text, pager.fd);
	pager_end(&pager);
	return true;
}
