/*
 * Shared by the files of `tacho record`: record.c runs the recording and reports to the user,
 * options.c turns options into a plan.
 */
#ifndef TACHO_CMD_RECORD_RECORD_H
#define TACHO_CMD_RECORD_RECORD_H

#include "base/option.h"
#include "base/term.h"
#include "collect/target_options.h"
#include "collect/recording.h"
#include "event/catalog.h"

struct record_options {
	option_items events; /* -e and --filter; a filter applies to the -e before it */
	struct target_options where;
	const char *freq, *period, *call_graph, *branch_filter, *clock;
	const char *aio, *output, *ring, *level, *switch_output, *max_size, *overwrite;
	bool calls, branches, address, weight, raw, no_samples, strict_freq;
	bool switches, namespaces, cgroups, all_user, all_kernel;
	bool no_jvm, no_keep, keep_all, tail_synthesize;
	bool quiet, ignored;
	unsigned verbose, max_stack, delay_ms, timeout_ms, switch_max_files, threads;
};

struct record_session {
	const char *name; /* of the command in messages; NULL: record */
	struct record_options o;
	struct catalog catalog;
	struct event_list events;
	VEC(const char *) filters; /* by index of event; NULL: none */
	strvec joined_filters;     /* those that were made of several */
	struct topology topology;
	struct recording_plan plan;
	struct record_summary summary;
	VEC(char *) whole_argv;
	struct term term;
	unsigned default_hz; /* 0: the default of record */
	bool no_pmu;         /* cpu-clock is sampled instead of cycles */
	bool drawn;          /* the progress line is on the terminal */
	bool started;        /* the output file exists */
	bool error_told;
	strvec files; /* complete files, from on_switched */
};

extern const struct option_def record_table_of_options[];

/* Fills in events, filters, and all of the plan but the workload and the callbacks. */
int record_make_plan(struct record_session *s, struct err *e);

/* If there is no PMU, tells the user that cpu-clock is @verb ("recorded", "shown"), not cycles. */
void record_note_clock(struct record_session *s, const char *verb);

/* Adds a hint to @e if hardware events were refused in a machine without a PMU. */
void record_explain(struct record_session *s, struct err *e);

/* Frees all that the session owns. */
void record_release(struct record_session *s);

/* Copies the command line into the plan, for the file's header. */
void record_keep_command_line(struct record_session *s, const char *name, int argc, char **argv);

/* Prints a note for the user, except with --quiet. */
void record_note(struct record_session *s, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
