/* The kernel's type information: a member is found or it is not, whatever the bytes. */
#include "perf/bpf/btf.h"

#include <errno.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const questions[][2] = {
		{"task_struct", "pid"}, {"task_struct", "comm"}, {"inner", "flags"}, {"", ""}};

	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		uint32_t offset = 0xabcdef01;
		int r = btf_member_offset(data, size, questions[i][0], questions[i][1], &offset);

		if (r != 0 && r != -ENOENT && r != -EINVAL)
			abort();
		if (r == 0 ? offset > UINT32_MAX / 8 : offset != 0xabcdef01)
			abort();
	}
	return 0;
}
