/* Checks of perf_event_open: permissions, hardware, cgroups. */
#include "doctor/doctor.h"
#include "base/fs.h"
#include "event/pmu.h"
#include "perf/open.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <unistd.h>

/* Opens and closes an event. Returns 0 or a negative errno. */
static int try_event(struct perf_event_attr *attr, pid_t pid, int cpu, unsigned flags)
{
	int fd;

	attr->size = sizeof(*attr);
	attr->disabled = 1;
	fd = perf_open(attr, pid, cpu, -1, flags);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static void check_privileges(struct doctor *d, struct finding *f)
{
	static const struct {
		int number;
		const char *name;
	} wanted[] = {
		{DOCTOR_CAP_PERFMON, "perfmon"},       {DOCTOR_CAP_BPF, "bpf"},
		{DOCTOR_CAP_SYS_PTRACE, "sys_ptrace"}, {DOCTOR_CAP_SYSLOG, "syslog"},
		{DOCTOR_CAP_SYS_ADMIN, "sys_admin"},
	};
	CLEANUP(buf_release) struct buf have = {};
	bool root = geteuid() == 0;

	if (d->roots.foreign) {
		finding_untested(f);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
		if (doctor_has(d, wanted[i].number))
			buf_addf(&have, "%s%s", have.len ? ", " : "", wanted[i].name);
	if (!have.len)
		buf_add(&have, "no capability that helps to measure");
	finding_set(f, root && doctor_may_measure_all(d) ? CHECK_OK : CHECK_INFO, "%s: %s",
		    root ? "root" : "not root", buf_str(&have));
	if (!root || doctor_may_measure_all(d))
		return;
	finding_set(f, CHECK_LIMITED, "root%s, but without the capabilities to measure",
		    d->user_namespace ? " of a user namespace" : "");
	finding_cost(f, "counts as a plain user for events, tracing and BPF");
	if (d->user_namespace)
		finding_advice(f, "run it as the root of the machine, outside the user namespace");
	else
		finding_advice(f, "start the container with --cap-add PERFMON --cap-add BPF "
				  "--cap-add SYSLOG");
}

/* A seccomp filter answers EPERM or ENOSYS. Every kernel with perf events has the file
 * perf_event_paranoid. */
static void explain_refusal(const struct doctor *d, struct finding *f, int code)
{
	finding_cost(f, "nothing can be counted or sampled");
	if (code == ENOSYS && !d->paranoid_known) {
		finding_set(f, CHECK_MISSING, "the kernel is built without perf events");
		finding_advice(f, "use a kernel with CONFIG_PERF_EVENTS=y");
	} else if (d->seccomp && (code == ENOSYS || d->paranoid <= 2)) {
		finding_set(f, CHECK_MISSING, "a seccomp filter forbids perf_event_open (%s)",
			    strerror(code));
		finding_advice(f,
			       "start the container with --cap-add PERFMON or with --security-opt "
			       "seccomp=unconfined (Kubernetes: securityContext.capabilities.add)");
	} else if (d->paranoid > 2) {
		finding_set(f, CHECK_MISSING, "refused: perf_event_paranoid is %lld", d->paranoid);
		finding_command(f, "paranoid", "%ssysctl -w kernel.perf_event_paranoid=1", d->sudo);
	} else {
		finding_set(f, CHECK_MISSING, "a software event cannot be opened: %s",
			    strerror(code));
		finding_advice(f, "look for a security module (SELinux, AppArmor) in dmesg");
	}
}

static void check_perf_events(struct doctor *d, struct finding *f)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_TASK_CLOCK,
				       .exclude_kernel = 1,
				       .exclude_hv = 1};
	int r;

	if (d->roots.foreign) {
		finding_untested(f);
		return;
	}
	r = try_event(&attr, 0, -1, 0);
	if (r < 0)
		explain_refusal(d, f, -r);
	else
		finding_set(f, CHECK_OK, "software events open");
}

/* Levels from -1 on; Debian and Ubuntu have added levels that refuse everything. */
static const char *paranoid_meaning(long long level)
{
	static const char *const meaning[] = {
		"everything",
		"everything but raw tracepoint data",
		"their own processes, also in the kernel, but not whole CPUs (-a)",
		"only the user-space code of their own processes",
		"only the user-space code of their own processes (Debian, Ubuntu: nothing)",
	};

	return meaning[level < 0 ? 0 : level > 3 ? 4 : level + 1];
}

