/*
 * A database that lies: a small store is changed as the input says, in its file or in its rows, and then a
 * server starts on it, tidies up, and answers every question about every run. Whatever is stored, each answer
 * is JSON or an error with a sentence.
 *
 * The input is a list of changes, each a byte that chooses the kind and what the kind needs. Blobs are changed
 * below their hash, too: a hash protects from bad disks, not from a database that was written by somebody else.
 */
#include "../unit/support.h"
#include "base/clock.h"
#include "base/number.h"
#include "bus/bus.h"
#include "query/run_cache.h"
#include "runs/live/live.h"
#include "runs/runs.h"
#include "runs/tidy_run.h"
#include "server/api/api.h"
#include "server/users.h"
#include "store_ask.h"
#include "store_seed.h"
#include "packed_change.h"

#include <sqlite3.h>

#define CHANGES_MAX 12

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct buf seed_file;
static char directory[300], database[320], session[UUID_BYTES];

/* ---- changing rows ---- */

/* What can be changed; where `blob` is set, blobs of this column. */
static const struct place {
	const char *table, *key, *column;
	bool blob;
} places[] = {
	{"chunks", "id", "row_count"},
	{"chunks", "id", "kind"},
	{"chunks", "id", "counter"},
	{"chunks", "id", "first_ns"},
	{"chunks", "id", "last_ns"},
	{"chunks", "id", "merged"},
	{"chunks", "id", "sampled"},
	{"chunks", "id", "source"},
	{"chunks", "id", "size"},
	{"chunks", "id", "run_id"},
	{"runs", "id", "state"},
	{"runs", "id", "place"},
	{"runs", "id", "exclusive"},
	{"runs", "id", "created_ms"},
	{"runs", "id", "started_ms"},
	{"runs", "id", "ended_ms"},
	{"runs", "id", "start_ns"},
	{"runs", "id", "duration_ms"},
	{"runs", "id", "bytes"},
	{"runs", "id", "samples"},
	{"runs", "id", "generation"},
	{"runs", "id", "session_id"},
	{"runs", "id", "uuid"},
	{"runs", "id", "user_name"},
	{"runs", "id", "description"},
	{"runs", "id", "command"},
	{"runs", "id", "plan"},
	{"runs", "id", "opened"},
	{"runs", "id", "ledger"},
	{"runs", "id", "ended"},
	{"runs", "id", "tags"},
	{"runs", "id", "raw_path"},
	{"sessions", "id", "uuid"},
	{"sessions", "id", "title"},
	{"sessions", "id", "created_ms"},
	{"users", "id", "name"},
	{"users", "id", "role"},
	{"users", "id", "created_ms"},
	{"users", "id", "revoked_ms"},
	{"settings", "rowid", "value"},
	{"schema_steps", "version", "version"},
	{"output", "id", "time_ns"},
	{"output", "id", "stream"},
	{"notes", "id", "time_ns"},
	{"notes", "id", "words"},
	{"derived", "id", "name"},
	{"code", "id", "function"},
	{"dictionaries", "id", "source"},
	{"chunk_bytes", "chunk_id", "bytes", true},
	{"chunk_summaries", "chunk_id", "bytes", true},
	{"dictionaries", "id", "bytes", true},
	{"derived", "id", "bytes", true},
	{"code", "id", "bytes", true},
	{"output", "id", "bytes", true},
};

static void bind_value(sqlite3_stmt *s, struct cursor *in)
{
	static const int64_t numbers[] = {
		0,         1,          -1,        2,         65535, 65536, 65537,     INT32_MAX,
		1ll << 32, UINT32_MAX, INT64_MAX, INT64_MIN, 3,     300,   1ll << 62, SEED_START};
	uint8_t kind = cursor_u8(in);
	size_t left = in->size - in->at;

	switch (kind % 6) {
	case 0:
	case 1:
		sqlite3_bind_int64(s, 1, numbers[cursor_u8(in) % ARRAY_LEN(numbers)]);
		break;
	case 2:
		sqlite3_bind_int64(s, 1, (int64_t)cursor_u64(in));
		break;
	case 3:
		sqlite3_bind_double(s, 1, kind & 8 ? 1e308 * 10 : -1e300);
		break;
	case 4:
		left = left < 64 ? left : 64;
		sqlite3_bind_text(s, 1, (const char *)in->data + in->at, (int)left,
				  SQLITE_TRANSIENT);
		cursor_skip(in, left);
		break;
	default:
		sqlite3_bind_null(s, 1);
	}
}

