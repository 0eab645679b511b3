#include "perf/open.h"
#include "base/as_user.h"
#include "base/caps.h"
#include "base/fs.h"
#include "base/number.h"
#include "base/text.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As in linux/capability.h of any version. */
enum { CAP_SYS_ADMIN_NUMBER = 21, CAP_PERFMON_NUMBER = 38 };

static pid_t held_workload;

struct opening {
	const struct perf_event_attr *attr;
	pid_t pid;
	int cpu, group_fd;
	unsigned flags;
};

static long open_event(void *ctx)
{
	const struct opening *o = ctx;
	long fd = syscall(SYS_perf_event_open, o->attr, o->pid, o->cpu, o->group_fd,
			  o->flags | PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int perf_open(const struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned flags)
{
	const struct user_ids *user = as_user_chosen();
	struct opening o = {attr, pid, cpu, group_fd, flags};
	long fd;

	if (user)
		return (int)as_user_call(user, pid > 0 && pid == held_workload, open_event, &o);
	caps_raise();
	fd = open_event(&o);
	caps_lower();
	return (int)fd;
}

void perf_open_expect(pid_t workload)
{
	held_workload = workload;
}

int perf_paranoid(void)
{
	long long level;

	return fs_number(&level, "/proc/sys/kernel/perf_event_paranoid") ? (int)level : 2;
}

bool perf_open_is_absent(int code)
{
	return code == ENOENT || code == EOPNOTSUPP || code == ENODEV || code == ENXIO;
}

/* perf_event_paranoid is no limit. Root of another user namespace is root there only: the kernel
 * asks for capabilities in the first, whose number is fixed. */
static bool is_privileged(void)
{
	char status[8192], value[32], space[64];
	ssize_t n = readlink("/proc/self/ns/user", space, sizeof(space) - 1);
	uint64_t caps;

	if (as_user_chosen())
		return false;
	if (n > 0) {
		space[n] = '\0';
		if (strcmp(space, "user:[4026531837]"))
			return false;
	}
	return fs_head(status, sizeof(status), "/proc/self/status") &&
	       text_field(status, "CapPrm", value, sizeof(value)) &&
	       parse_hex(value, strlen(value), &caps) &&
	       (caps & (1ull << CAP_PERFMON_NUMBER | 1ull << CAP_SYS_ADMIN_NUMBER));
}

/* Counting our own tasks by it is allowed, so it is samples that are not. */
static bool can_only_be_counted(const struct perf_event_attr *attr)
{
	struct perf_event_attr plain = {
		.type = attr->type, .size = sizeof(plain), .config = attr->config, .disabled = 1};
	int fd;

	if (attr->type != PERF_TYPE_TRACEPOINT || !attr->sample_period)
		return false;
	fd = perf_open(&plain, 0, -1, -1, 0);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void reason_of_refusal(int code, const struct perf_event_attr *attr, bool system_wide,
			      struct buf *out)
{
	int level = perf_paranoid();
	int needed = system_wide ? 0 : attr->exclude_kernel ? 2 : 1;

	/* The data of tracepoints may tell anything about anybody. */
	if (code == EPERM && attr->type == PERF_TYPE_TRACEPOINT &&
	    attr->sample_type & PERF_SAMPLE_RAW)
		needed = -1;
	if (level > needed && !is_privileged())
		buf_addf(out, "needs perf_event_paranoid ≤ %d (it is %d), root or CAP_PERFMON",
			 needed, level);
	else if (code == EPERM && can_only_be_counted(attr))
		buf_add(out, "the kernel allows no samples of it, not even to root, because taking "
			     "a sample can make it happen again; leave it out, or count it with "
			     "tacho stat");
	else
		buf_add(out, "not permitted (a security policy, or the process is not yours)");
}

/* What ENOENT and its like mean. */
static void reason_of_absence(const struct perf_event_attr *attr, const char *no_pmu,
			      struct buf *out)
{
	bool core = perf_type_is_core(attr->type);

	if (core && no_pmu)
		buf_add(out, no_pmu);
	else if (attr->precise_ip)
		buf_add(out, "not supported with that precision (:p)");
	else
		buf_add(out, core ? "not supported by this CPU" : "not supported by this kernel");
}

void perf_open_reason(int code, const struct perf_event_attr *attr, bool system_wide,
		      const char *no_pmu, struct buf *out)
{
	switch (code) {
	case EACCES:
	case EPERM:
		reason_of_refusal(code, attr, system_wide, out);
		break;
	case ENOENT:
	case EOPNOTSUPP:
	case ENXIO:
		reason_of_absence(attr, no_pmu, out);
		break;
	case ENODEV:
		buf_add(out, "not on this CPU (it is offline or of another type)");
		break;
	case EINVAL:
		buf_add(out, "not in this form (the kernel refused the event's code or its group)");
		break;
	case EBUSY:
		buf_add(out, "in use by another tool that holds the PMU for itself");
		break;
	case EMFILE:
	case ENFILE:
		buf_add(out, "too many open files (ulimit -n)");
		break;
	case ENOSPC:
		buf_add(out,
			"all hardware breakpoints are in use, or that address cannot be watched");
		break;
	case ENOSYS:
		buf_add(out, "this kernel was built without perf events");
		break;
	case ESRCH:
		buf_add(out, "the process is gone");
		break;
	default:
		buf_add(out, strerror(code));
	}
}

bool perf_is_kernel_only(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE &&
	       (attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
		attr->config == PERF_COUNT_SW_CPU_MIGRATIONS ||
		attr->config == PERF_COUNT_SW_CGROUP_SWITCHES);
}
