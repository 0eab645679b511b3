/*
 * A database that lies: rows whose numbers are not those of their contents. Every question gets an error that
 * names run and chunk, and nothing else of the database suffers.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "query_fixture.h"
#include "bus/bus.h"
#include "runs/live/live.h"
#include "runs/runs.h"

#include <sqlite3.h>

/* Changes the database behind the store's back. */
static void lie(const char *fmt, ...)
{
	CLEANUP(free_ptr)
	char *path = xasprintf("%s/%u/tacho.db", support_dir, directories - 1);
	sqlite3 *db = NULL;
	char sql[4000], *why = NULL;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(sql, sizeof(sql), fmt, ap);
	va_end(ap);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &why))
		fail_msg("%s: %s", sql, why);
	sqlite3_close(db);
	forget();
}

/* The number of the @n-th chunk of a table, by time. */
static long long chunk_number(uint32_t schema, size_t n)
{
	stored_chunks chunks = {};
	long long id;

	OK(store_chunks(store, run.id, &(struct chunk_query){.schema = schema}, &chunks, &error));
	assert_true(n < chunks.len);
	id = chunks.items[n].id;
	vec_release(&chunks);
	return id;
}

/* The question fails, and its sentence names the run and this chunk. */
static void names(const char *question, long long chunk)
{
	char text[100];

	snprintf(text, sizeof(text), "chunk %lld of run %s", chunk, run.uuid);
	refuses(question, EBADMSG, text);
}

static void answers(const char *question)
{
	struct http_reply reply;

	OK(ask_bytes(question, &reply));
	reply_release(&reply);
}

static void test_fewer_rows_than_the_chunk_has(void **state)
{
	long long counts, samples;

	(void)state;
	whole_run(0);
	counts = chunk_number(SCHEMA_COUNTS, 0);
	samples = chunk_number(SCHEMA_SAMPLES, 3);
	lie("UPDATE chunks SET row_count = 5 WHERE id IN (%lld, %lld)", counts, samples);
	names("histogram?counter=ticks,x", counts);
	names("timeline?pixels=5000&counters=ticks,x", counts);
	names("functions", samples);
	names("histogram?weight=cpu-clock", samples);
	names("points?max=100000", samples);
	names("table/samples/histogram?value=weight", samples);
}

static void test_more_rows_than_the_chunk_has(void **state)
{
	long long counts, samples;

	(void)state;
	whole_run(0);
	counts = chunk_number(SCHEMA_COUNTS, 1);
	samples = chunk_number(SCHEMA_SAMPLES, 0);
	lie("UPDATE chunks SET row_count = 65000 WHERE id IN (%lld, %lld)", counts, samples);
	names("histogram?counter=idle", counts);
	names("flame", samples);
	names("table/samples/group?by=thread", samples);
}

static void test_numbers_that_no_chunk_has(void **state)
{
	static const char *const lies[] = {
		"row_count = 65537",      "row_count = 0", "row_count = -1",
		"row_count = 4294967297", "kind = 0",      "kind = -1",
		"kind = 1099511627776",   "counter = -1",  "source = 4294967296",
		"first_ns = last_ns + 1"};
	long long chunk;

	(void)state;
	whole_run(0);
	chunk = chunk_number(SCHEMA_COUNTS, 0);
	lie("CREATE TABLE kept AS SELECT * FROM chunks");
	for (size_t i = 0; i < ARRAY_LEN(lies); i++) {
		lie("UPDATE chunks SET %s WHERE id = %lld", lies[i], chunk);
		names("histogram?counter=ticks,x", chunk);
		names("flame", chunk);
		lie("PRAGMA foreign_keys = off; UPDATE chunks SET (row_count, kind, counter, "
		    "source, "
		    "first_ns) = (SELECT row_count, kind, counter, source, first_ns FROM kept "
		    "WHERE kept.id = chunks.id)");
		answers("histogram?counter=ticks,x");
	}
}

/* The bytes of a chunk are those of another: of another table, counter or time. */
static void test_bytes_of_another_chunk(void **state)
{
	long long ticks, idle, samples;

	(void)state;
	whole_run(0);
	ticks = chunk_number(SCHEMA_COUNTS, 0);
	idle = chunk_number(SCHEMA_COUNTS, 1);
	samples = chunk_number(SCHEMA_SAMPLES, 0);
	lie("UPDATE chunk_bytes SET bytes = (SELECT bytes FROM chunk_bytes WHERE chunk_id = %lld) "
	    "WHERE chunk_id = %lld",
	    idle, ticks);
	names("histogram?counter=ticks,x", ticks);
	lie("UPDATE chunk_bytes SET bytes = (SELECT bytes FROM chunk_bytes WHERE chunk_id = %lld) "
	    "WHERE chunk_id = %lld",
	    idle, samples);
	names("flame", samples);
}

