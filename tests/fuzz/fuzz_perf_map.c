/* A JIT's map: what comes out is sorted, without overlaps, and inside of the text. */
#include "symbol/perf_map.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symtab t = {};

	if (perf_map_parse((const char *)data, size, &t) > size)
		abort();
	symtab_finish(&t);
	for (size_t i = 0; i < t.symbols.len; i++) {
		const struct symbol *s = &t.symbols.items[i];

		if (s->end <= s->start || !*symtab_name(&t, s))
			abort();
		if (i && t.symbols.items[i - 1].end > s->start)
			abort();
		if (symtab_find(&t, s->start) != s || symtab_find(&t, s->end - 1) != s)
			abort();
	}
	symtab_release(&t);
	return 0;
}
