/*
 * Whose rights a run has. A server that runs as root can start workloads as another user. Whoever may
 * start runs there, but not administer, must get nothing by a run that this user could not do himself:
 * no workload as somebody else, no watching of other users' processes or of the kernel. The collector
 * measures with the user's rights (base/as_user.h), so the kernel decides. What can be seen beforehand
 * is refused when a run is submitted, and when it starts, for a clear answer.
 */
#ifndef TACHO_COLLECT_RUN_RIGHTS_H
#define TACHO_COLLECT_RUN_RIGHTS_H

#include "collect/run/plan.h"

struct run_rights {
	const char *user; /* workloads run as this user; NULL: as the server itself */
	bool restricted;  /* the run must not use other rights than those of @user */
};

/* Sets the user of a workload that names none. Returns -EPERM, with a sentence, for what the plan must
 * not do. */
int run_rights_apply(const struct run_rights *r, struct run_plan *plan, struct err *e);
/*
 * If the run is restricted, this process measures, looks at the kernel and at processes, and opens files that
 * processes name, with the rights of the user and no others. Files that an @import names keep the rule of
 * imports, which gives less. Before there are threads; after rights_set_rule().
 */
int run_rights_take(const struct run_rights *r, bool import, struct err *e);

#endif
