#include "base/clock.h"
#include "store/search.h"
#include "store/sql.h"

#include <errno.h>
#include <string.h>

#define SESSION_COLUMNS                                                                            \
	"id, uuid, title, created_ms, (SELECT COUNT(*) FROM runs "                                 \
	"WHERE session_id = sessions.id AND runs.deleted = 0)"

static void read_session(struct sql_rows *rows, struct stored_session *ret)
{
	*ret = (struct stored_session){
		.id = row_int(rows, 0),
		.title = row_words(rows, 2),
		.created_ms = row_number(rows, 3, WALL_MS_MAX),
		.runs = (uint32_t)row_int(rows, 4),
	};
	row_copy(rows, 1, ret->uuid, sizeof(ret->uuid));
}

int store_session_add(struct store *s, const char *title, struct stored_session *ret, struct err *e)
{
	struct stored_session new = {
		.created_ms = (int64_t)(clock_ns_of(CLOCK_REALTIME) / NS_PER_MSEC),
	};
	int result;

	uuid_make(new.uuid);
	result = sql_number(s, e, &new.id,
			    "INSERT INTO sessions (uuid, title, created_ms) VALUES ($1, $2, $3) "
			    "RETURNING id",
			    SQL_VALUES(sql_text(new.uuid), sql_text(title ? title : ""),
				       sql_int(new.created_ms)));
	if (result)
		return result;
	new.title = xstrdup(title ? title : "");
	*ret = new;
	return 0;
}

int store_session_get(struct store *s, const char *uuid, struct stored_session *ret, struct err *e)
{
	CLEANUP(sql_done) struct sql_rows *rows = NULL;
	int result = sql_query(s, e, &rows,
			       "SELECT " SESSION_COLUMNS " FROM sessions "
			       "WHERE uuid = $1 AND deleted = 0",
			       SQL_VALUES(sql_text(uuid)));

	if (!result)
		result = sql_next(rows, e);
	if (result < 0)
		return result;
	if (!result)
		return err_set(e, ENOENT, "There is no session '%.64s'.", uuid);
	read_session(rows, ret);
	return 0;
}

static int no_session(int64_t id, struct err *e)
{
	return err_set(e, ENOENT, "There is no session with the number %lld (any more).",
		       (long long)id);
}

int store_session_rename(struct store *s, int64_t id, const char *title, struct err *e)
{
	int64_t changed =
		sql_run(s, e, "UPDATE sessions SET title = $1 WHERE id = $2 AND deleted = 0",
			SQL_VALUES(sql_text(title), sql_int(id)));

	return changed < 0 ? (int)changed : changed ? 0 : no_session(id, e);
}

static int mark_deleted(struct store *s, int64_t id, struct err *e)
{
	int64_t changed;
	bool own;
	int result = sql_scope_begin(s, &own, e);

	if (result)
		return result;
	changed = sql_run(s, e, "UPDATE runs SET deleted = 1 WHERE session_id = $1 AND deleted = 0",
			  SQL_VALUES(sql_int(id)));
	if (changed >= 0)
		changed = sql_run(s, e,
				  "UPDATE sessions SET deleted = 1 WHERE id = $1 AND deleted = 0",
				  SQL_VALUES(sql_int(id)));
	if (!changed)
		changed = no_session(id, e);
	return sql_scope_end(s, own, changed < 0 ? (int)changed : 0, e);
}

int store_session_delete(struct store *s, int64_t id, struct err *e)
{
	int result;

	do
		result = mark_deleted(s, id, e);
	while (deleting_again(s, result));
	return result;
}

int store_sessions(struct store *s, const struct page *page, stored_sessions *ret, struct err *e)
{
	CLEANUP(buf_release) struct buf pattern = {};
	CLEANUP(sql_done) struct sql_rows *rows = NULL;
	struct stored_session session;
	int result = search_pattern(page->search, &pattern, e);

	if (!result)
		result = sql_query(s, e, &rows,
				   "SELECT " SESSION_COLUMNS " FROM sessions "
				   "WHERE deleted = 0 AND ($1 = 0 OR id < $1) "
				   "AND LOWER(title) LIKE $2 ESCAPE '\\' "
				   "ORDER BY id DESC LIMIT $3",
				   SQL_VALUES(sql_int(page->before), sql_text(buf_str(&pattern)),
					      sql_int(page->limit)));
	while (!result && (result = sql_next(rows, e)) > 0) {
		read_session(rows, &session);
		vec_push(ret, session);
		result = 0;
	}
	return result;
}
