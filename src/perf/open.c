#include "perf/open.h"
#include "base/fs.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int perf_open(const struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned flags)
{
	long fd = syscall(SYS_perf_event_open, attr, pid, cpu, group_fd,
			  flags | PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
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

static void reason_of_refusal(const struct perf_event_attr *attr, bool system_wide, struct buf *out)
{
	int level = perf_paranoid();
	int needed = system_wide ? 0 : attr->exclude_kernel ? 2 : 1;

	if (level > needed)
		buf_addf(out, "needs perf_event_paranoid ≤ %d (it is %d), root or CAP_PERFMON",
			 needed, level);
	else
		buf_add(out, "not permitted (a security policy, or the process is not yours)");
}

void perf_open_reason(int code, const struct perf_event_attr *attr, bool system_wide,
		      struct buf *out)
{
	bool hardware = attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE ||
			attr->type == PERF_TYPE_RAW;

	switch (code) {
	case EACCES:
	case EPERM:
		reason_of_refusal(attr, system_wide, out);
		break;
	case ENOENT:
	case EOPNOTSUPP:
	case ENXIO:
		if (attr->precise_ip)
			buf_add(out, "not supported with that precision (:p)");
		else
			buf_add(out, hardware ? "not supported by this CPU"
					      : "not supported by this kernel");
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
