#include "store/sql.h"

#include <errno.h>
#include <string.h>

/* A statement that adds @size bytes to a run. */
static int add_bytes(struct store *s, int64_t run, size_t size, const char *sql,
		     const struct sql_value *values, size_t count, struct err *e)
{
	int64_t changed;
	bool own;
	int result = sql_scope_begin(s, &own, e);

	if (result)
		return result;
	changed = sql_run(s, e, sql, values, count);
	if (changed >= 0)
		run_grows(s, run, (int64_t)size);
	return sql_scope_end(s, own, changed < 0 ? (int)changed : 0, e);
}

/* The bytes of the only row, -ENOENT if there is none. */
static int get_bytes(struct store *s, const char *sql, const struct sql_value *values, size_t count,
		     struct buf *ret, struct err *e)
{
	CLEANUP(sql_done) struct sql_rows *rows = NULL;
	int result = sql_query(s, e, &rows, sql, values, count);
	const void *bytes;
	size_t size;

	if (!result)
		result = sql_next(rows, e);
	if (result < 0)
		return result;
	if (!result)
		return err_set(e, ENOENT, "That is not stored.");
	bytes = row_bytes(rows, 0, &size);
	if (bytes && size)
		buf_add_mem(ret, bytes, size);
	return 0;
}

/* ---- dictionaries ---- */

#define DICTIONARY_INSERT "INSERT INTO dictionaries (run_id, source, bytes) VALUES ($1, $2, $3)"

int store_dictionary_add(struct store *s, int64_t run, uint32_t source, const void *bytes,
			 size_t size, struct err *e)
{
	return add_bytes(s, run, size, DICTIONARY_INSERT,
			 SQL_VALUES(sql_int(run), sql_int(source), sql_bytes(bytes, size)), e);
}

int store_dictionary_each(struct store *s, int64_t run, uint32_t source, int64_t first,
			  int (*piece)(void *ctx, int64_t number, const void *bytes, size_t size),
			  void *ctx, struct err *e)
{
	CLEANUP(sql_done) struct sql_rows *rows = NULL;
	int result = sql_query(s, e, &rows,
			       "SELECT id, bytes FROM dictionaries "
			       "WHERE run_id = $1 AND source = $2 AND id >= $3 ORDER BY id",
			       SQL_VALUES(sql_int(run), sql_int(source), sql_int(first)));

	while (!result && (result = sql_next(rows, e)) > 0) {
		size_t size;
		const void *bytes = row_bytes(rows, 1, &size);

		result = piece(ctx, row_int(rows, 0), bytes, size);
	}
	return result;
}

int store_dictionary_counts(struct store *s, int64_t run, dictionary_counts *ret, struct err *e)
{
	CLEANUP(sql_done) struct sql_rows *rows = NULL;
	int result = sql_query(s, e, &rows,
			       "SELECT source, COUNT(*) FROM dictionaries WHERE run_id = $1 "
			       "GROUP BY source ORDER BY source",
			       SQL_VALUES(sql_int(run)));

	while (!result && (result = sql_next(rows, e)) > 0) {
		vec_push(ret, (struct dictionary_count){.source = (uint32_t)row_int(rows, 0),
							.pieces = row_u64(rows, 1)});
		result = 0;
	}
	return result;
}

static int remove_pieces(struct store *s, int64_t run, uint32_t source, int64_t last, struct err *e)
{
	CLEANUP(sql_done) struct sql_rows *rows = NULL;
	/* Their sizes are known to the bytes alone. */
	int result = sql_query(s, e, &rows,
			       "DELETE FROM dictionaries WHERE run_id = $1 AND source = $2 "
			       "AND id <= $3 RETURNING bytes",
			       SQL_VALUES(sql_int(run), sql_int(source), sql_int(last)));

	while (!result && (result = sql_next(rows, e)) > 0) {
		size_t size;

		row_bytes(rows, 0, &size);
		run_grows(s, run, -(int64_t)size);
		result = 0;
	}
	return result;
}

int store_dictionary_replace(struct store *s, int64_t run, uint32_t source, int64_t last,
			     const struct buf *pieces, size_t count, struct err *e)
{
	int64_t changed = 0;
	bool own;
	int result = sql_scope_begin(s, &own, e);

	if (result)
		return result;
	result = remove_pieces(s, run, source, last, e);
	for (size_t i = 0; i < count && !result && changed >= 0; i++) {
		changed = sql_run(s, e, DICTIONARY_INSERT,
				  SQL_VALUES(sql_int(run), sql_int(source),
					     sql_bytes(pieces[i].s, pieces[i].len)));
		run_grows(s, run, (int64_t)pieces[i].len);
	}
	if (!result && changed >= 0)
		changed = sql_run(s, e, "UPDATE runs SET generation = generation + 1 WHERE id = $1",
				  SQL_VALUES(sql_int(run)));
	return sql_scope_end(s, own, result ? result : changed < 0 ? (int)changed : 0, e);
}

