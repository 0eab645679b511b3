/* Internal to workloads: what a new process does to itself before it becomes the program. */
#ifndef TACHO_COLLECT_WORKLOAD_PREPARE_H
#define TACHO_COLLECT_WORKLOAD_PREPARE_H

#include "collect/workload.h"

enum workload_step {
	WORKLOAD_EXEC,
	WORKLOAD_OUTPUT,
	WORKLOAD_AFFINITY,
	WORKLOAD_LIMITS,
	WORKLOAD_USER_UNKNOWN,
	WORKLOAD_USER,
	WORKLOAD_DIRECTORY,
};

/* 0, or a negative errno and the step that failed. */
int workload_prepare(const struct workload_options *o, int *ret_step);

const char *workload_step_text(int step);

#endif
