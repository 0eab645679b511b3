/*
 * What is worked out of a run once and kept in the store beside it, so that the first question after
 * a restart need not do it again: call paths with their names, and the tables of threads, events and
 * counters. With these, stacks and frames need not be read at all. Pure functions on bytes that are not
 * trusted.
 */
#ifndef TACHO_QUERY_RUN_DERIVED_H
#define TACHO_QUERY_RUN_DERIVED_H

#include "analyze/paths/call_paths.h"
#include "base/buf.h"
#include "base/err.h"

#define DERIVED_PATHS "paths" /* its name in the store */
#define DERIVED_EVENT "event" /* the number of the event with most samples, 4 bytes */

/* @c has the nodes of all stacks. */
void run_derived_encode(const struct call_paths *c, const struct profile *p, struct buf *out);

/*
 * @p and @c are initialized here. @p has strings, threads, events and counters, with the numbers that
 * they have in the run's dictionary (strings have others); @c refers to it. -EBADMSG: damaged, or
 * written by another version.
 */
int run_derived_decode(const void *bytes, size_t size, struct profile *p, struct call_paths *c,
		       struct err *e);

#endif
