#include "cmd/server/serve_options.h"
#include "server/config.h"

#define AT(member) offsetof(struct serve_options, member)
#define ROW(name, member, kind, arg, standard, help)                                               \
	{0, name, arg, OPT_ORDERED, AT(settings), help},

static const struct option_def serve_table[] = {
	/* For tests of the API's description: prints all routes. */
	{0, "routes", NULL, OPT_FLAG, AT(routes), NULL},
	/* For tacho view: nobody but the user who has started it sees what is kept. */
	{0, "private", NULL, OPT_FLAG, AT(private), NULL},
	CONFIG_ROWS(ROW){},
};

static const struct option_def config_table[] = {
	{0, "json", NULL, OPT_FLAG, AT(json), "as JSON"},
	{0, NULL, NULL, OPT_HEADING, 0, "Settings, as tacho serve takes them"},
	CONFIG_ROWS(ROW){},
};

static const struct option_def users_table[] = {
	{'r', "role", "ROLE", OPT_STR, AT(role), "with add: look, run (without it) or administer"},
	{0, "json", NULL, OPT_FLAG, AT(json), "as JSON"},
	{0, "data", "DIR", OPT_ORDERED, AT(settings),
	 "the data directory of the server; $XDG_DATA_HOME/tacho without it"},
	{0, "config", "FILE", OPT_ORDERED, AT(settings), "the settings of the server"},
	{},
};

const struct command cmd_serve = {
	.name = "serve",
	.summary = "the server: runs, live data, history, for the page and other clients",
	.usage = "[OPTIONS]",
	.options = serve_table,
	.details =
		"Prints an address with a token in it: who has the token may look, run programs "
		"and "
		"administer. It is made anew at each start, and no file has it; browsers that have "
		"opened the address stay logged in. Commands of the same user need no token: they "
		"use the socket server.sock in the data directory. tacho users makes tokens that "
		"last, for programs and for other people.\n\n"
		"Programs that runs start have the rights of the server's user, so that whoever "
		"may start runs can do all that this user can. A server that runs as root starts "
		"them as the user of --run-as, or else as whoever called sudo; without either only "
		"administrators may start runs.\n\n"
		"Every setting may also be in the environment (TACHO_KEEP_AGE=30d) or in "
		"tacho.conf "
		"(keep-age = 30d); tacho config shows what holds and where it comes from.\n\n"
		"Ctrl-C ends it: runs are stopped, what they have measured is kept, and what "
		"waits in "
		"the queue waits for the next start.",
	.examples = "  tacho serve                               # on 127.0.0.1:5000\n"
		    "  ssh -L 8080:127.0.0.1:5000 HOST           # then: http://127.0.0.1:8080/\n"
		    "  tacho serve --listen 0.0.0.0:5000 --tls-cert c.pem --tls-key k.pem "
		    "--allow-host build7",
	.run = command_exec_server,
};

const struct command cmd_config = {
	.name = "config",
	.summary = "what the server is told, and by whom",
	.usage = "[OPTIONS]",
	.options = config_table,
	.details = "Settings come from options, the environment (TACHO_LISTEN), the file of "
		   "--config or "
		   "else $XDG_CONFIG_HOME/tacho/tacho.conf and /etc/tacho.conf, or are what they "
		   "are by "
		   "default; the first of these counts. In a file a line is \"name = value\", with "
		   "the "
		   "names of the options; lists are separated by commas or given line by line.",
	.examples = "  tacho config                  # name, value, where it comes from\n"
		    "  TACHO_QUOTA=10G tacho config --json",
	.run = command_exec_server,
};

const struct command cmd_users = {
	.name = "users",
	.summary = "who may use the server",
	.usage = "[OPTIONS]\n[OPTIONS] add NAME [--role ROLE]\n[OPTIONS] token NAME\n[OPTIONS] "
		 "revoke NAME",
	.options = users_table,
	.words = "ls add token revoke",
	.details =
		"Each user has a token, which is shown once, by add; token prints another one, and "
		"the one before is refused from then on, in browsers too. Roles: look sees "
		"everything; run also starts programs, as the user that the server runs as, or as "
		"that of --run-as; administer also makes users. A revoked token is refused from "
		"the "
		"next request on. All of it works on the data directory, whether a server runs or "
		"not.",
	.examples = "  tacho users                          # all of them\n"
		    "  tacho users add alice --role look    # prints her token\n"
		    "  tacho users token admin              # for the address that serve printed\n"
		    "  tacho users revoke alice",
	.run = command_exec_server,
};
