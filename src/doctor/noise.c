/*
 * Checks of noise: which other processes use the CPUs. Their CPU times are read twice, at the very
 * start and for the check at the end, so that the other checks fill the time in between.
 */
#include "doctor/doctor.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/number.h"
#include "base/vec.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define WINDOW_NS (100 * NS_PER_MSEC)
/* Time limit for reading processes: if there are thousands, the rest is left out. */
#define LOOK_LIMIT_NS    (60 * NS_PER_MSEC)
#define BUSY_LIMIT_PCT   10
#define STEAL_LIMIT_PCT  1
#define STEAL_NOW_PCT    5
#define PROCESSES_SHOWN  3
#define PROCESS_BUSY_PCT 10

struct process {
	int pid;
	uint64_t ticks, used; /* CPU time so far, and within the window */
	char name[32];
};

/* Ticks of all CPUs together. */
struct cpu_time {
	uint64_t all, idle, steal;
};

struct noise {
	uint64_t start_ns;
	struct cpu_time before, after;
	double own_ticks; /* CPU time of this program and its children at the start */
	VEC(struct process) processes;
	bool complete, finished;
	double seconds;
};

static double ticks_per_sec(void)
{
	return (double)sysconf(_SC_CLK_TCK);
}

/* "cpu  user nice system idle iowait irq softirq steal guest guest_nice": user includes guest. */
static bool read_cpu_time(const struct doctor *d, struct cpu_time *ret)
{
	unsigned long long v[8] = {};
	char line[512];

	if (!fs_line(line, sizeof(line), "%s/stat", d->roots.proc) ||
	    sscanf(line, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1], &v[2], &v[3],
		   &v[4], &v[5], &v[6], &v[7]) < 4)
		return false;
	*ret = (struct cpu_time){.idle = v[3] + v[4], .steal = v[7]};
	for (size_t i = 0; i < ARRAY_LEN(v); i++)
		ret->all += v[i];
	return true;
}