/* Bytes with the head that the row says, and damage behind it. */
static void test_bytes_that_do_not_decode(void **state)
{
	long long ticks, samples;

	(void)state;
	whole_run(0);
	ticks = chunk_number(SCHEMA_COUNTS, 0);
	samples = chunk_number(SCHEMA_SAMPLES, 5);
	lie("UPDATE chunk_bytes SET bytes = CAST(substr(bytes, 1, length(bytes) - 1) || x'55' AS "
	    "BLOB) WHERE chunk_id IN (%lld, %lld)",
	    ticks, samples);
	names("histogram?counter=ticks,x", ticks);
	names("points?max=100000", samples);
	names("flame", samples);
	names("table/samples/histogram?value=weight", samples);
}

/* The summary of a chunk of five values, in hexadecimal. */
static void make_small_summary(struct buf *ret_hex)
{
	CLEANUP(buf_release) struct buf bytes = {}, summary = {};
	struct count_row rows[5] = {};
	struct chunk_info info;

	for (size_t n = 0; n < ARRAY_LEN(rows); n++)
		rows[n] = (struct count_row){START + (n + 1) * MS, MS, n, 1000000};
	chunk_encode_counts(1, rows, ARRAY_LEN(rows), &bytes, &info);
	OK(chunk_summarize(&(struct chunk_piece){bytes.s, bytes.len}, &summary, &error));
	for (size_t n = 0; n < summary.len; n++)
		buf_addf(ret_hex, "%02x", (unsigned char)summary.s[n]);
}

static void test_summary_of_another_chunk(void **state)
{
	CLEANUP(buf_release) struct buf hex = {};
	long long ticks, samples;

	(void)state;
	whole_run(60);
	/* 100 chunks became two, of 60 and of 40. */
	samples = chunk_number(SCHEMA_SAMPLES, 1);
	lie("UPDATE chunk_summaries SET bytes = (SELECT bytes FROM chunk_summaries "
	    "WHERE chunk_id = %lld) WHERE chunk_id = %lld",
	    chunk_number(SCHEMA_SAMPLES, 0), samples);
	names("flame", samples);
	/* Blocks of fewer rows than the counter's chunk has. */
	ticks = chunk_number(SCHEMA_COUNTS, 1);
	make_small_summary(&hex);
	lie("UPDATE chunk_summaries SET bytes = x'%s' WHERE chunk_id = %lld", hex.s, ticks);
	names("timeline?pixels=10&counters=ticks,x", ticks);
}

/* The tables of the run are gone, or those of another: its samples are of events that it has not. */
static void test_samples_without_their_events(void **state)
{
	(void)state;
	whole_run(60);
	lie("DELETE FROM derived; DELETE FROM dictionaries");
	names("timeline?pixels=100&samples=1", chunk_number(SCHEMA_SAMPLES, 0));
	names("flame", chunk_number(SCHEMA_SAMPLES, 0));
}

/* The next piece would be asked for by the number after it. */
static void test_the_last_number_of_all(void **state)
{
	(void)state;
	whole_run(60);
	lie("DELETE FROM derived; UPDATE dictionaries SET id = %lld "
	    "WHERE id = (SELECT MAX(id) FROM dictionaries)",
	    (long long)INT64_MAX);
	refuses("flame", EBADMSG, "impossible number");
}

/* Sizes that no chunk has: adding them up must not overflow when chunks are merged. */
static void test_sizes_that_no_chunk_has(void **state)
{
	(void)state;
	whole_run(0);
	lie("UPDATE chunks SET size = %lld, summary_size = 1", (long long)INT64_MAX);
	merge_chunks(SCHEMA_SAMPLES, 0, 60);
	lie("UPDATE chunks SET size = %lld, summary_size = -1", (long long)INT64_MIN);
	merge_chunks(SCHEMA_SAMPLES, 0, 1);
	answers("flame");
}

/* ---- rows of runs ---- */

