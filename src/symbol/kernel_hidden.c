#include "symbol/kernel_hidden.h"
#include "base/as_user.h"
#include "base/buf.h"
#include "base/fs.h"

#include <unistd.h>

const char kernel_hidden_when_recorded[] =
	"the kernel hid its addresses from the recorder, so its functions have no names: record as "
	"root, or first: sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1";

/*
 * The kernel's rule (kallsyms_show_value): with kptr_restrict 0, users who may profile the kernel
 * (perf_event_paranoid 1 or less) see addresses; other users, and all users with kptr_restrict 1,
 * need CAP_SYSLOG; with 2 nobody sees them.
 */
char *kernel_hidden_remedy_for(long long restrict_level, long long paranoid, bool root)
{
	CLEANUP(buf_release) struct buf settings = {};

	if (restrict_level > 1 || (restrict_level == 1 && !root))
		buf_add(&settings, " kernel.kptr_restrict=0");
	if (paranoid > 1 && !root)
		buf_add(&settings, " kernel.perf_event_paranoid=1");
	if (!settings.len)
		return xstrdup("run as root of the machine, outside containers");
	return xasprintf("%ssysctl%s", !root && restrict_level < 2 ? "run as root, or: " : "run: ",
			 buf_str(&settings));
}

char *kernel_hidden_remedy(const char *proc)
{
	long long restrict_level = 0, paranoid = 2;

	fs_number(&restrict_level, "%s/sys/kernel/kptr_restrict", proc);
	fs_number(&paranoid, "%s/sys/kernel/perf_event_paranoid", proc);
	return kernel_hidden_remedy_for(restrict_level, paranoid,
					geteuid() == 0 && !as_user_chosen());
}
