/* Checks of limits: sample rate, stack depth, buffer memory, open files. */
#include "doctor/doctor.h"
#include "base/fs.h"

#include <stdio.h>
#include <sys/resource.h>

#define SAMPLE_RATE_WANTED  25000
#define STACK_DEPTH_DEFAULT 127
#define MLOCK_KB_DEFAULT    516
#define EVENTS_WANTED       64

static void check_sample_rate(struct doctor *d, struct finding *f)
{
	long long hz;

	if (!fs_number(&hz, "%s/sys/kernel/perf_event_max_sample_rate", d->roots.proc)) {
		finding_unknown(d, f, "perf_event_max_sample_rate");
		return;
	}
	finding_set(f, hz < SAMPLE_RATE_WANTED ? CHECK_LIMITED : CHECK_OK, "up to %lld Hz", hz);
	if (f->status == CHECK_OK)
		return;
	finding_cost(f, "faster sampling is refused; the kernel lowers this itself when samples "
			"take too long");
	finding_command(f, NULL, "%ssysctl -w kernel.perf_event_max_sample_rate=100000", d->sudo);
}

static void check_stack_depth(struct doctor *d, struct finding *f)
{
	long long frames;

	if (!fs_number(&frames, "%s/sys/kernel/perf_event_max_stack", d->roots.proc)) {
		finding_unknown(d, f, "perf_event_max_stack");
		return;
	}
	finding_set(f, frames < STACK_DEPTH_DEFAULT ? CHECK_LIMITED : CHECK_OK, "up to %lld frames",
		    frames);
	if (f->status == CHECK_OK)
		return;
	finding_cost(f, "deeper stacks lose their outermost callers");
	finding_command(f, NULL, "%ssysctl -w kernel.perf_event_max_stack=%d", d->sudo,
			STACK_DEPTH_DEFAULT);
}

static void check_ring_memory(struct doctor *d, struct finding *f)
{
	struct rlimit limit = {};
	char extra[64] = "";
	long long kb;

	if (!fs_number(&kb, "%s/sys/kernel/perf_event_mlock_kb", d->roots.proc)) {
		finding_unknown(d, f, "perf_event_mlock_kb");
		return;
	}
	if (!d->roots.foreign && !getrlimit(RLIMIT_MEMLOCK, &limit)) {
		if (limit.rlim_cur == RLIM_INFINITY)
			snprintf(extra, sizeof(extra), ", memlock limit: none");
		else
			snprintf(extra, sizeof(extra), ", memlock limit: %llu KiB",
				 (unsigned long long)limit.rlim_cur / 1024);
	}
	if (doctor_has(d, DOCTOR_CAP_IPC_LOCK) || (d->paranoid_known && d->paranoid < 0)) {
		finding_set(f, CHECK_OK, "no limit for you; plain users %lld KiB a CPU%s", kb,
			    extra);
		return;
	}
	finding_set(f, kb < MLOCK_KB_DEFAULT ? CHECK_LIMITED : CHECK_OK, "%lld KiB a CPU%s", kb,
		    extra);
	if (f->status == CHECK_OK)
		return;
	finding_cost(f, "small buffers lose samples at high rates");
	finding_command(f, NULL, "%ssysctl -w kernel.perf_event_mlock_kb=%d", d->sudo,
			MLOCK_KB_DEFAULT);
}

static void check_open_files(struct doctor *d, struct finding *f)
{
	unsigned long long cpus = d->cpus ? d->cpus : 1;
	struct rlimit limit;

	if (d->roots.foreign || getrlimit(RLIMIT_NOFILE, &limit)) {
		finding_untested(f);
		return;
	}
	if (limit.rlim_cur == RLIM_INFINITY) {
		finding_set(f, CHECK_OK, "no limit");
		return;
	}
	finding_set(f, limit.rlim_cur / cpus < EVENTS_WANTED ? CHECK_LIMITED : CHECK_OK,
		    "%llu: about %llu events at once on all CPUs",
		    (unsigned long long)limit.rlim_cur, (unsigned long long)limit.rlim_cur / cpus);
	if (f->status == CHECK_OK)
		return;
	finding_cost(f, "each event on each CPU is an open file: many events with -a will fail");
	if (limit.rlim_max > limit.rlim_cur)
		finding_command(f, NULL, "ulimit -n %llu", (unsigned long long)limit.rlim_max);
	else
		finding_advice(f, "raise 'nofile' in /etc/security/limits.conf and log in again");
}

const struct check limit_checks[] = {
	{"sample-rate", "sample rate", check_sample_rate},
	{"stack-depth", "stack depth", check_stack_depth},
	{"ring-memory", "buffer memory", check_ring_memory},
	{"open-files", "open files", check_open_files},
	{},
};
