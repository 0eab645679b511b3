/* Sessions, and adding runs to a session. */
#include "server/api/api.h"
#include "server/emap.h"
#include "runs/live/live.h"
#include "runs/runs.h"

#include <errno.h>
#include <string.h>

static const char *const page_params[] = {"search", "limit", "before", NULL};
static const char *const no_params[] = {NULL};

/* A session with a page of its runs. */
static int reply_session(struct api *a, const struct stored_session *s, const struct page *page,
			 struct http_reply *reply, struct err *e)
{
	struct json j = jw_to(&reply->body);
	int rc;

	jw_open(&j, '{');
	session_json_head(&j, s);
	rc = api_json_runs(&j, a, s->id, page, e);
	jw_close(&j, '}');
	return rc;
}

static int list_sessions(void *worker, const struct http_request *r, struct http_reply *reply,
			 struct err *e)
{
	struct api *a = worker;
	struct json j = jw_to(&reply->body);
	stored_sessions sessions = {};
	struct page page = {};
	int64_t next = 0;
	int rc = api_page_known(r, page_params, &page, e);

	page.limit++;
	if (rc == 0)
		rc = store_sessions(a->store, &page, &sessions, e);
	if (rc < 0)
		return rc;
	jw_open(&j, '{');
	jw_key(&j, "sessions");
	jw_open(&j, '[');
	for (size_t i = 0; i < sessions.len && i + 1 < page.limit; i++) {
		session_json(&j, &sessions.items[i]);
		next = sessions.items[i].id;
	}
	jw_close(&j, ']');
	api_json_next(&j, sessions.len == page.limit ? next : 0);
	jw_close(&j, '}');
	stored_sessions_release(&sessions);
	return 0;
}

/* Gets the title from the body; NULL if it is missing. Returns -EINVAL if it is empty. */
static int title_of(const struct http_request *r, json_t **ret_body, const char **ret,
		    struct err *e)
{
	static const char *const fields[] = {"title", NULL};
	int rc = api_params_known(r, no_params, e);

	if (rc == 0)
		rc = api_body(r, ret_body, e);
	if (rc == 0)
		rc = api_fields_known(*ret_body, fields, e);
	if (rc == 0)
		rc = api_field_str(*ret_body, "title", API_TITLE_BYTES, ret, e);
	if (rc == 0 && *ret && !(*ret)[0])
		rc = err_set(e, EINVAL, "The title is empty.");
	return rc;
}

static int add_session(void *worker, const struct http_request *r, struct http_reply *reply,
		       struct err *e)
{
	struct api *a = worker;
	CLEANUP(stored_session_release) struct stored_session s = {};
	const struct page page = {.limit = 1};
	const char *title = NULL;
	json_t *body = NULL;
	int rc = title_of(r, &body, &title, e);

	if (rc == 0 && !title)
		rc = err_set(e, EINVAL, "A session needs a title: {\"title\": \"…\"}.");
	if (rc == 0)
		rc = store_session_add(a->store, title, &s, e);
	json_decref(body);
	if (rc < 0)
		return rc;
	live_session_changed(a->server->host.live, s.uuid);
	reply->status = 201;
	http_reply_header(reply, "Location", API_PREFIX "/session/%s", s.uuid);
	return reply_session(a, &s, &page, reply, e);
}

static int get_session(void *worker, const struct http_request *r, struct http_reply *reply,
		       struct err *e)
{
	struct api *a = worker;
	CLEANUP(stored_session_release) struct stored_session s = {};
	struct page page = {};
	int rc = api_page_known(r, page_params, &page, e);

	if (rc == 0)
		rc = api_session_find(a, r->args[0], &s, e);
	return rc < 0 ? rc : reply_session(a, &s, &page, reply, e);
}

static int rename_session(void *worker, const struct http_request *r, struct http_reply *reply,
			  struct err *e)
{
	struct api *a = worker;
	CLEANUP(stored_session_release) struct stored_session s = {};
	const struct page page = {.limit = API_LIMIT};
	const char *title = NULL;
	json_t *body = NULL;
	int rc = title_of(r, &body, &title, e);

	if (rc == 0)
		rc = api_session_to_change(a, r, r->args[0], &s, e);
	if (rc == 0 && title) {
		rc = store_session_rename(a->store, s.id, title, e);
		free(s.title);
		s.title = xstrdup(title);
		if (rc == 0)
			live_session_changed(a->server->host.live, s.uuid);
	}
	json_decref(body);
	return rc < 0 ? rc : reply_session(a, &s, &page, reply, e);
}

static int delete_session(void *worker, const struct http_request *r, struct http_reply *reply,
			  struct err *e)
{
	struct api *a = worker;
	CLEANUP(stored_session_release) struct stored_session s = {};
	int rc = api_params_known(r, no_params, e);

	if (rc == 0)
		rc = api_session_to_change(a, r, r->args[0], &s, e);
	if (rc == 0)
		rc = runs_delete_session(a->server->host.runs, a->store, s.uuid, e);
	reply->status = 204;
	return rc;
}

static int add_run(void *worker, const struct http_request *r, struct http_reply *reply,
		   struct err *e)
{
	struct api *a = worker;
	CLEANUP(stored_session_release) struct stored_session s = {};
	CLEANUP(stored_run_release) struct stored_run run = {};
	CLEANUP(run_plan_release) struct run_plan plan = {};
	json_t *body = NULL;
	int rc = api_params_known(r, no_params, e);

	if (rc == 0)
		rc = api_session_find(a, r->args[0], &s, e);
	if (rc == 0)
		rc = api_body(r, &body, e);
	if (rc == 0)
		rc = run_plan_parse(body, &plan, e);
	if (rc == 0)
		rc = api_apply_rights(a, r, &plan, e);
	if (rc == 0)
		rc = emap_check_events(a->server->emap, &plan, e);
	if (rc == 0)
		rc = runs_submit(a->server->host.runs, a->store, &s, &plan, r->user->name, &run, e);
	json_decref(body);
	if (rc < 0)
		return rc;
	emap_note_used(a->server->emap, &plan);
	return api_reply_run(a, run.uuid, 202, reply, e);
}

const struct http_route session_routes[] = {
	{.method = "GET",
	 .path = API_PREFIX "/sessions",
	 .role = ROLE_LOOK,
	 .handle = list_sessions},
	{.method = "POST", .path = API_PREFIX "/sessions", .role = ROLE_RUN, .handle = add_session},
	{.method = "GET",
	 .path = API_PREFIX "/session/{id}",
	 .role = ROLE_LOOK,
	 .handle = get_session},
	{.method = "POST", .path = API_PREFIX "/session/{id}", .role = ROLE_RUN, .handle = add_run},
	{.method = "PATCH",
	 .path = API_PREFIX "/session/{id}",
	 .role = ROLE_RUN,
	 .handle = rename_session},
	{.method = "DELETE",
	 .path = API_PREFIX "/session/{id}",
	 .role = ROLE_RUN,
	 .handle = delete_session},
	{},
};
