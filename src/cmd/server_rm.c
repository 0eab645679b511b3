/* tacho rm: runs or sessions go, with all they have. */
#include "cmd/server_client.h"
#include "cmd/server_commands.h"

static int remove_one(struct connection *c, const char *name, bool session, struct err *e)
{
	json_t *what = NULL;
	int r = session ? connection_find_session(c, name, false, &what, e)
			: connection_find_run(c, name, &what, e);

	if (r == 0)
		r = connection_json(c, "DELETE", NULL, NULL, e, "%s/%s",
				    session ? "session" : "benchmark", member_text(what, "uuid"));
	json_decref(what);
	return r;
}

int server_rm(const struct command *self, int argc, char **argv)
{
	struct client_rm_options o = {};
	struct connection c;
	struct err e = {};
	int status, used = command_options(self, &o, argc, argv, &status);

	if (used < 0)
		return status;
	if (used == argc)
		return command_fail(EXIT_USAGE, "rm: which %s? (tacho ls lists them)",
				    o.session ? "session" : "run");
	if (connection_open(&c, &o.server, &e) < 0)
		return command_fail(EXIT_USAGE, "rm: %s", e.text);
	/* The others go all the same, as with the files' rm. */
	status = EXIT_DONE;
	for (int i = used; i < argc; i++)
		if (remove_one(&c, argv[i], o.session, &e) < 0)
			status = command_fail(EXIT_FAILED, "rm: %s", e.text);
	connection_close(&c);
	return status;
}
