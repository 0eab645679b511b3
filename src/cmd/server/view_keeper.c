#include "cmd/server/view.h"
#include "base/clock.h"
#include "base/fs.h"
#include "cmd/command.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define PREFIX           "tacho-view-"
#define PLACES           4u
#define START_S          30
#define STOP_S           10
#define URL_BYTES_MAX    4096
#define TREE_DESCRIPTORS 16

/* ---- directories ---- */

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	remove(path);
	return 0;
}

static void remove_tree(const char *path)
{
	nftw(path, remove_entry, TREE_DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
}

static uint64_t room_in(const char *path)
{
	struct statvfs v;

	if (!path || access(path, W_OK | X_OK) < 0 || statvfs(path, &v) < 0)
		return 0;
	return (uint64_t)v.f_bavail * v.f_frsize;
}

/* Finds the first directory with room for @bytes, or the one with most room. Returns the number of
 * usable directories in @ret. */
static size_t places(uint64_t bytes, const char *ret[PLACES], const char **ret_best)
{
	const char *all[PLACES] = {getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp", "/var/tmp"};
	uint64_t most = 0;
	size_t count = 0;

	*ret_best = "/tmp";
	for (size_t i = 0; i < PLACES; i++) {
		uint64_t room = room_in(all[i]);

		if (!room)
			continue;
		ret[count++] = all[i];
		if (room > most && most < bytes) {
			*ret_best = all[i];
			most = room;
		}
	}
	return count;
}

/* Removes directories whose keeper was killed: their lock is free. */
static void sweep(const char *where)
{
	DIR *dir = opendir(where);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		struct stat st;
		int fd;

		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)))
			continue;
		fd = openat(dirfd(dir), entry->d_name,
			    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (!fstat(fd, &st) && st.st_uid == geteuid() && !flock(fd, LOCK_EX | LOCK_NB)) {
			CLEANUP(free_ptr) char *path = xasprintf("%s/%s", where, entry->d_name);

			remove_tree(path);
		}
		close(fd);
	}
	if (dir)
		closedir(dir);
}

/* Makes the directory and locks it; the keeper inherits the lock. */
static int make_directory(char **ret, int *ret_lock, uint64_t bytes, struct err *e)
{
	const char *all[PLACES], *where;
	size_t count = places(bytes, all, &where);
	char *path = xasprintf("%s/" PREFIX "XXXXXX", where);

	for (size_t i = 0; i < count; i++)
		sweep(all[i]);
	if (!mkdtemp(path)) {
		int code = errno;

		free(path);
		return err_set(e, code, "cannot make a directory in '%s': %s", where,
			       strerror(code));
	}
	*ret_lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*ret_lock < 0 || flock(*ret_lock, LOCK_EX | LOCK_NB) < 0) {
		int code = errno;

		remove_tree(path);
		free(path);
		return err_set(e, code, "cannot lock a directory in '%s': %s", where,
			       strerror(code));
	}
	*ret = path;
	return 0;
}

/* ---- the keeper ---- */

static pid_t start_server(const char *directory, int out, pid_t keeper)
{
	CLEANUP(free_ptr) char *data = xasprintf("%s/data", directory);
	pid_t pid = fork();
	sigset_t none;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (getppid() != keeper)
		_exit(EXIT_FAILED);
	dup2(out, STDOUT_FILENO);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	execl("/proc/self/exe", "tacho-server", "serve", "--private", "--listen", "127.0.0.1:0",
	      "--data", data, NULL);
	_exit(EXIT_NOT_FOUND);
}

static void end_server(pid_t pid)
{
	uint64_t until = clock_now_ns() + STOP_S * NS_PER_SEC;

	kill(pid, SIGTERM);
	while (waitpid(pid, NULL, WNOHANG) == 0) {
		if (clock_now_ns() > until)
			kill(pid, SIGKILL);
		poll(NULL, 0, 10);
	}
}

/* The keeper: runs the server, and cleans up when the starter or the server (end of file on @from)
 * has ended. */
static void keep(const char *directory, int starter, int out, int from)
{
	pid_t keeper = getpid(), server;
	struct pollfd fds[] = {{starter, POLLIN, 0}, {from, POLLIN, 0}};

	setsid();
	prctl(PR_SET_NAME, "tacho-view-keep");
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	server = start_server(directory, out, keeper);
	close(out);
	while (server > 0) {
		char block[URL_BYTES_MAX];
		ssize_t n;

		if (poll(fds, ARRAY_LEN(fds), -1) < 0 && errno != EINTR)
			break;
		if (fds[0].revents)
			break;
		if (!fds[1].revents)
			continue;
		/* Pass the server's output on: the starter waits for the URL in it. */
		n = read(from, block, sizeof(block));
		if (n <= 0)
			break;
		if (send(starter, block, (size_t)n, MSG_NOSIGNAL) < 0)
			break;
	}
	if (server > 0)
		end_server(server);
	remove_tree(directory);
	_exit(EXIT_DONE);
}

static pid_t start_keeper(const char *directory, int starter, int ours, struct err *e)
{
	int pipe_fds[2];
	pid_t pid;

	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return err_set(e, errno, "cannot make a pipe: %s", strerror(errno));
	pid = fork();
	if (pid == 0) {
		close(ours);
		keep(directory, starter, pipe_fds[1], pipe_fds[0]);
	}
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	return pid < 0 ? err_set(e, errno, "cannot start a process: %s", strerror(errno)) : pid;
}

/* Waits for the first URL that the server prints. */
static int await_url(struct private_server *s, struct err *e)
{
	uint64_t until = clock_now_ns() + START_S * NS_PER_SEC;
	CLEANUP(buf_release) struct buf text = {};

	while (text.len < URL_BYTES_MAX && clock_now_ns() < until) {
		struct pollfd fd = {s->keeper_fd, POLLIN, 0};
		const char *begin;
		char block[512];
		ssize_t n;

		if (poll(&fd, 1, 1000) <= 0)
			continue;
		n = read(s->keeper_fd, block, sizeof(block));
		if (n <= 0)
			break;
		buf_add_mem(&text, block, (size_t)n);
		begin = strstr(buf_str(&text), "http");
		if (begin && strpbrk(begin, " \n")) {
			s->url = xstrndup(begin, strcspn(begin, " \n"));
			return 0;
		}
	}
	return err_set(e, ECHILD, "the private server did not start");
}

int private_server_start(struct private_server *s, uint64_t bytes, struct err *e)
{
	int fds[2], lock = -1, r;

	*s = (struct private_server){.keeper_fd = -1};
	r = make_directory(&s->directory, &lock, bytes, e);
	if (r < 0)
		return r;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0) {
		r = err_set(e, errno, "cannot make a socket: %s", strerror(errno));
		remove_tree(s->directory);
		free(s->directory);
		close(lock);
		return r;
	}
	s->keeper = start_keeper(s->directory, fds[1], fds[0], e);
	close(fds[1]);
	close(lock); /* the keeper has inherited it */
	s->keeper_fd = fds[0];
	r = s->keeper < 0 ? (int)s->keeper : await_url(s, e);
	if (r < 0)
		private_server_stop(s);
	return r;
}

void private_server_stop(struct private_server *s)
{
	if (s->keeper_fd >= 0)
		close(s->keeper_fd);
	if (s->keeper > 0)
		waitpid(s->keeper, NULL, 0);
	/* If the keeper was killed, the directory is still there. */
	if (s->directory)
		remove_tree(s->directory);
	free(s->directory);
	free(s->url);
	*s = (struct private_server){.keeper_fd = -1};
}
