/* What all commands share: parsing options, printing errors and output. */
#include "cmd/command.h"
#include "base/io.h"
#include "base/text.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

int command_fail(int status, const char *fmt, ...)
{
	CLEANUP(buf_release) struct buf text = {}, out = {};
	CLEANUP(strvec_release) strvec lines = {};
	va_list ap;

	va_start(ap, fmt);
	buf_addv(&text, fmt, ap);
	va_end(ap);
	/* Quoted parts came from outside: print control characters as "?". */
	text_split(buf_str(&text), "\n", &lines);
	buf_add(&out, "tacho: ");
	vec_each(&lines, line) {
		text_add_printable(&out, *line);
		buf_add_char(&out, '\n');
	}
	command_flush(&out, STDERR_FILENO);
	return status;
}

/* Writes all of @b. Returns 0 or a positive errno; reports failures on stdout other than EPIPE. */
static int write_all(struct buf *b, int fd)
{
	int code = -io_write(fd, b->s, b->len);

	buf_clear(b);
	if (code && fd == STDOUT_FILENO && code != EPIPE)
		command_fail(0, "cannot write the output: %s", strerror(code));
	return code;
}

bool command_flush_on(struct buf *b, int fd)
{
	return !write_all(b, fd);
}

void command_end_by_pipe(void)
{
	sigset_t pipes;

	sigemptyset(&pipes);
	sigaddset(&pipes, SIGPIPE);
	signal(SIGPIPE, SIG_DFL);
	pthread_sigmask(SIG_UNBLOCK, &pipes, NULL);
	raise(SIGPIPE);
}

bool command_flush(struct buf *b, int fd)
{
	int code = write_all(b, fd);

	if (code == EPIPE && fd == STDOUT_FILENO)
		command_end_by_pipe();
	return !code;
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

bool command_one_word(const struct command *self, void *values, int argc, char **argv,
		      const char **word, const char *what, int *ret_status)
{
	int used;

	for (; (used = command_options(self, values, argc, argv, ret_status)) < argc;
	     argc -= used + 1) {
		if (used >= 0 && *word)
			*ret_status =
				command_fail(EXIT_USAGE, "%s: one %s at a time", self->name, what);
		if (used < 0 || *word)
			return false;
		*word = argv[used];
		argv += used + 1;
	}
	return true;
}
