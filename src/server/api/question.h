/*
 * What all questions about a run have in common: find the run, bring its data up to date, parse the
 * selection, and report how long each step took. A handler provides a question_asker;
 * question_ask() does the rest, and calls the asker again if chunks were merged meanwhile. Any
 * worker's thread, with its own struct api.
 */
#ifndef TACHO_SERVER_API_QUESTION_H
#define TACHO_SERVER_API_QUESTION_H

#include "analyze/paths/path_flame.h"
#include "analyze/plot/value_histogram.h"
#include "server/api/answer.h"
#include "server/api/api.h"
#include "query/selection.h"

/* Attempts per question: one fails if chunks are merged between listing and reading them. */
#define TRIES_MAX 5

struct question {
	struct api *api;
	const struct http_request *r;
	struct stored_run run;
	struct run_data *d;
	struct selection sel;
	struct answer answer;
};

/* Writes a JSON value to q->answer.j. Called again with an empty answer if it returns -ESTALE. */
typedef int (*question_asker)(struct question *q, struct err *e);

/* @params lists all parameters that are allowed, including SELECTION_PARAMS and "format". */
int question_ask(void *worker, const struct http_request *r, struct http_reply *reply,
		 const char *const *params, question_asker ask, struct err *e);

/*
 * Calls @look with the data of @run, which stay in memory meanwhile. If @look returns -ESTALE
 * because chunks were merged, it is called again and must start from the beginning.
 */
typedef int (*run_looker)(void *ctx, struct run_data *d, struct err *e);
int question_hold(struct api *a, const struct stored_run *run, run_looker look, void *ctx,
		  struct err *e);

/* The selection's window by the clock of the chunks. Without limits it covers the whole run. */
void question_window(const struct question *q, uint64_t *ret_from_ns, uint64_t *ret_to_ns);
int64_t question_since_start(const struct question *q, uint64_t ns);

/* Writes the members event and unit. */
void question_event(struct question *q, uint32_t event);
/* Parameters and answer of all histograms: scale, bins, and a distribution as an object. */
int question_scale(const struct http_request *r, bool *ret_log, struct err *e);
int question_bins(const struct http_request *r, uint32_t *ret, struct err *e);
void question_spread(struct json *j, const struct value_list *values, uint32_t bins, bool log);
/* Writes [label, module, kind]. */
void question_name(struct json *j, const char *label, const char *module, enum code_kind kind);

/* Handlers of timeline.c. */
int api_timeline(void *worker, const struct http_request *r, struct http_reply *reply,
		 struct err *e);
int api_heatmap(void *worker, const struct http_request *r, struct http_reply *reply,
		struct err *e);
int api_histogram(void *worker, const struct http_request *r, struct http_reply *reply,
		  struct err *e);
/* Of flame_order.c: flame?mode=ordered. */
int flame_ordered(struct question *q, struct err *e);
/*
 * Of queries.c: flame graphs of any weights. flame_parse() reads the parameters mode, function, module,
 * min and limit; flame_answer() writes the answer.
 */
struct flame_asked {
	struct flame_options options;
	const char *mode;
	bool *wanted; /* names of the call paths that are the function of a sandwich; NULL: another mode */
};

/* What was weighed, if it is not the event of @w. */
struct flame_column {
	const char *table, *column, *unit;
	uint64_t left_out; /* rows */
};

int flame_parse(const struct question *q, struct flame_asked *ret, struct err *e);
void flame_asked_release(struct flame_asked *f);
/* @column NULL: samples of an event were weighed. Not for the mode ordered. */
void flame_answer(struct question *q, const struct flame_asked *f, const struct node_weights *w,
		  const struct flame_column *column);
/* Of samples.c. */
int api_points(void *worker, const struct http_request *r, struct http_reply *reply, struct err *e);
int api_threads(void *worker, const struct http_request *r, struct http_reply *reply,
		struct err *e);
/* Of table.c. */
int api_table_list(void *worker, const struct http_request *r, struct http_reply *reply,
		   struct err *e);
int api_table_rows(void *worker, const struct http_request *r, struct http_reply *reply,
		   struct err *e);
int api_table_group(void *worker, const struct http_request *r, struct http_reply *reply,
		    struct err *e);
int api_table_histogram(void *worker, const struct http_request *r, struct http_reply *reply,
			struct err *e);
int api_table_heatmap(void *worker, const struct http_request *r, struct http_reply *reply,
		      struct err *e);
int api_table_flame(void *worker, const struct http_request *r, struct http_reply *reply,
		    struct err *e);
/* Of table_lanes.c. */
int api_table_lanes(void *worker, const struct http_request *r, struct http_reply *reply,
		    struct err *e);
/* Of annotate.c. */
int api_annotate(void *worker, const struct http_request *r, struct http_reply *reply,
		 struct err *e);
/* Of diff.c. */
int api_diff(void *worker, const struct http_request *r, struct http_reply *reply, struct err *e);
/* The run that the parameter `before` (@side 0) or `after` (1) names. */
int diff_run_find(struct api *a, const struct http_request *r, int side, struct stored_run *ret,
		  struct err *e);
extern const char *const diff_prefixes[2]; /* prefix of a side's parameters: "before_", "after_" */
/* Of diff_counters.c. */
int api_diff_counters(void *worker, const struct http_request *r, struct http_reply *reply,
		      struct err *e);

#endif
