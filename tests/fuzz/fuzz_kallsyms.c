/* The kernel's list of symbols: a sorted table with whole names, whatever the lines say. */
#include "symbol/kallsyms.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kallsyms k = {};
	const struct symtab *t = &k.symbols;

	kallsyms_parse(&k, (const char *)data, size);
	for (size_t i = 0; i < t->symbols.len; i++) {
		const struct symbol *s = &t->symbols.items[i];

		if ((i && s->start <= s[-1].start) || s->end < s->start || s->part > k.parts.len ||
		    s->name >= t->names.len ||
		    !memchr(symtab_name(t, s), '\0', t->names.len - s->name))
			abort();
	}
	kallsyms_release(&k);
	return 0;
}