static struct stored_run read_run(void)
{
	struct stored_run r = {};

	OK(store_run_get(store, run.uuid, &r, &error));
	return r;
}

static void test_numbers_that_no_run_has(void **state)
{
	struct stored_run r;

	(void)state;
	whole_run(0);
	lie("UPDATE runs SET state = 77, place = 9e999, created_ms = -1, started_ms = %lld, "
	    "ended_ms = %lld, start_ns = %lld, duration_ms = -5, bytes = -1, samples = -1",
	    (long long)INT64_MIN, (long long)INT64_MAX, (long long)INT64_MIN);
	r = read_run();
	assert_int_equal(r.state, STATE_FAILED);
	assert_non_null(strstr(r.error, "77"));
	assert_true(r.position == 0);
	assert_int_equal(r.created_ms, 0);
	assert_int_equal(r.started_ms, 0);
	assert_int_equal(r.ended_ms, 0);
	assert_int_equal(r.start_ns, 0);
	assert_int_equal(r.duration_ms, 0);
	assert_int_equal(r.bytes, 0);
	assert_int_equal(r.samples, 0);
	stored_run_release(&r);
}

/* A path in the database leads to no file but the run's own recording. */
static void test_paths_that_lead_elsewhere(void **state)
{
	struct stored_run r;

	(void)state;
	whole_run(0);
	lie("UPDATE runs SET raw_path = 'raw/%s.data'", run.uuid);
	r = read_run();
	assert_non_null(r.raw_path);
	stored_run_release(&r);
	lie("UPDATE runs SET raw_path = '../../../../etc/passwd'");
	r = read_run();
	assert_null(r.raw_path);
	stored_run_release(&r);
	lie("UPDATE runs SET uuid = '../../../../../../../../../etc/12345'");
	OK(store_run_get_id(store, run.id, &r, &error));
	assert_string_equal(r.uuid, "");
	stored_run_release(&r);
}

/* Names that are missing, and times of an unfinished run that are beyond all bounds: a server starts. */
static void test_start_on_lies(void **state)
{
	CLEANUP(free_ptr) char *data = NULL;
	struct run_host host = {.clock = &system_clock};
	struct stored_run r;
	struct stored_user user = {.name = (char *)"ann", .token_hash = "x"};
	stored_users users = {};

	(void)state;
	whole_run(0);
	OK(store_user_add(store, &user, &error));
	lie("UPDATE runs SET state = 1, start_ns = 1, started_ms = %lld, ended_ms = %lld",
	    (long long)INT64_MAX, (long long)INT64_MIN);
	lie("UPDATE chunks SET last_ns = %lld WHERE id = %lld", (long long)INT64_MAX,
	    chunk_number(SCHEMA_SAMPLES, 0));
	lie("PRAGMA writable_schema = on; UPDATE sqlite_schema SET sql = replace(sql, "
	    "'TEXT NOT NULL', 'TEXT') WHERE name = 'users'");
	lie("UPDATE users SET name = NULL");
	data = xasprintf("%s/%u", support_dir, directories - 1);
	host.settings.data = data;
	host.bus = bus_new(&system_clock);
	host.live = live_new(&host);
	OK(runs_prepare(&host.runs, &host, &error));
	r = read_run();
	assert_int_equal(r.state, STATE_INTERRUPTED);
	stored_run_release(&r);
	runs_stop(host.runs);
	live_free(host.live);
	bus_free(host.bus);
	OK(store_users(store, &users, &error));
	assert_string_equal(users.items[0].name, "");
	stored_users_release(&users);
}

#define LIE_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LIE_TEST(test_fewer_rows_than_the_chunk_has),
		LIE_TEST(test_more_rows_than_the_chunk_has),
		LIE_TEST(test_numbers_that_no_chunk_has),
		LIE_TEST(test_bytes_of_another_chunk),
		LIE_TEST(test_bytes_that_do_not_decode),
		LIE_TEST(test_summary_of_another_chunk),
		LIE_TEST(test_samples_without_their_events),
		LIE_TEST(test_the_last_number_of_all),
		LIE_TEST(test_sizes_that_no_chunk_has),
		LIE_TEST(test_numbers_that_no_run_has),
		LIE_TEST(test_paths_that_lead_elsewhere),
		LIE_TEST(test_start_on_lies),
	};

	return cmocka_run_group_tests(tests, make_support_dir, remove_support_dir);
}