static sqlite3_stmt *prepared(sqlite3 *db, const struct place *p, const char *how)
{
	CLEANUP(free_ptr)
	char *sql = xasprintf("%s %s = (SELECT %s FROM %s ORDER BY 1 LIMIT 1 OFFSET ?2)", how,
			      p->key, p->key, p->table);
	sqlite3_stmt *s = NULL;

	sqlite3_prepare_v2(db, sql, -1, &s, NULL);
	return s;
}

static void change_number(sqlite3 *db, const struct place *p, uint8_t row, struct cursor *in)
{
	CLEANUP(free_ptr)
	char *how = xasprintf("UPDATE %s SET %s = ?1 WHERE", p->table, p->column);
	sqlite3_stmt *s = prepared(db, p, how);

	if (s) {
		bind_value(s, in);
		sqlite3_bind_int(s, 2, row % 24);
		sqlite3_step(s);
	}
	sqlite3_finalize(s);
}

/* Reads a blob; false: there is none. */
static bool read_blob(sqlite3 *db, const struct place *p, uint8_t row, struct buf *ret)
{
	CLEANUP(free_ptr) char *how = xasprintf("SELECT %s, ?1 FROM %s WHERE", p->column, p->table);
	sqlite3_stmt *s = prepared(db, p, how);
	bool found = false;

	if (s)
		sqlite3_bind_int(s, 2, row % 24);
	if (s && sqlite3_step(s) == SQLITE_ROW && sqlite3_column_bytes(s, 0)) {
		buf_add_mem(ret, sqlite3_column_blob(s, 0), (size_t)sqlite3_column_bytes(s, 0));
		found = true;
	}
	sqlite3_finalize(s);
	return found;
}

static void change_blob(sqlite3 *db, const struct place *p, uint8_t row, struct cursor *in)
{
	CLEANUP(free_ptr)
	char *how = xasprintf("UPDATE %s SET %s = ?1 WHERE", p->table, p->column);
	CLEANUP(buf_release) struct buf blob = {};
	uint8_t kind = cursor_u8(in);
	sqlite3_stmt *s;

	/* The same bytes, those of another row, or these changed. */
	if (!read_blob(db, p, kind % 4 == 3 ? cursor_u8(in) : row, &blob))
		return;
	if (kind % 4 == 0)
		blob.len = blob.len * cursor_u8(in) / 256;
	else if (kind % 4 == 1 || (kind % 4 == 2 && !reseal(&blob, in)))
		flip((uint8_t *)blob.s, blob.len, in);
	s = prepared(db, p, how);
	if (s) {
		sqlite3_bind_blob(s, 1, buf_str(&blob), (int)blob.len, SQLITE_TRANSIENT);
		sqlite3_bind_int(s, 2, row % 24);
		sqlite3_step(s);
	}
	sqlite3_finalize(s);
}

static void delete_row(sqlite3 *db, const struct place *p, uint8_t row)
{
	CLEANUP(free_ptr) char *how = xasprintf("DELETE FROM %s WHERE ?1 IS NULL AND", p->table);
	sqlite3_stmt *s = prepared(db, p, how);

	if (s) {
		sqlite3_bind_int(s, 2, row % 24);
		sqlite3_step(s);
	}
	sqlite3_finalize(s);
}

/* ---- changing the file ---- */

static void write_file(const struct buf *bytes)
{
	static const char *const beside[] = {"-wal", "-shm", "-journal"};
	FILE *f = fopen(database, "wb");

	if (!f || fwrite(bytes->s, bytes->len, 1, f) != 1)
		abort();
	fclose(f);
	for (size_t i = 0; i < ARRAY_LEN(beside); i++) {
		CLEANUP(free_ptr) char *path = xasprintf("%s%s", database, beside[i]);

		unlink(path);
	}
}

static void change_file(struct buf *file, struct cursor *in)
{
	uint32_t at = cursor_u32(in);
	size_t room = file->len - at % file->len;

	flip((uint8_t *)file->s + at % file->len, room < 4096 ? room : 4096, in);
}

