/* perf_event_attr as it stands in files: of any size, in either byte order; and its name. */
#ifndef TACHO_PERFDATA_ATTR_H
#define TACHO_PERFDATA_ATTR_H

#include "base/buf.h"
#include "base/cursor.h"

#include <linux/perf_event.h>

/*
 * Reads an attr of its own size and moves on to @room bytes behind its beginning (0: to its end).
 * Newer ones are longer than ours, older ones shorter. False if it cannot be one.
 */
bool attr_read(struct cursor *c, size_t room, struct perf_event_attr *ret);

/* What an event is called if nobody wrote down its name: "cycles:u", "raw 0x1a8:pp". */
void attr_name(const struct perf_event_attr *attr, struct buf *out);

#endif
