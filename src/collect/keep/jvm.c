#include "collect/keep/jvm.h"
#include "base/clock.h"
#include "base/number.h"
#include "base/text.h"
#include "perf/process.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define TOOL_OPTIONS    "JAVA_TOOL_OPTIONS"
#define MAPS_BYTES_MAX  (16u << 20)
#define SOCKET_WAIT_MS  1500
#define SOCKET_LOOK_MS  20
#define DISABLED_OPTION "-XX:+DisableAttachMechanism"

/* Why a JVM has given no map: exit statuses of the child that asked. */
enum answer { MAP_WRITTEN, NO_ACCESS, NO_LISTENER, NO_ANSWER, REFUSED, ANSWERS };

void jvm_set_environment(void)
{
	const char *before = getenv(TOOL_OPTIONS);
	CLEANUP(free_ptr) char *all = NULL;

	/* If we run under another tacho, that has added them already. */
	if (before && strstr(before, JVM_OPTIONS))
		return;
	all = xasprintf("%s%s%s", JVM_OPTIONS, before && *before ? " " : "", before ? before : "");
	setenv(TOOL_OPTIONS, all, 1);
}

bool jvm_is_library(const char *path)
{
	const char *name = strrchr(path, '/');

	return name && !strcmp(name, "/libjvm.so");
}

/* ---- is it a JVM, and may it be asked? ---- */

static bool maps_libjvm(pid_t pid)
{
	CLEANUP(free_ptr) char *path = xasprintf("/proc/%d/maps", (int)pid);
	CLEANUP(free_ptr) char *maps = NULL;

	return fs_read(path, MAPS_BYTES_MAX, &maps) == 0 && strstr(maps, "/libjvm.so");
}

/* A process that does not catch SIGQUIT (-Xrs) would die of it. */
static bool catches_quit(pid_t pid)
{
	CLEANUP(free_ptr) char *path = xasprintf("/proc/%d/status", (int)pid);
	CLEANUP(free_ptr) char *status = NULL;
	char value[64];
	uint64_t caught;

	return fs_read(path, 1 << 16, &status) == 0 &&
	       text_field(status, "SigCgt", value, sizeof(value)) &&
	       parse_hex(value, strlen(value), &caught) && caught & 1ull << (SIGQUIT - 1);
}

/* With this option a JVM would print all its stacks on SIGQUIT instead. */
static bool attaching_is_off(pid_t pid)
{
	CLEANUP(free_ptr) char *path = xasprintf("/proc/%d/cmdline", (int)pid);
	const size_t len = strlen(DISABLED_OPTION);
	char bytes[65536];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, bytes, sizeof(bytes)) : 0;

	if (fd >= 0)
		close(fd);
	return n > 0 && memmem(bytes, (size_t)n, DISABLED_OPTION, len);
}

/* ---- the child that asks; the current directory is the JVM's /tmp, the user is the JVM's ---- */

static bool is_socket(const char *name)
{
	struct stat st;

	return !lstat(name, &st) && S_ISSOCK(st.st_mode);
}

/* On SIGQUIT, the JVM opens its socket if the file .attach_pidPID exists. */
static bool wake_listener(pid_t pid, uint32_t pid_inside, const char *socket_name)
{
	CLEANUP(free_ptr) char *trigger = xasprintf(".attach_pid%u", pid_inside);
	int fd = open(trigger, O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_WRONLY, 0600);
	bool there = false;

	if (fd < 0)
		return false;
	close(fd);
	if (catches_quit(pid) && !kill(pid, SIGQUIT))
		for (int ms = 0; ms < SOCKET_WAIT_MS && !there; ms += SOCKET_LOOK_MS) {
			poll(NULL, 0, SOCKET_LOOK_MS);
			there = is_socket(socket_name);
		}
	unlink(trigger);
	return there;
}

