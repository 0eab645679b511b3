/*
 * text/event-stream, the reading side: bytes in pieces of any size in, events out. Lines may end with
 * LF, CR LF or CR. Bytes are not trusted; an event longer than the limit ends it. One thread.
 */
#ifndef TACHO_NET_EVENT_PARSER_H
#define TACHO_NET_EVENT_PARSER_H

#include "base/buf.h"

struct event_parser {
	struct buf line, name, data;
	struct buf last_id; /* of the last event that was given out; stays over a restart */
	struct buf id;
	size_t max;
	bool after_cr, has_data;
};

void event_parser_init(struct event_parser *p, size_t max_bytes);
void event_parser_release(struct event_parser *p);
/* A new connection: what was not complete is forgotten. */
void event_parser_restart(struct event_parser *p);

/* False from @event: stop, the rest of the bytes is not looked at. */
typedef bool event_found(void *ctx, const char *name, const char *data, size_t len);

/* 0, or -EMSGSIZE above the limit. */
int event_parser_feed(struct event_parser *p, const char *bytes, size_t len, event_found *event,
		      void *ctx);

#endif
