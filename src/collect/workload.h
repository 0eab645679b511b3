/* A program to be measured: started, but held before its first instruction until we are ready. */
#ifndef TACHO_COLLECT_WORKLOAD_H
#define TACHO_COLLECT_WORKLOAD_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/* What a program gets instead of what we have ourselves. Zeros: nothing is changed. */
struct workload_options {
	bool to_stderr;       /* its output goes there, because ours is needed for something else */
	bool captured;        /* a session of its own, stdin from /dev/null, output into: */
	int out_fd, err_fd;   /* if it is captured */
	char *const *env;     /* NAME=VALUE, added to our environment; ended by NULL */
	const char *cwd;      /* NULL with `captured`: the home of the user */
	const char *user;     /* to become, by name or number; only root can */
	const char *affinity; /* CPUs: "0-3,8" */
	uint64_t cpu_s, memory_bytes, files, processes, file_bytes; /* limits, 0: as they are */
};

struct workload {
	pid_t pid; /* 0 once it was waited for */
	int go_fd, error_fd;
	int exec_code,
		exec_step; /* errno of what failed instead of running it, and what that was */
	int wait_status;
	struct rusage usage;
};

/* Whether exec would find it: so that a typing error costs nothing. */
bool workload_exists(const char *name);
/* The sentence for a failed exec. */
int workload_cannot_run(const char *name, int code, struct err *e);

/* @o may be NULL; it must stay until workload_start(). */
int workload_spawn(struct workload *w, char *const argv[], const struct workload_options *o,
		   struct err *e);

/* Lets it run. Returns at once: waking us up at its first instruction would disturb it. */
void workload_start(struct workload *w);

/* Whether exec has failed by now; then a sentence and the negative errno. */
int workload_check_exec(struct workload *w, const char *name, struct err *e);

/* Without waiting: true if it has ended; then status and usage are filled in. */
bool workload_reap(struct workload *w, bool wait);

/* Ends it by @signal if it still runs. */
void workload_signal(struct workload *w, int signal);

/* Ends it and all that it has started: by SIGTERM, and who does not listen for two seconds, by
 * SIGKILL. */
void workload_end(struct workload *w);

void workload_close(struct workload *w);

/* Exit status as a shell would give it. */
int workload_exit_status(const struct workload *w);

#endif