/* ---- code and what was derived ---- */

int store_code_add(struct store *s, int64_t run, uint32_t source, uint32_t function,
		   const void *bytes, size_t size, struct err *e)
{
	return add_bytes(s, run, size,
			 "INSERT INTO code (run_id, source, function, bytes) "
			 "VALUES ($1, $2, $3, $4) ON CONFLICT (run_id, source, function) "
			 "DO UPDATE SET bytes = excluded.bytes",
			 SQL_VALUES(sql_int(run), sql_int(source), sql_int(function),
				    sql_bytes(bytes, size)),
			 e);
}

int store_code_get(struct store *s, int64_t run, uint32_t source, uint32_t function,
		   struct buf *ret, struct err *e)
{
	return get_bytes(s,
			 "SELECT bytes FROM code WHERE run_id = $1 AND source = $2 "
			 "AND function = $3",
			 SQL_VALUES(sql_int(run), sql_int(source), sql_int(function)), ret, e);
}

/* What is forgotten or replaced gives its bytes back to the run's account. */
static int forget_derived(struct store *s, int64_t run, const char *name, struct err *e)
{
	CLEANUP(sql_done) struct sql_rows *rows = NULL;
	int result = sql_query(s, e, &rows,
			       "DELETE FROM derived WHERE run_id = $1 AND name = $2 "
			       "RETURNING bytes",
			       SQL_VALUES(sql_int(run), sql_text(name)));

	while (!result && (result = sql_next(rows, e)) > 0) {
		size_t size;

		row_bytes(rows, 0, &size);
		run_grows(s, run, -(int64_t)size);
		result = 0;
	}
	return result;
}

int store_derived_put(struct store *s, int64_t run, const char *name, const void *bytes,
		      size_t size, struct err *e)
{
	bool own;
	int result = sql_scope_begin(s, &own, e);

	if (result)
		return result;
	result = forget_derived(s, run, name, e);
	if (!result && bytes)
		result = add_bytes(s, run, size,
				   "INSERT INTO derived (run_id, name, bytes) VALUES ($1, $2, $3)",
				   SQL_VALUES(sql_int(run), sql_text(name), sql_bytes(bytes, size)),
				   e);
	return sql_scope_end(s, own, result, e);
}

int store_derived_get(struct store *s, int64_t run, const char *name, struct buf *ret,
		      struct err *e)
{
	return get_bytes(s, "SELECT bytes FROM derived WHERE run_id = $1 AND name = $2",
			 SQL_VALUES(sql_int(run), sql_text(name)), ret, e);
}

/* ---- output and notes ---- */

int store_output_add(struct store *s, int64_t run, int stream, uint64_t time_ns, const void *bytes,
		     size_t size, struct err *e)
{
	return add_bytes(
		s, run, size,
		"INSERT INTO output (run_id, stream, time_ns, bytes) "
		"VALUES ($1, $2, $3, $4)",
		SQL_VALUES(sql_int(run), sql_int(stream), sql_u64(time_ns), sql_bytes(bytes, size)),
		e);
}

int store_output_each(struct store *s, int64_t run, int stream,
		      int (*piece)(void *ctx, int stream, uint64_t time_ns, const void *bytes,
				   size_t size),
		      void *ctx, struct err *e)
{
	CLEANUP(sql_done) struct sql_rows *rows = NULL;
	int result = sql_query(s, e, &rows,
			       "SELECT stream, time_ns, bytes FROM output "
			       "WHERE run_id = $1 AND ($2 = 0 OR stream = $2) ORDER BY id",
			       SQL_VALUES(sql_int(run), sql_int(stream)));

	while (!result && (result = sql_next(rows, e)) > 0) {
		size_t size;
		const void *bytes = row_bytes(rows, 2, &size);

		result = piece(ctx, (int)row_int(rows, 0), row_u64(rows, 1), bytes, size);
	}
	return result;
}

int store_note_add(struct store *s, int64_t run, uint64_t time_ns, const char *text, struct err *e)
{
	return add_bytes(s, run, strlen(text),
			 "INSERT INTO notes (run_id, time_ns, words) VALUES ($1, $2, $3)",
			 SQL_VALUES(sql_int(run), sql_u64(time_ns), sql_text(text)), e);
}

int store_notes(struct store *s, int64_t run,
		int (*note)(void *ctx, uint64_t time_ns, const char *text), void *ctx,
		struct err *e)
{
	CLEANUP(sql_done) struct sql_rows *rows = NULL;
	int result = sql_query(s, e, &rows,
			       "SELECT time_ns, words FROM notes WHERE run_id = $1 ORDER BY id",
			       SQL_VALUES(sql_int(run)));

	while (!result && (result = sql_next(rows, e)) > 0) {
		CLEANUP(free_ptr) char *words = row_words(rows, 1);

		result = note(ctx, row_u64(rows, 0), words);
	}
	return result;
}
