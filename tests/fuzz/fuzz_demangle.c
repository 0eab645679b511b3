/* Names as compilers mangle them, or nearly so: text of bounded length, in bounded time. */
#include "symbol/demangle.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *name = malloc(size + 1);
	struct buf out = {};

	if (!name)
		abort();
	if (size)
		memcpy(name, data, size);
	name[size] = '\0';
	buf_add(&out, "before ");
	if (demangle(name, &out) ? out.len < 7 || out.len > 7 + DEMANGLE_OUTPUT_MAX
				 : strcmp(out.s, "before ") != 0)
		abort();
	buf_release(&out);
	free(name);
	return 0;
}
