#include "perf/bpf/bpf.h"
#include "base/as_user.h"
#include "base/caps.h"

#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

int bpf_call(int command, union bpf_attr *attr)
{
	const struct user_ids *user = as_user_chosen();
	struct own_rights own;
	long r;

	if (user) {
		if (!as_user_begin(user, false, &own))
			return -EPERM;
		r = syscall(SYS_bpf, command, attr, sizeof(*attr));
		as_user_end(&own);
		return r < 0 ? -errno : (int)r;
	}
	caps_raise();
	r = syscall(SYS_bpf, command, attr, sizeof(*attr));
	caps_lower();
	return r < 0 ? -errno : (int)r;
}

int bpf_load(const struct bpf_insn *code, size_t count)
{
	union bpf_attr attr = {.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
			       .insn_cnt = (uint32_t)count,
			       .insns = (uint64_t)(uintptr_t)code,
			       .license = (uint64_t)(uintptr_t) "GPL"};

	return bpf_call(BPF_PROG_LOAD, &attr);
}
