/* tacho serve: the server in the foreground, until a signal ends it. */
#include "cmd/server/commands.h"
#include "cmd/server/serve_settings.h"
#include "server/api/api.h"

#include <signal.h>
#include <unistd.h>

static void say_where(const struct server *s, struct buf *out)
{
	if (s->config.no_token)
		buf_addf(out, "tacho is at %s/\n", s->url);
	else
		buf_addf(out, "tacho is at %s/?token=%s\n", s->url, s->token);
	command_flush_on(out, STDOUT_FILENO);
}

/* For whoever looks at the terminal or the journal. */
static void say_all(const strvec *sentences)
{
	CLEANUP(buf_release) struct buf out = {};

	vec_each(sentences, text)
		buf_addf(&out, "tacho: %s\n", *text);
	if (out.len)
		command_flush_on(&out, STDERR_FILENO);
}

static void wait_for_end(const sigset_t *ends)
{
	int got;

	while (sigwait(ends, &got))
		;
	/* From now on a second signal ends the process without waiting for runs to stop. */
	pthread_sigmask(SIG_UNBLOCK, ends, NULL);
}

int server_serve(const struct command *self, int argc, char **argv)
{
	CLEANUP(buf_release) struct buf out = {};
	struct server s = {.lock_fd = -1};
	CLEANUP(serve_options_release) struct serve_options o = {};
	sigset_t ends;
	struct err e;
	int status, used = command_options(self, &o, argc, argv, &status), r;

	if (used < 0)
		return status;
	if (used < argc)
		return command_fail(EXIT_USAGE, "serve takes no words: '%s'", argv[used]);
	if (o.routes) {
		api_routes_list(&out);
		return command_flush(&out, STDOUT_FILENO) ? EXIT_DONE : EXIT_FAILED;
	}
	/* All threads inherit this mask: only wait_for_end() takes these signals. Closing the
	 * terminal does not end the server. */
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &ends, NULL);
	signal(SIGHUP, SIG_IGN);
	r = serve_settings(&o, &s.config, NULL, &e);
	s.private = o.private;
	if (r == 0)
		r = server_start(&s, &e);
	if (r == 0) {
		say_all(&s.host.notices);
		if (!o.private)
			say_all(&s.notices);
		say_where(&s, &out);
		wait_for_end(&ends);
	}
	server_stop(&s);
	config_release(&s.config);
	return r < 0 ? command_fail(EXIT_FAILED, "%s", e.text) : EXIT_DONE;
}
