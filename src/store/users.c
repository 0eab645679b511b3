#include "base/clock.h"
#include "store/sql.h"

#include <errno.h>
#include <string.h>

static int64_t now_ms(void)
{
	return (int64_t)(clock_ns_of(CLOCK_REALTIME) / NS_PER_MSEC);
}

static void read_user(struct sql_rows *rows, struct stored_user *ret)
{
	*ret = (struct stored_user){
		.id = row_int(rows, 0),
		.name = row_words(rows, 1),
		.role = (int)row_int(rows, 2),
		.created_ms = row_number(rows, 4, WALL_MS_MAX),
		.revoked_ms = row_int(rows, 5),
	};
	row_copy(rows, 3, ret->token_hash, sizeof(ret->token_hash));
}

int store_user_add(struct store *s, struct stored_user *user, struct err *e)
{
	int result;

	if (!user->created_ms)
		user->created_ms = now_ms();
	result = sql_number(s, e, &user->id,
			    "INSERT INTO users (name, role, token_hash, created_ms, revoked_ms) "
			    "VALUES ($1, $2, $3, $4, 0) RETURNING id",
			    SQL_VALUES(sql_text(user->name), sql_int(user->role),
				       sql_text(user->token_hash), sql_int(user->created_ms)));
	return result == -EEXIST
		       ? err_set(e, EEXIST, "There is a user '%.64s' already.", user->name)
		       : result;
}

int store_user_by_hash(struct store *s, const char *token_hash, struct stored_user *ret,
		       struct err *e)
{
	CLEANUP(sql_done) struct sql_rows *rows = NULL;
	int result =
		sql_query(s, e, &rows,
			  "SELECT id, name, role, token_hash, created_ms, revoked_ms FROM users "
			  "WHERE token_hash = $1 AND revoked_ms = 0",
			  SQL_VALUES(sql_text(token_hash)));

	if (!result)
		result = sql_next(rows, e);
	if (result < 0)
		return result;
	if (!result)
		return err_set(e, ENOENT, "This token is not known, or was revoked.");
	read_user(rows, ret);
	return 0;
}

int store_user_role(struct store *s, const char *name, int *ret, struct err *e)
{
	CLEANUP(sql_done) struct sql_rows *rows = NULL;
	int result =
		sql_query(s, e, &rows, "SELECT role FROM users WHERE name = $1 AND revoked_ms = 0",
			  SQL_VALUES(sql_text(name)));

	if (!result)
		result = sql_next(rows, e);
	if (result < 0)
		return result;
	*ret = result ? (int)row_int(rows, 0) : 0;
	return 0;
}

int store_user_revoke(struct store *s, const char *name, struct err *e)
{
	int64_t changed =
		sql_run(s, e, "UPDATE users SET revoked_ms = $1 WHERE name = $2 AND revoked_ms = 0",
			SQL_VALUES(sql_int(now_ms()), sql_text(name)));

	return changed < 0 ? (int)changed
	       : changed   ? 0
			   : err_set(e, ENOENT, "There is no user '%.64s'.", name);
}

int store_user_renew(struct store *s, const char *name, const char *token_hash, struct err *e)
{
	int64_t changed =
		sql_run(s, e, "UPDATE users SET token_hash = $1 WHERE name = $2 AND revoked_ms = 0",
			SQL_VALUES(sql_text(token_hash), sql_text(name)));

	return changed < 0 ? (int)changed
	       : changed   ? 0
			   : err_set(e, ENOENT, "There is no user '%.64s'.", name);
}

int store_users(struct store *s, stored_users *ret, struct err *e)
{
	CLEANUP(sql_done) struct sql_rows *rows = NULL;
	struct stored_user user;
	int result =
		sql_query(s, e, &rows,
			  "SELECT id, name, role, token_hash, created_ms, revoked_ms FROM users "
			  "ORDER BY id",
			  SQL_NONE);

	while (!result && (result = sql_next(rows, e)) > 0) {
		read_user(rows, &user);
		vec_push(ret, user);
		result = 0;
	}
	return result;
}

