/*
 * SQLite, in one file of the data directory. WAL, so that readers never wait for the writer;
 * synchronous=FULL, so that what was committed is there after a power cut; incremental vacuum, so
 * that deleting gives disk space back in steps that nobody notices.
 *
 * The file is never opened by ourselves once it exists: closing any descriptor of it would drop the
 * locks that all connections of this process hold (that is how POSIX locks are).
 */
#include "base/clock.h"
#include "store/sql.h"
#include "store/sqlite_error.h"
#include "store/sqlite_files.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define BUSY_MS_DEFAULT 5000
/* The write-ahead log is cut back to this when it starts anew. */
#define WAL_BYTES_KEPT (8 << 20)
#define WAL_PAGES_MAX  512
/* Large pages are read faster: a chunk is half a megabyte. Small ones make less of a small change. */
#define PAGE_BYTES "8192"
/* How long others may have to wait while the log is emptied. */
#define EMPTY_WAL_MS 20

/* With so much free it need not be looked at closely: no log is that long. */
#define ROOM_BYTES_AMPLE (1ull << 30)

/* More than the log has before it is written to the file. */
#define RESERVE_BYTES     (8u << 20)   /* or a quarter of what is free, if that is less, */
#define RESERVE_BYTES_MIN (256u << 10) /* but not less than a few rows need */

struct statement {
	struct sql_rows rows; /* what it is for those who use it */
	const char *sql;      /* the literal; NULL: not kept */
	sqlite3_stmt *stmt;
	bool busy, stepped;
	int64_t changes;
};

struct sqlite {
	struct store store;
	sqlite3 *db;
	unsigned busy_ms, patience_ms; /* as asked for; now */
	uint64_t give_up_ns;
	VEC(struct statement *) statements;
	char *directory;
	struct sqlite_files files;
	bool may_be_lost; /* see store_settle_lost() */
};

static struct sqlite *sqlite_of(struct store *s)
{
	return (struct sqlite *)s;
}

/* ---- the files ---- */

static int sqlite_check(struct store *s, struct err *e)
{
	return sqlite_files_check(&sqlite_of(s)->files, e);
}

/* Before every commit. A result other than 0 makes SQLite roll back. */
static int before_commit(void *arg)
{
	struct sqlite *s = arg;

	return !s->may_be_lost && sqlite_check(&s->store, NULL) < 0;
}

static int failed(struct sqlite *s, struct err *e)
{
	int r;

	/* Also when reading fails: what a deleted file says of itself is not the reason. */
	r = s->may_be_lost ? 0 : sqlite_check(&s->store, e);
	return r < 0 ? r : sqlite_failed(s->db, s->store.place, s->busy_ms, e);
}

/* ---- statements ---- */

static int prepare(struct sqlite *s, const char *sql, bool keep, struct statement **ret,
		   struct err *e)
{
	struct statement *st = xcalloc(1, sizeof(*st));

	st->rows.store = &s->store;
	if (sqlite3_prepare_v3(s->db, sql, -1, keep ? SQLITE_PREPARE_PERSISTENT : 0, &st->stmt,
			       NULL)) {
		free(st);
		return failed(s, e);
	}
	/* SQLite numbers parameters by their first use, whatever digits their names have. */
	for (int i = 1; i <= sqlite3_bind_parameter_count(st->stmt); i++)
		assert(atoi(sqlite3_bind_parameter_name(st->stmt, i) + 1) == i);
	if (keep) {
		st->sql = sql;
		vec_push(&s->statements, st);
	}
	*ret = st;
	return 0;
}

/* The kept one, unless it is at work: somebody asks the same inside of an answer. */
static int find_statement(struct sqlite *s, const char *sql, struct statement **ret, struct err *e)
{
	bool taken = false;

	vec_each(&s->statements, st) {
		if ((*st)->sql != sql)
			continue;
		taken = (*st)->busy;
		if (!taken) {
			*ret = *st;
			return 0;
		}
		break;
	}
	return prepare(s, sql, !taken, ret, e);
}

static int bind(struct statement *st, int index, const struct sql_value *v)
{
	switch (v->type) {
	case SQL_INTEGER:
		return sqlite3_bind_int64(st->stmt, index, v->integer);
	case SQL_REAL:
		return sqlite3_bind_double(st->stmt, index, v->real);
	case SQL_TEXT:
		return sqlite3_bind_text64(st->stmt, index, v->bytes, v->size, SQLITE_STATIC,
					   SQLITE_UTF8);
	case SQL_BYTES:
		return sqlite3_bind_blob64(st->stmt, index, v->bytes, v->size, SQLITE_STATIC);
	case SQL_NULL:
		break;
	}
	return sqlite3_bind_null(st->stmt, index);
}

