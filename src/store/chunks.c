#include "profile/schema.h"
#include "store/sql.h"

#include <errno.h>
#include <string.h>

int store_chunk_name(struct store *s, const struct stored_chunk *chunk, int result, struct err *e)
{
	CLEANUP(sql_done) struct sql_rows *rows = NULL;
	char uuid[UUID_BYTES] = "";

	if (result != -EBADMSG || !e)
		return result;
	if (!sql_query(s, NULL, &rows, "SELECT uuid FROM runs WHERE id = $1",
		       SQL_VALUES(sql_int(chunk->run))) &&
	    sql_next(rows, NULL) > 0)
		row_copy(rows, 0, uuid, sizeof(uuid));
	err_prefix(e, "chunk %lld of run %s", (long long)chunk->id, uuid);
	return result;
}

/* The columns of `chunks` that read_chunk() reads. */
#define CHUNK_SELECT                                                                               \
	"SELECT id, source, kind, counter, row_count, first_ns, last_ns, size, merged, sampled, "  \
	"run_id FROM chunks "

/* Columns 1 to 4 must be of 32 bits; what chunk_peek() says of the bytes is limited by the same. */
static bool makes_sense(struct sql_rows *rows, const struct chunk_info *info)
{
	for (int i = 1; i <= 4; i++)
		if (row_int(rows, i) < 0 || row_int(rows, i) > UINT32_MAX)
			return false;
	return info->schema && info->schema < SCHEMA_FIRST_OWN + SCHEMAS_MAX && info->rows &&
	       info->rows <= CHUNK_ROWS_MAX && info->first_ns <= info->last_ns;
}

static int read_chunk(struct sql_rows *rows, struct stored_chunk *ret, struct err *e)
{
	*ret = (struct stored_chunk){
		.id = row_int(rows, 0),
		.run = row_int(rows, 10),
		.source = (uint32_t)row_int(rows, 1),
		.info =
			{
				.schema = (uint32_t)row_int(rows, 2),
				.partition = (uint32_t)row_int(rows, 3),
				.rows = (uint32_t)row_int(rows, 4),
				.first_ns = row_u64(rows, 5),
				.last_ns = row_u64(rows, 6),
			},
		.bytes = row_int(rows, 7),
		.merged = row_int(rows, 8) != 0,
	};
	/* Rows of before there was a column for it say so by their schema. */
	ret->info.sampled = ret->info.schema == SCHEMA_SAMPLES || row_int(rows, 9);
	if (makes_sense(rows, &ret->info))
		return 0;
	err_set(e, EBADMSG,
		"the database is damaged: its row of the chunk says %lld rows of table %lld from "
		"%lld "
		"to %lld; delete the run, or put back a copy of the database",
		(long long)row_int(rows, 4), (long long)row_int(rows, 2),
		(long long)row_int(rows, 5), (long long)row_int(rows, 6));
	return store_chunk_name(rows->store, ret, -EBADMSG, e);
}

static int read_chunks(struct sql_rows *rows, stored_chunks *ret, struct err *e)
{
	struct stored_chunk chunk;
	int result;

	while ((result = sql_next(rows, e)) > 0) {
		result = read_chunk(rows, &chunk, e);
		if (result)
			return result;
		vec_push(ret, chunk);
	}
	return result;
}

static int insert_chunk(struct store *s, int64_t run, uint32_t source,
			const struct chunk_info *info, struct sql_value bytes,
			struct sql_value summary, int64_t *ret_id, struct err *e)
{
	int64_t id, changed = 0;
	int result;

	result = sql_number(
		s, e, &id,
		"INSERT INTO chunks (run_id, source, kind, counter, row_count, first_ns, last_ns, "
		"size, summary_size, merged, sampled) VALUES "
		"($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) "
		"RETURNING id",
		SQL_VALUES(sql_int(run), sql_int(source), sql_int(info->schema),
			   sql_int(info->partition), sql_int(info->rows), sql_u64(info->first_ns),
			   sql_u64(info->last_ns), sql_u64(bytes.size), sql_u64(summary.size),
			   sql_int(summary.size != 0), sql_int(info->sampled)));
	if (result)
		return result;
	changed = sql_run(s, e, "INSERT INTO chunk_bytes (chunk_id, bytes) VALUES ($1, $2)",
			  SQL_VALUES(sql_int(id), bytes));
	if (changed >= 0 && summary.size)
		changed = sql_run(s, e,
				  "INSERT INTO chunk_summaries (chunk_id, bytes) VALUES ($1, $2)",
				  SQL_VALUES(sql_int(id), summary));
	if (changed < 0)
		return (int)changed;
	run_grows(s, run, (int64_t)(bytes.size + summary.size));
	*ret_id = id;
	return 0;
}

