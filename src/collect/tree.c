#include "collect/tree.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/io.h"
#include "base/number.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define TERM_PATIENCE_MS  2000
#define LOOK_MS           100   /* how often new descendants and ended ones are looked for */
#define WATCHED_MAX       256u  /* descendants waited for at a time: each takes a descriptor */
#define NO_DESCRIPTORS_US 10000 /* instead of waiting, if none is left */
#define STOP_ROUNDS       50
#define KILL_ROUNDS       50
#define ENVIRON_BYTES     (256u << 10) /* of a process: a mark behind is not found */

struct process {
	pid_t pid, parent;
	char state; /* as in /proc/PID/stat */
	bool below; /* a root, or one of its descendants */
};

typedef VEC(struct process) process_list;

/* What is to be ended: all below @root, or all processes with @mark in their environment. */
struct tree {
	pid_t root;
	bool itself;      /* the root, too */
	pid_t own;        /* a child of ours that its owner reaps; 0: none */
	const char *mark; /* NULL: none */
	pid_list seen;    /* signalled before, sorted */
};

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

static int by_pid(const void *a, const void *b)
{
	pid_t x = ((const struct process *)a)->pid, y = ((const struct process *)b)->pid;

	return (x > y) - (x < y);
}

/* Lists all processes with their parents, sorted. */
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
		if (behind_name && sscanf(behind_name + 1, " %c %d", &state, &parent) == 2)
			vec_push(ret, (struct process){(pid_t)pid, parent, state, false});
	}
	if (ret->len)
		qsort(ret->items, ret->len, sizeof(*ret->items), by_pid);
}

static struct process *find_process(const process_list *all, pid_t pid)
{
	struct process key = {.pid = pid};

	return all->len ? bsearch(&key, all->items, all->len, sizeof(key), by_pid) : NULL;
}

static bool has_ended(const struct process *p)
{
	return p->state == 'Z' || p->state == 'X';
}

static bool is_marked(pid_t pid, const char *mark)
{
	size_t size = strlen(mark) + 1;
	CLEANUP(free_ptr) char *path = xasprintf("/proc/%d/environ", (int)pid), *text = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;
	bool found = false;

	if (fd < 0)
		return false;
	text = xcalloc(1, ENVIRON_BYTES);
	n = io_read(fd, text, ENVIRON_BYTES);
	close(fd);
	for (const char *at = text, *end = text + (n > 0 ? n : 0); !found && at < end;) {
		const char *zero = memchr(at, '\0', (size_t)(end - at));

		if (!zero)
			break;
		found = (size_t)(zero - at) + 1 == size && !memcmp(at, mark, size);
		at = zero + 1;
	}
	return found;
}

/* Whether @pid is our process or one that it descends from: these are never ended by a mark, which a
 * server that was started inside of a workload has, too. */
static bool is_above_us(const process_list *all, pid_t pid)
{
	pid_t at = getpid();

	for (size_t i = 0; at > 0 && i <= all->len; i++) {
		const struct process *p = find_process(all, at);

		if (at == pid)
			return true;
		at = p ? p->parent : 0;
	}
	return false;
}

static bool is_root(const struct tree *t, const process_list *all, const struct process *p)
{
	if (!t->mark)
		return p->pid == t->root;
	return is_marked(p->pid, t->mark) && !is_above_us(all, p->pid);
}

/* Lists all processes, and marks those that are below a root, and the roots. */
static void list_below(const struct tree *t, process_list *ret)
{
	bool more = true;

	list_processes(ret);
	vec_each(ret, p)
		p->below = is_root(t, ret, p);
	while (more) {
		more = false;
		vec_each(ret, p) {
			const struct process *parent;

			if (p->below || (t->mark && p->pid == getpid()))
				continue;
			parent = find_process(ret, p->parent);
			p->below = (parent && parent->below) || (!t->mark && p->parent == t->root);
			more |= p->below;
		}
	}
}

/* Whether it runs and is to be ended. */
static bool is_wanted(const struct tree *t, const struct process *p)
{
	return p->below && !has_ended(p) && (t->mark || t->itself || p->pid != t->root);
}

void tree_list(pid_t root, pid_list *ret)
{
	struct tree t = {.root = root};
	process_list all = {};

	list_below(&t, &all);
	vec_each(&all, p)
		if (is_wanted(&t, p))
			vec_push(ret, p->pid);
	vec_release(&all);
}

