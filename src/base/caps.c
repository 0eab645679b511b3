#include "base/caps.h"
#include "base/as_user.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Written by caps_begin() only. */
static bool held;
static struct __user_cap_data_struct lowered[_LINUX_CAPABILITY_U32S_3],
	raised[_LINUX_CAPABILITY_U32S_3];

static int set(const struct __user_cap_data_struct *data)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	return (int)syscall(SYS_capset, &header, data);
}

void caps_begin(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	if (geteuid() == 0 || syscall(SYS_capget, &header, raised))
		return;
	for (unsigned i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		held |= raised[i].permitted;
		raised[i].effective = lowered[i].permitted = raised[i].permitted;
		raised[i].inheritable = 0;
	}
	if (!held)
		return;
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	/* A process may always lower its capabilities. Going on with them would be unsafe. */
	if (set(lowered))
		_exit(1);
}

void caps_raise(void)
{
	int code = errno;

	/* If this fails, the kernel refuses what the caller is about to do. */
	if (held)
		set(raised);
	errno = code;
}

void caps_lower(void)
{
	int code = errno;

	if (held && set(lowered))
		_exit(1);
	errno = code;
}

/* The user may have chosen how the path goes on behind /proc (TACHO_PROCFS): it must not lead out. */
static int open_raised(const char *path, int flags)
{
	struct open_how how = {.flags = (uint64_t)(flags | O_CLOEXEC),
			       .resolve =
				       RESOLVE_BENEATH | RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS};
	int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC), fd = -1;
	struct statfs fs;

	if (proc < 0)
		return -1;
	if (!fstatfs(proc, &fs) && fs.f_type == PROC_SUPER_MAGIC) {
		caps_raise();
		fd = (int)syscall(SYS_openat2, proc, path + strlen("/proc/"), &how, sizeof(how));
		caps_lower();
	}
	close(proc);
	return fd;
}

int caps_open_proc(const char *path, int flags)
{
	const struct user_ids *user = as_user_chosen();
	struct own_rights own;
	int fd = -1;

	if (user) {
		if (!as_user_begin(user, false, &own)) {
			errno = EPERM;
			return -1;
		}
		fd = open(path, flags | O_CLOEXEC);
		as_user_end(&own);
		return fd;
	}
	if (held && !strncmp(path, "/proc/", strlen("/proc/")))
		fd = open_raised(path, flags);
	return fd >= 0 ? fd : open(path, flags | O_CLOEXEC);
}