static double own_ticks(void)
{
	static const int whose[] = {RUSAGE_SELF, RUSAGE_CHILDREN};
	double seconds = 0;

	for (size_t i = 0; i < ARRAY_LEN(whose); i++) {
		struct rusage u;

		if (getrusage(whose[i], &u))
			continue;
		seconds += (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
			   (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
	}
	return seconds * ticks_per_sec();
}

/* "pid (name) state …": the name may contain anything, so fields are counted from the last ')'. */
static bool read_process(int pid, struct process *ret)
{
	unsigned long long user, system;
	char line[1024], *open, *close;

	if (!fs_line(line, sizeof(line), "/proc/%d/stat", pid))
		return false;
	open = strchr(line, '(');
	close = strrchr(line, ')');
	if (!open || !close || close < open ||
	    sscanf(close + 1, " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu %llu", &user,
		   &system) != 2)
		return false;
	*ret = (struct process){.pid = pid, .ticks = user + system};
	snprintf(ret->name, sizeof(ret->name), "%.*s", (int)(close - open - 1), open + 1);
	return true;
}

struct noise *noise_start(const struct doctor *d)
{
	CLEANUP(strvec_release) strvec names = {};
	struct noise *n;

	if (d->roots.foreign)
		return NULL;
	n = xcalloc(1, sizeof(*n));
	n->start_ns = clock_now_ns();
	n->own_ticks = own_ticks();
	n->complete = true;
	read_cpu_time(d, &n->before);
	fs_list("/proc", &names);
	vec_each(&names, name) {
		struct process p;
		long long pid;

		if (!isdigit((unsigned char)(*name)[0]) || !parse_i64(*name, &pid) ||
		    pid == getpid())
			continue;
		if (clock_now_ns() - n->start_ns > LOOK_LIMIT_NS) {
			n->complete = false;
			break;
		}
		if (read_process((int)pid, &p))
			vec_push(&n->processes, p);
	}
	return n;
}

void noise_free(struct noise *n)
{
	if (!n)
		return;
	vec_release(&n->processes);
	free(n);
}

static int by_use(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return x->used < y->used ? 1 : x->used > y->used ? -1 : x->pid - y->pid;
}

/* Waits for the rest of the window and reads the CPU times again. */
static void noise_finish(const struct doctor *d, struct noise *n)
{
	uint64_t end = n->start_ns + WINDOW_NS, now = clock_now_ns();

	if (n->finished)
		return;
	if (now < end)
		usleep((useconds_t)((end - now) / 1000));
	if (!read_cpu_time(d, &n->after))
		n->after = n->before;
	n->seconds = (double)(clock_now_ns() - n->start_ns) / 1e9;
	vec_each(&n->processes, p) {
		struct process later;

		if (read_process(p->pid, &later) && later.ticks > p->ticks)
			p->used = later.ticks - p->ticks;
	}
	if (n->processes.len)
		qsort(n->processes.items, n->processes.len, sizeof(*n->processes.items), by_use);
	n->finished = true;
}

static double busy_pct(const struct noise *n)
{
	double all = (double)(n->after.all - n->before.all);
	double idle = (double)(n->after.idle - n->before.idle);
	double others = all - idle - (own_ticks() - n->own_ticks);

	return all <= 0 || others < 0 ? 0 : 100 * others / all;
}

static void add_busiest(const struct noise *n, struct buf *out)
{
	for (size_t i = 0; i < n->processes.len && i < PROCESSES_SHOWN; i++) {
		const struct process *p = &n->processes.items[i];
		double pct = 100 * (double)p->used / ticks_per_sec() / n->seconds;

		if (pct < PROCESS_BUSY_PCT)
			break;
		buf_addf(out, "%s%s (%d) %.0f %%", i ? ", " : "; ", p->name, p->pid, pct);
	}
}

static void check_processes(struct doctor *d, struct finding *f)
{
	CLEANUP(buf_release) struct buf busiest = {};
	double busy;

	if (!d->noise) {
		finding_untested(f);
		return;
	}
	noise_finish(d, d->noise);
	busy = busy_pct(d->noise);
	add_busiest(d->noise, &busiest);
	finding_set(f, busy > BUSY_LIMIT_PCT ? CHECK_LIMITED : CHECK_OK,
		    "CPUs %.0f %% busy with other work%s%s", busy, buf_str(&busiest),
		    d->noise->complete ? "" : "; not all processes were watched");
	if (f->status == CHECK_OK)
		return;
	finding_cost(f, "times and counts vary from run to run");
	finding_advice(f, "wait until the machine is quiet, or stop what is not needed");
}

static void check_load(struct doctor *d, struct finding *f)
{
	double cpus = d->cpus ? (double)d->cpus : 1, one, five;
	char line[128];

	if (!fs_line(line, sizeof(line), "%s/loadavg", d->roots.proc) ||
	    sscanf(line, "%lf %lf", &one, &five) != 2) {
		finding_unknown(d, f, "loadavg");
		return;
	}
	finding_set(f, one > cpus / 2 ? CHECK_LIMITED : CHECK_OK,
		    "%.2f in the last minute, %.2f in five, for %.0f CPUs", one, five, cpus);
	if (f->status == CHECK_OK)
		return;
	finding_cost(f, "your workload will wait for CPUs and share caches with others");
	finding_advice(f, "wait until the machine is quiet, or stop what is not needed");
}

static void check_steal(struct doctor *d, struct finding *f)
{
	struct cpu_time boot, zero = {};
	double since, now = 0;

	if (!read_cpu_time(d, &boot)) {
		finding_unknown(d, f, "stat");
		return;
	}
	since = boot.all ? 100 * (double)boot.steal / (double)boot.all : 0;
	if (d->noise) {
		noise_finish(d, d->noise);
		zero = d->noise->before;
		boot = d->noise->after;
		if (boot.all > zero.all && boot.steal > zero.steal)
			now = 100 * (double)(boot.steal - zero.steal) /
			      (double)(boot.all - zero.all);
	}
	if (d->noise)
		finding_set(f, CHECK_OK, "%.1f %% since boot, %.0f %% now", since, now);
	else
		finding_set(f, CHECK_OK, "%.1f %% since boot", since);
	if (since < STEAL_LIMIT_PCT && now < STEAL_NOW_PCT)
		return;
	f->status = CHECK_LIMITED;
	finding_cost(f, "the host gives these CPUs to other guests meanwhile: elapsed times vary");
	finding_advice(f, "use dedicated CPUs, or compare counts and CPU time instead of elapsed "
			  "time");
}

/* "0::/a/b" of version 2, or "4:cpu,cpuacct:/a/b" of version 1; cut after the path. */
static char *find_cgroup(char *groups, bool v2)
{
	char *line = strstr(groups, v2 ? "0::" : ":cpu:"), *path;

	if (!line && !v2)
		line = strstr(groups, ":cpu,");
	path = line ? strchr(line, '/') : NULL;
	if (path)
		path[strcspn(path, "\n")] = '\0';
	return path;
}

/* Reads how many CPUs the group's own limit allows. Returns false if it has no limit. */
static bool read_quota(const struct doctor *d, bool v2, const char *path, double *ret_cpus)
{
	long long quota, period;
	char line[64];

	if (v2) {
		if (!fs_line(line, sizeof(line), "%s/fs/cgroup%s/cpu.max", d->roots.sys, path) ||
		    sscanf(line, "%lld %lld", &quota, &period) != 2)
			return false;
	} else if (!fs_number(&quota, "%s/fs/cgroup/cpu%s/cpu.cfs_quota_us", d->roots.sys, path) ||
		   !fs_number(&period, "%s/fs/cgroup/cpu%s/cpu.cfs_period_us", d->roots.sys,
			      path)) {
		return false;
	}
	*ret_cpus = (double)quota / (double)period;
	return quota > 0 && period > 0;
}

static void check_quota(struct doctor *d, struct finding *f)
{
	bool v2 = fs_exists("%s/fs/cgroup/cgroup.controllers", d->roots.sys), found = false;
	char groups[4096], *path, *slash;
	double cpus = 0, lowest = 0;

	path = fs_head(groups, sizeof(groups), "%s/self/cgroup", d->roots.proc)
		       ? find_cgroup(groups, v2)
		       : NULL;
	if (!path) {
		if (d->roots.foreign)
			finding_unknown(d, f, "self/cgroup");
		else
			finding_set(f, CHECK_OK, "none");
		return;
	}
	/* The limits of its parent groups count as well. */
	do {
		slash = strrchr(path, '/');
		if (read_quota(d, v2, path, &cpus) && (!found || cpus < lowest)) {
			lowest = cpus;
			found = true;
		}
		if (slash)
			*slash = '\0';
	} while (slash);
	if (!found || (d->cpus && lowest >= (double)d->cpus)) {
		finding_set(f, CHECK_OK, "none");
		return;
	}
	finding_set(f, CHECK_LIMITED, "%.2f of %zu CPUs", lowest, d->cpus);
	finding_cost(f,
		     "a program that uses more is paused for the rest of each period, so elapsed "
		     "times vary");
	finding_advice(f, "run outside the container or service, or raise its CPU limit");
}

const struct check noise_checks[] = {
	{"load", "load average", check_load},
	{"processes", "other processes", check_processes},
	{"steal", "stolen time", check_steal},
	{"cpu-quota", "CPU quota", check_quota},
	{},
};
