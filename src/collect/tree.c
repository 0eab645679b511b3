#include "collect/tree.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/number.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define TERM_PATIENCE_MS 2000
/* Killed processes end at once, but meanwhile others may have been started. */
#define KILL_PATIENCE_MS 100
#define KILL_ROUNDS      50

struct process {
	pid_t pid, parent;
	bool below; /* the root, or one of its descendants */
};

typedef VEC(struct process) process_list;

void tree_adopt(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

void tree_reap(pid_t own)
{
	for (;;) {
		siginfo_t info = {};

		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) || !info.si_pid ||
		    info.si_pid == own)
			return;
		waitpid(info.si_pid, NULL, WNOHANG);
	}
}

/* Whether /proc shows our pid namespace. In another one pids differ: signals would hit the wrong
 * processes. */
static bool proc_is_ours(void)
{
	char text[32] = "";
	long long self;
	ssize_t n = readlink("/proc/self", text, sizeof(text) - 1);

	return n > 0 && parse_i64(text, &self) && self == getpid();
}

/* Lists all running processes with their parents. */
static void list_processes(process_list *ret)
{
	CLEANUP(strvec_release) strvec names = {};

	if (!proc_is_ours())
		return;
	fs_list("/proc", &names);
	vec_each(&names, name) {
		char line[256], state;
		const char *behind_name;
		long long pid;
		int parent;

		if (!parse_i64(*name, &pid) || !fs_line(line, sizeof(line), "/proc/%s/stat", *name))
			continue;
		behind_name = strrchr(line, ')');
		if (behind_name && sscanf(behind_name + 1, " %c %d", &state, &parent) == 2 &&
		    state != 'Z' && state != 'X')
			vec_push(ret, (struct process){(pid_t)pid, parent, false});
	}
}

static bool is_below(const process_list *all, pid_t pid)
{
	vec_each(all, p)
		if (p->pid == pid)
			return p->below;
	return false;
}

/* Lists all processes below @root, and @root if @itself. */
static void list_below(pid_t root, bool itself, process_list *ret)
{
	process_list all = {};
	bool more = true;

	list_processes(&all);
	while (more) {
		more = false;
		vec_each(&all, p)
			if (!p->below &&
			    (p->pid == root || p->parent == root || is_below(&all, p->parent)))
				p->below = more = true;
	}
	vec_each(&all, p)
		if (p->below && (itself || p->pid != root))
			vec_push(ret, *p);
	vec_release(&all);
}

void tree_list(pid_t root, pid_list *ret)
{
	process_list found = {};

	list_below(root, false, &found);
	vec_each(&found, p)
		vec_push(ret, p->pid);
	vec_release(&found);
}

/* Signals all processes and waits until they have ended, at most @patience_ms. */
static void signal_and_wait(const process_list *processes, int signal, int patience_ms)
{
	struct pollfd *fds = xcalloc(processes->len, sizeof(*fds));
	uint64_t end_ns = clock_now_ns() + (uint64_t)patience_ms * NS_PER_MSEC, now;
	size_t left = 0;

	for (size_t i = 0; i < processes->len; i++) {
		int fd = (int)syscall(SYS_pidfd_open, processes->items[i].pid, 0);

		kill(processes->items[i].pid, signal);
		kill(processes->items[i].pid, SIGCONT);
		if (fd >= 0)
			fds[left++] = (struct pollfd){.fd = fd, .events = POLLIN};
	}
	while (left && (now = clock_now_ns()) < end_ns) {
		if (poll(fds, left, (int)((end_ns - now) / NS_PER_MSEC) + 1) < 0 && errno != EINTR)
			break;
		for (size_t i = 0; i < left;)
			if (fds[i].revents) {
				close(fds[i].fd);
				fds[i] = fds[--left];
			} else {
				i++;
			}
	}
	while (left)
		close(fds[--left].fd);
	free(fds);
}

static void end_with(pid_t root, bool itself, int signal)
{
	for (int i = 0; i <= KILL_ROUNDS; i++, signal = SIGKILL) {
		process_list found = {};
		bool none;

		list_below(root, itself, &found);
		signal_and_wait(&found, signal,
				signal == SIGTERM ? TERM_PATIENCE_MS : KILL_PATIENCE_MS);
		none = !found.len;
		vec_release(&found);
		if (none)
			return;
	}
}

void tree_end(pid_t root, bool itself)
{
	end_with(root, itself, SIGTERM);
}

void tree_kill(pid_t root, bool itself)
{
	end_with(root, itself, SIGKILL);
}

/* The state letter in /proc/PID/stat, 0: unknown. */
static char task_state(pid_t task)
{
	char line[128];
	const char *name_end;

	if (!fs_line(line, sizeof(line), "/proc/%d/stat", (int)task))
		return 0;
	name_end = strrchr(line, ')');
	return name_end && name_end[1] == ' ' ? name_end[2] : 0;
}

/* A zombie, for which its parent has not waited yet, counts as ended. */
bool task_is_alive(pid_t task)
{
	char state = task_state(task);

	if (!state)
		return kill(task, 0) == 0 || errno == EPERM;
	return state != 'Z' && state != 'X';
}

bool task_continue(pid_t task)
{
	char state = task_state(task);

	if (state == 'T')
		kill(task, SIGCONT);
	return state == 't';
}
