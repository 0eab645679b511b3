#include "perf/target.h"
#include "perf/open.h"

#include <errno.h>
#include <unistd.h>

void target_release(struct target *target)
{
	vec_each(&target->cgroups, cgroup) {
		close(cgroup->fd);
		free(cgroup->name);
	}
	vec_release(&target->tasks);
	vec_release(&target->cpus);
	vec_release(&target->cgroups);
}

static bool pmu_has_cpu(const struct pmu *pmu, int cpu)
{
	if (!pmu || !pmu->cpus)
		return true;
	for (size_t i = 0; i < pmu->cpu_count; i++)
		if (pmu->cpus[i] == cpu)
			return true;
	return false;
}

/* An uncore PMU counts on the CPUs of its mask, no matter where the target is. */
static void uncore_places(const struct pmu *pmu, const struct target *target, place_list *places)
{
	for (size_t i = 0; i < pmu->cpu_count; i++) {
		bool wanted = !target->cpus.len || target->tasks.len;

		vec_each(&target->cpus, cpu)
			wanted |= *cpu == pmu->cpus[i];
		if (wanted)
			vec_push(places, (struct place){-1, pmu->cpus[i], -1, -1, 0});
	}
}

static void cpu_places(const struct pmu *pmu, const struct target *target, place_list *places)
{
	vec_each(&target->cpus, cpu) {
		if (!pmu_has_cpu(pmu, *cpu))
			continue;
		if (!target->cgroups.len)
			vec_push(places, (struct place){-1, *cpu, -1, -1, 0});
		for (size_t i = 0; i < target->cgroups.len; i++)
			vec_push(places, (struct place){target->cgroups.items[i].fd, *cpu, -1,
							(int)i, PERF_FLAG_PID_CGROUP});
	}
}

void places_of(const struct event_unit *unit, const struct target *target, place_list *places)
{
	const struct pmu *pmu = unit->pmu;

	if (pmu && !pmu->core && pmu->cpus) {
		uncore_places(pmu, target, places);
		return;
	}
	if (!target->tasks.len) {
		cpu_places(pmu, target, places);
		return;
	}
	for (size_t i = 0; i < target->tasks.len; i++) {
		if (!target->cpus.len)
			vec_push(places, (struct place){target->tasks.items[i], -1, (int)i, -1, 0});
		vec_each(&target->cpus, cpu)
			if (pmu_has_cpu(pmu, *cpu))
				vec_push(places, (struct place){target->tasks.items[i], *cpu,
								(int)i, -1, 0});
	}
}

int place_open(struct perf_event_attr *attr, const struct place *place, int leader_fd, bool chosen,
	       bool *user_only)
{
	int fd;

	attr->exclude_kernel |= *user_only;
	fd = perf_open(attr, place->pid, place->cpu, leader_fd, place->flags);
	if ((fd != -EACCES && fd != -EPERM) || chosen || attr->exclude_kernel || place->pid < 0 ||
	    place->flags || perf_is_kernel_only(attr))
		return fd;
	attr->exclude_kernel = 1;
	fd = perf_open(attr, place->pid, place->cpu, leader_fd, place->flags);
	if (fd >= 0)
		*user_only = true;
	return fd;
}

void files_raise(struct rlimit *ret_before)
{
	struct rlimit limit;

	*ret_before = (struct rlimit){};
	if (getrlimit(RLIMIT_NOFILE, ret_before) || ret_before->rlim_cur >= ret_before->rlim_max)
		return;
	limit = *ret_before;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

void files_restore(const struct rlimit *before)
{
	if (before->rlim_cur < before->rlim_max)
		setrlimit(RLIMIT_NOFILE, before);
}

int files_too_few(size_t event_count, const struct target *target, struct err *e)
{
	struct rlimit limit = {};

	getrlimit(RLIMIT_NOFILE, &limit);
	return err_set(e, EMFILE,
		       "%zu events at %zu places need more open files than the limit of %llu "
		       "(raise it: ulimit -n, or choose fewer)",
		       event_count, target->tasks.len + target->cpus.len,
		       (unsigned long long)limit.rlim_cur);
}