/* Sends the version of the protocol, the command, and always three arguments. */
static enum answer converse(const char *socket_name)
{
	static const char request[] = "1\0jcmd\0Compiler.perfmap\0\0";
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char answer[2];
	size_t got = 0;
	ssize_t n;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", socket_name);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return NO_LISTENER;
	/* The NUL that C adds ends the last argument. */
	if (send(fd, request, sizeof(request), MSG_NOSIGNAL) != (ssize_t)sizeof(request))
		return NO_ANSWER;
	/* The answer begins with a line that has a number, 0 for success. It comes when the map is
	 * written. */
	while (got < sizeof(answer) && (n = read(fd, answer + got, sizeof(answer) - got)) > 0)
		got += (size_t)n;
	if (got < sizeof(answer))
		return NO_ANSWER;
	return answer[0] == '0' && answer[1] == '\n' ? MAP_WRITTEN : REFUSED;
}

static enum answer ask(pid_t pid, const struct process_facts *p)
{
	CLEANUP(free_ptr) char *socket_name = xasprintf(".java_pid%u", p->pid_inside);
	int directory = process_open((uint32_t)pid, "/tmp", O_PATH | O_DIRECTORY);

	if (directory < 0 || fchdir(directory))
		return NO_ACCESS;
	if (p->uid != geteuid() || p->gid != getegid()) {
		/* Only root may drop its groups; other users have only their own anyway. */
		if (geteuid() == 0 && setgroups(0, NULL))
			return NO_ACCESS;
		if (setresgid(p->gid, p->gid, p->gid) || setresuid(p->uid, p->uid, p->uid))
			return NO_ACCESS;
	}
	if (!is_socket(socket_name) && !wake_listener(pid, p->pid_inside, socket_name))
		return NO_LISTENER;
	return converse(socket_name);
}

/* ---- asking all JVMs ---- */

struct asked {
	pid_t pid, child;
};

typedef VEC(struct asked) asked_list;

static void start_asking(pid_t pid, asked_list *asked)
{
	struct process_facts p;
	pid_t child;

	if (!process_read((uint32_t)pid, &p) || p.pid != (uint32_t)pid || !maps_libjvm(pid) ||
	    attaching_is_off(pid))
		return;
	child = fork();
	if (child == 0) {
		sigset_t none;

		/* Our signals are blocked because they are read by signalfd. */
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		signal(SIGALRM, SIG_DFL);
		alarm(JVM_PATIENCE_MS / 1000);
		_exit(ask(pid, &p));
	}
	if (child > 0)
		vec_push(asked, (struct asked){pid, child});
}

static void explain(pid_t pid, int status, strvec *notes)
{
	static const char *const reasons[ANSWERS] = {
		[NO_ACCESS] = "we may not act as its user: run tacho as that user or as root",
		[NO_LISTENER] = "it opens no socket for us",
		[NO_ANSWER] = "it does not answer",
		[REFUSED] = "it cannot write a perf map (JDK 17 and later can)",
	};
	int answer = WIFEXITED(status) ? WEXITSTATUS(status) : NO_ANSWER;

	if (answer > 0 && answer < ANSWERS)
		vec_push(notes, xasprintf("the JVM %d has given no names for its code: %s",
					  (int)pid, reasons[answer]));
}

/* Waits for a child of ours, which its alarm() ends in time. */
static int wait_for(pid_t child)
{
	int status = 0;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

size_t jvm_ask_for_maps(const pid_t *pids, size_t count, strvec *notes)
{
	asked_list asked = {};
	size_t written = 0;

	for (size_t i = 0; i < count && asked.len < JVM_ASKED_MAX; i++)
		start_asking(pids[i], &asked);
	vec_each(&asked, a) {
		int status = wait_for(a->child);

		if (WIFEXITED(status) && WEXITSTATUS(status) == MAP_WRITTEN)
			written++;
		else
			explain(a->pid, status, notes);
	}
	vec_release(&asked);
	return written;
}
