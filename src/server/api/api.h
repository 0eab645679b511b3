/*
 * What the handlers of the API share: finding what a path names, parameters of the query, bodies. All
 * give 0, or a negative errno with the sentence that the client gets. A handler returns that at once:
 * the HTTP server makes status and body of it. Any worker's thread, with its own struct api.
 */
#ifndef TACHO_SERVER_API_API_H
#define TACHO_SERVER_API_API_H

#include "base/json.h"
#include "runs/json.h"
#include "server/server.h"

#include <jansson.h>

#define API_LIMIT       50   /* of a page, if the client does not say */
#define API_LIMIT_MAX   1000 /* that it may ask for */
#define API_TITLE_BYTES 1000 /* titles, descriptions: one line for people */
#define API_NOTE_BYTES  (64u << 10)

/* -ENOENT with "There is no run 'x'.", also for what is not a uuid. The caller releases. */
int api_run_find(struct api *a, const char *uuid, struct stored_run *ret, struct err *e);
int api_session_find(struct api *a, const char *uuid, struct stored_session *ret, struct err *e);

/* ---- parameters of the query ---- */

/* Nothing but these names (ended by NULL) may be there: a misspelt one would be silently ignored. */
int api_params_known(const struct http_request *r, const char *const *known, struct err *e);
/* limit, before and search. @ret->search belongs to the request. */
int api_page(const struct http_request *r, struct page *ret, struct err *e);
/* Both of these, as a list does that knows no other parameters. */
int api_page_known(const struct http_request *r, const char *const *known, struct page *ret,
		   struct err *e);
/* Untouched if the parameter is not there. */
int api_param_u64(const struct http_request *r, const char *name, uint64_t max, uint64_t *ret,
		  struct err *e);
int api_param_double(const struct http_request *r, const char *name, double min, double max,
		     double *ret, struct err *e);
int api_param_bool(const struct http_request *r, const char *name, bool *ret, struct err *e);

struct run_data;
struct selection;
/* The selection that the parameters describe. @prefix is that of their names: "before_", or "". */
int api_selection(struct selection *sel, const struct http_request *r, const char *prefix,
		  const struct run_data *d, struct err *e);

/* ---- bodies ---- */

/* The body as an object; the caller calls json_decref(). An empty body is an empty object. */
int api_body(const struct http_request *r, json_t **ret, struct err *e);
/* Every name of the object is one of these (ended by NULL); else a sentence with the nearest. */
int api_fields_known(const json_t *object, const char *const *known, struct err *e);
/* A string of the object, NULL if it is not there or null. At most @max bytes. */
int api_field_str(const json_t *object, const char *name, size_t max, const char **ret,
		  struct err *e);

/* ---- answers ---- */

/* "next": @cursor as text, 0: null. */
void api_json_next(struct json *j, int64_t cursor);

/* The members runs and next: a page of a session's runs, or of all (0). */
int api_json_runs(struct json *j, struct api *a, int64_t session, const struct page *page,
		  struct err *e);
/* The whole answer is this run. */
int api_reply_run(struct api *a, const char *uuid, int status, struct http_reply *reply,
		  struct err *e);

/* Handlers that have a file of their own: metrics.c, users.c. */
int api_metrics(void *worker, const struct http_request *r, struct http_reply *reply,
		struct err *e);
int api_users_list(void *worker, const struct http_request *r, struct http_reply *reply,
		   struct err *e);
int api_users_add(void *worker, const struct http_request *r, struct http_reply *reply,
		  struct err *e);
int api_users_revoke(void *worker, const struct http_request *r, struct http_reply *reply,
		     struct err *e);

/* All routes of the server, ended by NULL. */
extern const struct http_route *const api_tables[];
/* "METHOD PATH" a line, for tests. */
void api_routes_list(struct buf *out);

#endif
