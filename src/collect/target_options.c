#include "collect/target_options.h"
#include "base/number.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

struct chooser {
	const struct target_options *o;
	const struct topology *topology;
	struct target *target;
	strvec *names; /* labels of the tasks, NULL: not wanted */
};

static void add_task(struct chooser *c, pid_t tid)
{
	struct buf label = {};
	char comm[32] = "?";

	vec_each(&c->target->tasks, known)
		if (*known == tid)
			return;
	vec_push(&c->target->tasks, tid);
	if (!c->names)
		return;
	fs_line(comm, sizeof(comm), "/proc/%d/comm", (int)tid);
	text_add_printable(&label, comm);
	buf_addf(&label, "-%d", (int)tid);
	vec_push(c->names, buf_steal(&label));
}

static int add_process(struct chooser *c, long long pid, struct err *e)
{
	CLEANUP(free_ptr) char *dir = xasprintf("/proc/%lld/task", pid);
	CLEANUP(strvec_release) strvec tids = {};

	fs_list(dir, &tids);
	vec_each(&tids, name) {
		long long tid;

		if (parse_i64(*name, &tid))
			add_task(c, (pid_t)tid);
	}
	if (!tids.len)
		return err_set(e, ESRCH, "there is no process %lld (it may have ended)", pid);
	return 0;
}

static int add_tasks(struct chooser *c, const char *list, bool whole_process, struct err *e)
{
	CLEANUP(strvec_release) strvec words = {};

	text_split(list, ", ", &words);
	if (!words.len)
		return err_set(e, EINVAL, "the list of processes is empty");
	vec_each(&words, word) {
		long long id;
		int r = 0;

		if (!parse_i64(*word, &id) || id <= 0 || id > INT32_MAX)
			return err_set(e, EINVAL, "'%s' is not a process or thread number", *word);
		if (whole_process)
			r = add_process(c, id, e);
		else if (!fs_exists("/proc/%lld", id))
			r = err_set(e, ESRCH, "there is no thread %lld (it may have ended)", id);
		else
			add_task(c, (pid_t)id);
		if (r < 0)
			return r;
	}
	return 0;
}

static int choose_cpus(struct chooser *c, struct err *e)
{
	CLEANUP(free_ptr) int *cpus = NULL;
	size_t count = 0;

	if (!c->o->cpus) {
		for (size_t i = 0; i < c->topology->count; i++)
			vec_push(&c->target->cpus, c->topology->cpus[i].cpu);
		return 0;
	}
	if (!parse_cpulist(c->o->cpus, CPU_LIMIT, &cpus, &count) || !count)
		return err_set(e, EINVAL, "'%s' is not a list of CPUs (such as 0-3,8)", c->o->cpus);
	for (size_t i = 0; i < count; i++) {
		bool online = false;

		for (size_t k = 0; k < c->topology->count; k++)
			online |= c->topology->cpus[k].cpu == cpus[i];
		if (!online)
			return err_set(e, ENODEV, "CPU %d is not online", cpus[i]);
		vec_push(&c->target->cpus, cpus[i]);
	}
	return 0;
}

/* Tries cgroup v2, then the old perf_event hierarchy, then @name as a full path. */
static int open_cgroup(const char *name)
{
	static const char *const mounts[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified",
					     "/sys/fs/cgroup/perf_event", ""};
	int fd = -1;

	for (size_t i = 0; i < ARRAY_LEN(mounts) && fd < 0; i++) {
		CLEANUP(free_ptr) char *path = xasprintf("%s/%s", mounts[i], name);
		CLEANUP(free_ptr) char *procs = xasprintf("%s/cgroup.procs", path);

		if (!access(procs, F_OK))
			fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	return fd;
}

static int choose_cgroups(struct chooser *c, struct err *e)
{
	CLEANUP(strvec_release) strvec names = {};

	text_split(c->o->cgroups, ",", &names);
	if (!names.len)
		return err_set(e, EINVAL, "the list of cgroups is empty");
	vec_each(&names, name) {
		int fd = open_cgroup(*name);

		if (fd < 0)
			return err_set(e, ENOENT,
				       "there is no cgroup '%s' (looked below /sys/fs/cgroup)",
				       *name);
		vec_push(&c->target->cgroups, (struct target_cgroup){xstrdup(*name), fd});
	}
	return 0;
}

static int find_user(const char *name, uid_t *ret_uid, struct err *e)
{
	const struct passwd *user = getpwnam(name);
	long long number;

	if (user)
		*ret_uid = user->pw_uid;
	else if (parse_i64(name, &number) && number >= 0 && number < UINT32_MAX)
		*ret_uid = (uid_t)number;
	else
		return err_set(e, ENOENT, "there is no user '%s'", name);
	return 0;
}

/* Adds every process that the user has now; children that they start later are inherited. */
static int choose_user(struct chooser *c, struct err *e)
{
	CLEANUP(strvec_release) strvec names = {};
	pid_t self = getpid();
	uid_t uid = 0;
	int r = find_user(c->o->user, &uid, e);

	if (r < 0)
		return r;
	fs_list("/proc", &names);
	vec_each(&names, name) {
		CLEANUP(free_ptr) char *dir = xasprintf("/proc/%s", *name);
		struct stat st;
		long long pid;

		if (parse_i64(*name, &pid) && pid != self && !stat(dir, &st) && st.st_uid == uid)
			add_process(c, pid, NULL); /* it may have ended meanwhile */
	}
	if (!c->target->tasks.len)
		return err_set(e, ESRCH, "user '%s' has no processes", c->o->user);
	return 0;
}

int target_choose(const struct target_options *o, const struct topology *topology,
		  struct target *ret, strvec *ret_names, struct err *e)
{
	struct chooser c = {.o = o, .topology = topology, .target = ret, .names = ret_names};
	bool cpu_wide = target_is_cpu_wide(o);
	int r = 0;

	if (target_has_tasks(o) && cpu_wide)
		return err_set(e, EINVAL,
			       "choose one: processes (-p, -t%s), CPUs (-a, -C) or cgroups (-G)",
			       o->user ? ", -u" : "");
	ret->inherit = !o->no_inherit;
	if (o->pids)
		r = add_tasks(&c, o->pids, true, e);
	if (r == 0 && o->tids)
		r = add_tasks(&c, o->tids, false, e);
	if (r == 0 && o->user)
		r = choose_user(&c, e);
	if (r == 0 && cpu_wide)
		r = choose_cpus(&c, e);
	if (r == 0 && o->cgroups)
		r = choose_cgroups(&c, e);
	return r;
}
