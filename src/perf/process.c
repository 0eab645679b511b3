#include "perf/process.h"
#include "base/caps.h"
#include "base/clock.h"
#include "base/number.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STATUS_BYTES_MAX (1u << 16)

/* The number of the N-th word, counted from 0; N past the last is the last. */
static bool nth_number(const char *text, unsigned n, uint32_t *ret)
{
	CLEANUP(strvec_release) strvec words = {};
	uint64_t value;

	text_split(text, " \t", &words);
	if (!words.len)
		return false;
	if (!parse_u64(words.items[n < words.len ? n : words.len - 1], &value) ||
	    value > UINT32_MAX)
		return false;
	*ret = (uint32_t)value;
	return true;
}

bool process_parse_status(const char *status, struct process_facts *ret)
{
	char value[512];

	if (!text_field(status, "Tgid", value, sizeof(value)) || !nth_number(value, 0, &ret->pid))
		return false;
	ret->pid_inside = ret->pid;
	/* Of a thread this would be the thread's; we are always asked for the process. */
	if (text_field(status, "NStgid", value, sizeof(value)))
		nth_number(value, UINT32_MAX, &ret->pid_inside);
	return text_field(status, "Uid", value, sizeof(value)) && nth_number(value, 1, &ret->uid) &&
	       text_field(status, "Gid", value, sizeof(value)) && nth_number(value, 1, &ret->gid);
}

bool process_parse_start(const char *stat, uint64_t *ret_ticks)
{
	const char *behind_name = strrchr(stat, ')');
	unsigned long long ticks;

	/* Fields 3 to 21 lie between the name and it. */
	if (!behind_name || sscanf(behind_name + 1,
				   " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
				   "%*s %*s %*s %*s %llu",
				   &ticks) != 1)
		return false;
	*ret_ticks = ticks;
	return true;
}

/* Ticks since the boot on the wall clock, as it goes now. */
static uint64_t wall_of_ticks(uint64_t ticks)
{
	uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t wall_ns = clock_ns_of(CLOCK_REALTIME), boot_ns = clock_ns_of(CLOCK_BOOTTIME);
	uint64_t since_ns;

	if (!hz || ticks / hz > UINT32_MAX)
		return 0;
	since_ns = ticks / hz * NS_PER_SEC + ticks % hz * NS_PER_SEC / hz;
	return since_ns > boot_ns ? wall_ns : wall_ns - (boot_ns - since_ns);
}

/* Whether two links of /proc lead to different things. What cannot be seen does not differ. */
static bool links_differ(uint32_t pid, const char *name)
{
	CLEANUP(free_ptr) char *theirs = xasprintf("/proc/%u/%s", pid, name);
	CLEANUP(free_ptr) char *ours = xasprintf("/proc/self/%s", name);
	struct stat a, b;
	bool seen;

	caps_raise();
	seen = !stat(theirs, &a) && !stat(ours, &b);
	caps_lower();
	return seen && (a.st_dev != b.st_dev || a.st_ino != b.st_ino);
}

int process_open(uint32_t pid, const char *path, int flags)
{
	CLEANUP(free_ptr) char *root = xasprintf("/proc/%u/root", pid);
	CLEANUP(free_ptr) char *whole = xasprintf("%s/%s", root, path);
	struct open_how how = {.flags = (uint64_t)(flags | O_CLOEXEC), .resolve = RESOLVE_IN_ROOT};
	int root_fd, fd, code;

	caps_raise();
	root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	caps_lower();
	if (root_fd < 0)
		return -errno;
	fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
	code = errno;
	/* Linux before 5.6. */
	if (fd < 0 && code == ENOSYS) {
		fd = open(whole, flags | O_CLOEXEC);
		code = errno;
	}
	close(root_fd);
	return fd < 0 ? -code : fd;
}

bool process_read(uint32_t pid, struct process_facts *ret)
{
	CLEANUP(free_ptr) char *path = xasprintf("/proc/%u/status", pid);
	CLEANUP(free_ptr) char *status = NULL;
	char line[1024];
	uint64_t ticks;

	*ret = (struct process_facts){};
	if (fs_read(path, STATUS_BYTES_MAX, &status) < 0 || !process_parse_status(status, ret))
		return false;
	if (fs_line(line, sizeof(line), "/proc/%u/stat", ret->pid) &&
	    process_parse_start(line, &ticks))
		ret->start_ns = wall_of_ticks(ticks);
	ret->foreign_files = links_differ(ret->pid, "ns/mnt") || links_differ(ret->pid, "root");
	return true;
}
