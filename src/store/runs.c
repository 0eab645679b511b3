#include "base/clock.h"
#include "store/search.h"
#include "store/sql.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define POSITION_MAX 9007199254740992.0 /* 2^53: beyond it, adding 1 changes nothing */

#define RUN_SELECT                                                                                 \
	"SELECT runs.id, session_id, runs.uuid, sessions.uuid, state, place, exclusive, "          \
	"user_name, description, command, plan, opened, ledger, ended, error, note, tags, "        \
	"raw_path, runs.created_ms, started_ms, ended_ms, start_ns, duration_ms, bytes, samples "  \
	"FROM runs JOIN sessions ON sessions.id = session_id WHERE runs.deleted = 0 "

/* Identifiers become names of files: anything else than one is left out. */
static void row_uuid(struct sql_rows *rows, int column, char ret[UUID_BYTES])
{
	row_copy(rows, column, ret, UUID_BYTES);
	if (!uuid_valid(ret))
		ret[0] = '\0';
}

/* What is beyond the values that the store writes becomes what cannot harm. */
static void check_run(struct stored_run *r, int64_t state)
{
	char raw[UUID_BYTES + sizeof("raw/.data")];

	if (state < STATE_QUEUED || state > STATE_INTERRUPTED) {
		r->state = STATE_FAILED;
		free(r->error);
		r->error = xasprintf("The database is damaged: it has no valid state of this run "
				     "(%lld).",
				     (long long)state);
	}
	if (!(fabs(r->position) <= POSITION_MAX))
		r->position = 0;
	/* No file but the run's own. */
	snprintf(raw, sizeof(raw), "raw/%s.data", r->uuid);
	if (r->raw_path && (!r->uuid[0] || strcmp(r->raw_path, raw))) {
		free(r->raw_path);
		r->raw_path = NULL;
	}
}

static void read_run(struct sql_rows *rows, struct stored_run *ret)
{
	int64_t state = row_int(rows, 4);

	*ret = (struct stored_run){
		.id = row_int(rows, 0),
		.session_id = row_int(rows, 1),
		.state = (enum run_state)row_number(rows, 4, STATE_INTERRUPTED),
		.position = row_real(rows, 5),
		.exclusive = row_int(rows, 6) != 0,
		.user = row_text(rows, 7),
		.description = row_text(rows, 8),
		.command = row_text(rows, 9),
		.plan = row_text(rows, 10),
		.opened = row_text(rows, 11),
		.ledger = row_text(rows, 12),
		.ended = row_text(rows, 13),
		.error = row_text(rows, 14),
		.note = row_text(rows, 15),
		.tags = row_text(rows, 16),
		.raw_path = row_text(rows, 17),
		.created_ms = row_number(rows, 18, WALL_MS_MAX),
		.started_ms = row_number(rows, 19, WALL_MS_MAX),
		.ended_ms = row_number(rows, 20, WALL_MS_MAX),
		.start_ns = row_number(rows, 21, INT64_MAX),
		.duration_ms = row_number(rows, 22, WALL_MS_MAX),
		.bytes = row_number(rows, 23, INT64_MAX),
		.samples = row_number(rows, 24, INT64_MAX),
	};
	row_uuid(rows, 2, ret->uuid);
	row_uuid(rows, 3, ret->session_uuid);
	check_run(ret, state);
}

static int read_runs(struct sql_rows *rows, stored_runs *ret, struct err *e)
{
	struct stored_run run;
	int result;

	while ((result = sql_next(rows, e)) > 0) {
		read_run(rows, &run);
		vec_push(ret, run);
	}
	return result;
}

static int no_run(int64_t id, struct err *e)
{
	return err_set(e, ENOENT, "There is no run with the number %lld (any more).",
		       (long long)id);
}

static int changed_one(int64_t changed, int64_t id, struct err *e)
{
	return changed < 0 ? (int)changed : changed ? 0 : no_run(id, e);
}

/* The session must not be one that is being deleted. */
static int session_uuid_of(struct store *s, int64_t id, char ret[UUID_BYTES], struct err *e)
{
	CLEANUP(sql_done) struct sql_rows *rows = NULL;
	int result =
		sql_query(s, e, &rows, "SELECT uuid FROM sessions WHERE id = $1 AND deleted = 0",
			  SQL_VALUES(sql_int(id)));

	if (!result)
		result = sql_next(rows, e);
	if (result < 0)
		return result;
	if (!result)
		return err_set(e, ENOENT, "The session of this run is not there (any more).");
	row_copy(rows, 0, ret, UUID_BYTES);
	return 0;
}

