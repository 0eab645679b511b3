/*
 * Filters of tracepoints: conditions on the fields of a tracepoint (base/predicate/predicate.h) that the kernel
 * tests before it takes a sample. They are checked here first, because the kernel only answers
 * "Invalid argument". Any thread may call this.
 */
#ifndef TACHO_EVENT_FILTER_H
#define TACHO_EVENT_FILTER_H

#include "event/event.h"
#include "event/format/format.h"
#include "event/roots.h"

/*
 * Checks @filter against the fields of @event, which must be a tracepoint. Returns -EINVAL with a
 * sentence that shows the filter with a mark under the wrong character. If the fields cannot be read,
 * returns 0: then the kernel decides.
 *
 * Refused are, unlike in the kernel, numbers compared with an array that is no text: the kernel takes
 * no sample then (long arrays), or compares the place of the array (__data_loc).
 */
int event_filter_check(const struct roots *roots, const struct event *event, const char *filter,
		       struct err *e);

/* The same for a format that has been read, which is of the tracepoint @name. */
int event_filter_check_format(const struct tracepoint_format *format, const char *name,
			      const char *filter, struct err *e);

#endif
