/* A program to be measured: forked, but held before its exec until we are ready. */
#ifndef TACHO_COLLECT_WORKLOAD_H
#define TACHO_COLLECT_WORKLOAD_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/* What a program gets that differs from our own process. Zeros: nothing is changed. */
struct workload_options {
	bool to_stderr;       /* its stdout goes to stderr: ours is needed for something else */
	bool captured;        /* own session, stdin from /dev/null, output into out_fd, err_fd */
	int out_fd, err_fd;   /* only if `captured` */
	char *const *env;     /* NAME=VALUE, added to the environment; ended by NULL */
	const char *cwd;      /* NULL with `captured`: the home of the user */
	const char *user;     /* to run as, by name or number, with an environment of its own; only
			       * root can */
	const char *affinity; /* CPUs: "0-3,8" */
	uint64_t cpu_s, memory_bytes, files, processes, file_bytes; /* limits, 0: as they are */
};

struct workload {
	pid_t pid; /* 0 once it was waited for */
	int go_fd, error_fd;
	int exec_code,
		exec_step; /* errno of the step that failed before or at the exec, and that step */
	int wait_status;
	struct rusage usage;
};

/* Whether exec would find @name. Asked early, so that a typing error costs nothing. */
bool workload_exists(const char *name);
/* Sets the error for a failed exec. */
int workload_cannot_run(const char *name, int code, struct err *e);

/* Forks a child that waits for workload_start(). @o may be NULL; it must stay until then. */
int workload_spawn(struct workload *w, char *const argv[], const struct workload_options *o,
		   struct err *e);

/* Starts the workload. Returns at once: being woken at its first instruction would disturb it. */
void workload_start(struct workload *w);

/* Returns 0, or if exec has failed by now, a negative errno with @e set. */
int workload_check_exec(struct workload *w, const char *name, struct err *e);

/* Returns true if the workload has ended, with status and usage filled in. @wait: waits for it. */
bool workload_reap(struct workload *w, bool wait);

/* Sends @signal to the workload if it still runs. */
void workload_signal(struct workload *w, int signal);

/* Ends the workload with its descendants, as tree_end() does. */
void workload_end(struct workload *w);

void workload_close(struct workload *w);

/* Exit status as a shell would give it. */
int workload_exit_status(const struct workload *w);

#endif