static void check_paranoid(struct doctor *d, struct finding *f)
{
	const char *meaning = paranoid_meaning(d->paranoid);

	if (!d->paranoid_known) {
		finding_unknown(d, f, "perf_event_paranoid");
		return;
	}
	if (doctor_may_measure_all(d)) {
		finding_set(f, CHECK_OK, "%lld: no limit for you; plain users may measure %s",
			    d->paranoid, meaning);
		return;
	}
	finding_set(f, d->paranoid > 1 ? CHECK_LIMITED : CHECK_OK,
		    "%lld: plain users may measure %s", d->paranoid, meaning);
	if (f->status == CHECK_OK)
		return;
	finding_cost(f, "no kernel functions in stacks, no kernel counts, no kernel symbols, no "
			"whole CPUs (-a)");
	finding_command(f, "paranoid", "%ssysctl -w kernel.perf_event_paranoid=1", d->sudo);
}

#define PMUS_SHOWN 4

/* "cpu_core (CPUs 0-11), cpu_atom (CPUs 12-15)"; returns how many there are. */
static size_t add_core_pmus(const struct doctor *d, struct buf *out)
{
	CLEANUP(pmus_release) struct pmus pmus;
	struct pmu *pmu;
	size_t count = 0;

	pmus_load(&pmus, &d->roots);
	while ((pmu = pmus_core(&pmus, count))) {
		char cpus[64] = "";

		if (++count > PMUS_SHOWN)
			continue;
		buf_addf(out, "%s%.64s", count > 1 ? ", " : "", pmu->name);
		if (fs_line(cpus, sizeof(cpus), "%s/bus/event_source/devices/%s/cpus", d->roots.sys,
			    pmu->name) &&
		    cpus[0])
			buf_addf(out, " (CPUs %s)", cpus);
	}
	if (count > PMUS_SHOWN)
		buf_addf(out, " and %zu more", count - PMUS_SHOWN);
	return count;
}

static struct perf_event_attr cycles(void)
{
	return (struct perf_event_attr){.type = PERF_TYPE_HARDWARE,
					.config = PERF_COUNT_HW_CPU_CYCLES,
					.exclude_kernel = 1,
					.exclude_hv = 1};
}

/* Only on x86: others accept any level of precision and ignore it. AMD's precise samples come
 * from a separate PMU (ibs_op), which cannot exclude the kernel and so may refuse our event. */
static const char *precision(const struct doctor *d, struct perf_event_attr attr)
{
	if (strncmp(d->arch, "x86", 3))
		return "";
	attr.precise_ip = 2;
	if (try_event(&attr, 0, -1, 0) == 0 ||
	    fs_exists("%s/bus/event_source/devices/ibs_op", d->roots.sys))
		return ", precise (:pp)";
	return ", not precise (:p)";
}

static void pmu_abilities(const struct doctor *d, struct finding *f, const char *names)
{
	struct perf_event_attr attr = cycles();
	const char *precise;
	bool branches;

	attr.sample_period = 1000000;
	attr.sample_type = PERF_SAMPLE_IP;
	if (try_event(&attr, 0, -1, 0) < 0) {
		finding_set(f, CHECK_LIMITED, "%s: counts, but cannot sample", names);
		finding_cost(f, "samples come from a timer (cpu-clock) instead of from cycles");
		return;
	}
	precise = precision(d, attr);
	attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
	branches = try_event(&attr, 0, -1, 0) == 0;
	finding_set(f, CHECK_OK, "%s: counts and samples%s%s", names, precise,
		    branches ? ", branch stacks" : "");
}

static void pmu_absent(const struct doctor *d, struct finding *f)
{
	CLEANUP(buf_release) struct buf reason = {};

	hypervisor_no_pmu(d->hypervisor, &reason);
	finding_set(f, CHECK_MISSING, "%s", buf_str(&reason));
	finding_cost(f, "no cycles, instructions, cache or branch events, so no IPC and no miss "
			"rates; samples come from a timer (cpu-clock). Everything else works");
	if (d->hypervisor)
		finding_advice(f, "%s", d->hypervisor->pmu_advice);
	else
		finding_advice(f, "look in dmesg for 'Performance Events': the kernel may be too "
				  "old for this CPU, or the firmware has the PMU switched off");
}

static void check_pmu(struct doctor *d, struct finding *f)
{
	CLEANUP(buf_release) struct buf names = {};
	size_t count = add_core_pmus(d, &names);
	struct perf_event_attr attr = cycles();
	int r;

	if (d->roots.foreign) {
		if (count)
			finding_set(f, CHECK_INFO, "%s; opening is " NOT_TESTED, buf_str(&names));
		else if (fs_exists("%s/bus/event_source/devices", d->roots.sys))
			pmu_absent(d, f);
		else
			finding_unknown(d, f, "bus/event_source/devices");
		return;
	}
	r = try_event(&attr, 0, -1, 0);
	if (r == 0) {
		pmu_abilities(d, f, count ? buf_str(&names) : "CPU");
	} else if (r == -EACCES || r == -EPERM || r == -ENOSYS) {
		finding_set(f, count ? CHECK_LIMITED : CHECK_MISSING, "%s; opening is refused: %s",
			    count ? buf_str(&names) : "none in sysfs", strerror(-r));
		finding_cost(f, "no cycles, instructions, cache or branch events");
		finding_advice(f, "see perf events and paranoid level above");
	} else if (count) {
		finding_set(f, CHECK_MISSING, "%s; but cycles cannot be opened: %s",
			    buf_str(&names), strerror(-r));
		finding_cost(f, "no cycles; other events may work: tacho list");
	} else {
		pmu_absent(d, f);
	}
}