static int insert_run(struct store *s, struct stored_run *r, struct err *e)
{
	return sql_number(
		s, e, &r->id,
		"INSERT INTO runs (uuid, session_id, state, place, exclusive, user_name, "
		"description, command, plan, opened, ledger, ended, error, note, tags, raw_path, "
		"created_ms, started_ms, ended_ms, start_ns, duration_ms, samples) "
		"VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, "
		"$17, $18, $19, $20, $21, $22) RETURNING id",
		SQL_VALUES(sql_text(r->uuid), sql_int(r->session_id), sql_int(r->state),
			   sql_real(r->position), sql_int(r->exclusive), sql_text(r->user),
			   sql_text(r->description), sql_text(r->command), sql_text(r->plan),
			   sql_text(r->opened), sql_text(r->ledger), sql_text(r->ended),
			   sql_text(r->error), sql_text(r->note), sql_text(r->tags),
			   sql_text(r->raw_path), sql_int(r->created_ms), sql_int(r->started_ms),
			   sql_int(r->ended_ms), sql_int(r->start_ns), sql_int(r->duration_ms),
			   sql_int(r->samples)));
}

int store_run_add(struct store *s, struct stored_run *run, struct err *e)
{
	bool own;
	int result = sql_scope_begin(s, &own, e);

	if (result)
		return result;
	if (!run->uuid[0])
		uuid_make(run->uuid);
	if (!run->created_ms)
		run->created_ms = (int64_t)(clock_ns_of(CLOCK_REALTIME) / NS_PER_MSEC);
	result = session_uuid_of(s, run->session_id, run->session_uuid, e);
	if (!result)
		result = insert_run(s, run, e);
	return sql_scope_end(s, own, result, e);
}

int store_run_get(struct store *s, const char *uuid, struct stored_run *ret, struct err *e)
{
	CLEANUP(sql_done) struct sql_rows *rows = NULL;
	int result =
		sql_query(s, e, &rows, RUN_SELECT "AND runs.uuid = $1", SQL_VALUES(sql_text(uuid)));

	if (!result)
		result = sql_next(rows, e);
	if (result < 0)
		return result;
	if (!result)
		return err_set(e, ENOENT, "There is no run '%.64s'.", uuid);
	read_run(rows, ret);
	return 0;
}

int store_run_known(struct store *s, const char *uuid, bool *ret_deleted, struct err *e)
{
	int64_t deleted = 0;
	int result = sql_number(s, e, &deleted, "SELECT deleted FROM runs WHERE uuid = $1",
				SQL_VALUES(sql_text(uuid)));

	*ret_deleted = deleted != 0;
	return result;
}

int store_newest_end(struct store *s, int64_t *ret_ms, struct err *e)
{
	return sql_number(s, e, ret_ms,
			  "SELECT COALESCE(MAX(ended_ms), 0) FROM (SELECT ended_ms FROM runs "
			  "WHERE state > $1 AND deleted = 0 ORDER BY id DESC LIMIT 1) AS newest",
			  SQL_VALUES(sql_int(STATE_RUNNING)));
}

int store_run_get_id(struct store *s, int64_t id, struct stored_run *ret, struct err *e)
{
	CLEANUP(sql_done) struct sql_rows *rows = NULL;
	int result = sql_query(s, e, &rows, RUN_SELECT "AND runs.id = $1", SQL_VALUES(sql_int(id)));

	if (!result)
		result = sql_next(rows, e);
	if (result < 0)
		return result;
	if (!result)
		return no_run(id, e);
	read_run(rows, ret);
	return 0;
}

int store_run_of_others(struct store *s, int64_t session_id, const char *user,
			struct stored_run *ret, struct err *e)
{
	CLEANUP(sql_done) struct sql_rows *rows = NULL;
	int result = sql_query(s, e, &rows,
			       RUN_SELECT "AND session_id = $1 AND COALESCE(user_name, '') <> $2 "
					  "ORDER BY runs.id LIMIT 1",
			       SQL_VALUES(sql_int(session_id), sql_text(user)));

	if (!result)
		result = sql_next(rows, e);
	if (result < 0)
		return result;
	if (!result)
		return err_set(e, ENOENT, "All runs of this session were started by '%.64s'.",
			       user);
	read_run(rows, ret);
	return 0;
}

int store_run_update(struct store *s, const struct stored_run *r, struct err *e)
{
	int64_t changed = sql_run(
		s, e,
		"UPDATE runs SET state = $1, place = $2, exclusive = $3, opened = $4, "
		"ledger = $5, ended = $6, error = $7, raw_path = $8, started_ms = $9, "
		"ended_ms = $10, start_ns = $11, duration_ms = $12, samples = $13 "
		"WHERE id = $14 AND deleted = 0",
		SQL_VALUES(sql_int(r->state), sql_real(r->position), sql_int(r->exclusive),
			   sql_text(r->opened), sql_text(r->ledger), sql_text(r->ended),
			   sql_text(r->error), sql_text(r->raw_path), sql_int(r->started_ms),
			   sql_int(r->ended_ms), sql_int(r->start_ns), sql_int(r->duration_ms),
			   sql_int(r->samples), sql_int(r->id)));

	return changed_one(changed, r->id, e);
}