int store_chunk_add(struct store *s, int64_t run, uint32_t source, const struct chunk_info *info,
		    const void *bytes, size_t size, const void *summary, size_t summary_size,
		    int64_t *ret_id, struct err *e)
{
	int64_t id = 0;
	bool own;
	int result = sql_scope_begin(s, &own, e);

	if (result)
		return result;
	result = insert_chunk(s, run, source, info, sql_bytes(bytes, size),
			      sql_bytes(summary, summary_size), &id, e);
	result = sql_scope_end(s, own, result, e);
	if (!result && ret_id)
		*ret_id = id;
	return result;
}

int store_chunks(struct store *s, int64_t run, const struct chunk_query *q, stored_chunks *ret,
		 struct err *e)
{
	CLEANUP(sql_done) struct sql_rows *rows = NULL;
	int result = sql_query(
		s, e, &rows,
		CHUNK_SELECT
		"WHERE run_id = $1 AND id > $2 AND ($3 = 0 OR kind = $3) "
		"AND ($4 = 0 OR counter = $4) AND last_ns >= $5 AND ($6 = 0 OR first_ns <= $6) "
		"AND ($7 = 0 OR sampled = 1 OR kind = $8) ORDER BY first_ns, id",
		SQL_VALUES(sql_int(run), sql_int(q->after_id), sql_int(q->schema),
			   sql_int(q->partition), sql_u64(q->from_ns), sql_u64(q->to_ns),
			   sql_int(q->sampled), sql_int(SCHEMA_SAMPLES)));

	return result ? result : read_chunks(rows, ret, e);
}

int store_chunks_to_merge(struct store *s, int64_t run, unsigned limit, stored_chunks *ret,
			  struct err *e)
{
	CLEANUP(sql_done) struct sql_rows *rows = NULL;
	int result = sql_query(s, e, &rows,
			       CHUNK_SELECT "WHERE run_id = $1 AND merged = 0 "
					    "ORDER BY source, kind, counter, first_ns, id LIMIT $2",
			       SQL_VALUES(sql_int(run), sql_int(limit)));

	return result ? result : read_chunks(rows, ret, e);
}

int store_runs_to_merge(struct store *s, run_numbers *ret, struct err *e)
{
	CLEANUP(sql_done) struct sql_rows *rows = NULL;
	int result = sql_query(s, e, &rows,
			       "SELECT id FROM runs WHERE deleted = 0 AND EXISTS "
			       "(SELECT 1 FROM chunks WHERE run_id = runs.id AND merged = 0) "
			       "ORDER BY id",
			       SQL_NONE);

	while (!result && (result = sql_next(rows, e)) > 0) {
		vec_push(ret, row_int(rows, 0));
		result = 0;
	}
	return result;
}

static int no_chunk(int64_t id, struct err *e)
{
	return err_set(e, ENOENT,
		       "There is no chunk with the number %lld (any more): it was merged with "
		       "others, or deleted.",
		       (long long)id);
}

static int read_bytes(struct store *s, const char *sql, int64_t chunk, struct buf *ret,
		      struct err *e)
{
	CLEANUP(sql_done) struct sql_rows *rows = NULL;
	int result = sql_query(s, e, &rows, sql, SQL_VALUES(sql_int(chunk)));
	const void *bytes;
	size_t size;

	if (!result)
		result = sql_next(rows, e);
	if (result <= 0)
		return result ? result : no_chunk(chunk, e);
	bytes = row_bytes(rows, 0, &size);
	if (bytes && size)
		buf_add_mem(ret, bytes, size);
	return 0;
}

/* Times beyond what the database can hold were stored as the largest that it can. */
static uint64_t stored_ns(uint64_t ns)
{
	return ns < INT64_MAX ? ns : INT64_MAX;
}

