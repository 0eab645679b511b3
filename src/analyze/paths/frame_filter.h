/*
 * Selects samples whose stack has a function that matches a regular expression (POSIX, extended).
 * The expression is tried once on each name, and a match holds for all paths below, so samples are
 * not tested one by one.
 *
 * Expressions are not trusted: see base/pattern.h for what is allowed. One that takes seconds for
 * all names of a run is refused.
 */
#ifndef TACHO_ANALYZE_PATHS_FRAME_FILTER_H
#define TACHO_ANALYZE_PATHS_FRAME_FILTER_H

#include "analyze/paths/call_paths.h"
#include "base/err.h"

/* Sets *ret, by node, to whether the node or one above it matches; the caller frees it. Returns
 * -EINVAL with a sentence if the expression is refused. */
int frame_filter_make(bool **ret, const struct call_paths *c, const struct profile *p,
		      const char *expression, struct err *e);

#endif
