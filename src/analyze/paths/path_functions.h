/*
 * Functions of a selection, with what each has by itself and with all that it called. Recursion counts
 * once; an inlined function has nothing of its own, the function that holds the code has it, as in
 * reports of recordings (analyze/report.h). Pure.
 */
#ifndef TACHO_ANALYZE_PATHS_PATH_FUNCTIONS_H
#define TACHO_ANALYZE_PATHS_PATH_FUNCTIONS_H

#include "analyze/paths/call_paths.h"

struct path_function {
	uint32_t name; /* of call_paths */
	uint64_t self, total, self_samples, total_samples;
};

typedef VEC(struct path_function) path_functions;

/* The largest self first, then the largest total. @samples: by node, as @self. */
void path_functions_make(path_functions *ret, const struct call_paths *c, const uint64_t *self,
			 const uint64_t *samples);

#endif
