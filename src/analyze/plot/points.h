/*
 * Single samples as points (time, event, address, function), thinned to what a screen can show.
 * Every function keeps its share of the points and at least one, spread evenly over its own points,
 * with the first, the last, the lowest and the highest address, so that rare functions and outliers
 * stay. Pure.
 */
#ifndef TACHO_ANALYZE_PLOT_POINTS_H
#define TACHO_ANALYZE_PLOT_POINTS_H

#include "base/vec.h"

#include <stdint.h>

struct point {
	uint64_t time_ns, address;
	uint32_t event, function; /* function: below @functions of points_thin() */
};

typedef VEC(struct point) point_list;

/* Thins @points, sorted by time, to at most @max. All function numbers are below @functions. */
void points_thin(point_list *points, size_t max, uint32_t functions);

#endif
