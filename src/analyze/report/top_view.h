/*
 * Rows for the screen from a struct top_table: grouped, zoomed into a process or library, filtered
 * and sorted; and the callers of a row. When the table changes, only the sums of a view stay valid.
 * Any thread, while nobody changes the table.
 */
#ifndef TACHO_ANALYZE_REPORT_TOP_VIEW_H
#define TACHO_ANALYZE_REPORT_TOP_VIEW_H

#include "analyze/report/top_table.h"

#include <regex.h>

/* Properties that distinguish rows. */
enum top_by {
	TOP_BY_PID = 1,
	TOP_BY_COMM = 2,
	TOP_BY_DSO = 4,
	TOP_BY_SYM = 8,
};

enum top_sort { TOP_SELF, TOP_TOTAL, TOP_COMM, TOP_DSO, TOP_SYM, TOP_SORTS };

struct top_question {
	uint32_t event;
	unsigned by; /* enum top_by */
	enum top_sort sort;
	bool all;    /* since the beginning, not only the window */
	bool chains; /* rows for callers, too, with totals */
	bool no_kernel, no_user;
	bool idle;             /* count samples of the waiting idle task, too */
	const regex_t *filter; /* applied to "comm pid dso sym"; NULL: all */
	/* Only samples of this process and in this library, which are then 100 %. NULL: all. */
	const char *zoom_comm, *zoom_dso;
	uint32_t zoom_pid; /* 0: all processes of that name */
};

struct top_row {
	uint32_t process, function;    /* an example from the row; ignore what `by` leaves out */
	uint32_t pid, comm, dso, name; /* 0: not distinguished by it */
	uint32_t seen;                 /* internal: last cell that was counted */
	struct top_sum self, total;
};

struct top_view {
	VEC(struct top_row) rows;
	struct top_sum shown; /* 100 %: after the zoom, before the filter */
	struct top_sum all;   /* of the event */
	struct slots slots;
};

void top_view_build(struct top_view *v, const struct top_table *t, const struct top_question *q);
void top_view_release(struct top_view *v);

/* Appends "comm pid dso sym", the text that a filter is applied to. */
void top_row_text(const struct top_table *t, const struct top_row *row, struct buf *out);

/* Callers of a row's function, the heaviest first; a caller is listed below its callee. */
struct top_caller {
	uint32_t depth; /* from 0 */
	uint32_t function;
	uint64_t weight;
};

typedef VEC(struct top_caller) top_caller_list;

/* Lists callers with at least @min_share of the row's weight, at most @max of them. */
void top_callers(const struct top_table *t, const struct top_question *q, const struct top_row *row,
		 double min_share, size_t max, top_caller_list *ret);

#endif
