/*
 * Data that is computed from a run once and kept in the store, so that the first query after a
 * restart need not compute it again: call paths with their names, and the tables of threads, events
 * and counters. With these, stacks and frames need not be read at all. Pure functions; bytes are
 * not trusted.
 */
#ifndef TACHO_QUERY_RUN_DERIVED_H
#define TACHO_QUERY_RUN_DERIVED_H

#include "analyze/paths/call_paths.h"
#include "base/buf.h"
#include "base/err.h"

#define DERIVED_PATHS "paths" /* its name in the store */
#define DERIVED_EVENT "event" /* the number of the event with most samples, 4 bytes */

/* @c must have the nodes of all stacks. */
void run_derived_encode(const struct call_paths *c, const struct profile *p, struct buf *out);

/*
 * Initializes @p and @c. @p gets strings, threads, events and counters, with the numbers that they
 * have in the run's dictionary (strings have others); @c refers to @p. Returns -EBADMSG if the
 * bytes are damaged or were written by another version.
 */
int run_derived_decode(const void *bytes, size_t size, struct profile *p, struct call_paths *c,
		       struct err *e);

#endif
