/*
 * Queries about the rows of any table of a run: a page of rows in any order, groups, the distribution
 * of a column, a heat map. The selection says which rows, and so may a condition on their columns
 * (base/predicate.h).
 *
 * Beside the columns of its schema a table has derived ones, which people ask for by name: pid, tid and
 * comm of a thread, the function of a stack, the duration of a span.
 *
 * A query belongs to one thread; the run must be held, as with query/selection.h. Functions return
 * -ESTALE if chunks were merged meanwhile: call run_cache_stale(), get the run again.
 */
#ifndef TACHO_QUERY_TABLE_H
#define TACHO_QUERY_TABLE_H

#include "analyze/plot/value_histogram.h"
#include "base/number.h"
#include "base/predicate.h"
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
	struct column_schema schema; /* of a derived column that of what it shows */
	enum table_derived derived;  /* from the column with the tag schema.tag */
};

struct table_query {
	struct run_data *d;
	struct store *s;
	const struct selection *sel;
	/* Has the texts of the table's own columns: what is kept of a run has other numbers for texts. */
	const struct profile *texts;
	struct table_schema table;
	VEC(struct table_column) columns; /* those of the schema, then the derived ones */
	struct predicate *where;          /* NULL: all rows */
};

/* @where NULL: all rows. Returns -ENOENT if there is no such table. */
int table_query_open(struct table_query *q, struct run_data *d, struct store *s,
		     const struct selection *sel, const char *table, const char *where,
		     struct err *e);
/* The same for a table that was found already, without a condition. */
int table_query_open_schema(struct table_query *q, struct run_data *d, struct store *s,
			    const struct selection *sel, const struct table_schema *table,
			    struct err *e);
void table_query_close(struct table_query *q);
/* Sets *ret to the number of a column. Returns -EINVAL, with the nearest names, if there is none. */
int table_column_find(const struct table_query *q, const char *name, size_t *ret, struct err *e);

/* Tables that have rows, but for counts: calls @table for each with the number of its rows, and their time. */
struct table_rows_known {
	uint64_t rows, first_ns, last_ns;
};
void tables_each(const struct run_data *d,
		 void (*table)(void *ctx, const struct table_schema *t,
			       const struct table_rows_known *rows),
		 void *ctx);

/* ---- values ---- */

/* Rows of a chunk that are selected. */
struct table_rows {
	const struct chunk_columns *columns;
	const uint32_t *row; /* numbers of the rows, ascending */
	size_t count;
	uint32_t chunk; /* in run_data.chunks */
};

/* The value of a column in a row; texts are numbers of strings, see table_text(). */
uint64_t table_value(const struct table_query *q, const struct table_column *c,
		     const struct chunk_columns *columns, uint32_t row);
bool table_column_is_text(const struct table_column *c);
/* The value of such a column as a number of the run's texts: 0 if there is no such text. */
uint64_t table_text_number(const struct table_query *q, const struct table_column *c,
			   uint64_t value);
/* The text of it. */
const char *table_text(const struct table_query *q, const struct table_column *c, uint64_t value);
/* A number that is ordered as the values are: negative ones first. Not for texts. */
uint64_t table_order(const struct table_column *c, uint64_t value);
/* The value as a number. Not for texts. */
double table_number(const struct table_column *c, uint64_t value);

/*
 * Visits the selected rows, chunk by chunk. @columns: numbers of those whose values are asked for, ended
 * by -1; NULL: all. A result other than 0 ends the visit and is returned.
 */
typedef int (*table_visitor)(void *ctx, const struct table_rows *rows, struct err *e);
int table_each(const struct table_query *q, const int *columns, table_visitor visit, void *ctx,
	       struct err *e);
/* The same for one chunk, by its number. */
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
	VEC(struct table_place) rows; /* in their order */
	uint64_t matched;             /* rows in all */
};

/* Rows with equal values come as they are stored, which is nearly by time. */
int table_page_find(const struct table_query *q, const struct table_order_by *by, uint64_t offset,
		    uint64_t limit, struct table_page *ret, struct err *e);
void table_page_release(struct table_page *p);
/* Visits the rows of a page in their order. */
int table_page_each(const struct table_query *q, const struct table_page *p,
		    void (*row)(void *ctx, const struct chunk_columns *columns, uint32_t row),
		    void *ctx, struct err *e);

/* ---- groups: table_group.c ---- */

