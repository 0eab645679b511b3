/* Users and their tokens. */
#include "server/api/api.h"
#include "server/users.h"

#include <errno.h>
#include <string.h>

static const char *const no_params[] = {NULL};

static void user_json(struct json *j, const struct stored_user *user)
{
	jw_open(j, '{');
	jw_kv_str(j, "name", user->name);
	jw_kv_str(j, "role", role_name((enum user_role)user->role));
	json_add_time(j, "created_at", user->created_ms);
	json_add_time(j, "revoked_at", user->revoked_ms);
	jw_close(j, '}');
}

int api_users_list(void *worker, const struct http_request *r, struct http_reply *reply,
		   struct err *e)
{
	static const char *const params[] = {"limit", "before", NULL};
	struct api *a = worker;
	struct json j = jw_to(&reply->body);
	stored_users users = {};
	struct page page = {};
	size_t at;
	int rc = api_page_known(r, params, &page, e);

	if (rc == 0)
		rc = store_users(a->store, &users, e);
	if (rc < 0)
		return rc;
	at = (size_t)page.before < users.len ? (size_t)page.before : users.len;
	jw_open(&j, '{');
	jw_key(&j, "users");
	jw_open(&j, '[');
	for (unsigned shown = 0; at < users.len && shown < page.limit; shown++)
		user_json(&j, &users.items[at++]);
	jw_close(&j, ']');
	api_json_next(&j, at < users.len ? (int64_t)at : 0);
	jw_close(&j, '}');
	stored_users_release(&users);
	return 0;
}

static int read_user(const json_t *body, const char **ret_name, enum user_role *ret_role,
		     struct err *e)
{
	static const char *const fields[] = {"name", "role", NULL};
	const char *role = NULL;
	int rc = api_fields_known(body, fields, e);

	if (rc == 0)
		rc = api_field_str(body, "name", API_TITLE_BYTES, ret_name, e);
	if (rc == 0)
		rc = api_field_str(body, "role", API_TITLE_BYTES, &role, e);
	if (rc < 0)
		return rc;
	if (!*ret_name || !role)
		return err_set(e, EINVAL,
			       "A user needs a name and a role: {\"name\": \"ann\", "
			       "\"role\": \"look\"}.");
	if (!role_parse(role, ret_role))
		return err_set(e, EINVAL, "A role is look, run or administer.");
	return 0;
}

int api_users_add(void *worker, const struct http_request *r, struct http_reply *reply,
		  struct err *e)
{
	struct api *a = worker;
	struct json j = jw_to(&reply->body);
	enum user_role role = ROLE_LOOK;
	const char *name = NULL;
	char token[TOKEN_BYTES];
	json_t *body = NULL;
	int rc = api_params_known(r, no_params, e);

	if (rc == 0)
		rc = api_body(r, &body, e);
	if (rc == 0)
		rc = read_user(body, &name, &role, e);
	if (rc == 0)
		rc = run_as_allows(a->server->run_as.kind, role, e);
	if (rc == 0)
		rc = users_add(a->store, name, role, token, e);
	if (rc == 0) {
		reply->status = 201;
		jw_open(&j, '{');
		jw_kv_str(&j, "name", name);
		jw_kv_str(&j, "role", role_name(role));
		jw_kv_str(&j, "token", token);
		jw_close(&j, '}');
	}
	json_decref(body);
	return rc;
}

int api_users_revoke(void *worker, const struct http_request *r, struct http_reply *reply,
		     struct err *e)
{
	struct api *a = worker;
	const char *name = r->args[0];
	int rc = api_params_known(r, no_params, e);

	if (rc < 0)
		return rc;
	if (!strcmp(name, r->user->name))
		return err_set(e, EBUSY,
			       "This is your own token: another administrator has to revoke it.");
	rc = store_user_revoke(a->store, name, e);
	if (rc == -ENOENT)
		return err_set(e, ENOENT, "There is no user '%.60s'.", name);
	if (rc == 0)
		http_server_recheck(a->server->http);
	reply->status = 204;
	return rc;
}
