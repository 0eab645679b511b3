/* A jitdump file: every piece of code lies inside of it, and every question has an answer. */
#include "symbol/jitdump.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t last_offset;

static bool check_line(void *ctx, uint64_t offset, const char *file, uint32_t line)
{
	(void)line;
	if (offset < last_offset || offset >= *(const size_t *)ctx || strlen(file) > offset)
		abort();
	last_offset = offset;
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct jitdump_load *loads;
	struct jitdump *j;
	size_t count;

	if (jitdump_open_memory(&j, data, size, NULL) < 0)
		return 0;
	count = jitdump_loads(j, &loads);
	for (size_t i = 0; i < count; i++) {
		const struct jitdump_load *l = &loads[i];
		const char *file;
		uint32_t line;

		if (l->code_offset > size || l->size > size - l->code_offset ||
		    l->unwind_offset > size || l->unwind_size > size - l->unwind_offset ||
		    l->address + l->size < l->address)
			abort();
		if (l->size && *jitdump_name(j, l) &&
		    !symtab_find(jitdump_symbols(j), l->code_offset))
			abort();
		jitdump_line(j, l->code_offset, &file, &line);
	}
	last_offset = 0;
	jitdump_each_line(j, 0, UINT64_MAX, check_line, &size);
	jitdump_close(j);
	return 0;
}