#define TABLE_KEYS_MAX   4u
#define TABLE_GROUPS_MAX 100000u
/* Percentiles come from bins of this relative width or less: values are off by half of it at most. */
#define TABLE_BIN_WIDTH (1.0 / 64)

struct table_group {
	uint64_t keys[TABLE_KEYS_MAX];
	uint64_t count;
	__int128 sum; /* of whole numbers, */
	double sum_float;
	uint64_t min, max;    /* in the form of the column's values */
	double p50, p90, p99; /* NaN: there were too many different values to count */
};

struct table_groups {
	VEC(struct table_group) groups; /* by count, the largest first */
	uint64_t matched;
	uint64_t left_out; /* rows whose group found no room */
};

/* @value -1: only counts. */
int table_group(const struct table_query *q, const size_t *keys, size_t key_count, int value,
		bool percentiles, struct table_groups *ret, struct err *e);
void table_groups_release(struct table_groups *g);

/* ---- distributions: table_values.c ---- */

/* Beyond 262,144 different values, values are rounded by at most this part of them; extremes never are. */
#define TABLE_VALUES_PART  8192u
#define TABLE_VALUES_ERROR (1.0 / TABLE_VALUES_PART)

/* All values of a numeric column, with their counts. */
int table_values(const struct table_query *q, size_t column, struct value_list *ret, struct err *e);

/* Rows by time and value: cells[x * rows + y], values from @min to @max. */
struct table_heat {
	uint32_t columns, rows;
	uint64_t from_ns, to_ns;
	double min, max;
	bool log; /* of the value: equal ratios */
	uint32_t *cells;
	uint64_t matched;
};
/* columns, rows, from_ns, to_ns and log are given; the caller frees cells. */
int table_heat_make(const struct table_query *q, size_t column, struct table_heat *h,
		    struct err *e);

/* ---- flame graphs: table_flame.c ---- */

struct table_weights {
	struct node_weights nodes; /* `event` is not set */
	uint64_t left_out;         /* rows with a negative value, which count nowhere */
};

/*
 * Adds up a column at the nodes of the rows' stacks. Returns -EINVAL if the table has no stacks, if the
 * column is not one of whole numbers, or if their sum does not fit into 63 bits. The caller releases
 * ret->nodes.
 */
int table_weigh(const struct table_query *q, size_t column, struct table_weights *ret,
		struct err *e);

/* ---- lanes of spans: table_lanes.c ---- */

#define TABLE_LANES_MAX      256u
#define TABLE_LANE_CELLS_MIN 2u
#define TABLE_LANE_CELLS_MAX 4096u
/* Of all CPUs with a larger number. */
#define TABLE_LANE_OTHER_CPUS CPU_LIMIT

struct table_lane {
	uint32_t number;     /* of the CPU or thread */
	uint64_t covered_ns; /* in all cells; UINT64_MAX: so long or longer */
	uint64_t starts;     /* in all cells */
	size_t first, count; /* its cells */
};

/*
 * What spans cover, cell by cell of time. A cell is a power of two ns wide and begins at a multiple of that
 * on the clock of the run, so the same cell has the same content in every window: cells at the edges are
 * whole, not cut at the window. All numbers are exact.
 */
struct table_lanes {
	enum lanes_by by;
	unsigned shift; /* cells are 2^shift ns wide */
	uint64_t first; /* number of the first cell on the clock */
	uint32_t cell_count;
	int key; /* column that the keys of spans are of; -1: none */
	VEC(struct table_lane)
	lanes; /* by covered_ns, the most first, then by starts, then by number */
	VEC(struct lane_cell) cells; /* those with spans, lane by lane, ascending */
	uint64_t lanes_in_all;       /* that have spans in the cells */
	uint64_t rest_covered_ns;    /* of lanes that are not among these */
	uint64_t rest_starts;
};

/*
 * Lanes of the table's spans between @from_ns and @to_ns: at most @limit lanes with at most @cells cells.
 * The widest cells are chosen of which there are more than half of that. The window of the selection
 * is not looked at. Points are spans without length. Returns -EINVAL if the table has no such lanes.
 */
int table_lanes_make(const struct table_query *q, enum lanes_by by, uint64_t from_ns,
		     uint64_t to_ns, uint32_t cells, uint32_t limit, struct table_lanes *ret,
		     struct err *e);
void table_lanes_release(struct table_lanes *l);

#endif