static void check_watchdog(struct doctor *d, struct finding *f)
{
	CLEANUP(buf_release) struct buf names = {};
	long long on = 0;

	if (!fs_number(&on, "%s/sys/kernel/nmi_watchdog", d->roots.proc)) {
		if (d->roots.foreign)
			finding_unknown(d, f, "nmi_watchdog");
		else
			finding_set(f, CHECK_OK, "this kernel has none");
	} else if (on <= 0) {
		finding_set(f, CHECK_OK, "off: all hardware counters are free");
	} else if (!add_core_pmus(d, &names)) {
		finding_set(f, CHECK_OK, "on, but there are no hardware counters to take");
	} else {
		finding_set(f, CHECK_LIMITED, "on: it holds one hardware counter of every CPU");
		finding_cost(f, "one event less at a time before counters are shared "
				"(multiplexed)");
		finding_command(f, "watchdog", "%ssysctl -w kernel.nmi_watchdog=0", d->sudo);
	}
}

/* Cgroup version 2 on its own, beside version 1, and the controller of version 1. */
static const char *const cgroup_places[] = {"fs/cgroup", "fs/cgroup/unified",
					    "fs/cgroup/perf_event"};

static void cgroup_open(const struct doctor *d, struct finding *f, const char *place)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/%s", d->roots.sys, place);
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_CPU_CLOCK};
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = fd < 0 ? -errno : try_event(&attr, fd, 0, PERF_FLAG_PID_CGROUP);

	if (fd >= 0)
		close(fd);
	if (r == 0) {
		finding_set(f, CHECK_OK, "events of one group open (%s)", path);
		return;
	}
	finding_cost(f, "--cgroup does not work: no counts of one container or service");
	if (r == -EACCES || r == -EPERM) {
		finding_set(f, CHECK_LIMITED, "events of one group need root");
		finding_advice(f, "run tacho as root: a group is measured on whole CPUs, which "
				  "takes perf_event_paranoid 0 or CAP_PERFMON");
	} else {
		finding_set(f, CHECK_MISSING, "events of one group cannot be opened: %s",
			    strerror(-r));
		finding_advice(f, "use a kernel with CONFIG_CGROUP_PERF=y");
	}
}

/* Version 2 must not hide the groups of version 1 that are mounted below the same directory. */
static void cgroup_absent(const struct doctor *d, struct finding *f)
{
	CLEANUP(strvec_release) strvec names = {};

	fs_list("/sys/fs/cgroup", &names);
	finding_set(f, CHECK_MISSING, "no cgroup version 2 is mounted");
	finding_cost(f, "--cgroup does not work: no counts of one container or service");
	if (names.len)
		finding_command(f, NULL,
				"%smkdir -p /sys/fs/cgroup/unified && %smount -t cgroup2 none "
				"/sys/fs/cgroup/unified",
				d->sudo, d->sudo);
	else
		finding_command(f, NULL, "%smount -t cgroup2 none /sys/fs/cgroup", d->sudo);
}

static void check_cgroups(struct doctor *d, struct finding *f)
{
	const char *place = NULL;

	for (size_t i = 0; i < ARRAY_LEN(cgroup_places) && !place; i++)
		if (fs_exists("%s/%s/%s", d->roots.sys, cgroup_places[i],
			      i < 2 ? "cgroup.controllers" : "tasks"))
			place = cgroup_places[i];
	if (place && d->roots.foreign) {
		finding_set(f, CHECK_INFO, "%s is there; opening is " NOT_TESTED, place);
	} else if (place) {
		cgroup_open(d, f, place);
	} else if (d->roots.foreign) {
		finding_unknown(d, f, "fs/cgroup");
	} else {
		cgroup_absent(d, f);
	}
}

const struct check event_checks[] = {
	{"privileges", "privileges", check_privileges},
	{"perf-events", "perf events", check_perf_events},
	{"paranoid", "paranoid level", check_paranoid},
	{"pmu", "hardware PMU", check_pmu},
	{"watchdog", "NMI watchdog", check_watchdog},
	{"cgroups", "cgroups", check_cgroups},
	{},
};
