/* Checks of tracing: tracepoints, probes, BPF. */
#include "doctor/doctor.h"
#include "base/fs.h"
#include "event/tracepoint.h"
#include "perf/bpf/bpf.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool count_one(void *ctx, const char *system, const char *name)
{
	(void)system;
	(void)name;
	++*(size_t *)ctx;
	return true;
}

bool doctor_tracefs_closed(const struct roots *roots)
{
	struct stat dir, parent;

	return !roots->foreign && !stat("/sys/kernel/tracing", &dir) &&
	       !stat("/sys/kernel", &parent) && dir.st_dev != parent.st_dev &&
	       access("/sys/kernel/tracing", X_OK);
}

static void tracefs_closed(const struct doctor *d, struct finding *f)
{
	finding_set(f, CHECK_LIMITED, "tracefs is mounted, but open to root only");
	finding_cost(f, "no tracepoints: no scheduler, system call or block I/O analysis");
	finding_command(f, NULL, "%smount -o remount,mode=750,gid=%u /sys/kernel/tracing", d->sudo,
			(unsigned)getegid());
}

static void check_tracepoints(struct doctor *d, struct finding *f)
{
	if (d->roots.tracefs[0]) {
		CLEANUP(free_ptr)
		char *id = xasprintf("%s/events/sched/sched_switch/id", d->roots.tracefs);
		size_t count = 0;

		if (access(id, R_OK) && errno == EACCES) {
			tracefs_closed(d, f);
			return;
		}
		tracepoint_visit(&d->roots, "*", "*", count_one, &count);
		finding_set(f, count ? CHECK_OK : CHECK_MISSING, "%zu events in %s", count,
			    d->roots.tracefs);
		return;
	}
	if (d->roots.foreign) {
		finding_unknown(d, f, "kernel/tracing");
		return;
	}
	if (doctor_tracefs_closed(&d->roots)) {
		tracefs_closed(d, f);
		return;
	}
	finding_cost(f, "no tracepoints and no probes: no scheduler, system call or block I/O "
			"analysis");
	if (!fs_exists("/sys/kernel/tracing")) {
		finding_set(f, CHECK_MISSING, "the kernel is built without tracing");
		finding_advice(f, "use a kernel with CONFIG_FTRACE=y and CONFIG_EVENT_TRACING=y");
		return;
	}
	finding_set(f, CHECK_MISSING, "tracefs is not mounted");
	finding_command(f, "tracefs", "%smount -t tracefs none /sys/kernel/tracing", d->sudo);
}

/* Kernel or user probes: a file in tracefs makes named ones, a PMU those without a name. */
static void check_probes(struct doctor *d, struct finding *f, const char *kind, const char *config,
			 const char *cost)
{
	CLEANUP(free_ptr) char *file = xasprintf("%s/%s_events", d->roots.tracefs, kind);
	bool has_pmu = fs_exists("%s/bus/event_source/devices/%s", d->roots.sys, kind);
	bool has_file = d->roots.tracefs[0] && fs_exists("%s", file);

	if (has_file && (d->roots.foreign || !access(file, W_OK))) {
		finding_set(f, CHECK_OK, "%s", file);
		return;
	}
	if (d->roots.foreign && !has_pmu && !d->roots.tracefs[0]) {
		finding_unknown(d, f, "kernel/tracing");
		return;
	}
	if (d->roots.foreign && has_pmu) {
		finding_set(f, CHECK_OK, "the kernel has them (PMU %s)", kind);
		return;
	}
	finding_cost(f, "%s", cost);
	if (has_file || (has_pmu && (geteuid() != 0 || doctor_tracefs_closed(&d->roots)))) {
		finding_set(f, CHECK_LIMITED, "the kernel has them, but only for root");
		finding_advice(f, "run tacho as root");
	} else if (has_pmu) {
		finding_set(f, CHECK_LIMITED, "the kernel has them, but tracefs is not mounted");
		finding_command(f, "tracefs", "%smount -t tracefs none /sys/kernel/tracing",
				d->sudo);
	} else {
		finding_set(f, CHECK_MISSING, "not in this kernel");
		finding_advice(f, "use a kernel with %s=y", config);
	}
}

static void check_kprobes(struct doctor *d, struct finding *f)
{
	check_probes(d, f, "kprobe", "CONFIG_KPROBE_EVENTS", "no probes on kernel functions");
}

static void check_uprobes(struct doctor *d, struct finding *f)
{
	check_probes(d, f, "uprobe", "CONFIG_UPROBE_EVENTS",
		     "no probes on functions and lines of programs, no SDT markers");
}

