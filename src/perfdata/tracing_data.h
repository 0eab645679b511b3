/*
 * FEATURE_TRACING_DATA: how the bytes of tracepoints are to be read, as the kernel's own format
 * files tell it. Reads tracefs.
 */
#ifndef TACHO_PERFDATA_TRACING_DATA_H
#define TACHO_PERFDATA_TRACING_DATA_H

#include "base/err.h"
#include "event/roots.h"
#include "perfdata/features.h"

/* @names are "system:name", in any order, doubles allowed. */
int tracing_data_add(struct feature_set *set, const struct roots *roots, const char *const *names,
		     size_t count, struct err *e);

#endif
