#include "collect/run/rights.h"
#include "base/as_user.h"
#include "base/number.h"
#include "perf/rights.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define STATUS_BYTES_MAX  (64u << 10)
#define PARANOID_FILE     "/proc/sys/kernel/perf_event_paranoid"
#define PARANOID_CPU_WIDE 0 /* at most this, and any user may watch the whole system */

/* Whether the line "NAME:\tREAL\tEFFECTIVE\tSAVED\tFILESYSTEM" has @id four times. */
static bool ids_are(const char *status, const char *name, unsigned id)
{
	const char *line = strstr(status, name);
	unsigned ids[4];

	return line &&
	       sscanf(line + strlen(name), "%u %u %u %u", &ids[0], &ids[1], &ids[2], &ids[3]) ==
		       4 &&
	       ids[0] == id && ids[1] == id && ids[2] == id && ids[3] == id;
}

/* Part of the kernel's rule for a user who watches a process (ptrace_may_access). A task that is not
 * there passes: that is told later, as for everybody. */
static bool task_belongs_to(int32_t task, const struct user_ids *user)
{
	CLEANUP(free_ptr) char *path = xasprintf("/proc/%d/status", task);
	CLEANUP(free_ptr) char *status = NULL;
	int r = fs_read(path, STATUS_BYTES_MAX, &status);

	if (r == -ENOENT || r == -ESRCH)
		return true;
	return r == 0 && ids_are(status, "\nUid:", user->uid) &&
	       ids_are(status, "\nGid:", user->gid);
}

static int check_tasks(const task_numbers *tasks, const struct run_rights *r,
		       const struct user_ids *user, struct err *e)
{
	vec_each(tasks, task)
		if (!task_belongs_to(*task, user))
			return err_set(e, EPERM,
				       "Process %d does not belong to user '%s', whose rights runs "
				       "have here: only an administrator may measure it.",
				       *task, r->user);
	return 0;
}

static int check_system_wide(const struct run_rights *r, struct err *e)
{
	CLEANUP(free_ptr) char *text = NULL;
	long long paranoid;

	if (fs_read(PARANOID_FILE, 64, &text) == 0 && parse_i64(text, &paranoid) &&
	    paranoid <= PARANOID_CPU_WIDE)
		return 0;
	return err_set(e, EPERM,
		       "User '%s', whose rights runs have here, may not measure the whole system "
		       "(kernel.perf_event_paranoid is above %d): only an administrator may.",
		       r->user, PARANOID_CPU_WIDE);
}

static bool is_another(const char *name, const struct user_ids *user)
{
	struct user_ids other = {};
	bool found = user_ids_find(name, &other);

	user_ids_release(&other);
	return !found || other.uid != user->uid;
}

static int check_plan(const struct run_rights *r, const struct user_ids *user,
		      const struct run_plan *plan, struct err *e)
{
	int result;

	if (plan->user && is_another(plan->user, user))
		return err_set(e, EPERM,
			       "Workloads run as '%s' here: only an administrator may start one as "
			       "'%.64s'.",
			       r->user, plan->user);
	result = check_tasks(&plan->pids, r, user, e);
	if (result == 0)
		result = check_tasks(&plan->tids, r, user, e);
	return result == 0 && plan->system_wide ? check_system_wide(r, e) : result;
}

static int find_user(const struct run_rights *r, struct user_ids *ret, struct err *e)
{
	if (!r->user)
		return err_set(
			e, EPERM,
			"The server runs as root, and so would this run: only an "
			"administrator may start it. 'tacho serve --run-as USER' lets others "
			"start runs.");
	if (!user_ids_find(r->user, ret))
		return err_set(e, EPERM, "User '%s', whose rights runs have here, is gone.",
			       r->user);
	return 0;
}

int run_rights_apply(const struct run_rights *r, struct run_plan *plan, struct err *e)
{
	struct user_ids user = {};
	int result = r->restricted ? find_user(r, &user, e) : 0;

	if (result == 0 && r->restricted)
		result = check_plan(r, &user, plan, e);
	user_ids_release(&user);
	if (result == 0 && r->user && !plan->user && plan->argv.len)
		plan->user = xstrdup(r->user);
	return result;
}

int run_rights_take(const struct run_rights *r, bool import, struct err *e)
{
	static struct user_ids user;
	int result = r->restricted ? find_user(r, &user, e) : 0;

	if (result < 0 || !r->restricted)
		return result;
	as_user_choose(&user);
	if (!import)
		rights_limit_to_user(&user);
	return 0;
}