static int compare_pids(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

/* Among the first @count of those seen. */
static bool was_seen_among(const struct tree *t, size_t count, pid_t pid)
{
	return count && bsearch(&pid, t->seen.items, count, sizeof(pid), compare_pids);
}

static bool was_seen(const struct tree *t, pid_t pid)
{
	return was_seen_among(t, t->seen.len, pid);
}

/* Reaps children of ours that have ended: those that we have signalled, and all if all of our children
 * are in the tree. A program that forks while it is ended would use up all pids otherwise. */
static void reap(const struct tree *t, const process_list *all)
{
	pid_t us = getpid();

	vec_each(all, p)
		if (has_ended(p) && p->parent == us && p->pid != t->own && p->pid != t->root &&
		    (t->root == us || was_seen(t, p->pid)))
			waitpid(p->pid, NULL, WNOHANG);
}

/* Waits until the processes have ended, or many of them, at most LOOK_MS. */
static void wait_for_end(const struct tree *t, const process_list *all)
{
	uint64_t end_ns = clock_now_ns() + LOOK_MS * NS_PER_MSEC, now;
	struct pollfd fds[WATCHED_MAX];
	nfds_t count = 0;

	vec_each(all, p) {
		int fd;

		if (!is_wanted(t, p))
			continue;
		if (count == ARRAY_LEN(fds) || (fd = (int)syscall(SYS_pidfd_open, p->pid, 0)) < 0)
			break;
		fds[count++] = (struct pollfd){.fd = fd, .events = POLLIN};
	}
	if (!count)
		usleep(NO_DESCRIPTORS_US);
	while (count && (now = clock_now_ns()) < end_ns) {
		if (poll(fds, count, (int)((end_ns - now) / NS_PER_MSEC) + 1) < 0 && errno != EINTR)
			break;
		for (nfds_t i = 0; i < count;)
			if (fds[i].revents) {
				close(fds[i].fd);
				fds[i] = fds[--count];
			} else {
				i++;
			}
	}
	while (count)
		close(fds[--count].fd);
}

/* Returns how many are left to be ended, and reaps what has ended. */
static size_t look(const struct tree *t, process_list *all)
{
	size_t left = 0;

	vec_release(all);
	*all = (process_list){};
	list_below(t, all);
	reap(t, all);
	vec_each(all, p)
		left += is_wanted(t, p);
	return left;
}

static void note_seen(struct tree *t, const process_list *all)
{
	size_t before = t->seen.len;

	vec_each(all, p)
		if (is_wanted(t, p) && !was_seen_among(t, before, p->pid))
			vec_push(&t->seen, p->pid);
	if (t->seen.len)
		qsort(t->seen.items, t->seen.len, sizeof(pid_t), compare_pids);
}

/* Asks all to end, also those that are started meanwhile. Returns whether some are left. */
static bool ask_to_end(struct tree *t, process_list *all)
{
	uint64_t end_ns = clock_now_ns() + TERM_PATIENCE_MS * NS_PER_MSEC;

	while (look(t, all)) {
		vec_each(all, p)
			if (is_wanted(t, p) && !was_seen(t, p->pid)) {
				kill(p->pid, SIGTERM);
				kill(p->pid, SIGCONT);
			}
		note_seen(t, all);
		if (clock_now_ns() >= end_ns)
			return true;
		wait_for_end(t, all);
	}
	return false;
}

/* Stops all, until none is left that could start another one. Otherwise programs that fork all the time
 * could start new ones as fast as they are killed. */
static void stop_all(struct tree *t, process_list *all)
{
	for (int i = 0; i < STOP_ROUNDS; i++) {
		bool running = false;

		vec_each(all, p)
			if (is_wanted(t, p) && p->state != 'T' && p->state != 't') {
				kill(p->pid, SIGSTOP);
				running = true;
			}
		note_seen(t, all);
		if (!running)
			return;
		/* A process notices the signal when it runs next. */
		usleep(1000);
		look(t, all);
	}
}

static void kill_all(struct tree *t, process_list *all)
{
	size_t left = look(t, all);

	for (int stuck = 0; left && stuck < KILL_ROUNDS;) {
		size_t before = left;

		stop_all(t, all);
		vec_each(all, p)
			if (is_wanted(t, p))
				kill(p->pid, SIGKILL);
		wait_for_end(t, all);
		left = look(t, all);
		stuck = left < before ? 0 : stuck + 1;
	}
}

static void end_with(struct tree *t, bool ask)
{
	process_list all = {};

	if (!ask || ask_to_end(t, &all))
		kill_all(t, &all);
	vec_release(&all);
	vec_release(&t->seen);
}

void tree_end(pid_t root, bool itself, pid_t own)
{
	end_with(&(struct tree){.root = root, .itself = itself, .own = own}, true);
}

void tree_kill(pid_t root, bool itself, pid_t own)
{
	end_with(&(struct tree){.root = root, .itself = itself, .own = own}, false);
}

void tree_end_marked(const char *mark)
{
	end_with(&(struct tree){.mark = mark}, true);
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
