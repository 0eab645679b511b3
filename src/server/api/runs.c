/*
 * Routes of one run: show, delete, cancel, run again, edit its note, tags and description.
 * queries.c and exports.c answer questions about its data.
 */
#include "server/api/api.h"
#include "server/emap.h"
#include "runs/runs.h"

#include <errno.h>
#include <string.h>

#define TAGS_MAX      32
#define TAG_BYTES_MAX 100

static const char *const no_params[] = {NULL};

int api_reply_run(struct api *a, const char *uuid, int status, struct http_reply *reply,
		  struct err *e)
{
	CLEANUP(stored_run_release) struct stored_run run = {};
	struct json j = jw_to(&reply->body);
	int rc = api_run_find(a, uuid, &run, e);

	if (rc < 0)
		return rc;
	reply->status = status;
	if (status == 202)
		http_reply_header(reply, "Location", API_PREFIX "/benchmark/%s", run.uuid);
	run_json(&j, &run, a->server->host.runs);
	return 0;
}

static int list_runs(void *worker, const struct http_request *r, struct http_reply *reply,
		     struct err *e)
{
	static const char *const params[] = {"search", "limit", "before", NULL};
	struct json j = jw_to(&reply->body);
	struct page page = {};
	int rc = api_page_known(r, params, &page, e);

	if (rc < 0)
		return rc;
	jw_open(&j, '{');
	rc = api_json_runs(&j, worker, 0, &page, e);
	jw_close(&j, '}');
	return rc;
}

static int get_run(void *worker, const struct http_request *r, struct http_reply *reply,
		   struct err *e)
{
	int rc = api_params_known(r, no_params, e);

	return rc < 0 ? rc : api_reply_run(worker, r->args[0], 200, reply, e);
}

static int delete_run(void *worker, const struct http_request *r, struct http_reply *reply,
		      struct err *e)
{
	struct api *a = worker;
	CLEANUP(stored_run_release) struct stored_run run = {};
	int rc = api_params_known(r, no_params, e);

	if (rc == 0)
		rc = api_run_to_change(a, r, r->args[0], &run, e);
	if (rc == 0)
		rc = runs_delete(a->server->host.runs, a->store, run.uuid, e);
	reply->status = 204;
	return rc;
}

/* Rejects parameters and bodies with fields, which would be silently ignored. */
static int no_body(const struct http_request *r, struct err *e)
{
	static const char *const fields[] = {NULL};
	json_t *body = NULL;
	int rc = api_params_known(r, no_params, e);

	if (rc == 0)
		rc = api_body(r, &body, e);
	if (rc == 0)
		rc = api_fields_known(body, fields, e);
	json_decref(body);
	return rc;
}

static int cancel_run(void *worker, const struct http_request *r, struct http_reply *reply,
		      struct err *e)
{
	struct api *a = worker;
	CLEANUP(stored_run_release) struct stored_run run = {};
	int rc = no_body(r, e);

	if (rc == 0)
		rc = api_run_to_change(a, r, r->args[0], &run, e);
	if (rc == 0)
		rc = runs_cancel(a->server->host.runs, a->store, run.uuid, e);
	return rc < 0 ? rc : api_reply_run(a, run.uuid, 202, reply, e);
}

int api_apply_rights(struct api *a, const struct http_request *r, struct run_plan *plan,
		     struct err *e)
{
	struct run_rights rights = run_as_rights(&a->server->run_as, r->user->role);

	return run_rights_apply(&rights, plan, e);
}

static int run_again(struct api *a, const struct http_request *r, const struct stored_run *old,
		     struct stored_run *ret, struct err *e)
{
	CLEANUP(run_plan_release) struct run_plan plan = {};
	CLEANUP(stored_session_release) struct stored_session session = {};
	json_t *json = old->plan ? json_loads(old->plan, 0, NULL) : NULL;
	int rc;

	if (!json || json_object_get(json, "import")) {
		json_decref(json);
		return err_set(e, EBUSY,
			       "This run was read from a file: there is nothing to run again. "
			       "Upload the file again to import it once more.");
	}
	rc = run_plan_parse(json, &plan, e);
	json_decref(json);
	if (rc == 0)
		rc = api_apply_rights(a, r, &plan, e);
	if (rc == 0)
		rc = emap_check_events(a->server->emap, &plan, e);
	if (rc == 0)
		rc = api_session_find(a, old->session_uuid, &session, e);
	if (rc == 0)
		rc = runs_submit(a->server->host.runs, a->store, &session, &plan, r->user->name,
				 ret, e);
	if (rc == 0)
		emap_note_used(a->server->emap, &plan);
	return rc;
}

