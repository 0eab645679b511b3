/*
 * What all questions about a run have in common: the run is found, its data are brought up to date, the
 * selection is read from the parameters, and the answer says how long the parts took. Handlers give
 * an asker; question_ask() does the rest, again if chunks were merged while it looked. Any worker's
 * thread, with its own struct api.
 */
#ifndef TACHO_SERVER_API_QUESTION_H
#define TACHO_SERVER_API_QUESTION_H

#include "server/api/answer.h"
#include "server/api/api.h"
#include "query/selection.h"

struct question {
	struct api *api;
	const struct http_request *r;
	struct stored_run run;
	struct run_data *d;
	struct selection sel;
	struct answer answer;
};

/* Writes a JSON value to q->answer.j. May be called more than once, then from the beginning. */
typedef int (*question_asker)(struct question *q, struct err *e);

/* @params: those that are allowed beside SELECTION_PARAMS and "format" are in it, too. */
int question_ask(void *worker, const struct http_request *r, struct http_reply *reply,
		 const char *const *params, question_asker ask, struct err *e);

/* The selection's window as numbers since the run's start, as far as there are data. */
void question_window(const struct question *q, uint64_t *ret_from_ns, uint64_t *ret_to_ns);
int64_t question_since_start(const struct question *q, uint64_t ns);

/* The members event and unit. */
void question_event(struct question *q, uint32_t event);
/* [label, module, kind] */
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
/* Of samples.c. */
int api_points(void *worker, const struct http_request *r, struct http_reply *reply, struct err *e);
int api_threads(void *worker, const struct http_request *r, struct http_reply *reply,
		struct err *e);
/* Of annotate.c. */
int api_annotate(void *worker, const struct http_request *r, struct http_reply *reply,
		 struct err *e);
/* Of diff.c. */
int api_diff(void *worker, const struct http_request *r, struct http_reply *reply, struct err *e);

#endif
