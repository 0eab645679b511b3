/* Finds sessions and runs, writes pages of runs. docs/API.md and openapi/ describe the fields. */
#include "base/clock.h"
#include "server/api/api.h"
#include "runs/ledger_words.h"
#include "runs/runs.h"

#include <errno.h>
#include <string.h>
#include <time.h>

void api_json_next(struct json *j, int64_t cursor)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)cursor);
	jw_kv_str(j, "next", cursor > 0 ? text : NULL);
}

int api_run_find(struct api *a, const char *uuid, struct stored_run *ret, struct err *e)
{
	int rc = uuid_valid(uuid) ? store_run_get(a->store, uuid, ret, e) : -ENOENT;

	if (rc == -ENOENT)
		return err_set(e, ENOENT, "There is no run '%.60s'.", uuid);
	return rc;
}

int api_session_find(struct api *a, const char *uuid, struct stored_session *ret, struct err *e)
{
	int rc = uuid_valid(uuid) ? store_session_get(a->store, uuid, ret, e) : -ENOENT;

	if (rc == -ENOENT)
		return err_set(e, ENOENT, "There is no session '%.60s'.", uuid);
	return rc;
}

/* Who may change a run: whoever started it, and administrators. @where: "", or " of this session". */
static int check_owner(const struct http_request *r, const struct stored_run *run,
		       const char *where, struct err *e)
{
	if (r->user->role >= ROLE_ADMIN || (run->user && !strcmp(run->user, r->user->name)))
		return 0;
	if (!run->user)
		return err_set(e, EACCES,
			       "Nobody knows who started run %.8s%s: only administrators may "
			       "change or delete it.",
			       run->uuid, where);
	return err_set(e, EACCES,
		       "Run %.8s%s was started by '%.64s': only '%.64s' and administrators may "
		       "change or delete it.",
		       run->uuid, where, run->user, run->user);
}

int api_run_to_change(struct api *a, const struct http_request *r, const char *uuid,
		      struct stored_run *ret, struct err *e)
{
	int rc = api_run_find(a, uuid, ret, e);

	return rc < 0 ? rc : check_owner(r, ret, "", e);
}

int api_session_to_change(struct api *a, const struct http_request *r, const char *uuid,
			  struct stored_session *ret, struct err *e)
{
	CLEANUP(stored_run_release) struct stored_run run = {};
	int rc = api_session_find(a, uuid, ret, e);

	if (rc == 0 && r->user->role < ROLE_ADMIN) {
		rc = store_run_of_others(a->store, ret->id, r->user->name, &run, e);
		rc = rc == -ENOENT ? 0 : rc < 0 ? rc : check_owner(r, &run, " of this session", e);
	}
	return rc;
}

int api_json_runs(struct json *j, struct api *a, int64_t session, const struct page *page,
		  struct err *e)
{
	/* Ask for one run more than is shown: if there is one, there is another page. */
	struct page wanted = *page;
	CLEANUP(stored_runs_release) stored_runs runs = {};
	int64_t next = 0;
	int rc;

	wanted.limit++;
	rc = store_runs(a->store, session, &wanted, &runs, e);
	if (rc < 0)
		return rc;
	jw_key(j, "runs");
	jw_open(j, '[');
	for (size_t i = 0; i < runs.len && i < page->limit; i++) {
		run_json(j, &runs.items[i], a->server->host.runs);
		next = runs.items[i].id;
	}
	jw_close(j, ']');
	api_json_next(j, runs.len > page->limit ? next : 0);
	return 0;
}
