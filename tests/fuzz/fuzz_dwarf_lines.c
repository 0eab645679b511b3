/* Line programs: every row that is given out is found again by its address. */
#include "dwarf_run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run_dwarf run;
	const char *reason;

	run_open(&run, data, size);
	run_find_addresses(&run);
	for (size_t i = 0; i < run.count; i++) {
		const char *file = NULL;
		uint32_t line;

		if (dwarf_line(run.dwarf, run.addresses[i] + 1, &file, &line) && file && !*file)
			abort();
	}
	if (dwarf_damages(run.dwarf, &reason) ? !reason : reason != NULL)
		abort();
	run_close(&run);
	return 0;
}
