#include "cmd/serve_options.h"

#define AT(member) offsetof(struct serve_options, member)

static const struct option_def table[] = {
	{0, "listen", "HOST:PORT", OPT_STR, AT(listen),
	 "where to listen; 127.0.0.1:5000 without it"},
	{0, "data", "DIR", OPT_STR, AT(data),
	 "where everything is kept; $XDG_DATA_HOME/tacho without it"},
	{},
};

const struct command cmd_serve = {
	.name = "serve",
	.summary = "the server: runs, live data, history, for the page and other clients",
	.usage = "[OPTIONS]",
	.options = table,
	.run = command_exec_server,
};
