/* tacho view: shows a recording in the browser, with a private server that ends with us. */
#include "cmd/server/view.h"
#include "cmd/terminal/progress.h"
#include "cmd/server/client.h"
#include "cmd/server/commands.h"
#include "export/svg.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ASK_EVERY_MS 100
#define ROOM_FACTOR  3 /* the upload, the data made from it, and a reserve */

struct viewing {
	struct private_server server;
	struct connection connection;
	int signals;
	bool stop;
};

/* Waits for @ms. Returns false if a signal came or the keeper has ended. */
static bool pause_ms(struct viewing *v, int ms)
{
	struct pollfd fds[] = {{v->signals, POLLIN, 0}, {v->server.keeper_fd, POLLRDHUP, 0}};

	if (poll(fds, ARRAY_LEN(fds), ms) > 0)
		v->stop = true;
	return !v->stop;
}

/* Waits until the server has read the uploaded recording. */
static int await_import(struct viewing *v, const char *uuid, struct err *e)
{
	struct progress bar = progress_of("reading");
	int r;

	for (;;) {
		json_t *run = NULL;
		double part;
		bool ended;

		r = connection_json(&v->connection, "GET", NULL, &run, e, "benchmark/%s.json",
				    uuid);
		if (r < 0)
			break;
		ended = run_has_ended(run);
		part = member_number(json_object_get(run, "progress"), "done_part", 0);
		if (ended && strcmp(member_text(run, "state"), "done"))
			r = err_set(e, EBADMSG, "%s",
				    *member_text(run, "error") ? member_text(run, "error")
							       : "the server could not read it");
		json_decref(run);
		if (ended || r < 0)
			break;
		progress_show(&bar, (uint64_t)(part * 1000), 1000);
		if (!pause_ms(v, ASK_EVERY_MS))
			break;
	}
	progress_clear(&bar);
	return r;
}

static int import(struct viewing *v, int fd, const char *name, char **ret_uuid, struct err *e)
{
	struct progress bar = progress_of("sending");
	CLEANUP(buf_release) struct buf path = {};
	json_t *session = NULL, *run = NULL;
	int r = connection_find_session(&v->connection, name, true, &session, e);

	if (r < 0)
		return r;
	buf_addf(&path, "import?session=%s&name=", member_text(session, "uuid"));
	client_escape(&path, name);
	json_decref(session);
	r = client_upload(v->connection.client, buf_str(&path), fd, progress_show, &bar, &run, e);
	progress_clear(&bar);
	if (r == 0)
		r = connection_check_id(&v->connection, &run, e);
	if (r == 0) {
		*ret_uuid = xstrdup(member_text(run, "uuid"));
		r = await_import(v, *ret_uuid, e);
	}
	json_decref(run);
	return r;
}

/*
 * Every user of the machine could read a token in the arguments of a command. So the browser gets a
 * file that only we may read, which redirects to the URL.
 */
static bool open_browser(const struct viewing *v, const char *url)
{
	CLEANUP(free_ptr) char *page = xasprintf("%s/open.html", v->server.directory);
	CLEANUP(buf_release) struct buf text = {};
	pid_t pid;
	int fd;

	if (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY"))
		return false;
	fd = open(page, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	buf_add(&text, "<!doctype html><meta charset=utf-8><title>tacho</title>"
		       "<meta http-equiv=refresh content=\"0;url=");
	svg_add_escaped(&text, url);
	buf_add(&text, "\">\n");
	if (!command_flush(&text, fd))
		fd = (close(fd), -1);
	if (fd < 0)
		return false;
	close(fd);
	pid = fork();
	if (pid == 0) {
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		/* Keep messages of the browser off our terminal. */
		fd = open("/dev/null", O_RDWR);
		dup2(fd, STDOUT_FILENO);
		dup2(fd, STDERR_FILENO);
		setsid();
		execlp("xdg-open", "xdg-open", page, NULL);
		_exit(EXIT_NOT_FOUND);
	}
	return pid > 0;
}

static int view(struct viewing *v, const struct client_view_options *o, const char *file,
		struct err *e)
{
	const char *name = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
	CLEANUP(free_ptr) char *uuid = NULL, *url = NULL;
	CLEANUP(buf_release) struct buf line = {};
	int fd = !strcmp(file, "-") ? dup(STDIN_FILENO) : open(file, O_RDONLY | O_CLOEXEC), r;

	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_set(e, errno, "cannot read '%s': %s", file, strerror(errno));
	r = private_server_start(&v->server, (uint64_t)st.st_size * ROOM_FACTOR, e);
	if (r == 0)
		r = connection_open(&v->connection,
				    &(struct client_server_options){.server = v->server.url}, e);
	if (r == 0)
		r = import(v, fd, name, &uuid, e);
	close(fd);
	if (r < 0 || v->stop)
		return r;
	url = xasprintf("%s&run=%s", v->server.url, uuid);
	if (o->no_browser || !open_browser(v, url))
		buf_addf(&line, "%s\n", url);
	else
		buf_addf(&line, "'%s' is in the browser; Ctrl-C ends it\n", name);
	command_flush_on(&line, STDOUT_FILENO);
	while (pause_ms(v, -1))
		;
	return 0;
}

int server_view(const struct command *self, int argc, char **argv)
{
	struct viewing v = {.server.keeper_fd = -1};
	struct client_view_options o = {};
	const char *file = NULL;
	struct err e = {};
	sigset_t set;
	int status, r;

	if (!command_one_word(self, &o, argc, argv, &file, "file", &status))
		return status;
	if (!file)
		return command_fail(EXIT_USAGE, "view: which file?");
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	v.signals = signalfd(-1, &set, SFD_CLOEXEC);
	r = view(&v, &o, file, &e);
	connection_close(&v.connection);
	private_server_stop(&v.server);
	close(v.signals);
	return r < 0 ? command_fail(EXIT_FAILED, "view: %s", e.text) : EXIT_DONE;
}
