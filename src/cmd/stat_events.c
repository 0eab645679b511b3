/* What to count and where: options become events and a target. */
#include "cmd/stat.h"
#include "base/number.h"
#include "base/text.h"
#include "event/parse.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_EVENTS                                                                             \
	"context-switches,cpu-migrations,page-faults,cycles,instructions,branches,"                \
	"branch-misses"

/* What each further -d adds. */
static const char *const details[] = {
	"L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses",
	("L1-icache-loads,L1-icache-load-misses,dTLB-loads,dTLB-load-misses,iTLB-loads,"
	 "iTLB-load-misses"),
	"L1-dcache-prefetches,L1-dcache-prefetch-misses",
};

int stat_choose_events(struct stat_session *s, struct err *e)
{
	int r = 0;

	vec_each(&s->o.events, text) {
		r = events_parse(&s->catalog, *text, &s->events, e);
		if (r < 0)
			return r;
	}
	vec_each(&s->o.metrics, names) {
		r = stat_add_metrics(s, *names, e);
		if (r < 0)
			return r;
	}
	if (!s->o.events.len && !s->o.metrics.len && !s->o.null_run) {
		s->default_events = true;
		/* Everybody's task-clock is the time itself; a system is watched by its CPUs' clock. */
		r = events_parse(&s->catalog, stat_is_cpu_wide(&s->o) ? "cpu-clock" : "task-clock",
				 &s->events, e);
		if (r == 0)
			r = events_parse(&s->catalog, DEFAULT_EVENTS, &s->events, e);
	}
	for (unsigned i = 0; r == 0 && i < s->o.detail && i < ARRAY_LEN(details); i++)
		r = events_parse(&s->catalog, details[i], &s->events, e);
	return r < 0 ? r : events_apply_defaults(&s->events, e);
}

/* ---- target ---- */

static void add_task(struct stat_session *s, pid_t tid)
{
	struct buf label = {};
	char comm[32] = "?";

	vec_each(&s->plan.target.tasks, known)
		if (*known == tid)
			return;
	fs_line(comm, sizeof(comm), "/proc/%d/comm", (int)tid);
	text_add_printable(&label, comm);
	buf_addf(&label, "-%d", (int)tid);
	vec_push(&s->plan.target.tasks, tid);
	vec_push(&s->task_names, buf_steal(&label));
}

static int add_process(struct stat_session *s, long long pid, struct err *e)
{
	CLEANUP(free_ptr) char *dir = xasprintf("/proc/%lld/task", pid);
	CLEANUP(strvec_release) strvec tids = {};

	fs_list(dir, &tids);
	vec_each(&tids, name) {
		long long tid;

		if (parse_i64(*name, &tid))
			add_task(s, (pid_t)tid);
	}
	if (!tids.len)
		return err_set(e, ESRCH, "there is no process %lld (it may have ended)", pid);
	return 0;
}

static int add_tasks(struct stat_session *s, const char *list, bool whole_process, struct err *e)
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
			r = add_process(s, id, e);
		else if (!fs_exists("/proc/%lld", id))
			r = err_set(e, ESRCH, "there is no thread %lld (it may have ended)", id);
		else
			add_task(s, (pid_t)id);
		if (r < 0)
			return r;
	}
	return 0;
}

static int choose_cpus(struct stat_session *s, struct err *e)
{
	CLEANUP(free_ptr) int *cpus = NULL;
	size_t count = 0;

	if (!s->o.cpus) {
		for (size_t i = 0; i < s->topology.count; i++)
			vec_push(&s->plan.target.cpus, s->topology.cpus[i].cpu);
		return 0;
	}
	if (!parse_cpulist(s->o.cpus, CPU_LIMIT, &cpus, &count) || !count)
		return err_set(e, EINVAL, "'%s' is not a list of CPUs (such as 0-3,8)", s->o.cpus);
	for (size_t i = 0; i < count; i++) {
		bool online = false;

		for (size_t k = 0; k < s->topology.count; k++)
			online |= s->topology.cpus[k].cpu == cpus[i];
		if (!online)
			return err_set(e, ENODEV, "CPU %d is not online", cpus[i]);
		vec_push(&s->plan.target.cpus, cpus[i]);
	}
	return 0;
}

