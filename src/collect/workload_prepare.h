/* Internal to workload.c: what the child does between fork and exec. */
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

/* Returns 0, or a negative errno with the failed step in *ret_step. */
int workload_prepare(const struct workload_options *o, int *ret_step);

const char *workload_step_text(int step);

/* Makes the rights of the user that a workload runs as, if that is not root, those of all processes
 * that are not known (perf/rights.h). @user: NULL: our own. */
void workload_presume_rights(const char *user);

#endif
