#include "cmd/server_commands.h"
#include "cmd/serve_settings.h"

int server_serve(const struct command *self, int argc, char **argv)
{
	struct serve_options o = {};
	int status;

	if (command_options(self, &o, argc, argv, &status) < 0)
		return status;
	return command_fail(EXIT_FAILED, "the server is not there yet");
}
