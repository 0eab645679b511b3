/* tacho rm: removes runs or sessions, with all their data. */
#include "cmd/server/client.h"
#include "cmd/server/commands.h"

#include <errno.h>

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

static int remove_all(const struct client_rm_options *o, const option_list *names)
{
	int status = EXIT_DONE, r = 0;
	struct connection c;
	struct err e = {};

	if (!names->len)
		return command_fail(EXIT_USAGE, "rm: which %s? (tacho ls lists them)",
				    o->session ? "session" : "run");
	if (connection_open(&c, &o->server, &e) < 0)
		return command_fail(connection_open_status(&e), "rm: %s", e.text);
	/* As rm(1) does, go on after a failure, unless no server answers or it refuses us. */
	for (size_t i = 0; i < names->len && r != -ECONNREFUSED && r != -EACCES; i++) {
		r = remove_one(&c, names->items[i], o->session, &e);
		if (r < 0)
			status = command_fail(EXIT_FAILED, "rm: %s", e.text);
	}
	connection_close(&c);
	return status;
}

int server_rm(const struct command *self, int argc, char **argv)
{
	struct client_rm_options o = {};
	option_list names = {};
	int status = EXIT_DONE, used;

	for (; (used = command_options(self, &o, argc, argv, &status)) < argc; argc -= used + 1) {
		if (used < 0)
			break;
		vec_push(&names, argv[used]);
		argv += used + 1;
	}
	if (used >= 0)
		status = remove_all(&o, &names);
	vec_release(&names);
	return status;
}