/* cgroup v2 first, then the old perf_event hierarchy, then a path that was written in full. */
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

static int choose_cgroups(struct stat_session *s, struct err *e)
{
	CLEANUP(strvec_release) strvec names = {};

	text_split(s->o.cgroups, ",", &names);
	if (!names.len)
		return err_set(e, EINVAL, "the list of cgroups is empty");
	vec_each(&names, name) {
		int fd = open_cgroup(*name);

		if (fd < 0)
			return err_set(e, ENOENT,
				       "there is no cgroup '%s' (looked below /sys/fs/cgroup)",
				       *name);
		vec_push(&s->plan.target.cgroups, (struct target_cgroup){xstrdup(*name), fd});
	}
	return 0;
}

static enum aggregation choose_mode(const struct stat_options *o)
{
	return o->per_thread       ? AGGR_THREAD
	       : o->no_aggregation ? AGGR_CPU
	       : o->per_core       ? AGGR_CORE
	       : o->per_die        ? AGGR_DIE
	       : o->per_socket     ? AGGR_SOCKET
	       : o->cgroups        ? AGGR_CGROUP
				   : AGGR_ALL;
}

static int check_combination(const struct stat_session *s, bool cpu_wide, struct err *e)
{
	const struct stat_options *o = &s->o;

	if ((o->pids || o->tids) && cpu_wide)
		return err_set(e, EINVAL,
			       "choose one: processes (-p, -t), CPUs (-a, -C) or cgroups (-G)");
	if (o->interval_count && !o->interval_ms)
		return err_set(e, EINVAL, "--interval-count needs intervals to count: add -I MS");
	if (o->separator && !*o->separator)
		return err_set(e, EINVAL, "the separator of -x is empty");
	if (o->per_thread && !(o->pids || o->tids))
		return err_set(
			e, EINVAL,
			"--per-thread needs running threads to tell apart: -p PID or -t TID");
	if ((o->no_aggregation || o->per_core || o->per_socket || o->per_die) && !cpu_wide)
		return err_set(
			e, EINVAL,
			"-A, --per-core, --per-die and --per-socket need CPUs to tell apart: "
			"add -a or -C LIST");
	if (o->per_thread + o->no_aggregation + o->per_core + o->per_die + o->per_socket > 1)
		return err_set(
			e, EINVAL,
			"choose one of --per-thread, -A, --per-core, --per-die, --per-socket");
	if (!s->plan.argv && !o->pids && !o->tids && !cpu_wide)
		return err_set(e, EINVAL,
			       "nothing to count: give a COMMAND, or -p PID, -t TID, -a");
	return 0;
}

int stat_choose_target(struct stat_session *s, struct err *e)
{
	const struct stat_options *o = &s->o;
	bool cpu_wide = stat_is_cpu_wide(o);
	int r = check_combination(s, cpu_wide, e);

	s->plan.target.inherit = !o->no_inherit;
	s->plan.target.tasks_apart = o->per_thread;
	s->table.mode = s->tick.mode = choose_mode(o);
	s->table.by_aggregate = s->tick.by_aggregate =
		o->per_core || o->per_die || o->per_socket || o->cgroups;
	if (r == 0 && o->pids)
		r = add_tasks(s, o->pids, true, e);
	if (r == 0 && o->tids)
		r = add_tasks(s, o->tids, false, e);
	if (r == 0 && cpu_wide)
		r = choose_cpus(s, e);
	if (r == 0 && o->cgroups)
		r = choose_cgroups(s, e);
	return r;
}
