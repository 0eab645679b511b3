/*
 * Shared by the files of `tacho stat`. The flow of one run:
 *
 *	events.c	options → events, metrics
 *	collect/	events → readings
 *	table.c	readings → a table: a row an event, a column an aggregate (CPU, core, thread …)
 *	figures.c	table → derived figures (IPC, miss %, per second) and metrics
 *	text.c, csv.c, json.c, live.c	table → output
 */
#ifndef TACHO_CMD_STAT_STAT_H
#define TACHO_CMD_STAT_STAT_H

#include "measure/expr.h"
#include "measure/statistics.h"
#include "base/option.h"
#include "base/term.h"
#include "collect/target_options.h"
#include "collect/counting.h"
#include "event/catalog.h"

struct stat_options {
	option_list events, metrics;
	struct target_options where;
	const char *separator, *output;
	bool per_thread, per_core, per_socket, per_die, no_aggregation, json, append;
	bool null_run, no_live, all_user, all_kernel;
	option_items forms; /* -B and --scale with their opposites: the last of each counts */
	unsigned interval_ms, interval_count, repeat, timeout_ms, delay_ms, detail, log_fd;
	unsigned verbose;
};

/* CPUs are watched, not tasks. */
static inline bool stat_is_cpu_wide(const struct stat_options *o)
{
	return target_is_cpu_wide(&o->where);
}

/*
 * True if user and system time of the command are those of what is counted: all of the command and
 * its children from its start on. With -p, -t, -a, -C or -G the command only says for how long.
 */
static inline bool stat_counts_workload(const struct stat_options *o, char *const *argv)
{
	return argv && !target_has_tasks(&o->where) && !stat_is_cpu_wide(o) &&
	       !o->where.no_inherit && !o->delay_ms;
}

enum aggregation { AGGR_ALL, AGGR_CPU, AGGR_CORE, AGGR_DIE, AGGR_SOCKET, AGGR_THREAD, AGGR_CGROUP };

/* A metric that the user asked for by -M. */
struct stat_metric {
	char *name, *description, *unit;
	double scale;
	struct expr *expr;
};

/* One column of the table: what is added up in it. */
struct aggregate {
	char *label; /* "CPU0", "S0-D0-C1", "bash-123"; "" for all */
	int key[3];  /* sorts, and tells which counters belong to it */
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

struct stat_row {
	const struct event *event;
	char *name;
	enum event_state state;
	char *reason;
	bool whole_machine;
};

struct stat_table {
	struct stat_row *rows;
	size_t row_count;
	struct aggregate *aggregates;
	size_t aggregate_count;
	struct cell *cells; /* row × aggregate */
	enum aggregation mode;
	bool by_aggregate;                  /* print all rows of an aggregate together */
	double time_s;                      /* end of the interval, NaN for a whole run */
	double duration_s;                  /* that the values are of */
	double user_s, system_s;            /* NaN while it runs, and if they are not of
					     * what is counted: see stat_counts_workload() */
	unsigned runs;                      /* over how many the statistics are */
	struct stats elapsed, user, system; /* seconds, over the runs */
};

static inline struct cell *table_cell(const struct stat_table *t, size_t row, size_t aggregate)
{
	return &t->cells[row * t->aggregate_count + aggregate];
}

/* A derived figure behind '#': "0.98 CPUs utilized". */
struct figure {
	bool known;
	double value;
	int decimals;
	bool percent;
	const char *unit;
	int heat; /* 0 plain, 1 worth a look, 2 bad */
};

struct stat_session {
	struct stat_options o;
	struct catalog catalog;
	struct event_list events;
	bool default_events; /* nothing was asked for */
	VEC(struct stat_metric) metrics;
	struct topology topology;
	struct counting_plan plan;
	struct counting_result result;
	struct stat_table table; /* of the run, then of all repeats */
	struct stat_table tick;  /* of the last interval */
	strvec task_names;
	char *title; /* what is measured, for the heading */
	char *note;
	bool no_pmu;
	bool plain_numbers; /* --no-big-num: no commas between thousands */
	bool no_scale;      /* counts as they are, not estimated for the whole time */
	bool headed;        /* the intervals have their heading */
	bool write_failed;  /* nobody reads the output, or the disk is full */
	const struct stat_format *format;
	struct stat_live *live;
	struct buf out;
	int out_fd;
	struct term term;
};

/* A way to print a table. To add one: fill in the functions and choose it in stat.c. */
struct stat_format {
	void (*interval)(struct stat_session *s, const struct stat_table *t);
	void (*summary)(struct stat_session *s, const struct stat_table *t);
	void (*note)(struct stat_session *s, const char *sentence);
	void (*detail)(struct stat_session *s, const char *line); /* what -v adds */
};

extern const struct stat_format stat_text, stat_csv, stat_json;

/* events.c */
int stat_choose_events(struct stat_session *s, struct err *e);
int stat_choose_target(struct stat_session *s, struct err *e);

/* table.c */
void table_build(struct stat_session *s, struct stat_table *t, const struct counters *c,
		 bool deltas);
void table_add_run(struct stat_table *t, double elapsed_s);
/* Every cell in the order of the output: by event, or by aggregate. */
typedef void (*cell_visitor)(struct stat_session *s, const struct stat_table *t, size_t row,
			     size_t aggregate);
void table_visit(struct stat_session *s, const struct stat_table *t, cell_visitor visit);
void table_release(struct stat_table *t);

/* figures.c */
struct figure figure_of(const struct stat_table *t, size_t row, size_t aggregate);
struct figure figure_stalls_per_instruction(const struct stat_table *t, size_t row,
					    size_t aggregate);
double metric_value(struct stat_session *s, const struct stat_table *t, const struct stat_metric *m,
		    size_t aggregate);

/* metrics.c */
int stat_add_metrics(struct stat_session *s, const char *names, struct err *e);
void stat_list_metrics(struct stat_session *s, struct buf *out);

/* live.c */
struct stat_live *live_new(void);
void live_tick(struct stat_live *live, struct stat_session *s, const struct stat_table *t);
void live_free(struct stat_live *live, struct stat_session *s);

/* Values as text, shared by the formats. */
void stat_value_text(const struct stat_row *row, const struct cell *cell, bool plain,
		     struct buf *out);
const char *stat_missing_text(const struct stat_row *row);

#endif
