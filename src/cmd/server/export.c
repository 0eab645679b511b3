/* tacho export: a run or a session as a file. */
#include "cmd/terminal/progress.h"
#include "cmd/server/client.h"
#include "cmd/server/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUSY_TRIES 60u

static const char *const formats[] = {"csv", "json", "jsonl", "h5",  "folded",
				      "svg", "html", "data",  "log", NULL};

/* Returns the format of --format, else that of the output's extension; NULL if unknown. */
static const char *choose_format(const struct client_export_options *o)
{
	const char *dot = o->output ? strrchr(o->output, '.') : NULL;
	const char *name = o->format ? o->format : dot ? dot + 1 : o->session ? "h5" : "";

	for (size_t i = 0; formats[i]; i++)
		if (!strcmp(formats[i], name))
			return formats[i];
	return NULL;
}

static void add_parameter(struct buf *path, bool *first, const char *name, const char *value)
{
	if (!value)
		return;
	buf_addf(path, "%c%s=", *first ? '?' : '&', name);
	client_escape(path, value);
	*first = false;
}

static void add_selection(struct buf *path, const struct client_export_options *o)
{
	bool first = true;

	add_parameter(path, &first, "from", o->from);
	add_parameter(path, &first, "to", o->to);
	add_parameter(path, &first, "event", o->event);
	add_parameter(path, &first, "threads", o->threads);
	add_parameter(path, &first, "cpus", o->cpus);
	add_parameter(path, &first, "what", o->what);
	add_parameter(path, &first, "stream", o->stream);
}

/* Downloads to a temporary file and renames it, so that an incomplete file never has the final
 * name. An existing device or pipe is written to directly. */
static int save(struct connection *c, const char *path, const char *output, struct progress *bar,
		struct err *e)
{
	CLEANUP(free_ptr) char *beside = NULL;
	struct stat st;
	int fd = STDOUT_FILENO, r = 0;

	if (strcmp(output, "-") && (stat(output, &st) < 0 || S_ISREG(st.st_mode)))
		beside = xasprintf("%s.%ld.part", output, (long)getpid());
	if (strcmp(output, "-"))
		fd = open(beside ? beside : output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return err_set(e, errno, "cannot write '%s': %s", output, strerror(errno));
	/* The server prepares few downloads at a time: retry while it is busy. */
	for (unsigned tries = 0; tries < BUSY_TRIES; tries++) {
		r = client_download(c->client, path, fd, progress_show, bar, e);
		if (r != -EAGAIN)
			break;
		sleep(1);
	}
	if (r == -EPIPE && fd == STDOUT_FILENO)
		command_end_by_pipe();
	if (r < 0)
		connection_explain(c, e);
	if (fd != STDOUT_FILENO && close(fd) < 0 && r == 0)
		r = err_set(e, errno, "cannot write '%s': %s", output, strerror(errno));
	if (beside && r == 0 && rename(beside, output) < 0)
		r = err_set(e, errno, "cannot write '%s': %s", output, strerror(errno));
	if (beside && r < 0)
		unlink(beside);
	return r;
}

static int export(struct connection *c, const struct client_export_options *o, const char *run,
		  struct err *e)
{
	CLEANUP(buf_release) struct buf path = {}, name = {};
	const char *format = choose_format(o), *lacks;
	struct progress bar = progress_of("downloading");
	json_t *what = NULL;
	int r = o->session ? connection_find_session(c, o->session, false, &what, e)
			   : connection_find_run(c, run, &what, e);

	if (r < 0)
		return r;
	buf_addf(&path, "%s/%s.%s", o->session ? "session" : "benchmark", member_text(what, "uuid"),
		 format);
	add_selection(&path, o);
	if (o->output)
		buf_add(&name, o->output);
	else if (isatty(STDOUT_FILENO))
		buf_addf(&name, "tacho-%.8s.%s", member_text(what, "uuid"), format);
	else
		buf_add(&name, "-");
	json_decref(what);
	if (o->quiet)
		bar.off = true;
	r = save(c, buf_str(&path), buf_str(&name), &bar, e);
	progress_clear(&bar);
	if (r < 0)
		return r;
	lacks = client_header(c->client, "X-Tacho-Lacks");
	if (lacks && !o->quiet)
		command_fail(0, "export: %s", lacks);
	if (strcmp(buf_str(&name), "-") && !o->quiet)
		command_fail(0, "export: %s written to '%s'", format, buf_str(&name));
	return 0;
}

static int check(const struct client_export_options *o, const char *run)
{
	if (!run && !o->session)
		return command_fail(EXIT_USAGE, "export: which run? (tacho ls lists them, last is "
						"the newest)");
	if (run && o->session)
		return command_fail(EXIT_USAGE, "export: a run or a session, not both");
	if (!choose_format(o))
		return command_fail(
			EXIT_USAGE,
			"export: which format? -f csv, json, jsonl, h5, folded, svg, html, data "
			"or log");
	if (o->session && strcmp(choose_format(o), "h5"))
		return command_fail(EXIT_USAGE, "export: a session is exported as h5");
	return EXIT_DONE;
}

int server_export(const struct command *self, int argc, char **argv)
{
	struct client_export_options o = {};
	const char *run = NULL;
	struct connection c;
	struct err e = {};
	int status, r;

	if (!command_one_word(self, &o, argc, argv, &run, "run", &status))
		return status;
	status = check(&o, run);
	if (status)
		return status;
	if (connection_open(&c, &o.server, &e) < 0)
		return command_fail(connection_open_status(&e), "export: %s", e.text);
	r = export(&c, &o, run, &e);
	connection_close(&c);
	return r < 0 ? command_fail(EXIT_FAILED, "export: %s", e.text) : EXIT_DONE;
}
