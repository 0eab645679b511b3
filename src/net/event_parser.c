#include "net/event_parser.h"

#include <errno.h>
#include <string.h>

#define ID_BYTES_MAX 256u

void event_parser_init(struct event_parser *p, size_t max_bytes)
{
	*p = (struct event_parser){.max = max_bytes};
}

void event_parser_release(struct event_parser *p)
{
	buf_release(&p->line);
	buf_release(&p->name);
	buf_release(&p->data);
	buf_release(&p->last_id);
	buf_release(&p->id);
}

void event_parser_restart(struct event_parser *p)
{
	buf_clear(&p->line);
	buf_clear(&p->name);
	buf_clear(&p->data);
	p->after_cr = p->has_data = false;
}

/* The empty line behind an event. */
static bool give_out(struct event_parser *p, event_found *event, void *ctx)
{
	bool more = true;

	if (p->id.len) {
		buf_clear(&p->last_id);
		buf_add_mem(&p->last_id, p->id.s, p->id.len);
	}
	if (p->has_data)
		more = event(ctx, p->name.len ? buf_str(&p->name) : "message", buf_str(&p->data),
			     p->data.len);
	buf_clear(&p->name);
	buf_clear(&p->data);
	p->has_data = false;
	return more;
}

static void take_field(struct event_parser *p, const char *field, size_t field_len,
		       const char *value, size_t len)
{
	if (field_len == 4 && !memcmp(field, "data", 4)) {
		if (p->has_data)
			buf_add_char(&p->data, '\n');
		buf_add_mem(&p->data, value, len);
		p->has_data = true;
	} else if (field_len == 5 && !memcmp(field, "event", 5)) {
		buf_clear(&p->name);
		buf_add_mem(&p->name, value, strnlen(value, len));
	} else if (field_len == 2 && !memcmp(field, "id", 2)) {
		/* It comes back in a header of ours. */
		if (len > ID_BYTES_MAX || memchr(value, '\0', len))
			return;
		buf_clear(&p->id);
		buf_add_mem(&p->id, value, len);
	}
}

static bool take_line(struct event_parser *p, event_found *event, void *ctx)
{
	const char *line = buf_str(&p->line), *colon;
	size_t len = p->line.len;

	if (!len)
		return give_out(p, event, ctx);
	colon = memchr(line, ':', len);
	if (colon != line) { /* else a comment, which keeps the connection alive */
		const char *value = colon ? colon + 1 : line + len;

		if (value < line + len && *value == ' ')
			value++;
		take_field(p, line, colon ? (size_t)(colon - line) : len, value,
			   (size_t)(line + len - value));
	}
	buf_clear(&p->line);
	return true;
}

int event_parser_feed(struct event_parser *p, const char *bytes, size_t len, event_found *event,
		      void *ctx)
{
	const char *end = bytes + len;

	while (bytes < end) {
		const char *stop = bytes;

		if (p->after_cr && *bytes == '\n') {
			p->after_cr = false;
			bytes++;
			continue;
		}
		p->after_cr = false;
		while (stop < end && *stop != '\n' && *stop != '\r')
			stop++;
		if (p->line.len + p->data.len + (size_t)(stop - bytes) > p->max)
			return -EMSGSIZE;
		buf_add_mem(&p->line, bytes, (size_t)(stop - bytes));
		if (stop == end)
			break;
		p->after_cr = *stop == '\r';
		bytes = stop + 1;
		if (!take_line(p, event, ctx))
			break;
	}
	return 0;
}
