/*
 * Taking away the data of what was deleted, in small steps: each is a transaction of its own, so
 * that others wait for one of them at most, and after a crash the next step goes on.
 */
#include "store/sql.h"

#include <errno.h>

/* Those with the smallest numbers, so many that they are a few megabytes at most. */
#define FIRST_OF(table, count)                                                                     \
	"DELETE FROM " table " WHERE run_id = $1 AND id <= (SELECT MAX(id) FROM "                  \
	"(SELECT id FROM " table " WHERE run_id = $1 ORDER BY id LIMIT " count ") AS oldest)"

static const char *const purges[] = {
	FIRST_OF("dictionaries", "2"), FIRST_OF("code", "32"),    FIRST_OF("derived", "1"),
	FIRST_OF("output", "500"),     FIRST_OF("notes", "1000"),
};

#define CHUNKS_A_STEP 1000

/* How far the first chunks go that have @max_bytes together; 0: there are none. */
static int first_chunks(struct store *s, int64_t run, uint64_t max_bytes, int64_t *ret_last,
			struct err *e)
{
	CLEANUP(sql_done) struct sql_rows *rows = NULL;
	uint64_t bytes = 0;
	int result = sql_query(s, e, &rows,
			       "SELECT id, size + summary_size FROM chunks WHERE run_id = $1 "
			       "ORDER BY id LIMIT $2",
			       SQL_VALUES(sql_int(run), sql_int(CHUNKS_A_STEP)));

	*ret_last = 0;
	while (!result && bytes < max_bytes && (result = sql_next(rows, e)) > 0) {
		*ret_last = row_int(rows, 0);
		bytes += row_u64(rows, 1);
		result = 0;
	}
	return result;
}

/* Deletes something of the run, and the run when nothing of it is left. */
static int purge_run(struct store *s, int64_t run, uint64_t max_bytes, struct err *e)
{
	int64_t last, changed = 0;
	int result = first_chunks(s, run, max_bytes, &last, e);

	if (result)
		return result;
	if (last)
		changed = sql_run(s, e, "DELETE FROM chunks WHERE run_id = $1 AND id <= $2",
				  SQL_VALUES(sql_int(run), sql_int(last)));
	for (size_t i = 0; !changed && i < ARRAY_LEN(purges); i++)
		changed = sql_run(s, e, purges[i], SQL_VALUES(sql_int(run)));
	if (!changed)
		changed = sql_run(s, e, "DELETE FROM runs WHERE id = $1 AND deleted = 1",
				  SQL_VALUES(sql_int(run)));
	return changed < 0 ? (int)changed : 0;
}

static int purge_step(struct store *s, int64_t after, uint64_t max_bytes, bool *ret_more,
		      struct err *e)
{
	int64_t run, changed;
	bool own;
	int result =
		sql_number(s, e, &run, "SELECT MIN(id) FROM runs WHERE deleted = 1 AND id > $1",
			   SQL_VALUES(sql_int(after)));

	if (result)
		return result;
	if (run) {
		result = sql_scope_begin(s, &own, e);
		if (!result)
			result = sql_scope_end(s, own, purge_run(s, run, max_bytes, e), e);
		*ret_more = true;
		return result;
	}
	*ret_more = false;
	result =
		sql_number(s, e, &run, "SELECT COUNT(*) FROM sessions WHERE deleted = 1", SQL_NONE);
	if (result || !run)
		return result;
	changed = sql_run(s, e,
			  "DELETE FROM sessions WHERE deleted = 1 AND NOT EXISTS "
			  "(SELECT 1 FROM runs WHERE session_id = sessions.id)",
			  SQL_NONE);
	return changed < 0 ? (int)changed : 0;
}

int store_purge_next(struct store *s, int64_t after, int64_t *ret_run, char ret_uuid[UUID_BYTES],
		     struct err *e)
{
	CLEANUP(sql_done) struct sql_rows *rows = NULL;
	int result = sql_query(s, e, &rows,
			       "SELECT id, uuid FROM runs WHERE deleted = 1 AND id > $1 "
			       "ORDER BY id LIMIT 1",
			       SQL_VALUES(sql_int(after)));

	*ret_run = 0;
	ret_uuid[0] = '\0';
	if (!result)
		result = sql_next(rows, e);
	if (result > 0) {
		*ret_run = row_int(rows, 0);
		row_copy(rows, 1, ret_uuid, UUID_BYTES);
	}
	/* It becomes the name of a file. */
	if (!uuid_valid(ret_uuid))
		ret_uuid[0] = '\0';
	return result < 0 ? result : 0;
}

int store_purge(struct store *s, int64_t after, uint64_t max_bytes, bool *ret_more, struct err *e)
{
	int result;

	do
		result = purge_step(s, after, max_bytes, ret_more, e);
	while (deleting_again(s, result));
	return result;
}
