#include "doctor/doctor.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define RUN_LIMIT_NS NS_PER_SEC

/* Searches only absolute directories of PATH: root must not run files of the current directory. */
static bool find_program(const char *name, char *path, size_t size)
{
	const char *dirs = getenv("PATH");
	CLEANUP(strvec_release) strvec list = {};

	text_split(dirs ? dirs : "/usr/bin:/bin", ":", &list);
	vec_each(&list, dir) {
		if ((*dir)[0] != '/' || (size_t)snprintf(path, size, "%s/%s", *dir, name) >= size)
			continue;
		if (!access(path, X_OK))
			return true;
	}
	return false;
}

/* Uses a process group of its own, so that all of it can be killed, and the default SIGPIPE. */
static int spawn(const char *path, const char *arg, int out, pid_t *ret_pid)
{
	char *argv[] = {(char *)path, (char *)arg, NULL};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t pipe_signal;
	int r;

	sigemptyset(&pipe_signal);
	sigaddset(&pipe_signal, SIGPIPE);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigdefault(&attr, &pipe_signal);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
	r = posix_spawn(ret_pid, path, &files, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return -r;
}

static int ms_until(uint64_t deadline_ns)
{
	uint64_t now = clock_now_ns();

	return now >= deadline_ns ? 0 : (int)((deadline_ns - now) / NS_PER_MSEC) + 1;
}

/* Reads all output and keeps the first line, as far as it fits. Returns false when time is up. */
static bool read_output(int fd, char *line, size_t size, uint64_t deadline_ns)
{
	char rest[4096];
	size_t len = 0;

	for (;;) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		bool fits = len + 1 < size;
		ssize_t n;

		if (poll(&p, 1, ms_until(deadline_ns)) <= 0 && !ms_until(deadline_ns))
			return false;
		if (!p.revents)
			continue;
		n = fits ? read(fd, line + len, size - 1 - len) : read(fd, rest, sizeof(rest));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += fits ? (size_t)n : 0;
	}
	line[len] = '\0';
	line[strcspn(line, "\r\n")] = '\0';
	return true;
}

/* Returns 0, -ECHILD if the program failed, or -ETIMEDOUT after killing the whole group. */
static int reap(pid_t pid, bool ended, uint64_t deadline_ns)
{
	int status = 0;

	while (ended && waitpid(pid, &status, WNOHANG) == 0) {
		ended = ms_until(deadline_ns) > 0;
		usleep(500);
	}
	if (ended)
		return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -ECHILD;
	kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return -ETIMEDOUT;
}

int doctor_run(const char *name, const char *arg, char *ret_line, char *ret_path, size_t size)
{
	uint64_t deadline_ns = clock_now_ns() + RUN_LIMIT_NS;
	int ends[2], r;
	pid_t pid;

	if (!find_program(name, ret_path, size))
		return -ENOENT;
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	r = spawn(ret_path, arg, ends[1], &pid);
	close(ends[1]);
	if (r == 0)
		r = reap(pid, read_output(ends[0], ret_line, size, deadline_ns), deadline_ns);
	close(ends[0]);
	return r;
}