static int check_bytes(const struct stored_chunk *c, const void *bytes, size_t size, struct err *e)
{
	const struct chunk_info *row = &c->info;
	struct chunk_info info;
	int result = chunk_peek(bytes, size, &info, e);

	if (result)
		return result;
	if (info.schema == row->schema && info.sampled == row->sampled && info.rows == row->rows &&
	    info.partition == row->partition && stored_ns(info.first_ns) == row->first_ns &&
	    stored_ns(info.last_ns) == row->last_ns)
		return 0;
	return err_set(
		e, EBADMSG,
		"the database is damaged: its row of the chunk says %u rows of table %u, the "
		"chunk itself %u of table %u; delete the run, or put back a copy of the "
		"database",
		row->rows, row->schema, info.rows, info.schema);
}

int store_chunk_read(struct store *s, const struct stored_chunk *chunk, struct buf *bytes,
		     struct buf *summary, struct err *e)
{
	size_t before = bytes ? bytes->len : 0;
	int result = 0;

	if (bytes) {
		result = read_bytes(s, "SELECT bytes FROM chunk_bytes WHERE chunk_id = $1",
				    chunk->id, bytes, e);
		if (!result)
			result = store_chunk_name(
				s, chunk,
				check_bytes(chunk, buf_str(bytes) + before, bytes->len - before, e),
				e);
	}
	if (!result && summary)
		result = read_bytes(s,
				    "SELECT chunk_summaries.bytes FROM chunks LEFT JOIN "
				    "chunk_summaries ON chunk_id = id WHERE id = $1",
				    chunk->id, summary, e);
	return result;
}

static int remove_chunk(struct store *s, int64_t run, int64_t id, struct err *e)
{
	CLEANUP(sql_done) struct sql_rows *rows = NULL;
	int result = sql_query(s, e, &rows,
			       "DELETE FROM chunks WHERE id = $1 AND run_id = $2 "
			       "RETURNING size, summary_size",
			       SQL_VALUES(sql_int(id), sql_int(run)));

	if (!result)
		result = sql_next(rows, e);
	if (result <= 0)
		return result ? result : no_chunk(id, e);
	for (int i = 0; i < 2; i++)
		run_grows(s, run, -row_number(rows, i, CHUNK_BYTES_MAX));
	/* It is done only when the statement has come to its end. */
	return sql_next(rows, e);
}

/* Whoever has read the chunks of the run is to read them again. */
static int next_generation(struct store *s, int64_t run, struct err *e)
{
	int64_t changed = sql_run(s, e, "UPDATE runs SET generation = generation + 1 WHERE id = $1",
				  SQL_VALUES(sql_int(run)));

	return changed < 0 ? (int)changed : 0;
}

static int add_summary(struct store *s, int64_t run, int64_t chunk, struct sql_value summary,
		       struct err *e)
{
	int64_t changed = sql_run(s, e,
				  "UPDATE chunks SET merged = 1, summary_size = $1 "
				  "WHERE id = $2 AND run_id = $3 AND merged = 0",
				  SQL_VALUES(sql_u64(summary.size), sql_int(chunk), sql_int(run)));

	if (changed > 0)
		changed = sql_run(s, e,
				  "INSERT INTO chunk_summaries (chunk_id, bytes) VALUES ($1, $2)",
				  SQL_VALUES(sql_int(chunk), summary));
	else if (changed == 0)
		return no_chunk(chunk, e);
	if (changed < 0)
		return (int)changed;
	run_grows(s, run, (int64_t)summary.size);
	return next_generation(s, run, e);
}

int store_chunk_summarize(struct store *s, int64_t run, int64_t chunk, const struct buf *summary,
			  struct err *e)
{
	bool own;
	int result = sql_scope_begin(s, &own, e);

	if (result)
		return result;
	result = add_summary(s, run, chunk, sql_bytes(summary->s, summary->len), e);
	return sql_scope_end(s, own, result, e);
}

int store_chunks_replace(struct store *s, int64_t run, const int64_t *old, size_t count,
			 uint32_t source, const struct chunk_info *info, const struct buf *bytes,
			 const struct buf *summary, struct err *e)
{
	struct sql_value summary_value =
		summary ? sql_bytes(summary->s, summary->len) : sql_bytes(NULL, 0);
	int64_t id;
	bool own;
	int result = sql_scope_begin(s, &own, e);

	if (result)
		return result;
	/* The new one first, so that its number is larger than any that was seen. */
	result = insert_chunk(s, run, source, info, sql_bytes(bytes->s, bytes->len), summary_value,
			      &id, e);
	for (size_t i = 0; i < count && !result; i++)
		result = remove_chunk(s, run, old[i], e);
	if (!result)
		result = next_generation(s, run, e);
	return sql_scope_end(s, own, result, e);
}
