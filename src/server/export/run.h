/*
 * A run as the exports read it: its dictionary as a separate profile, which views may add to, and
 * its samples and counts in order of time (query/row_walk.h). Chunks are read as they are needed, so that memory does
 * not grow with the run. A selection limits what is read, as in questions.
 *
 * If chunks are merged meanwhile, the functions below return -ESTALE, and the export must start
 * again. One thread, with its own store.
 */
#ifndef TACHO_SERVER_EXPORT_RUN_H
#define TACHO_SERVER_EXPORT_RUN_H

#include "profile/profile.h"
#include "query/row_walk.h"
#include "server/server.h"

struct export_run {
	struct api *api;
	struct stored_run run;
	struct profile profile;
	struct selection selection; /* detached; event -1: all */
};

/* Opens a run. @uuid is checked. @request has the selection; NULL selects everything. */
int export_run_open(struct export_run *x, struct api *api, const char *uuid,
		    const struct http_request *request, struct err *e);
void export_run_close(struct export_run *x);
bool export_run_ended(const struct export_run *x);

/* The walk over the selected rows of @which chunks. @tags: see struct row_walk. */
struct row_walk export_walk(const struct export_run *x, struct chunk_query which,
			    const uint32_t *tags);

/* The time range of the selected data; both ends are equal if there are none. */
int export_run_span(struct export_run *x, uint64_t *ret_from_ns, uint64_t *ret_to_ns,
		    struct err *e);

/* Calls @sample in order of time. A result other than 0 stops the walk and is returned. */
typedef int export_sample(void *ctx, const struct sample_row *sample);
int export_samples_each(struct export_run *x, export_sample *sample, void *ctx, struct err *e);

/* The value of a counter in an interval. All counts of a tick have the same time and duration. */
struct export_count {
	uint32_t counter;
	struct count_row row;
};
typedef int export_tick(void *ctx, const struct export_count *counts, size_t count);
int export_counts_each(struct export_run *x, export_tick *tick, void *ctx, struct err *e);

/* Adds the counter's name: "cache-misses", "cycles@cpu3", "cycles@make:4711". */
void export_counter_name(const struct export_run *x, uint32_t counter, struct buf *out);

#endif
