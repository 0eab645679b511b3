/* Functions and what was inlined into them: the levels at an address agree with its line, and do not
 * depend on how many the caller has room for. */
#include "dwarf_run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static void check_places(struct run_dwarf *run, uint64_t address)
{
	struct dwarf_place all[DWARF_INLINE_DEPTH_MAX], few[2];
	size_t count = dwarf_places(run->dwarf, address, all, DWARF_INLINE_DEPTH_MAX);
	size_t less = dwarf_places(run->dwarf, address, few, 2);
	const char *file = NULL;
	uint32_t line = 0;

	if (count > DWARF_INLINE_DEPTH_MAX || less != (count < 2 ? count : 2))
		abort();
	for (size_t i = 0; i < count; i++)
		if (all[i].inlined != (i > 0) || (all[i].function && !strlen(all[i].function)))
			abort();
	if (!count)
		return;
	dwarf_line(run->dwarf, address, &file, &line);
	if (all[count - 1].line != line || all[count - 1].file != file)
		abort();
	if (!same_text(few[less - 1].function, all[count - 1].function) ||
	    !same_text(few[0].function, all[0].function))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run_dwarf run;

	run_open(&run, data, size);
	run_find_addresses(&run);
	for (size_t i = 0; i < run.count; i++)
		check_places(&run, run.addresses[i]);
	run_close(&run);
	return 0;
}
