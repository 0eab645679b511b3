/*
 * Queries about the rows of any table of a run: a page of rows in any order, groups, the distribution
 * of a column, a heat map, a flame graph, lanes of spans. Rows are chosen by a selection and, optionally, by
 * a condition on their columns (base/predicate/predicate.h).
 *
 * Besides the columns of its schema a table has derived ones: pid, tid and comm of a thread, the function
 * of a stack, the duration of a span.
 *
 * A query belongs to one thread. The caller must hold the run, as with query/selection.h. Functions return
 * -ESTALE if chunks were merged meanwhile: call run_cache_stale() and get the run again.
 */
#ifndef TACHO_QUERY_TABLE_H
#define TACHO_QUERY_TABLE_H

#include "analyze/plot/value_histogram.h"
#include "base/number.h"
#include "base/predicate/predicate.h"
#include "profile/lanes.h"
#include "profile/schema.h"
#include "query/selection.h"

enum table_derived {
	DERIVED_NOT,
	DERIVED_PID,
	DERIVED_TID,
	DERIVED_COMM,
	DERIVED_FUNCTION,
	DERIVED_DURATION, /* of a span */
};

struct table_column {
	struct column_schema schema; /* of a derived column: that of the derived values */
	enum table_derived derived;  /* derived from the column with the tag schema.tag */
};

struct table_query {
	struct run_data *d;
	struct store *s;
	const struct selection *sel;
	/* The strings that the table's own columns refer to. The profile in `d` numbers strings differently. */
	const struct profile *texts;
	struct table_schema table;
	VEC(struct table_column) columns; /* of the schema, then derived ones */
	struct predicate *where;          /* NULL: all rows */
};

/* Opens a query about @table. @where is a condition, or NULL. Returns -ENOENT if there is no such table. */
int table_query_open(struct table_query *q, struct run_data *d, struct store *s,
		     const struct selection *sel, const char *table, const char *where,
		     struct err *e);
/* Opens a query about a table whose schema is known, without a condition. */
int table_query_open_schema(struct table_query *q, struct run_data *d, struct store *s,
			    const struct selection *sel, const struct table_schema *table,
			    struct err *e);
void table_query_close(struct table_query *q);
/* Sets *ret to the index of a column. Returns -EINVAL, with the nearest names in the message, if unknown. */
int table_column_find(const struct table_query *q, const char *name, size_t *ret, struct err *e);

/* Calls @table for each table that has rows, except counts, with the number of its rows and their times. */
struct table_rows_known {
	uint64_t rows, first_ns, last_ns;
};
void tables_each(const struct run_data *d,
		 void (*table)(void *ctx, const struct table_schema *t,
			       const struct table_rows_known *rows),
		 void *ctx);

/* ---- values ---- */

/* The selected rows of a chunk. */
struct table_rows {
	const struct chunk_columns *columns;
	const uint32_t *row; /* numbers of the rows, ascending */
	size_t count;
	uint32_t chunk; /* index in run_data.chunks */
};

/* Returns the value of a column in a row. For a text it is the number of a string: see table_text(). */
uint64_t table_value(const struct table_query *q, const struct table_column *c,
		     const struct chunk_columns *columns, uint32_t row);
bool table_column_is_text(const struct table_column *c);
/* Maps the value of a text column to an existing string: returns 0 if it is out of range. */
uint64_t table_text_number(const struct table_query *q, const struct table_column *c,
			   uint64_t value);
/* Returns the string of a value of a text column. */
const char *table_text(const struct table_query *q, const struct table_column *c, uint64_t value);
/* Maps a value to an unsigned number that sorts like the values, negative ones first. Not for texts. */
uint64_t table_order(const struct table_column *c, uint64_t value);
/* Returns a value as a double. Not for texts. */
double table_number(const struct table_column *c, uint64_t value);

/*
 * Visits the selected rows, chunk by chunk. @columns lists the indices of the columns to decode and ends
 * with -1; NULL means all. A visitor's result other than 0 ends the visit and is returned.
 */
typedef int (*table_visitor)(void *ctx, const struct table_rows *rows, struct err *e);
int table_each(const struct table_query *q, const int *columns, table_visitor visit, void *ctx,
	       struct err *e);
/* Visits the selected rows of one chunk, an index in run_data.chunks. */
int table_each_of(const struct table_query *q, uint32_t chunk, const int *columns,
		  table_visitor visit, void *ctx, struct err *e);

/* ---- a page of rows: table_page.c ---- */

struct table_order_by {
	int column; /* -1: time */
	bool descending;
};

struct table_place {
	uint64_t key;
	uint32_t chunk, row;
};

struct table_page {
	VEC(struct table_place) rows; /* sorted */
	uint64_t matched;             /* number of selected rows */
};

/* Finds the rows [@offset, @offset + @limit). Rows with equal values come as stored: roughly by time. */
int table_page_find(const struct table_query *q, const struct table_order_by *by, uint64_t offset,
		    uint64_t limit, struct table_page *ret, struct err *e);
