/*
 * Shared by the files of `tacho stat`. The flow of one run:
 *
 *	events.c	options → events, metrics
 *	collect/	events → readings
 *	table.c	readings → measure/counter_table.h
 *	measure/	table → derived figures (IPC, miss %, per second); metrics.c: metrics
 *	text.c, csv.c, json.c, live.c	table → output
 */
#ifndef TACHO_CMD_STAT_STAT_H
#define TACHO_CMD_STAT_STAT_H

#include "base/option.h"
#include "base/term.h"
#include "collect/counting.h"
#include "collect/target_options.h"
#include "event/catalog.h"
#include "measure/figures.h"
#include "measure/metrics.h"

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

/* Whether CPUs are counted, not tasks. */
static inline bool stat_is_cpu_wide(const struct stat_options *o)
{
	return target_is_cpu_wide(&o->where);
}

/*
 * Whether the command's user and system time belong to what is counted: the whole command with its
 * children, from its start on. With -p, -t, -a, -C or -G the command only sets the duration.
 */
static inline bool stat_counts_workload(const struct stat_options *o, char *const *argv)
{
	return argv && !target_has_tasks(&o->where) && !stat_is_cpu_wide(o) &&
	       !o->where.no_inherit && !o->delay_ms;
}

struct stat_session {
	struct stat_options o;
	struct catalog catalog;
	struct event_list events;
	bool default_events; /* the user chose none */
	VEC(struct metric) metrics;
	struct topology topology;
	struct counting_plan plan;
	struct counting_result result;
	struct counter_table table; /* of the run, then of all repeats */
	struct counter_table tick;  /* of the last interval */
	strvec task_names;
	char *title; /* what is measured, for the heading */
	char *note;
	bool no_pmu;
	bool plain_numbers; /* --no-big-num: no commas between thousands */
	bool no_scale;      /* counts as they are, not estimated for the whole time */
	bool headed;        /* the heading of the intervals was printed */
	bool write_failed;  /* nobody reads the output, or the disk is full */
	const struct stat_format *format;
	struct stat_live *live;
	struct buf out;
	int out_fd;
	struct term term;
};

/* A way to print a table. To add one: fill in the functions and choose it in stat.c. */
struct stat_format {
	void (*interval)(struct stat_session *s, const struct counter_table *t);
	void (*summary)(struct stat_session *s, const struct counter_table *t);
	void (*note)(struct stat_session *s, const char *sentence);
	void (*detail)(struct stat_session *s, const char *line); /* what -v adds */
};

extern const struct stat_format stat_text, stat_csv, stat_json;

/* events.c */
int stat_choose_events(struct stat_session *s, struct err *e);
int stat_choose_target(struct stat_session *s, struct err *e);

/* table.c: fills @t with readings of counters; with @deltas, the change since the last reading. */
void table_build(struct stat_session *s, struct counter_table *t, const struct counters *c,
		 bool deltas);

/* metrics.c */
int stat_add_metrics(struct stat_session *s, const char *names, struct err *e);
void stat_list_metrics(struct stat_session *s, struct buf *out);
double stat_metric_value(struct stat_session *s, const struct counter_table *t,
			 const struct metric *m, size_t aggregate);

/* live.c */
struct stat_live *live_new(void);
void live_tick(struct stat_live *live, struct stat_session *s, const struct counter_table *t);
void live_free(struct stat_live *live, struct stat_session *s);

/* Values as text, shared by the formats. */
void stat_value_text(const struct table_row *row, const struct cell *cell, bool plain,
		     struct buf *out);
const char *stat_missing_text(const struct table_row *row);

#endif
