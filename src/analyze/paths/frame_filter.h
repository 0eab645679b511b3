/*
 * Samples whose stack has a function that matches a regular expression (POSIX, extended). The
 * expression is tried once on each name, and what comes out holds for all paths below: samples are
 * never asked one by one.
 *
 * Expressions come from outside: see base/pattern.h for what they may be. One that takes seconds for all
 * names of a run is refused.
 */
#ifndef TACHO_ANALYZE_PATHS_FRAME_FILTER_H
#define TACHO_ANALYZE_PATHS_FRAME_FILTER_H

#include "analyze/paths/call_paths.h"
#include "base/err.h"

/* By node: whether it or one above it matches; the caller frees it. -EINVAL says what is wrong. */
int frame_filter_make(bool **ret, const struct call_paths *c, const struct profile *p,
		      const char *expression, struct err *e);

#endif
