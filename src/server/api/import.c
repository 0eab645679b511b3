/* Imports uploaded recordings: each becomes a run, whose collector reads the file. */
#include "server/api/api.h"
#include "runs/runs.h"

#include <errno.h>
#include <string.h>

#define NAME_BYTES_MAX 255

/* The last component of the client's file name. It is only shown, never used as a path. */
static const char *shown_name(const struct http_request *r)
{
	const char *name = http_query(r, "name"), *slash;

	if (!name || !name[0])
		name = r->upload_name;
	if (!name)
		return "recording";
	slash = strrchr(name, '/');
	if (slash)
		name = slash + 1;
	return name[0] ? name : "recording";
}

/* Finds the session that the request names, or creates one with the file's name. */
static int session_for(struct api *a, const struct http_request *r, const char *name,
		       struct stored_session *ret, struct err *e)
{
	const char *uuid = http_query(r, "session");

	if (uuid)
		return api_session_find(a, uuid, ret, e);
	return store_session_add(a->store, name, ret, e);
}

static int import(void *worker, const struct http_request *r, struct http_reply *reply,
		  struct err *e)
{
	static const char *const params[] = {"session", "name", "keep_raw", NULL};
	struct api *a = worker;
	CLEANUP(stored_session_release) struct stored_session session = {};
	CLEANUP(stored_run_release) struct stored_run run = {};
	const char *name = shown_name(r);
	bool keep_raw = false;
	int rc = api_params_known(r, params, e);

	if (rc == 0)
		rc = api_param_bool(r, "keep_raw", &keep_raw, e);
	if (rc < 0)
		return rc;
	if (strlen(name) > NAME_BYTES_MAX)
		return err_set(e, EINVAL, "The name of the file is longer than %d bytes.",
			       NAME_BYTES_MAX);
	if (r->upload_fd < 0 || !r->upload_bytes)
		return err_set(e, EINVAL,
			       "The body is empty: send the bytes of a recording (perf.data), as "
			       "curl --data-binary @perf.data does.");
	rc = session_for(a, r, name, &session, e);
	if (rc == 0)
		rc = runs_submit_import(a->server->host.runs, a->store, &session, r->upload_fd,
					name, keep_raw, r->user->name, &run, e);
	/* Delete a session that was created for this import alone. */
	if (rc < 0 && session.id && !http_query(r, "session"))
		store_session_delete(a->store, session.id, NULL);
	return rc < 0 ? rc : api_reply_run(a, run.uuid, 202, reply, e);
}

const struct http_route import_routes[] = {
	{.method = "POST",
	 .path = API_PREFIX "/import",
	 .role = ROLE_RUN,
	 .upload = true,
	 .handle = import},
	{},
};
