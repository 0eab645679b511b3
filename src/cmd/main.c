#include "cmd/command.h"
#include "base/text.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifndef TACHO_VERSION
#define TACHO_VERSION "unknown"
#endif

const struct command *const commands[] = {
	&cmd_stat,   &cmd_record,     &cmd_top,  &cmd_report,  &cmd_annotate, &cmd_flame,
	&cmd_diff,   &cmd_script,     &cmd_info, &cmd_convert, &cmd_list,     &cmd_events,
	&cmd_doctor, &cmd_completion, &cmd_help, NULL,
};

int command_fail(int status, const char *fmt, ...)
{
	CLEANUP(buf_release) struct buf text = {}, out = {};
	CLEANUP(strvec_release) strvec lines = {};
	va_list ap;

	va_start(ap, fmt);
	buf_addv(&text, fmt, ap);
	va_end(ap);
	/* What is quoted in it came from outside. */
	text_split(buf_str(&text), "\n", &lines);
	buf_add(&out, "tacho: ");
	vec_each(&lines, line) {
		text_add_printable(&out, *line);
		buf_add_char(&out, '\n');
	}
	command_flush(&out, STDERR_FILENO);
	return status;
}

bool command_flush(struct buf *b, int fd)
{
	size_t done = 0;

	while (done < b->len) {
		ssize_t n = write(fd, b->s + done, b->len - done);

		if (n < 0 && errno == EINTR)
			continue;
		/* Somebody else who has the descriptor may have made it non-blocking. */
		if (n < 0 && errno == EAGAIN && poll(&(struct pollfd){fd, POLLOUT, 0}, 1, -1) > 0)
			continue;
		if (n < 0)
			break;
		done += (size_t)n;
	}
	bool all = done == b->len;
	int code = errno;

	buf_clear(b);
	/* A reader that went away knows it; a full disk must be said. */
	if (!all && fd == STDOUT_FILENO && code != EPIPE)
		command_fail(0, "cannot write the output: %s", strerror(code));
	return all;
}

int command_options(const struct command *self, void *values, int argc, char **argv,
		    int *ret_status)
{
	CLEANUP(buf_release) struct buf text = {};
	bool help = false;
	struct err e;
	int used;

	if (option_parse(self->options, values, argc, argv, &used, &help, &e) < 0) {
		*ret_status = command_fail(EXIT_USAGE, "%s: %s (see tacho %s --help)", self->name,
					   e.text, self->name);
		return -1;
	}
	if (help) {
		help_of_command(self, &text);
		*ret_status = command_flush(&text, STDOUT_FILENO) ? EXIT_DONE : EXIT_FAILED;
		return -1;
	}
	return used;
}

static int unknown_command(const char *name)
{
	CLEANUP(buf_release) struct buf hint = {};
	struct suggest near = {.wanted = name};

	for (size_t i = 0; commands[i]; i++)
		suggest_offer(&near, commands[i]->name);
	suggest_sentence(&near, &hint);
	suggest_release(&near);
	return command_fail(EXIT_USAGE, "unknown command '%s'%s (tacho help lists them)", name,
			    buf_str(&hint));
}

int main(int argc, char **argv)
{
	CLEANUP(buf_release) struct buf text = {};
	const char *name = argc > 1 ? argv[1] : NULL;

	/* A closed pipe is an error of write(), not the end of a run that still counts. */
	signal(SIGPIPE, SIG_IGN);
	/* Where a caller ignores this one, nobody would tell us that a child has ended. */
	signal(SIGCHLD, SIG_DFL);
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
		if (!strcmp(commands[i]->name, name))
			return commands[i]->run(commands[i], argc - 2, argv + 2);
	return unknown_command(name);
}
