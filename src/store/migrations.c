/*
 * The schema, as the steps that lead to it. A step that was released is never changed: what is to be
 * different is a new one at the end. {id} and {key} are put in by the database, see sql.h.
 */
#include "base/clock.h"
#include "store/sql.h"

#include <errno.h>
#include <string.h>

#ifndef TACHO_VERSION
#define TACHO_VERSION "unknown"
#endif

/* Texts that may be NULL are not known yet. `deleted` ones are gone for everybody but the one who
 * takes their data away bit by bit. */
static const char step_1[] =
	"CREATE TABLE sessions ("
	" id {id},"
	" uuid TEXT NOT NULL UNIQUE,"
	" title TEXT NOT NULL,"
	" created_ms BIGINT NOT NULL,"
	" deleted BIGINT NOT NULL DEFAULT 0);"
	"CREATE INDEX sessions_deleted ON sessions (id) WHERE deleted = 1;"

	"CREATE TABLE runs ("
	" id {id},"
	" uuid TEXT NOT NULL UNIQUE,"
	" session_id BIGINT NOT NULL REFERENCES sessions (id),"
	" state BIGINT NOT NULL,"
	" place DOUBLE PRECISION NOT NULL,"
	" exclusive BIGINT NOT NULL,"
	" user_name TEXT, description TEXT, command TEXT, plan TEXT, opened TEXT, ledger TEXT,"
	" ended TEXT, error TEXT, note TEXT, tags TEXT, raw_path TEXT,"
	" created_ms BIGINT NOT NULL, started_ms BIGINT NOT NULL, ended_ms BIGINT NOT NULL,"
	" start_ns BIGINT NOT NULL, duration_ms BIGINT NOT NULL,"
	" bytes BIGINT NOT NULL DEFAULT 0,"
	" samples BIGINT NOT NULL DEFAULT 0,"
	" generation BIGINT NOT NULL DEFAULT 0,"
	" deleted BIGINT NOT NULL DEFAULT 0);"
	"CREATE INDEX runs_by_session ON runs (session_id, deleted, id);"
	"CREATE INDEX runs_by_state ON runs (state, place);"
	"CREATE INDEX runs_by_command ON runs (command, state, id);"
	"CREATE INDEX runs_deleted ON runs (id) WHERE deleted = 1;"

	"CREATE TABLE dictionaries ("
	" id {id},"
	" run_id BIGINT NOT NULL REFERENCES runs (id),"
	" source BIGINT NOT NULL,"
	" bytes BYTEA NOT NULL);"
	"CREATE INDEX dictionaries_by_run ON dictionaries (run_id, source, id);"

	/* Bytes and summaries are apart, so that looking for chunks reads neither. */
	"CREATE TABLE chunks ("
	" id {id},"
	" run_id BIGINT NOT NULL REFERENCES runs (id),"
	" source BIGINT NOT NULL,"
	" kind BIGINT NOT NULL,"
	" counter BIGINT NOT NULL,"
	" row_count BIGINT NOT NULL,"
	" first_ns BIGINT NOT NULL,"
	" last_ns BIGINT NOT NULL,"
	" size BIGINT NOT NULL,"
	" summary_size BIGINT NOT NULL,"
	" merged BIGINT NOT NULL);"
	"CREATE INDEX chunks_by_run ON chunks (run_id, id);"
	"CREATE INDEX chunks_to_merge ON chunks (run_id, id) WHERE merged = "
	"0;"
	"CREATE TABLE chunk_bytes ("
	" chunk_id {key} REFERENCES chunks (id) ON DELETE CASCADE,"
	" bytes BYTEA NOT NULL);"
	"CREATE TABLE chunk_summaries ("
	" chunk_id {key} REFERENCES chunks (id) ON DELETE CASCADE,"
	" bytes BYTEA NOT NULL);"

	"CREATE TABLE code ("
	" id {id},"
	" run_id BIGINT NOT NULL REFERENCES runs (id),"
	" source BIGINT NOT NULL,"
	" function BIGINT NOT NULL,"
	" bytes BYTEA NOT NULL,"
	" UNIQUE (run_id, source, function));"
	"CREATE TABLE derived ("
	" id {id},"
	" run_id BIGINT NOT NULL REFERENCES runs (id),"
	" name TEXT NOT NULL,"
	" bytes BYTEA NOT NULL,"
	" UNIQUE (run_id, name));"
	"CREATE TABLE output ("
	" id {id},"
	" run_id BIGINT NOT NULL REFERENCES runs (id),"
	" stream BIGINT NOT NULL,"
	" time_ns BIGINT NOT NULL,"
	" bytes BYTEA NOT NULL);"
	"CREATE INDEX output_by_run ON output (run_id, id);"
	"CREATE TABLE notes ("
	" id {id},"
	" run_id BIGINT NOT NULL REFERENCES runs (id),"
	" time_ns BIGINT NOT NULL,"
	" words TEXT NOT NULL);"
	"CREATE INDEX notes_by_run ON notes (run_id, id);"

	"CREATE TABLE users ("
	" id {id},"
	" name TEXT NOT NULL,"
	" role BIGINT NOT NULL,"
	" token_hash TEXT NOT NULL UNIQUE,"
	" created_ms BIGINT NOT NULL,"
	" revoked_ms BIGINT NOT NULL);"
	/* A name can be given again when its token was revoked. */
	"CREATE UNIQUE INDEX users_by_name ON users (name) WHERE revoked_ms = 0;"
	"CREATE TABLE settings ("
	" name TEXT PRIMARY KEY,"
	" value TEXT NOT NULL);";

