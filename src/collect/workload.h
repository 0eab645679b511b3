/* A program to be measured: started, but held before its first instruction until we are ready. */
#ifndef TACHO_COLLECT_WORKLOAD_H
#define TACHO_COLLECT_WORKLOAD_H

#include "base/err.h"

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

struct workload {
	pid_t pid; /* 0 once it was waited for */
	int go_fd, error_fd;
	int exec_code; /* errno of a failed exec */
	int wait_status;
	struct rusage usage;
};

/* Whether exec would find it: so that a typing error costs nothing. */
bool workload_exists(const char *name);
/* The sentence for a failed exec. */
int workload_cannot_run(const char *name, int code, struct err *e);

/* @to_stderr: its output goes there, because ours is needed for something else. */
int workload_spawn(struct workload *w, char *const argv[], bool to_stderr, struct err *e);

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
