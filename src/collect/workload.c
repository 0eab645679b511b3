#include "collect/workload.h"
#include "base/alloc.h"
#include "collect/tree.h"
#include "collect/workload_prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Unblocks the signals that we read by signalfd: the program must get them as usual. */
static void reset_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
}

/* True also if access() cannot tell: exec will. */
static bool may_exist(const char *path)
{
	return !access(path, F_OK) || (errno != ENOENT && errno != ENOTDIR);
}

bool workload_exists(const char *name)
{
	const char *at = getenv("PATH"), *end;

	if (!at || !*name || strchr(name, '/'))
		return !at || may_exist(name);
	for (;; at = end + 1) {
		CLEANUP(free_ptr) char *path = NULL;

		end = strchrnul(at, ':');
		/* An empty entry is the current directory. */
		path = xasprintf("%.*s%s%s", (int)(end - at), at, end == at ? "" : "/", name);
		if (may_exist(path))
			return true;
		if (!*end)
			return false;
	}
}

int workload_cannot_run(const char *name, int code, struct err *e)
{
	return err_set(e, code, "cannot run '%s': %s", name,
		       code == ENOENT ? "command not found" : strerror(code));
}

struct failure {
	int code, step;
};

static void child_main(int go_fd, int error_fd, char *const argv[],
		       const struct workload_options *o)
{
	struct failure failure = {};
	char go;

	/* End of file: our parent died before it could let us run. */
	if (read(go_fd, &go, 1) != 1)
		_exit(125);
	reset_signals();
	failure.code = -workload_prepare(o, &failure.step);
	if (!failure.code) {
		execvp(argv[0], argv);
		failure = (struct failure){errno, WORKLOAD_EXEC};
	}
	_exit(write(error_fd, &failure, sizeof(failure)) == sizeof(failure) ? 127 : 126);
}

int workload_spawn(struct workload *w, char *const argv[], const struct workload_options *o,
		   struct err *e)
{
	static const struct workload_options none = {};
	int go[2], error[2];

	*w = (struct workload){.go_fd = -1, .error_fd = -1};
	if (pipe2(go, O_CLOEXEC))
		return err_set(e, errno, "cannot make a pipe: %s", strerror(errno));
	if (pipe2(error, O_CLOEXEC)) {
		int code = errno;

		close(go[0]);
		close(go[1]);
		return err_set(e, code, "cannot make a pipe: %s", strerror(code));
	}
	w->pid = fork();
	if (w->pid == 0) {
		close(go[1]);
		child_main(go[0], error[1], argv, o ? o : &none);
	}
	close(go[0]);
	close(error[1]);
	fcntl(error[0], F_SETFL, O_NONBLOCK);
	w->go_fd = go[1];
	w->error_fd = error[0];
	if (w->pid < 0) {
		int code = errno;

		workload_close(w);
		w->pid = 0;
		return err_set(e, code, "cannot start a process: %s", strerror(code));
	}
	return 0;
}

void workload_start(struct workload *w)
{
	/* Should the write fail, the child reads end of file and ends by itself. */
	ssize_t n = write(w->go_fd, "!", 1);

	(void)n;
	close(w->go_fd);
	w->go_fd = -1;
}

int workload_check_exec(struct workload *w, const char *name, struct err *e)
{
	struct failure failure;

	if (w->error_fd >= 0 && read(w->error_fd, &failure, sizeof(failure)) == sizeof(failure)) {
		w->exec_code = failure.code;
		w->exec_step = failure.step;
	}
	if (!w->exec_code)
		return 0;
	workload_cannot_run(name, w->exec_code, e);
	if (w->exec_step != WORKLOAD_EXEC)
		err_set(e, w->exec_code, "cannot run '%s': %s: %s", name,
			workload_step_text(w->exec_step), strerror(w->exec_code));
	return -w->exec_code;
}

void workload_close(struct workload *w)
{
	if (w->go_fd >= 0)
		close(w->go_fd);
	if (w->error_fd >= 0)
		close(w->error_fd);
	w->go_fd = w->error_fd = -1;
}

bool workload_reap(struct workload *w, bool wait)
{
	pid_t r;

	if (!w->pid)
		return true;
	do
		r = wait4(w->pid, &w->wait_status, wait ? 0 : WNOHANG, &w->usage);
	while (r < 0 && errno == EINTR);
	if (r == 0)
		return false;
	w->pid = 0;
	return true;
}

void workload_signal(struct workload *w, int signal)
{
	if (w->pid > 0)
		kill(w->pid, signal);
}

void workload_end(struct workload *w)
{
	if (w->pid > 0)
		tree_end(w->pid, true, 0);
	workload_reap(w, true);
}

int workload_exit_status(const struct workload *w)
{
	if (WIFSIGNALED(w->wait_status))
		return 128 + WTERMSIG(w->wait_status);
	return WEXITSTATUS(w->wait_status);
}
