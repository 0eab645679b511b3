#include "text_run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	text_run(&text_perf_script, data, size);
	return 0;
}