static void sqlite_done(struct sql_rows *rows)
{
	struct statement *st = (struct statement *)rows;

	sqlite3_reset(st->stmt);
	sqlite3_clear_bindings(st->stmt);
	st->busy = false;
	if (!st->sql) {
		sqlite3_finalize(st->stmt);
		free(st);
	}
}

static int sqlite_query(struct store *store, const char *sql, const struct sql_value *values,
			size_t count, struct sql_rows **ret, struct err *e)
{
	struct sqlite *s = sqlite_of(store);
	struct statement *st = NULL;
	int result = find_statement(s, sql, &st, e);

	if (!st)
		return result;
	st->busy = true;
	st->stepped = false;
	st->changes = 0;
	for (size_t i = 0; i < count && !result; i++)
		if (bind(st, (int)i + 1, &values[i]))
			result = failed(s, e);
	if (result) {
		sqlite_done(&st->rows);
		return result;
	}
	*ret = &st->rows;
	return 0;
}

static int sqlite_next(struct sql_rows *rows, struct err *e)
{
	struct statement *st = (struct statement *)rows;
	struct sqlite *s = sqlite_of(rows->store);
	int before = sqlite3_total_changes(s->db), rc;

	rc = sqlite3_step(st->stmt);
	if (!st->stepped && sqlite3_total_changes(s->db) != before)
		st->changes = sqlite3_changes(s->db);
	st->stepped = true;
	return rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : failed(s, e);
}

static int64_t sqlite_integer(struct sql_rows *rows, int column)
{
	return sqlite3_column_int64(((struct statement *)rows)->stmt, column);
}

static double sqlite_real(struct sql_rows *rows, int column)
{
	return sqlite3_column_double(((struct statement *)rows)->stmt, column);
}

static const void *sqlite_bytes(struct sql_rows *rows, int column, size_t *ret_size)
{
	sqlite3_stmt *stmt = ((struct statement *)rows)->stmt;
	const void *bytes = sqlite3_column_blob(stmt, column);

	*ret_size = (size_t)sqlite3_column_bytes(stmt, column);
	if (!bytes && sqlite3_column_type(stmt, column) != SQLITE_NULL)
		return "";
	return bytes;
}

static int64_t sqlite_changes(struct sql_rows *rows)
{
	return ((struct statement *)rows)->changes;
}

static int sqlite_execute(struct store *store, const char *sql, struct err *e)
{
	struct sqlite *s = sqlite_of(store);

	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) ? failed(s, e) : 0;
}

/* ---- transactions ---- */

/* As a writer from the beginning: one that begins to read and then wants to write could be refused
 * at once, without waiting, because somebody else has written in between. */
static int sqlite_begin(struct store *s, struct err *e)
{
	return (int)sql_run(s, e, "BEGIN IMMEDIATE", SQL_NONE);
}

static int sqlite_commit(struct store *s, struct err *e)
{
	return (int)sql_run(s, e, "COMMIT", SQL_NONE);
}

static void sqlite_rollback(struct store *s)
{
	sqlite3_exec(sqlite_of(s)->db, "ROLLBACK", NULL, NULL, NULL);
}

static bool sqlite_in_transaction(struct store *s)
{
	return !sqlite3_get_autocommit(sqlite_of(s)->db);
}

/* ---- room ---- */

static int pragma_number(struct store *s, const char *sql, int64_t *ret, struct err *e)
{
	return sql_number(s, e, ret, sql, SQL_NONE);
}

static uint64_t file_bytes(const char *path, const char *suffix)
{
	CLEANUP(free_ptr) char *name = xasprintf("%s%s", path, suffix);
	struct stat st;

	return stat(name, &st) ? 0 : (uint64_t)st.st_blocks * 512;
}

static int sqlite_size(struct store *s, uint64_t *ret_bytes, uint64_t *ret_free, struct err *e)
{
	int64_t page_bytes, free_pages;
	int result = pragma_number(s, "PRAGMA page_size", &page_bytes, e);

	if (!result)
		result = pragma_number(s, "PRAGMA freelist_count", &free_pages, e);
	if (result)
		return result;
	*ret_bytes = file_bytes(s->place, "") + file_bytes(s->place, "-wal") +
		     file_bytes(s->place, "-shm");
	*ret_free = (uint64_t)page_bytes * (uint64_t)free_pages;
	return 0;
}

/* Whether there is room for the file to take in the log. Where there is not, a part of it would take
 * all the room that was left, and the log would be no shorter. */
