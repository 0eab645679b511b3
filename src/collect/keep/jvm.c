#include "collect/keep/jvm.h"
#include "base/as_user.h"
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
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define TOOL_OPTIONS    "JAVA_TOOL_OPTIONS"
#define MAPS_BYTES_MAX  (16u << 20)
#define SOCKET_WAIT_MS  1500
#define LOOK_MS         20
#define DISABLED_OPTION "-XX:+DisableAttachMechanism"

/* Why a JVM has given no map: exit statuses of the child that asked. */
enum answer { MAP_WRITTEN, NO_JVM, NO_ACCESS, NO_LISTENER, NO_ANSWER, REFUSED, ANSWERS };

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

/* Opens the JVM's socket, but nothing that another user has put in its place. */
static int open_socket(const char *name, uid_t owner)
{
	int place = open(name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (place < 0 || (!fstat(place, &st) && S_ISSOCK(st.st_mode) && st.st_uid == owner))
		return place;
	close(place);
	return -1;
}

/* On SIGQUIT, the JVM opens its socket if the file .attach_pidPID exists. */
static int wake_listener(pid_t pid, const struct process_facts *p, const char *socket_name)
{
	CLEANUP(free_ptr) char *trigger = xasprintf(".attach_pid%u", p->pid_inside);
	int fd = open(trigger, O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_WRONLY, 0600);
	int place = -1;

	if (fd < 0)
		return -1;
	close(fd);
	if (catches_quit(pid) && !kill(pid, SIGQUIT))
		for (int ms = 0; ms < SOCKET_WAIT_MS && place < 0; ms += LOOK_MS) {
			poll(NULL, 0, LOOK_MS);
			place = open_socket(socket_name, p->uid);
		}
	unlink(trigger);
	return place;
}

/* Connects to the socket that @place leads to, if it is the JVM itself that listens there. */
static int connect_to(int place, pid_t pid)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct ucred listener;
	socklen_t size = sizeof(listener);

	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d", place);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &listener, &size) || listener.pid != pid)
		return -1;
	return fd;
}

/* Sends the version of the protocol, the command, and always three arguments. */
static enum answer converse(int fd)
{
	static const char request[] = "1\0jcmd\0Compiler.perfmap\0\0";
	char answer[2];
	size_t got = 0;
	ssize_t n;

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

static bool become_user(const struct process_facts *p)
{
	const struct user_ids *chosen = as_user_chosen();

	/* A run with a user's rights signals only what he may signal himself. */
	if (chosen && chosen->uid != p->uid)
		return false;
	if (p->uid != geteuid() || p->gid != getegid()) {
		/* Only root may drop its groups; other users have only their own anyway. */
		if (geteuid() == 0 && setgroups(0, NULL))
			return false;
		if (setresgid(p->gid, p->gid, p->gid) || setresuid(p->uid, p->uid, p->uid))
			return false;
	}
	/* Our memory is still that of the collector: the user may neither trace us nor have a core
	 * file of us. */
	return !prctl(PR_SET_DUMPABLE, 0);
}

static enum answer ask(pid_t pid)
{
	CLEANUP(free_ptr) char *socket_name = NULL;
	struct process_facts p;
	int directory, place, fd;

	if (!process_read((uint32_t)pid, &p) || p.pid != (uint32_t)pid || !maps_libjvm(pid) ||
	    attaching_is_off(pid))
		return NO_JVM;
	socket_name = xasprintf(".java_pid%u", p.pid_inside);
	directory = process_open((uint32_t)pid, "/tmp", O_PATH | O_DIRECTORY);
	if (directory < 0 || fchdir(directory) || !become_user(&p))
		return NO_ACCESS;
	place = open_socket(socket_name, p.uid);
	if (place < 0)
		place = wake_listener(pid, &p, socket_name);
	fd = place < 0 ? -1 : connect_to(place, pid);
	return fd < 0 ? NO_LISTENER : converse(fd);
}

/* ---- asking all JVMs ---- */

struct asked {
	pid_t pid, child;
	int status; /* as of waitpid(); -1: not known */
	bool ended;
};

typedef VEC(struct asked) asked_list;

static void start_asking(pid_t pid, asked_list *asked)
{
	/* It also looks at /proc: reading there can wait for the memory of the process. */
	pid_t child = fork();

	if (child == 0) {
		sigset_t none;

		/* The child may outlive SIGKILL in a system call; pipes of ours that it held would
		 * never report their end. */
		close_range(0, ~0u, 0);
		/* Our signals are blocked because they are read by signalfd. */
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		signal(SIGALRM, SIG_DFL);
		alarm(JVM_PATIENCE_MS / 1000); /* if the collector is killed meanwhile */
		_exit(ask(pid));
	}
	if (child > 0)
		vec_push(asked, (struct asked){pid, child, -1, false});
}

/* Waits until all children have ended, or until @until_ns. */
static void wait_for(asked_list *asked, const struct clock *clock, uint64_t until_ns)
{
	for (;;) {
		bool all = true;

		vec_each(asked, a) {
			a->ended = a->ended || waitpid(a->child, &a->status, WNOHANG);
			all &= a->ended;
		}
		if (all || clock_monotonic_ns(clock) >= until_ns)
			return;
		poll(NULL, 0, LOOK_MS);
	}
}

static enum answer answer_of(const struct asked *a)
{
	bool told = WIFEXITED(a->status) && WEXITSTATUS(a->status) < ANSWERS;

	return told ? (enum answer)WEXITSTATUS(a->status) : NO_ANSWER;
}

static void explain(pid_t pid, enum answer answer, strvec *notes)
{
	static const char *const reasons[ANSWERS] = {
		[NO_ACCESS] = "we may not act as its user: run tacho as that user or as root",
		[NO_LISTENER] = "it opens no socket for us",
		[NO_ANSWER] = "it does not answer",
		[REFUSED] = "it cannot write a perf map (JDK 17 and later can)",
	};

	if (reasons[answer])
		vec_push(notes, xasprintf("the JVM %d has given no names for its code: %s",
					  (int)pid, reasons[answer]));
}

size_t jvm_ask_for_maps(const pid_t *pids, size_t count, const struct clock *clock, strvec *notes)
{
	uint64_t until_ns = clock_monotonic_ns(clock) + JVM_PATIENCE_MS * NS_PER_MSEC;
	asked_list asked = {};
	size_t written = 0;

	for (size_t i = 0; i < count && asked.len < JVM_ASKED_MAX; i++)
		start_asking(pids[i], &asked);
	wait_for(&asked, clock, until_ns);
	/* The user of a JVM may stop our child, which then gets no SIGALRM. */
	vec_each(&asked, a)
		if (!a->ended)
			kill(a->child, SIGKILL);
	wait_for(&asked, clock, clock_monotonic_ns(clock) + JVM_DEATH_MS * NS_PER_MSEC);
	vec_each(&asked, a) {
		written += answer_of(a) == MAP_WRITTEN;
		explain(a->pid, answer_of(a), notes);
	}
	vec_release(&asked);
	return written;
}