static int rerun(void *worker, const struct http_request *r, struct http_reply *reply,
		 struct err *e)
{
	struct api *a = worker;
	CLEANUP(stored_run_release) struct stored_run old = {}, run = {};
	int rc = no_body(r, e);

	if (rc == 0)
		rc = api_run_find(a, r->args[0], &old, e);
	if (rc == 0)
		rc = run_again(a, r, &old, &run, e);
	return rc < 0 ? rc : api_reply_run(a, run.uuid, 202, reply, e);
}

static int check_tags(const json_t *tags, struct err *e)
{
	if (!json_is_array(tags))
		return err_set(e, EINVAL, "The field tags must be an array of strings.");
	if (json_array_size(tags) > TAGS_MAX)
		return err_set(e, EINVAL, "A run has at most %d tags.", TAGS_MAX);
	for (size_t i = 0; i < json_array_size(tags); i++) {
		const json_t *tag = json_array_get(tags, i);

		if (!json_is_string(tag) || !json_string_length(tag))
			return err_set(e, EINVAL, "Each of the tags must be a string with text.");
		if (json_string_length(tag) > TAG_BYTES_MAX)
			return err_set(e, EINVAL, "A tag has at most %d bytes.", TAG_BYTES_MAX);
	}
	return 0;
}

/* Stores the fields that @body has. null clears note and description. */
static int change_words(struct api *a, const struct stored_run *run, const json_t *body,
			struct err *e)
{
	static const char *const fields[] = {"note", "tags", "description", NULL};
	const char *note = NULL, *description = NULL;
	const json_t *tags = json_object_get(body, "tags");
	CLEANUP(free_ptr) char *tags_text = tags ? json_dumps(tags, JSON_COMPACT) : NULL;
	int rc = api_fields_known(body, fields, e);

	if (rc == 0)
		rc = api_field_str(body, "note", API_NOTE_BYTES, &note, e);
	if (rc == 0)
		rc = api_field_str(body, "description", API_TITLE_BYTES, &description, e);
	if (rc == 0 && tags)
		rc = check_tags(tags, e);
	if (rc < 0)
		return rc;
	if (!note && json_object_get(body, "note"))
		note = "";
	if (note || tags)
		rc = store_run_annotate(a->store, run->id, note, tags_text, e);
	if (rc == 0 && json_object_get(body, "description"))
		rc = store_run_describe(a->store, run->id, description ? description : "", e);
	return rc;
}

static int patch_run(void *worker, const struct http_request *r, struct http_reply *reply,
		     struct err *e)
{
	struct api *a = worker;
	CLEANUP(stored_run_release) struct stored_run run = {};
	json_t *body = NULL;
	int rc = api_params_known(r, no_params, e);

	if (rc == 0)
		rc = api_run_to_change(a, r, r->args[0], &run, e);
	if (rc == 0)
		rc = api_body(r, &body, e);
	if (rc == 0)
		rc = change_words(a, &run, body, e);
	json_decref(body);
	if (rc < 0)
		return rc;
	runs_changed(a->server->host.runs, run.uuid);
	return api_reply_run(a, run.uuid, 200, reply, e);
}

#define RUN API_PREFIX "/benchmark/{id}"

const struct http_route run_routes[] = {
	{.method = "GET", .path = API_PREFIX "/benchmarks", .role = ROLE_LOOK, .handle = list_runs},
	{.method = "GET", .path = RUN ".json", .role = ROLE_LOOK, .handle = get_run},
	{.method = "GET", .path = RUN, .role = ROLE_LOOK, .handle = get_run},
	{.method = "DELETE", .path = RUN, .role = ROLE_RUN, .handle = delete_run},
	{.method = "PATCH", .path = RUN, .role = ROLE_RUN, .handle = patch_run},
	{.method = "POST", .path = RUN "/cancel", .role = ROLE_RUN, .handle = cancel_run},
	{.method = "POST", .path = RUN "/rerun", .role = ROLE_RUN, .handle = rerun},
	{},
};