static bool log_fits(struct sqlite *s)
{
	int64_t pages = 0, page_bytes = 0;
	struct statvfs room;
	struct stat st;
	uint64_t bytes;

	if (statvfs(s->directory, &room) || stat(s->store.place, &st))
		return false;
	if ((uint64_t)room.f_bavail * room.f_frsize >= ROOM_BYTES_AMPLE)
		return true;
	if (pragma_number(&s->store, "PRAGMA page_count", &pages, NULL) ||
	    pragma_number(&s->store, "PRAGMA page_size", &page_bytes, NULL))
		return false;
	bytes = (uint64_t)pages * (uint64_t)page_bytes;
	return bytes <= (uint64_t)st.st_size ||
	       bytes - (uint64_t)st.st_size <= (uint64_t)room.f_bavail * room.f_frsize / 2;
}

/* After every commit: the log has so many pages now. */
static int log_grew(void *arg, sqlite3 *db, const char *name, int pages)
{
	if (pages >= WAL_PAGES_MAX && log_fits(arg))
		sqlite3_wal_checkpoint_v2(db, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	return SQLITE_OK;
}

/* Whoever writes waits meanwhile. */
static void empty_wal(struct sqlite *s)
{
	if (!log_fits(s))
		return;
	s->patience_ms = EMPTY_WAL_MS;
	sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	s->patience_ms = s->busy_ms;
}

static bool sqlite_shrink(struct store *store, uint64_t max_bytes)
{
	struct sqlite *s = sqlite_of(store);
	int64_t page_bytes = 0, free_pages = 0;
	char sql[64];

	if (store->began || pragma_number(store, "PRAGMA page_size", &page_bytes, NULL) ||
	    pragma_number(store, "PRAGMA freelist_count", &free_pages, NULL) || page_bytes <= 0)
		return false;
	if (free_pages) {
		uint64_t pages = max_bytes / (uint64_t)page_bytes + 1;

		sqlite3_snprintf(sizeof(sql), sql, "PRAGMA incremental_vacuum(%lld)",
				 (long long)(pages > INT32_MAX ? INT32_MAX : pages));
		if (sqlite3_exec(s->db, sql, NULL, NULL, NULL) ||
		    pragma_number(store, "PRAGMA freelist_count", &free_pages, NULL))
			return false;
	}
	if (free_pages) {
		if (log_fits(s))
			sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL,
						  NULL);
		return true;
	}
	/* Only now does the file become shorter. */
	empty_wal(s);
	return false;
}

/* ---- the reserve ---- */

static void sqlite_reserve(struct store *s)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/reserve", sqlite_of(s)->directory);
	struct statvfs room;
	uint64_t bytes;
	int fd;

	if (!access(path, F_OK) || statvfs(sqlite_of(s)->directory, &room))
		return;
	bytes = (uint64_t)room.f_bavail * room.f_frsize / 4;
	if (bytes < RESERVE_BYTES_MIN)
		return;
	if (bytes > RESERVE_BYTES)
		bytes = RESERVE_BYTES;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (posix_fallocate(fd, 0, (off_t)bytes))
		unlink(path);
	close(fd);
}

static bool sqlite_use_reserve(struct store *s)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/reserve", sqlite_of(s)->directory);

	if (unlink(path))
		return false;
	/* What waits in the log goes into the file, which grows; then the log begins anew, and what is
	 * deleted takes room in neither. */
	empty_wal(sqlite_of(s));
	return true;
}

/* ---- waiting ---- */

/* In short steps: SQLite's own are up to a tenth of a second, so that a writer who comes back at once
 * would get the lock time after time, and the others never. */
static int wait_for_lock(void *arg, int tries)
{
	struct sqlite *s = arg;

	if (!tries)
		s->give_up_ns = clock_now_ns() + s->patience_ms * NS_PER_MSEC;
	if (clock_now_ns() >= s->give_up_ns)
		return 0;
	sqlite3_sleep(tries < 20 ? 1 : 4);
	return 1;
}

/* ---- opening ---- */

/* Two that do this at the same time refuse each other at once, without waiting. */
static int use_wal(struct sqlite *s, struct err *e)
{
	uint64_t until_ns = clock_now_ns() + s->busy_ms * NS_PER_MSEC;
	int rc;

	for (;;) {
		rc = sqlite3_exec(s->db, "PRAGMA journal_mode=WAL", NULL, NULL, NULL);
		if ((rc & 0xff) != SQLITE_BUSY || clock_now_ns() > until_ns)
			break;
		sqlite3_sleep(5);
	}
	return rc ? failed(s, e) : 0;
}

