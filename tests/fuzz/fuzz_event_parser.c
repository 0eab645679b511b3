/* A stream of events: cut in two at any place it gives the same events, and never more than the limit. */
#include "net/event_parser.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT 512u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool note(void *ctx, const char *name, const char *data, size_t len)
{
	struct buf *out = ctx;

	if (len > LIMIT || strlen(name) > LIMIT)
		abort();
	buf_addf(out, "%s=", name);
	buf_add_mem(out, data, len);
	buf_add_char(out, '|');
	return true;
}

static int parse(const char *bytes, size_t size, size_t cut, struct buf *out)
{
	struct event_parser p;
	int r;

	event_parser_init(&p, LIMIT);
	r = event_parser_feed(&p, bytes, cut, note, out);
	if (r == 0)
		r = event_parser_feed(&p, bytes + cut, size - cut, note, out);
	buf_addf(out, "id %s", buf_str(&p.last_id));
	event_parser_release(&p);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(buf_release) struct buf whole = {}, parts = {};
	const char *bytes = (const char *)data;
	size_t cut = size ? data[0] % (size + 1) : 0;
	int a = parse(bytes, size, size, &whole), b = parse(bytes, size, cut, &parts);

	if (a != b || (a && a != -EMSGSIZE))
		abort();
	if (whole.len != parts.len || memcmp(buf_str(&whole), buf_str(&parts), whole.len))
		abort();
	return 0;
}
