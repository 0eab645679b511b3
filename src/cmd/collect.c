/* The collector of a run, which the server starts with its channel as descriptor 3. */
#include "cmd/command.h"
#include "collect/run/runner.h"

#include <sys/socket.h>

static int run(const struct command *self, int argc, char **argv)
{
	struct {
		int unused;
	} o = {};
	int status, type;
	socklen_t size = sizeof(type);

	if (command_options(self, &o, argc, argv, &status) < 0)
		return status;
	if (getsockopt(RUN_CHANNEL_FD, SOL_SOCKET, SO_TYPE, &type, &size))
		return command_fail(EXIT_USAGE, "collect is started by the server, not by hand: "
						"tacho run asks the server for a run");
	return runner_main(RUN_CHANNEL_FD) ? EXIT_FAILED : EXIT_DONE;
}

static const struct option_def options[] = {{}};

const struct command cmd_collect = {
	.name = "collect",
	.summary = "measure a run for the server",
	.usage = "",
	.details = "Speaks the protocol of docs/FORMATS.md on descriptor 3.",
	.options = options,
	.hidden = true,
	.run = run,
};