static int configure(struct sqlite *s, bool read_only, struct err *e)
{
	/* Debian's SQLite overwrites all that is deleted, for which a full disk has no room. */
	CLEANUP(free_ptr)
	char *common = xasprintf("PRAGMA foreign_keys=ON; PRAGMA synchronous=FULL;"
				 "PRAGMA temp_store=MEMORY; PRAGMA trusted_schema=OFF;"
				 "PRAGMA secure_delete=FAST; PRAGMA journal_size_limit=%d;",
				 WAL_BYTES_KEPT);
	int result = 0;

	s->patience_ms = s->busy_ms;
	sqlite3_busy_handler(s->db, wait_for_lock, s);
	sqlite3_wal_hook(s->db, log_grew, s);
	/* Both hold only while there is no table yet. */
	if (!read_only &&
	    sqlite3_exec(s->db, "PRAGMA page_size=" PAGE_BYTES "; PRAGMA auto_vacuum=INCREMENTAL",
			 NULL, NULL, NULL))
		result = failed(s, e);
	if (!result && !read_only)
		result = use_wal(s, e);
	if (!result && sqlite3_exec(s->db, common, NULL, NULL, NULL))
		result = failed(s, e);
	return result;
}

static void sqlite_close(struct store *store)
{
	struct sqlite *s = sqlite_of(store);

	vec_each(&s->statements, st) {
		sqlite3_finalize((*st)->stmt);
		free(*st);
	}
	vec_release(&s->statements);
	sqlite_files_leave(&s->files, s->directory);
	sqlite3_close(s->db);
	free(s->directory);
	free(s->files.path);
	free(s);
}

/* Opens the file of a directory that was checked. */
static int open_file(struct sqlite *s, bool read_only, struct err *e)
{
	int flags = read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
	/* SQLITE_OPEN_NOFOLLOW refuses a link anywhere in the path; the user's own may be above. */
	CLEANUP(free_ptr) char *real = realpath(s->directory, NULL);
	CLEANUP(free_ptr) char *path = xasprintf("%s/tacho.db", real ? real : s->directory);

	if (sqlite3_open_v2(path, &s->db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW, NULL))
		return failed(s, e);
	sqlite3_extended_result_codes(s->db, 1);
	if (!read_only && sqlite3_db_readonly(s->db, "main") == 1)
		return err_set(e, EROFS,
			       "The database '%s' cannot be written: it or its file system is "
			       "read-only, or belongs to another user.",
			       s->store.place);
	return 0;
}

static int sqlite_open(struct store **ret, const struct store_options *o, struct err *e)
{
	CLEANUP(directory_close) struct directory d = {.fd = -1};
	struct sqlite *s = xcalloc(1, sizeof(*s));
	int r;

	s->store.ops = &sqlite_ops;
	s->store.place = xasprintf("%s/tacho.db", o->directory);
	s->directory = xstrdup(o->directory);
	s->files.path = xstrdup(s->store.place);
	s->busy_ms = o->busy_ms ? o->busy_ms : BUSY_MS_DEFAULT;
	*ret = &s->store;
	r = directory_open(&d, o->directory, !o->read_only, e);
	if (r == -ENOENT)
		return err_set(e, ENOENT, "There is no database '%s'.", s->store.place);
	if (r == 0)
		r = sqlite_files_prepare(&d, !o->read_only, e);
	if (r == 0)
		r = open_file(s, o->read_only, e);
	if (r == 0)
		r = configure(s, o->read_only, e);
	if (r == 0)
		r = sqlite_files_watch(&s->files, &d, s->db, e);
	if (r == 0)
		sqlite3_commit_hook(s->db, before_commit, s);
	return r;
}

static void sqlite_settle_lost(struct store *s, bool on)
{
	sqlite_of(s)->may_be_lost = on;
}

const struct store_ops sqlite_ops = {
	.name = "sqlite",
	.id_type = "INTEGER PRIMARY KEY AUTOINCREMENT",
	.key_type = "INTEGER PRIMARY KEY",
	.open = sqlite_open,
	.close = sqlite_close,
	.begin = sqlite_begin,
	.commit = sqlite_commit,
	.rollback = sqlite_rollback,
	.in_transaction = sqlite_in_transaction,
	.execute = sqlite_execute,
	.query = sqlite_query,
	.next = sqlite_next,
	.integer = sqlite_integer,
	.real = sqlite_real,
	.bytes = sqlite_bytes,
	.changes = sqlite_changes,
	.done = sqlite_done,
	.size = sqlite_size,
	.shrink = sqlite_shrink,
	.check = sqlite_check,
	.settle_lost = sqlite_settle_lost,
	.reserve = sqlite_reserve,
	.use_reserve = sqlite_use_reserve,
};
