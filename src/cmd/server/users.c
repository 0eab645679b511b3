/* tacho users: who may use the server. */
#include "cmd/server/commands.h"
#include "cmd/server/serve_settings.h"
#include "base/json.h"
#include "server/users.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void time_text(int64_t ms, char ret[32])
{
	time_t seconds = (time_t)(ms / 1000);
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(ret, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

static void users_json(const stored_users *all, struct buf *out)
{
	struct json j = jw_to(out);
	char when[32];

	jw_open(&j, '{');
	jw_key(&j, "users");
	jw_open(&j, '[');
	vec_each(all, u) {
		jw_open(&j, '{');
		jw_kv_str(&j, "name", u->name);
		jw_kv_str(&j, "role", role_name((enum user_role)u->role));
		time_text(u->created_ms, when);
		jw_kv_str(&j, "created_at", when);
		time_text(u->revoked_ms, when);
		jw_kv_str(&j, "revoked_at", u->revoked_ms ? when : NULL);
		jw_close(&j, '}');
	}
	jw_close(&j, ']');
	jw_close(&j, '}');
	buf_add_char(out, '\n');
}

static void users_text(const stored_users *all, struct buf *out)
{
	char when[32];

	buf_addf(out, "%-24s %-12s %s\n", "NAME", "ROLE", "SINCE");
	vec_each(all, u) {
		if (u->revoked_ms)
			continue;
		time_text(u->created_ms, when);
		buf_addf(out, "%-24s %-12s %s\n", u->name, role_name((enum user_role)u->role),
			 when);
	}
}

static int list(struct store *store, const struct serve_options *o, struct buf *out, struct err *e)
{
	CLEANUP(stored_users_release) stored_users all = {};
	int r = store_users(store, &all, e);

	if (r < 0)
		return r;
	if (o->json)
		users_json(&all, out);
	else
		users_text(&all, out);
	return 0;
}

static void show_token(const struct serve_options *o, const char *name, const char *role,
		       const char *token, struct buf *out)
{
	if (o->json) {
		struct json j = jw_to(out);

		jw_open(&j, '{');
		jw_kv_str(&j, "name", name);
		if (role)
			jw_kv_str(&j, "role", role);
		jw_kv_str(&j, "token", token);
		jw_close(&j, '}');
		buf_add_char(out, '\n');
	} else {
		buf_addf(out, "%s\n", token);
	}
}

static int add(struct store *store, const struct serve_options *o, const char *name,
	       struct buf *out, struct err *e)
{
	enum run_as_kind kind = run_as_remembered(store);
	enum user_role role = ROLE_RUN;
	char token[TOKEN_BYTES];
	int r;

	if (o->role && !role_parse(o->role, &role))
		return err_set(e, EINVAL, "there is no role '%s': it is look, run or administer",
			       o->role);
	r = run_as_allows(kind, role, e);
	if (r == 0)
		r = users_add(store, name, role, token, e);
	if (r < 0)
		return r;
	if (role == ROLE_RUN && kind == RUN_AS_SAME)
		fprintf(stderr, "tacho: whoever may start runs can do all that the server's own "
				"user can, and administer\n");
	show_token(o, name, role_name(role), token, out);
	return 0;
}

static int renew(struct store *store, const struct serve_options *o, const char *name,
		 struct buf *out, struct err *e)
{
	char token[TOKEN_BYTES];
	int r = users_renew(store, name, token, e);

	if (r == 0)
		r = store_logins_end(store, name, e);
	if (r == 0)
		show_token(o, name, NULL, token, out);
	return r;
}

static int carry_out(const struct serve_options *o, const char *data, const char *verb,
		     const char *name, struct buf *out, struct err *e)
{
	struct store_options so = {.directory = data};
	struct store *store = NULL;
	int r = store_open(&store, &so, e);

	if (r < 0)
		return r;
	if (!strcmp(verb, "add"))
		r = add(store, o, name, out, e);
	else if (!strcmp(verb, "token"))
		r = renew(store, o, name, out, e);
	else if (!strcmp(verb, "revoke"))
		r = store_user_revoke(store, name, e);
	else
		r = list(store, o, out, e);
	store_close(store);
	return r;
}

int server_users(const struct command *self, int argc, char **argv)
{
	CLEANUP(buf_release) struct buf out = {};
	CLEANUP(config_release) struct server_config config = {};
	CLEANUP(serve_options_release) struct serve_options o = {};
	const char *words[2] = {"ls", NULL};
	size_t count = 0;
	struct err e;
	int status, r;
	bool named;

	/* Options may be before, between and after the words. */
	for (int at = 0; at < argc; at++) {
		int used = command_options(self, &o, argc - at, argv + at, &status);

		if (used < 0)
			return status;
		at += used;
		if (at < argc && count == ARRAY_LEN(words))
			return command_fail(EXIT_USAGE, "users: unexpected argument '%s'",
					    argv[at]);
		if (at < argc)
			words[count++] = argv[at];
	}
	named = !strcmp(words[0], "add") || !strcmp(words[0], "token") ||
		!strcmp(words[0], "revoke");
	if (!named && strcmp(words[0], "ls") != 0)
		return command_fail(EXIT_USAGE, "users: '%s' is not ls, add, token or revoke",
				    words[0]);
	if (named != (words[1] != NULL))
		return command_fail(EXIT_USAGE,
				    named ? "users: %s needs the name of a user"
					  : "users: %s takes no name",
				    words[0]);
	r = serve_settings(&o, &config, NULL, &e);
	if (r == 0)
		r = carry_out(&o, config.data, words[0], words[1], &out, &e);
	if (r < 0)
		return command_fail(EXIT_FAILED, "%s", e.text);
	return command_flush(&out, STDOUT_FILENO) ? EXIT_DONE : EXIT_FAILED;
}
