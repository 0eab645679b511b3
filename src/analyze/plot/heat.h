/*
 * A sub-second heat map: a column for each second, a row for each part of a second. Activity that
 * repeats every second, or lasts for a part of one, becomes a pattern. Pure.
 */
#ifndef TACHO_ANALYZE_PLOT_HEAT_H
#define TACHO_ANALYZE_PLOT_HEAT_H

#include "base/clock.h"
#include "base/vec.h"
#include "profile/chunk.h"

#include <stdbool.h>
#include <stdint.h>

#define HEAT_ROWS_MAX  1000u
#define HEAT_CELLS_MAX (4u << 20)

struct heat {
	uint64_t start_ns; /* where second 0 begins */
	uint64_t first_s;
	uint32_t seconds, rows;
	double *cells; /* [second * rows + row] */
};

/* Sets up the map of a window. Returns false if it has more cells than HEAT_CELLS_MAX. */
static inline bool heat_init(struct heat *h, uint64_t start_ns, uint64_t from_ns, uint64_t to_ns,
			     uint32_t rows)
{
	uint64_t first = (from_ns - start_ns) / NS_PER_SEC;
	uint64_t last = (to_ns - start_ns + NS_PER_SEC - 1) / NS_PER_SEC;

	*h = (struct heat){.start_ns = start_ns, .first_s = first, .rows = rows};
	if (last <= first)
		last = first + 1;
	if (last - first > HEAT_CELLS_MAX / rows)
		return false;
	h->seconds = (uint32_t)(last - first);
	h->cells = xcalloc((size_t)h->seconds * rows, sizeof(*h->cells));
	return true;
}

static inline void heat_release(struct heat *h)
{
	free(h->cells);
	*h = (struct heat){};
}

/* Returns a number that grows with time, equal for times that heat_add() puts into one cell. */
static inline uint32_t heat_cell(const struct heat *h, uint64_t time_ns)
{
	uint64_t at = time_ns - h->start_ns, second = at / NS_PER_SEC;

	if (time_ns < h->start_ns || second < h->first_s)
		return 0;
	if (second - h->first_s >= h->seconds)
		return UINT32_MAX;
	return 1 +
	       (uint32_t)((second - h->first_s) * h->rows + at % NS_PER_SEC * h->rows / NS_PER_SEC);
}

static inline void heat_add(struct heat *h, uint64_t time_ns, double value)
{
	uint64_t at = time_ns - h->start_ns, second = at / NS_PER_SEC - h->first_s;
	uint64_t row = at % NS_PER_SEC * h->rows / NS_PER_SEC;

	if (time_ns >= h->start_ns && second < h->seconds)
		h->cells[second * h->rows + row] += value;
}

/* Spreads a value evenly over the cells of an interval. */
void heat_spread(struct heat *h, uint64_t from_ns, uint64_t to_ns, double value);
/* Adds rows [@from, @to) of a counter, as far as their intervals are in the window. */
void heat_add_counts(struct heat *h, const struct count_columns *rows, size_t from, size_t to,
		     uint64_t from_ns, uint64_t to_ns);
double heat_max(const struct heat *h);

#endif
