/*
 * Functions of a selection, each with its own weight and its weight with everything it called.
 * Recursion counts once. An inlined function has no weight of its own: it belongs to the function
 * that holds the code, as in reports of recordings (analyze/report/report.h). Pure.
 */
#ifndef TACHO_ANALYZE_PATHS_PATH_FUNCTIONS_H
#define TACHO_ANALYZE_PATHS_PATH_FUNCTIONS_H

#include "analyze/paths/call_paths.h"

struct path_function {
	uint32_t name; /* of call_paths */
	uint64_t self, total, self_samples, total_samples;
};

typedef VEC(struct path_function) path_functions;

/* Sorted by self, then by total, the largest first. @self and @samples are by node. */
void path_functions_make(path_functions *ret, const struct call_paths *c, const uint64_t *self,
			 const uint64_t *samples);

#endif
