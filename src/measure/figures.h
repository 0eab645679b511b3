/*
 * Figures that people read first, derived from a table: IPC, miss rates, utilisation, events a second.
 * To add a part of a whole: a row of ratios[] in figures.c. Pure.
 */
#ifndef TACHO_MEASURE_FIGURES_H
#define TACHO_MEASURE_FIGURES_H

#include "measure/counter_table.h"

/* A derived figure behind '#': "0.98 CPUs utilized". */
struct figure {
	bool known;
	double value;
	int decimals;
	bool percent;
	const char *unit;
	int heat; /* 0 plain, 1 worth a look, 2 bad */
};

struct figure figure_of(const struct counter_table *t, size_t row, size_t aggregate);
struct figure figure_stalls_per_instruction(const struct counter_table *t, size_t row,
					    size_t aggregate);

#endif
