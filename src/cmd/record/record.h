/*
 * Shared by the files of `tacho record`: record.c runs it and tells the user, options.c
 * turns options into a plan.
 */
#ifndef TACHO_CMD_RECORD_RECORD_H
#define TACHO_CMD_RECORD_RECORD_H

#include "base/option.h"
#include "base/term.h"
#include "collect/target_options.h"
#include "collect/recording.h"
#include "event/catalog.h"

struct record_options {
	option_items events; /* -e and --filter: a filter is for the events before it */
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
	const char *name; /* of the command, for what it says; NULL: record */
	struct record_options o;
	struct catalog catalog;
	struct event_list events;
	VEC(const char *) filters; /* by number of event */
	struct topology topology;
	struct recording_plan plan;
	struct record_summary summary;
	VEC(char *) whole_argv;
	struct term term;
	unsigned default_hz; /* 0: that of record */
	bool no_pmu;         /* so the clock is sampled where cycles were wanted */
	bool drawn;          /* the progress line stands on the terminal */
	bool started;        /* so there is a file */
	bool error_told;
	strvec files; /* that were told to be complete */
};

extern const struct option_def record_table_of_options[];

/* Fills in events, filters, and all of the plan but the workload and the callbacks. */
int record_make_plan(struct record_session *s, struct err *e);

/* Tells the user once that the clock is sampled, not cycles; @verb: what is done with it. */
void record_note_clock(struct record_session *s, const char *verb);

/* Adds what there is to say about events that were refused. */
void record_explain(struct record_session *s, struct err *e);

/* Lets go of all that making a plan took. */
void record_release(struct record_session *s);

/* The command line as it was typed, for the file's header. */
void record_keep_command_line(struct record_session *s, const char *name, int argc, char **argv);

/* A sentence for the user, unless he wants quiet. */
void record_note(struct record_session *s, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
