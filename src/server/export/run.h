/*
 * A run as the exports read it: its dictionary as a profile of its own, which views may add to, and its
 * samples and counts in the order of time, chunk by chunk, so that memory does not grow with the run.
 * What is asked for is a selection, as of questions.
 *
 * Chunks may be merged meanwhile; then the functions below give -ESTALE, and whoever exports begins anew.
 * One thread, with its own store.
 */
#ifndef TACHO_SERVER_EXPORT_RUN_H
#define TACHO_SERVER_EXPORT_RUN_H

#include "profile/profile.h"
#include "query/selection.h"
#include "server/server.h"

struct export_run {
	struct api *api;
	struct stored_run run;
	struct profile profile;
	struct selection selection; /* its nodes are in `stacks` instead; event -1: all */
	size_t thread_count;        /* that it knew; those that came later are not in it */
	bool *stacks;               /* by stack: whether it has the frames asked for; NULL: all */
	size_t stack_count;
};

/* @request NULL: all of it. @uuid as it stands in the path. */
int export_run_open(struct export_run *x, struct api *api, const char *uuid,
		    const struct http_request *request, struct err *e);
void export_run_close(struct export_run *x);
bool export_run_ended(const struct export_run *x);

/* From the start of the first to the end of the last, as far as it is selected; equal: there is
 * nothing. */
int export_run_span(struct export_run *x, uint64_t *ret_from_ns, uint64_t *ret_to_ns,
		    struct err *e);

/* By time; a result other than 0 ends it and is given back. */
typedef int export_sample(void *ctx, const struct sample_row *sample);
int export_samples_each(struct export_run *x, export_sample *sample, void *ctx, struct err *e);

/* What counters had in an interval: time and duration are the same for all. */
struct export_count {
	uint32_t counter;
	struct count_row row;
};
typedef int export_tick(void *ctx, const struct export_count *counts, size_t count);
int export_counts_each(struct export_run *x, export_tick *tick, void *ctx, struct err *e);

/* The selected samples become rows of the profile. @ret_samples: how many. */
int export_run_rows(struct export_run *x, uint64_t *ret_samples, struct err *e);

/* "cache-misses", "cycles@cpu3", "cycles@make:4711" */
void export_counter_name(const struct export_run *x, uint32_t counter, struct buf *out);

#endif
