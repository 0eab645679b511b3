/*
 * Metrics: formulas over the values of a table. To add one: a row of builtin_metrics[]. Pure.
 */
#ifndef TACHO_MEASURE_METRICS_H
#define TACHO_MEASURE_METRICS_H

#include "measure/counter_table.h"
#include "measure/expr.h"

struct builtin_metric {
	const char *name, *expression, *unit, *description;
	double scale;
};
extern const struct builtin_metric builtin_metrics[]; /* ended by a row of zeros */

/* The strings and the formula belong to the code that made the metric. */
struct metric {
	char *name, *description, *unit;
	double scale;
	struct expr *expr;
};

/* Returns NaN if a value that the formula needs was not counted. @lookup resolves the names. */
double metric_value(const struct metric *m, expr_lookup *lookup, void *ctx);
/* Returns the value of a cell for a formula; NaN if it was not counted. */
double metric_cell_value(const struct counter_table *t, size_t row, size_t aggregate);

#endif
