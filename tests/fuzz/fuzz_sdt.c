/* Markers of an ELF file: every string that is handed out is ended inside of it. */
#include "event/sdt.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct range {
	const char *begin, *end;
	size_t count;
};

static void check_inside(const struct range *r, const char *s)
{
	if (s < r->begin || s >= r->end || strlen(s) >= (size_t)(r->end - s))
		abort();
}

static bool visit(void *ctx, const struct sdt_marker *marker)
{
	struct range *r = ctx;

	check_inside(r, marker->provider);
	check_inside(r, marker->name);
	check_inside(r, marker->arguments);
	return ++r->count < 1000;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct range r = {.begin = (const char *)data, .end = (const char *)data + size};
	struct err e = {};

	if (sdt_parse(data, size, visit, &r, &e) < 0 && (!e.code || !e.text[0] || r.count))
		abort();
	return 0;
}
