#include "event/roots.h"
#include "base/fs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *from_env(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value && *value ? value : otherwise;
}

struct roots roots_find(void)
{
	static const char *const places[] = {"kernel/tracing", "kernel/debug/tracing"};
	struct roots r = {.sys = from_env("TACHO_SYSFS", "/sys"),
			  .proc = from_env("TACHO_PROCFS", "/proc")};

	r.foreign = strcmp(r.sys, "/sys") || strcmp(r.proc, "/proc");
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		char path[sizeof(r.tracefs)];

		snprintf(path, sizeof(path), "%s/%s", r.sys, places[i]);
		if (!fs_exists("%s/events", path))
			continue;
		memcpy(r.tracefs, path, sizeof(path));
		break;
	}
	return r;
}

const char *roots_tracefs_problem(const struct roots *roots)
{
	if (roots->tracefs[0])
		return NULL;
	if (!roots->foreign && geteuid() != 0 && access("/sys/kernel/tracing", X_OK) &&
	    errno == EACCES)
		return "tracefs can only be read by root (sudo chmod a+rx /sys/kernel/tracing, or "
		       "run "
		       "as root)";
	if (roots->foreign)
		return "there is no tracefs in this tree";
	return "tracefs is not mounted (as root: tacho doctor --fix, or mount -t tracefs none "
	       "/sys/kernel/tracing)";
}