/* Changes of the file come first: behind them there may be no database. */
static void change(const uint8_t *data, size_t size)
{
	CLEANUP(buf_release) struct buf file = {};
	struct cursor in = little_cursor(data, size);
	sqlite3 *db = NULL;
	int changes = 0;

	buf_add_mem(&file, seed_file.s, seed_file.len);
	for (; in.at < in.size && data[in.at] % 4 == 0 && changes < CHANGES_MAX; changes++) {
		cursor_skip(&in, 1);
		change_file(&file, &in);
	}
	write_file(&file);
	if (in.at >= in.size || sqlite3_open(database, &db))
		goto out;
	sqlite3_exec(db, "PRAGMA foreign_keys = off; PRAGMA synchronous = off; BEGIN", NULL, NULL,
		     NULL);
	for (; in.at < in.size && changes < CHANGES_MAX && !in.failed; changes++) {
		uint8_t kind = cursor_u8(&in);
		const struct place *p = &places[cursor_u8(&in) % ARRAY_LEN(places)];
		uint8_t row = cursor_u8(&in);

		if (kind % 16 == 15)
			delete_row(db, p, row);
		else if (p->blob)
			change_blob(db, p, row, &in);
		else
			change_number(db, p, row, &in);
	}
	sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
out:
	sqlite3_close(db);
}

/* ---- a server on it ---- */

/* What the thread that tidies up does to each run, but for its pauses. */
static void tidy(struct store *s)
{
	struct tidy_run work = {.clock = &system_clock};
	run_numbers runs = {};

	store_runs_to_merge(s, &runs, NULL);
	vec_each(&runs, run) {
		struct stored_run now = {};

		if (store_run_get_id(s, *run, &now, NULL) == 0) {
			for (int i = 0;
			     i < 20 &&
			     tidy_run_merge(&work, s, *run, run_state_ended(now.state), NULL) > 0;
			     i++)
				;
			tidy_run_dictionaries(s, *run, NULL);
			run_cache_prepare(s, &now, NULL);
		}
		stored_run_release(&now);
	}
	vec_release(&runs);
	tidy_run_release(&work);
}

/* Of one run: an input that is about another leads to the same code by its next change. */
static void ask_about(struct server *server, struct store *store, unsigned run)
{
	struct api api = {server, store};

	server->cache = run_cache_new(0);
	ask_all_of(&api, &(struct asked){{seed_uuids[run], seed_uuids[run + 1]}, session});
	run_cache_free(server->cache);
}

/* As server_start(), without its threads and its port. */
static void serve(unsigned run)
{
	struct server server = {.config.data = directory,
				.config.queue_max = 10,
				.config.running_max = 2,
				.lock_fd = -1};
	struct store *store = NULL;
	struct err e = {};
	char token[TOKEN_BYTES];
	int rc;

	server.host.settings.data = directory;
	server.host.clock = &system_clock;
	if (store_open(&store, &(struct store_options){.directory = directory}, &e) < 0) {
		if (!e.text[0])
			abort();
		return;
	}
	rc = users_admin(store, token, &e);
	server.host.bus = bus_new(&system_clock);
	server.host.live = live_new(&server.host);
	if (rc == 0)
		rc = runs_prepare(&server.host.runs, &server.host, &e);
	if (rc == 0) {
		ask_about(&server, store, run);
		tidy(store);
		ask_about(&server, store, run);
	} else if (!e.text[0]) {
		abort();
	}
	runs_stop(server.host.runs);
	live_free(server.host.live);
	bus_free(server.host.bus);
	strvec_release(&server.host.notices);
	store_close(store);
}

/* ---- the store that is changed ---- */

static void remove_directory(void)
{
	remove_support_dir(NULL);
}

static void make_seed(void)
{
	char bytes[4096];
	size_t size;
	FILE *f;

	/* In memory, if there is such a place: nothing here is about disks. */
	if (!access("/dev/shm", W_OK))
		setenv("TMPDIR", "/dev/shm", 0);
	if (make_support_dir(NULL))
		abort();
	atexit(remove_directory);
	snprintf(directory, sizeof(directory), "%s/data", support_dir);
	snprintf(database, sizeof(database), "%s/tacho.db", directory);
	seed_make(directory, session);
	f = fopen(database, "rb");
	if (!f)
		abort();
	while ((size = fread(bytes, 1, sizeof(bytes), f)))
		buf_add_mem(&seed_file, bytes, size);
	fclose(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned sum = 0;

	if (!seed_file.len)
		make_seed();
	change(data, size);
	for (size_t i = 0; i < size; i++)
		sum += data[i];
	serve(sum % (SEED_RUNS - 1));
	return 0;
}
