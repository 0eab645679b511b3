/*
 * Values of counters as a table: a row for each event, a column for each aggregate (all, CPU, core,
 * thread …), and statistics over repeats. Code that has readings fills it in; figures, metrics and
 * output formats read it.
 *
 * A table owns its strings and arrays: counter_table_release(). It belongs to one thread.
 */
#ifndef TACHO_MEASURE_COUNTER_TABLE_H
#define TACHO_MEASURE_COUNTER_TABLE_H

#include "measure/statistics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum row_state { ROW_COUNTED, ROW_UNSUPPORTED, ROW_REFUSED };

/* Rows that show a time instead of a counter. */
enum row_timer { ROW_NO_TIMER, ROW_DURATION, ROW_USER_TIME, ROW_SYSTEM_TIME };

enum aggregation { AGGR_ALL, AGGR_CPU, AGGR_CORE, AGGR_DIE, AGGR_SOCKET, AGGR_THREAD, AGGR_CGROUP };

/* How figures recognise an event: type and config as in perf_event_attr. */
struct row_identity {
	bool known;
	uint32_t type;
	uint64_t config;
	bool exclude_user, exclude_kernel;
	const void *pmu; /* rows of the same PMU have the same pointer */
};

struct table_row {
	char *name;
	char *unit;   /* "" if there is none */
	char *reason; /* why it is not counted; NULL: it is counted, or the reason is unknown */
	double scale;
	enum row_state state;
	enum row_timer timer;
	struct row_identity identity;
	bool whole_machine; /* not only the target is counted */
};

/* One column of the table: what is added up in it. */
struct aggregate {
	char *label; /* "CPU0", "S0-D0-C1", "bash-123"; "" for all */
	int key[3];  /* sort key; also tells which counters belong to the aggregate */
	unsigned cpu_count;
};

struct cell {
	bool counted; /* else <not counted> or <not supported>, see the row */
	double value; /* scaled for multiplexing and by the event's scale */
	uint64_t enabled_ns, running_ns;
	uint64_t raw;       /* sum of the counters as the kernel gave them */
	struct stats stats; /* over repeats */
	double enabled_sum, running_sum;
};

struct counter_table {
	struct table_row *rows;
	size_t row_count;
	struct aggregate *aggregates;
	size_t aggregate_count;
	struct cell *cells; /* row × aggregate */
	enum aggregation mode;
	bool by_aggregate; /* visit all rows of an aggregate together */
	double time_s;     /* end of the interval, NaN for a whole run */
	double duration_s; /* time that the values cover */
	/* NaN while the target runs, and if the times are not those of the target. */
	double user_s, system_s;
	unsigned runs;                      /* number of runs in the statistics */
	struct stats elapsed, user, system; /* seconds, over the runs */
};

static inline struct cell *table_cell(const struct counter_table *t, size_t row, size_t aggregate)
{
	return &t->cells[row * t->aggregate_count + aggregate];
}

/* Sets all cells of a row to nothing counted; those of a timer to its time. */
void counter_table_clear_row(struct counter_table *t, size_t row);
/*
 * Sets the value of a cell after its counters were added up. If the event was counted for only a
 * part of the time (multiplexing), the value is scaled up to all of it, unless @as_counted.
 */
void counter_table_finish_cell(const struct counter_table *t, size_t row, size_t aggregate,
			       bool as_counted);
/* Notes a finished run in the statistics; values become the mean of the runs so far. */
void counter_table_add_run(struct counter_table *t, double elapsed_s);
/* Visits every cell in the order of the output: by event, or by aggregate. */
typedef void (*cell_visitor)(void *ctx, const struct counter_table *t, size_t row,
			     size_t aggregate);
void counter_table_visit(const struct counter_table *t, cell_visitor visit, void *ctx);
void counter_table_release(struct counter_table *t);

#endif
