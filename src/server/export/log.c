/*
 * The output of the workload. One stream: byte for byte, from an offset on if requested. Both: in
 * the order of arrival, with lines of standard error marked.
 */
#include "base/number.h"
#include "server/export/formats.h"
#include "server/api/api.h"

#include <errno.h>
#include <string.h>

#define MARK "[stderr] "

struct log {
	struct export_out *out;
	uint64_t skip; /* bytes still to be skipped */
	int stream;    /* of the last piece */
	bool in_line;
};

static int write_plain(void *ctx, int stream, uint64_t time_ns, const void *bytes, size_t size)
{
	struct log *l = ctx;
	size_t skipped = size < l->skip ? size : (size_t)l->skip;

	(void)stream;
	(void)time_ns;
	l->skip -= skipped;
	buf_add_mem(&l->out->buf, (const char *)bytes + skipped, size - skipped);
	return export_flush_full(l->out) ? 0 : -EIO;
}

static int write_marked(void *ctx, int stream, uint64_t time_ns, const void *bytes, size_t size)
{
	const char *at = bytes, *end = at + size;
	struct log *l = ctx;
	struct buf *out = &l->out->buf;

	(void)time_ns;
	/* End the line when the stream changes, so that lines of two streams are not mixed. */
	if (l->in_line && l->stream != stream) {
		buf_add_char(out, '\n');
		l->in_line = false;
	}
	l->stream = stream;
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline + 1 : end;

		if (!l->in_line && stream == 2)
			buf_add(out, MARK);
		buf_add_mem(out, at, (size_t)(stop - at));
		l->in_line = !newline;
		at = stop;
	}
	return export_flush_full(l->out) ? 0 : -EIO;
}

static int write_log(struct export_run *x, const struct http_request *r, struct export_target *t,
		     struct err *e)
{
	const char *name = http_query(r, "stream");
	struct log l = {.out = &t->out};
	int stream = 0, rc = api_param_u64(r, "offset", UINT64_MAX, &l.skip, e);

	if (rc < 0)
		return rc;
	if (name && (!strcmp(name, "stdout") || !strcmp(name, "1")))
		stream = 1;
	else if (name && (!strcmp(name, "stderr") || !strcmp(name, "2")))
		stream = 2;
	else if (name)
		return err_set(e, EINVAL, "stream is stdout or stderr, not '%s'.", name);
	if (!stream && l.skip)
		return err_set(e, EINVAL,
			       "The parameter 'offset' needs stream=stdout or stream=stderr.");
	return store_output_each(x->api->store, x->run.id, stream,
				 stream ? write_plain : write_marked, &l, e);
}

static const char *const parameters[] = {"stream", "offset", NULL};

const struct export_format format_log = {
	.extension = "log",
	.type = "text/plain; charset=utf-8",
	.parameters = parameters,
	.whole = true,
	.light = true,
	.shown = true,
	.write = write_log,
};