int store_run_annotate(struct store *s, int64_t id, const char *note, const char *tags,
		       struct err *e)
{
	int64_t changed = sql_run(s, e,
				  "UPDATE runs SET note = COALESCE($1, note), "
				  "tags = COALESCE($2, tags) WHERE id = $3 AND deleted = 0",
				  SQL_VALUES(sql_text(note), sql_text(tags), sql_int(id)));

	return changed_one(changed, id, e);
}

int store_run_describe(struct store *s, int64_t id, const char *description, struct err *e)
{
	int64_t changed =
		sql_run(s, e, "UPDATE runs SET description = $1 WHERE id = $2 AND deleted = 0",
			SQL_VALUES(sql_text(description), sql_int(id)));

	return changed_one(changed, id, e);
}

int store_run_delete(struct store *s, int64_t id, struct err *e)
{
	int64_t changed;

	do
		changed = sql_run(s, e, "UPDATE runs SET deleted = 1 WHERE id = $1 AND deleted = 0",
				  SQL_VALUES(sql_int(id)));
	while (deleting_again(s, (int)changed));
	return changed_one(changed, id, e);
}

int store_runs(struct store *s, int64_t session_id, const struct page *page, stored_runs *ret,
	       struct err *e)
{
	CLEANUP(buf_release) struct buf pattern = {};
	CLEANUP(sql_done) struct sql_rows *rows = NULL;
	int result = search_pattern(page->search, &pattern, e);

	if (!result)
		result = sql_query(s, e, &rows,
				   RUN_SELECT
				   "AND ($1 = 0 OR session_id = $1) AND ($2 = 0 OR runs.id < $2) "
				   "AND (LOWER(COALESCE(description, '')) LIKE $3 ESCAPE '\\' "
				   "OR LOWER(COALESCE(command, '')) LIKE $3 ESCAPE '\\' "
				   "OR LOWER(COALESCE(note, '')) LIKE $3 ESCAPE '\\' "
				   "OR LOWER(COALESCE(tags, '')) LIKE $3 ESCAPE '\\') "
				   "ORDER BY runs.id DESC LIMIT $4",
				   SQL_VALUES(sql_int(session_id), sql_int(page->before),
					      sql_text(buf_str(&pattern)), sql_int(page->limit)));
	return result ? result : read_runs(rows, ret, e);
}

int store_runs_in_state(struct store *s, enum run_state state, stored_runs *ret, struct err *e)
{
	CLEANUP(sql_done) struct sql_rows *rows = NULL;
	int result = sql_query(s, e, &rows, RUN_SELECT "AND state = $1 ORDER BY place, runs.id",
			       SQL_VALUES(sql_int(state)));

	return result ? result : read_runs(rows, ret, e);
}

int store_runs_oldest(struct store *s, int64_t after_id, unsigned limit, stored_runs *ret,
		      struct err *e)
{
	CLEANUP(sql_done) struct sql_rows *rows = NULL;
	int result =
		sql_query(s, e, &rows,
			  RUN_SELECT "AND state > $1 AND runs.id > $2 "
				     "ORDER BY runs.id LIMIT $3",
			  SQL_VALUES(sql_int(STATE_RUNNING), sql_int(after_id), sql_int(limit)));

	return result ? result : read_runs(rows, ret, e);
}

int store_durations(struct store *s, const char *command, int64_t *ret_ms, size_t max,
		    struct err *e)
{
	CLEANUP(sql_done) struct sql_rows *rows = NULL;
	int result, count = 0;

	if (max > INT32_MAX)
		max = INT32_MAX;
	result = sql_query(
		s, e, &rows,
		"SELECT duration_ms FROM runs WHERE command = $1 AND state = $2 "
		"AND deleted = 0 AND duration_ms > 0 ORDER BY id DESC LIMIT $3",
		SQL_VALUES(sql_text(command), sql_int(STATE_DONE), sql_int((int64_t)max)));
	if (result)
		return result;
	while ((result = sql_next(rows, e)) > 0)
		ret_ms[count++] = row_number(rows, 0, WALL_MS_MAX);
	return result < 0 ? result : count;
}

int store_run_generation(struct store *s, int64_t run, int64_t *ret, struct err *e)
{
	int result =
		sql_number(s, e, ret, "SELECT generation FROM runs WHERE id = $1 AND deleted = 0",
			   SQL_VALUES(sql_int(run)));

	return result == -ENOENT ? no_run(run, e) : result;
}