/* Chunks of any table: `kind` is the number of the schema, `counter` that of the partition. */
static const char step_2[] = "ALTER TABLE chunks ADD COLUMN sampled BIGINT NOT NULL DEFAULT 0;";

/* Browsers that know a user by a cookie: only the hash of what the cookie holds is kept. */
static const char step_3[] = "CREATE TABLE logins ("
			     " id {id},"
			     " user_id BIGINT NOT NULL REFERENCES users (id),"
			     " cookie_hash TEXT NOT NULL UNIQUE,"
			     " created_ms BIGINT NOT NULL,"
			     " expires_ms BIGINT NOT NULL);"
			     "CREATE INDEX logins_by_user ON logins (user_id, id);";

static const char *const steps[] = {step_1, step_2, step_3};

/* Which step was the last one, and which tacho made it; 0 if there is none. */
static int schema_version(struct store *s, int64_t *ret, char *tacho, size_t size, struct err *e)
{
	CLEANUP(sql_done) struct sql_rows *rows = NULL;
	int result = sql_query(
		s, e, &rows,
		"SELECT version, tacho FROM schema_steps ORDER BY version DESC LIMIT 1", SQL_NONE);

	if (!result)
		result = sql_next(rows, e);
	if (result < 0)
		return result;
	*ret = result ? row_int(rows, 0) : 0;
	if (result)
		row_copy(rows, 1, tacho, size);
	return 0;
}

static int take_step(struct store *s, size_t number, struct err *e)
{
	CLEANUP(buf_release) struct buf sql = {};
	int64_t now_ms = (int64_t)(clock_ns_of(CLOCK_REALTIME) / NS_PER_MSEC), changed;
	int result;

	for (const char *at = steps[number - 1]; *at;) {
		bool id = !strncmp(at, "{id}", 4), key = !strncmp(at, "{key}", 5);

		if (id || key)
			buf_add(&sql, id ? s->ops->id_type : s->ops->key_type);
		else
			buf_add_char(&sql, *at);
		at += id ? 4 : key ? 5 : 1;
	}
	result = s->ops->execute(s, buf_str(&sql), e);
	if (result)
		return result;
	changed = sql_run(
		s, e, "INSERT INTO schema_steps (version, tacho, applied_ms) VALUES ($1, $2, $3)",
		SQL_VALUES(sql_int((int64_t)number), sql_text(TACHO_VERSION), sql_int(now_ms)));
	return changed < 0 ? (int)changed : 0;
}

static int take_steps(struct store *s, struct err *e)
{
	int64_t version = 0;
	char tacho[64];
	int result;

	/* Somebody else may have been quicker. */
	result = schema_version(s, &version, tacho, sizeof(tacho), e);
	for (size_t n = (size_t)version + 1; !result && n <= ARRAY_LEN(steps); n++)
		result = take_step(s, n, e);
	return result;
}

int store_migrate(struct store *s, bool read_only, struct err *e)
{
	char tacho[64] = "";
	int64_t version = 0;
	bool own;
	int result = 0;

	if (!read_only)
		result = s->ops->execute(s,
					 "CREATE TABLE IF NOT EXISTS schema_steps ("
					 " version BIGINT PRIMARY KEY,"
					 " tacho TEXT NOT NULL,"
					 " applied_ms BIGINT NOT NULL)",
					 e);
	if (!result)
		result = schema_version(s, &version, tacho, sizeof(tacho), e);
	if (result)
		return result;
	if (version > (int64_t)ARRAY_LEN(steps))
		return err_set(e, EPROTONOSUPPORT,
			       "'%s' was written by a newer tacho (%s, schema %lld; this one, "
			       "%s, knows schemas up to %zu): use that one, or another directory.",
			       s->place, tacho, (long long)version, TACHO_VERSION,
			       ARRAY_LEN(steps));
	if (version == (int64_t)ARRAY_LEN(steps))
		return 0;
	if (read_only)
		return err_set(e, EROFS,
			       "'%s' has an older schema (%lld), and is opened for reading only: "
			       "start the server once so that it can be brought up to date.",
			       s->place, (long long)version);
	result = sql_scope_begin(s, &own, e);
	if (!result)
		result = sql_scope_end(s, own, take_steps(s, e), e);
	return result;
}
