/*
 * Samples one by one, as points (time, event, address, function), thinned to what a screen can show.
 * Every function keeps its share of the points and at least one, spread evenly over its own time, with
 * the first and the last and the lowest and the highest of its addresses: what is rare, and what stands
 * out, stays. Pure.
 */
#ifndef TACHO_ANALYZE_PLOT_POINTS_H
#define TACHO_ANALYZE_PLOT_POINTS_H

#include "base/vec.h"

#include <stdint.h>

struct point {
	uint64_t time_ns, address;
	uint32_t event, function; /* function: any numbers below the number of functions */
};

typedef VEC(struct point) point_list;

/* Points by time, at most @max stay in it. @functions: numbers of functions are below this. */
void points_thin(point_list *points, size_t max, uint32_t functions);

#endif
