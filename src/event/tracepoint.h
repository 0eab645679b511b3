/* Tracepoints and dynamic probes as tracefs shows them. */
#ifndef TACHO_EVENT_TRACEPOINT_H
#define TACHO_EVENT_TRACEPOINT_H

#include "base/fs.h"
#include "event/roots.h"

bool tracepoint_id(const struct roots *roots, const char *system, const char *name,
		   uint64_t *ret_id);

/* Visits every tracepoint that matches the globs, sorted. Stops when @visit returns false. */
typedef bool (*tracepoint_visitor)(void *ctx, const char *system, const char *name);
void tracepoint_visit(const struct roots *roots, const char *system_glob, const char *name_glob,
		      tracepoint_visitor visit, void *ctx);

/* Appends the lines of kprobe_events and uprobe_events, or of dynamic_events if those are empty:
 * "p:group/name place args". */
void probe_lines(const struct roots *roots, strvec *ret_lines);

#endif