static void check_lockdown(struct doctor *d, struct finding *f)
{
	char line[128];

	if (!fs_line(line, sizeof(line), "%s/kernel/security/lockdown", d->roots.sys)) {
		if (d->roots.foreign)
			finding_unknown(d, f, "kernel/security/lockdown");
		else if (!fs_exists("%s/kernel/security/lsm", d->roots.sys))
			finding_set(f, CHECK_INFO, "not known: securityfs is not mounted");
		else
			finding_set(f, CHECK_OK, "not in this kernel");
	} else if (strstr(line, "[confidentiality]")) {
		finding_set(f, CHECK_LIMITED, "confidentiality");
		finding_cost(f, "no kprobes, no tracefs, no BPF that reads the kernel, not even "
				"for root");
		finding_advice(f, "boot with lockdown=integrity (with Secure Boot the "
				  "distribution may not allow it)");
	} else {
		finding_set(f, CHECK_OK, "%s",
			    strstr(line, "[integrity]") ? "integrity: no limit for measuring"
							: "off");
	}
}

static void check_btf(struct doctor *d, struct finding *f)
{
	struct stat st;
	CLEANUP(free_ptr) char *path = xasprintf("%s/kernel/btf/vmlinux", d->roots.sys);

	if (!stat(path, &st)) {
		finding_set(f, CHECK_OK, "%s (%.1f MB)", path, (double)st.st_size / 1e6);
	} else if (d->roots.foreign) {
		finding_unknown(d, f, "kernel/btf/vmlinux");
	} else {
		finding_set(f, CHECK_MISSING, "the kernel does not describe its types");
		finding_cost(f, "BPF programs cannot adapt to this kernel: no counting in the "
				"kernel");
		finding_advice(f, "use a kernel with CONFIG_DEBUG_INFO_BTF=y");
	}
}

/* Loads "return 0" as a program for a raw tracepoint, which is what measuring needs. */
static int try_bpf(void)
{
	const struct bpf_insn code[] = {MOV_IMM(BPF_REG_0, 0), EXIT()};
	int fd = bpf_load(code, ARRAY_LEN(code));

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static void bpf_refused(const struct doctor *d, struct finding *f)
{
	char program[256] = "tacho";
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);

	if (n > 0)
		program[n] = '\0';
	finding_set(f, CHECK_LIMITED, "programs for tracing may be loaded by root only");
	if (d->container[0])
		finding_advice(f, "start the container with --cap-add BPF --cap-add PERFMON");
	else
		finding_advice(
			f,
			"run tacho as root, or let a group do that: sudo chgrp GROUP %s && sudo "
			"chmod 750 %s && sudo setcap cap_bpf,cap_perfmon=ep %s",
			program, program, program);
}

static void check_bpf(struct doctor *d, struct finding *f)
{
	long long disabled = 0;
	int r;

	fs_number(&disabled, "%s/sys/kernel/unprivileged_bpf_disabled", d->roots.proc);
	if (d->roots.foreign) {
		finding_untested(f);
		return;
	}
	r = try_bpf();
	if (r == 0) {
		finding_set(f, CHECK_OK, "programs load%s",
			    disabled ? "; for plain users BPF is off" : "");
		return;
	}
	finding_cost(f, "no counting in the kernel: tracing costs more the more events there are");
	if (r == -ENOSYS) {
		finding_set(f, CHECK_MISSING, "not in this kernel");
		finding_advice(f, "use a kernel with CONFIG_BPF_SYSCALL=y");
	} else if (r == -EPERM || r == -EACCES) {
		bpf_refused(d, f);
	} else {
		finding_set(f, CHECK_MISSING, "a program cannot be loaded: %s", strerror(-r));
	}
}

static void check_bpf_jit(struct doctor *d, struct finding *f)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/sys/net/core/bpf_jit_enable", d->roots.proc);
	long long on;

	if (fs_number(&on, "%s", path)) {
		finding_set(f, on ? CHECK_OK : CHECK_LIMITED, "%s", on ? "on" : "off");
		if (on)
			return;
		finding_cost(f, "BPF programs are interpreted, several times slower");
		finding_command(f, NULL, "%ssysctl -w net.core.bpf_jit_enable=1", d->sudo);
	} else if (!d->roots.foreign && fs_exists("%s", path)) {
		finding_set(f, CHECK_INFO, "only root can see whether it is on");
	} else {
		finding_unknown(d, f, "net/core/bpf_jit_enable");
	}
}

const struct check trace_checks[] = {
	{"tracepoints", "tracepoints", check_tracepoints},
	{"kprobes", "kernel probes", check_kprobes},
	{"uprobes", "user probes", check_uprobes},
	{"lockdown", "kernel lockdown", check_lockdown},
	{"bpf", "BPF", check_bpf},
	{"bpf-jit", "BPF compiler", check_bpf_jit},
	{"btf", "BTF types", check_btf},
	{},
};
