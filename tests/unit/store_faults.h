/*
 * What tests of a store in trouble have in common: a store with a run, pieces that were committed in whole
 * transactions, and a look at whether all is well. Include it after cmocka.h.
 */
#ifndef TACHO_TESTS_STORE_FAULTS_H
#define TACHO_TESTS_STORE_FAULTS_H

#include "store/store.h"
#include "store_support.h"

#include <sqlite3.h>

static inline struct store *open_store(const char *directory)
{
	struct store *s = NULL;

	OK(store_open(&s, &(struct store_options){.directory = directory, .busy_ms = 60000},
		      &error));
	return s;
}

static inline int64_t new_run(struct store *s)
{
	struct stored_session session = {};
	struct stored_run run = {.command = (char *)"x"};

	OK(store_session_add(s, "s", &session, &error));
	run.session_id = session.id;
	OK(store_run_add(s, &run, &error));
	stored_session_release(&session);
	return run.id;
}

static inline void check_integrity(const char *directory)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/tacho.db", directory);
	sqlite3_stmt *stmt;
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &stmt, NULL), 0);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	assert_string_equal((const char *)sqlite3_column_text(stmt, 0), "ok");
	sqlite3_finalize(stmt);
	assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA foreign_key_check", -1, &stmt, NULL), 0);
	assert_int_equal(sqlite3_step(stmt), SQLITE_DONE);
	sqlite3_finalize(stmt);
	sqlite3_close(db);
}

#define ROWS_EACH   5
#define PIECE_BYTES 3000

struct found {
	uint64_t last, in_last, pieces;
};

static inline int find_piece(void *ctx, int stream, uint64_t time_ns, const void *bytes,
			     size_t size)
{
	struct found *f = ctx;
	uint64_t n;

	(void)stream;
	assert_int_equal(size, PIECE_BYTES);
	memcpy(&n, bytes, sizeof(n));
	assert_int_equal(n, time_ns);
	if (n != f->last) {
		/* Whole transactions, none left out. */
		assert_int_equal(n, f->last + 1);
		if (f->last)
			assert_int_equal(f->in_last, ROWS_EACH);
		f->last = n;
		f->in_last = 0;
	}
	f->in_last++;
	f->pieces++;
	return 0;
}

#endif
