/*
 * Functions that the API handlers share: find what a path names, read parameters of the query,
 * parse bodies. All return 0, or a negative errno with the sentence for the client in @e. A handler
 * returns such an error at once: the HTTP server turns it into status and body. Any worker's
 * thread, with its own struct api.
 */
#ifndef TACHO_SERVER_API_API_H
#define TACHO_SERVER_API_API_H

#include "base/json.h"
#include "runs/json.h"
#include "server/server.h"

#include <jansson.h>

#define API_LIMIT       50   /* rows of a page by default */
#define API_LIMIT_MAX   1000 /* rows of a page at most */
#define API_TITLE_BYTES 1000 /* titles, descriptions: one line for people */
#define API_NOTE_BYTES  (64u << 10)

/* Returns -ENOENT ("There is no run 'x'."), also if @uuid is no UUID. The caller releases @ret. */
int api_run_find(struct api *a, const char *uuid, struct stored_run *ret, struct err *e);
int api_session_find(struct api *a, const char *uuid, struct stored_session *ret, struct err *e);
/*
 * The same for what the request is going to change or delete. Returns -EACCES, with a sentence that says
 * whose run it is, if the user does not administer and the run, or one of the session's, was started by
 * somebody else.
 */
int api_run_to_change(struct api *a, const struct http_request *r, const char *uuid,
		      struct stored_run *ret, struct err *e);
int api_session_to_change(struct api *a, const struct http_request *r, const char *uuid,
			  struct stored_session *ret, struct err *e);

/* ---- parameters of the query ---- */

/*
 * Returns -EINVAL for a parameter that is neither in @known (ended by NULL) nor "token". Otherwise
 * a misspelt one would be silently ignored.
 */
int api_params_known(const struct http_request *r, const char *const *known, struct err *e);
/* Reads the parameters limit, before and search. @ret->search belongs to the request. */
int api_page(const struct http_request *r, struct page *ret, struct err *e);
/* Calls api_params_known(), then api_page(). */
int api_page_known(const struct http_request *r, const char *const *known, struct page *ret,
		   struct err *e);
/* These three leave *ret unchanged if the parameter is missing. */
int api_param_u64(const struct http_request *r, const char *name, uint64_t max, uint64_t *ret,
		  struct err *e);
int api_param_double(const struct http_request *r, const char *name, double min, double max,
		     double *ret, struct err *e);
int api_param_bool(const struct http_request *r, const char *name, bool *ret, struct err *e);

struct run_data;
struct selection;
/* Parses the selection from the parameters, whose names begin with @prefix: "before_", or "". */
int api_selection(struct selection *sel, const struct http_request *r, const char *prefix,
		  const struct run_data *d, struct err *e);

/* ---- bodies ---- */

/* Parses the body as a JSON object, {} if it is empty. The caller calls json_decref(). */
int api_body(const struct http_request *r, json_t **ret, struct err *e);
/* Returns -EINVAL, suggesting the nearest name, if a field is not in @known (ended by NULL). */
int api_fields_known(const json_t *object, const char *const *known, struct err *e);
/* Gets a string field, NULL if it is missing or null. Returns -E2BIG if it exceeds @max bytes. */
int api_field_str(const json_t *object, const char *name, size_t max, const char **ret,
		  struct err *e);

/* ---- answers ---- */

/* Writes the member next: @cursor as text, or null if it is 0. */
void api_json_next(struct json *j, int64_t cursor);

/* Checks and completes a plan by the rights that the caller's runs have. */
struct run_plan;
int api_apply_rights(struct api *a, const struct http_request *r, struct run_plan *plan,
		     struct err *e);

/* Writes the members runs and next: a page of a session's runs, or of all runs if @session is 0. */
int api_json_runs(struct json *j, struct api *a, int64_t session, const struct page *page,
		  struct err *e);
/* Replies with the run as the whole body. */
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
/* Writes a line "METHOD PATH ROLE" for each route, for tests. */
void api_routes_list(struct buf *out);

#endif
