/* Whole files. The first byte says how they are read. */
#include "perfdata_run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size)
		run_perfdata(data + 1, size - 1, data[0]);
	return 0;
}
