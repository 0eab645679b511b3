#include "cmd/input/default_input.h"
#include "cmd/command.h"

#include <errno.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

/* Recorders write their header at once: tell the user if a pipe has no byte after this time. */
#define QUIET_MS 2000

static bool stdin_is_pipe(void)
{
	struct stat st;

	return !fstat(STDIN_FILENO, &st) && S_ISFIFO(st.st_mode);
}

/* Returns false if the writers closed the pipe without writing a byte. */
static bool wait_for_bytes(void)
{
	struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
	int timeout = QUIET_MS, n;

	while ((n = poll(&p, 1, timeout)) <= 0) {
		if (n < 0 && errno != EINTR)
			return true; /* reading will report the error */
		if (n == 0) {
			command_fail(0, "waiting for a recording on standard input, which is a "
					"pipe; -i perf.data reads the file instead");
			timeout = -1;
		}
	}
	return p.revents & POLLIN || !(p.revents & POLLHUP);
}

int default_input(const char *given, const char **ret, struct err *e)
{
	if (!given && stdin_is_pipe()) {
		if (!wait_for_bytes())
			return err_set(e, ENODATA,
				       "standard input is a pipe, and nothing came through it; to "
				       "read the file in this directory, give -i perf.data");
		given = "-";
	}
	*ret = given ? given : "perf.data";
	return 0;
}