void table_page_release(struct table_page *p);
/* Visits the rows of a page in order. */
int table_page_each(const struct table_query *q, const struct table_page *p,
		    void (*row)(void *ctx, const struct chunk_columns *columns, uint32_t row),
		    void *ctx, struct err *e);

/* ---- groups: table_group.c ---- */

#define TABLE_KEYS_MAX   4u
#define TABLE_GROUPS_MAX 100000u
/* Maximum relative width of the bins that percentiles are read from: their error is at most half of it. */
#define TABLE_BIN_WIDTH (1.0 / 64)

struct table_group {
	uint64_t keys[TABLE_KEYS_MAX];
	uint64_t count;
	__int128 sum;         /* of integers */
	double sum_float;     /* of floating point numbers */
	uint64_t min, max;    /* encoded like the column's values */
	double p50, p90, p99; /* NaN: too many different values to count */
};

struct table_groups {
	VEC(struct table_group) groups; /* by descending count */
	uint64_t matched;
	uint64_t left_out; /* rows of groups beyond TABLE_GROUPS_MAX */
};

/* Groups rows by the columns @keys and aggregates the column @value; -1: only counts rows. */
int table_group(const struct table_query *q, const size_t *keys, size_t key_count, int value,
		bool percentiles, struct table_groups *ret, struct err *e);
void table_groups_release(struct table_groups *g);

/* ---- distributions: table_values.c ---- */

/* If there are more than 262,144 different values, all but the extremes are rounded by at most this part. */
#define TABLE_VALUES_PART  8192u
#define TABLE_VALUES_ERROR (1.0 / TABLE_VALUES_PART)

/* Lists the values of a numeric column with their counts. */
int table_values(const struct table_query *q, size_t column, struct value_list *ret, struct err *e);

/* Number of rows by time (x) and value (y, from `min` to `max`): cells[x * rows + y]. */
struct table_heat {
	uint32_t columns, rows;
	uint64_t from_ns, to_ns;
	double min, max;
	bool log; /* rows of cells have equal ratios, not equal widths */
	uint32_t *cells;
	uint64_t matched;
};
/* Fills in a heat map. The caller sets columns, rows, from_ns, to_ns and log, and frees cells. */
int table_heat_make(const struct table_query *q, size_t column, struct table_heat *h,
		    struct err *e);

/* ---- flame graphs: table_flame.c ---- */

struct table_weights {
	struct node_weights nodes; /* `event` is not set */
	uint64_t left_out;         /* rows with a negative value, which are not counted */
};

/*
 * Sums up a column by the call path of each row's stack. Returns -EINVAL if the table has no stacks, if
 * the column has no integers, or if the sum does not fit into 63 bits. The caller releases ret->nodes.
 */
int table_weigh(const struct table_query *q, size_t column, struct table_weights *ret,
		struct err *e);

/* ---- lanes of spans: table_lanes.c ---- */

#define TABLE_LANES_MAX      256u
#define TABLE_LANE_CELLS_MIN 2u
#define TABLE_LANE_CELLS_MAX 4096u
/* The lane of all CPUs with a number of CPU_LIMIT or more. */
#define TABLE_LANE_OTHER_CPUS CPU_LIMIT

struct table_lane {
	uint32_t number;     /* of the CPU or thread */
	uint64_t covered_ns; /* sum over its cells; saturates at UINT64_MAX */
	uint64_t starts;     /* sum over its cells */
	size_t first, count; /* range of its cells in table_lanes.cells */
};

/*
 * The spans of each CPU or thread, summed up in cells of time. The width of a cell is a power of two (ns),
 * and a cell begins at a multiple of its width on the clock of the run. Cells at the edges are not cut at
 * the window, so a cell has the same content in every window. All numbers are exact.
 */
struct table_lanes {
	enum lanes_by by;
	unsigned shift; /* cells are 2^shift ns wide */
	uint64_t first; /* number of the first cell on the clock */
	uint32_t cell_count;
	int key; /* index of the column that keys of spans are taken from; -1: none */
	VEC(struct table_lane)
	lanes; /* by descending covered_ns, then descending starts, then number */
	VEC(struct lane_cell) cells; /* cells with spans, lane by lane, ascending */
	uint64_t lanes_in_all;       /* lanes with spans in the cells */
	uint64_t rest_covered_ns;    /* sum over the lanes that are left out */
	uint64_t rest_starts;
};

/*
 * Makes the lanes of the table's spans between @from_ns and @to_ns; the window of the selection is ignored.
 * Cells have the smallest width for which there are at most @cells of them. At most @limit lanes are listed:
 * the busiest. Points count as spans of 0 ns. Returns -EINVAL if the table has no column of CPUs or threads.
 */
int table_lanes_make(const struct table_query *q, enum lanes_by by, uint64_t from_ns,
		     uint64_t to_ns, uint32_t cells, uint32_t limit, struct table_lanes *ret,
		     struct err *e);
void table_lanes_release(struct table_lanes *l);

#endif