static int add_login(struct store *s, int64_t user, const char *cookie_hash, int64_t now_ms,
		     int64_t expires_ms, struct err *e)
{
	int64_t changed;
	bool own;
	int result = sql_scope_begin(s, &own, e);

	if (result)
		return result;
	changed = sql_run(s, e, "DELETE FROM logins WHERE expires_ms <= $1",
			  SQL_VALUES(sql_int(now_ms)));
	if (changed >= 0)
		changed =
			sql_run(s, e,
				"INSERT INTO logins (user_id, cookie_hash, created_ms, expires_ms) "
				"VALUES ($1, $2, $3, $4)",
				SQL_VALUES(sql_int(user), sql_text(cookie_hash), sql_int(now_ms),
					   sql_int(expires_ms)));
	if (changed >= 0)
		changed = sql_run(s, e,
				  "DELETE FROM logins WHERE id IN (SELECT id FROM logins "
				  "WHERE user_id = $1 ORDER BY id DESC LIMIT 1000000 OFFSET $2)",
				  SQL_VALUES(sql_int(user), sql_int(LOGINS_MAX)));
	return sql_scope_end(s, own, changed < 0 ? (int)changed : 0, e);
}

int store_login_add(struct store *s, int64_t user, const char *cookie_hash, int64_t now_ms,
		    int64_t expires_ms, struct err *e)
{
	int result = add_login(s, user, cookie_hash, now_ms, expires_ms, e);

	/* Whoever wants to make room on a full disk has to get in first. */
	if (deleting_again(s, result))
		result = add_login(s, user, cookie_hash, now_ms, expires_ms, e);
	return result;
}

int store_user_by_login(struct store *s, const char *cookie_hash, int64_t now_ms,
			struct stored_user *ret, struct err *e)
{
	CLEANUP(sql_done) struct sql_rows *rows = NULL;
	int result =
		sql_query(s, e, &rows,
			  "SELECT users.id, name, role, token_hash, users.created_ms, revoked_ms "
			  "FROM logins JOIN users ON users.id = logins.user_id "
			  "WHERE cookie_hash = $1 AND expires_ms > $2 AND revoked_ms = 0",
			  SQL_VALUES(sql_text(cookie_hash), sql_int(now_ms)));

	if (!result)
		result = sql_next(rows, e);
	if (result < 0)
		return result;
	if (!result)
		return err_set(e, ENOENT, "This login is not known, has expired, or was revoked.");
	read_user(rows, ret);
	return 0;
}

int store_logins_end(struct store *s, const char *user, struct err *e)
{
	int64_t changed = sql_run(
		s, e, "DELETE FROM logins WHERE user_id IN (SELECT id FROM users WHERE name = $1)",
		SQL_VALUES(sql_text(user)));

	return changed < 0 ? (int)changed : 0;
}

int store_setting_get(struct store *s, const char *name, char **ret, struct err *e)
{
	CLEANUP(sql_done) struct sql_rows *rows = NULL;
	int result = sql_query(s, e, &rows, "SELECT value FROM settings WHERE name = $1",
			       SQL_VALUES(sql_text(name)));

	if (!result)
		result = sql_next(rows, e);
	if (result < 0)
		return result;
	if (!result)
		return err_set(e, ENOENT, "There is no setting '%.64s'.", name);
	*ret = row_text(rows, 0);
	return 0;
}

int store_setting_put(struct store *s, const char *name, const char *value, struct err *e)
{
	int64_t changed = sql_run(s, e,
				  "INSERT INTO settings (name, value) VALUES ($1, $2) "
				  "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
				  SQL_VALUES(sql_text(name), sql_text(value)));

	return changed < 0 ? (int)changed : 0;
}
