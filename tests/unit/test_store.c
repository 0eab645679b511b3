/* The store on a real SQLite file: everything in its header does what it says. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/store.h"
#include "store_support.h"

#include <sqlite3.h>

static struct store *store;
static unsigned directories;
static char directory[300];

static int open_new(void **state)
{
	(void)state;
	snprintf(directory, sizeof(directory), "%s/a/%u", support_dir, directories++);
	if (store_open(&store, &(struct store_options){.directory = directory}, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return -1;
	}
	return 0;
}

static int close_it(void **state)
{
	(void)state;
	store_close(store);
	store = NULL;
	return 0;
}

static void reopen(void)
{
	store_close(store);
	store = NULL;
	OK(store_open(&store, &(struct store_options){.directory = directory}, &error));
}

static int64_t add_session(const char *title)
{
	struct stored_session s = {};
	int64_t id;

	OK(store_session_add(store, title, &s, &error));
	id = s.id;
	stored_session_release(&s);
	return id;
}

static struct stored_run plain_run(int64_t session, const char *command)
{
	return (struct stored_run){.session_id = session,
				   .user = (char *)"ann",
				   .command = (char *)command,
				   .plan = (char *)"{}",
				   .tags = (char *)"[]"};
}

static int64_t add_run(int64_t session, const char *command)
{
	struct stored_run r = plain_run(session, command);

	OK(store_run_add(store, &r, &error));
	return r.id;
}

static int64_t new_run(void)
{
	return add_run(add_session("s"), "true");
}

/* ---- the file ---- */

static void test_rights_and_settings(void **state)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/tacho.db", directory);
	sqlite3 *db;
	sqlite3_stmt *stmt;
	struct stat st;
	static const char *const pragmas[][2] = {{"PRAGMA auto_vacuum", "2"},
						 {"PRAGMA journal_mode", "wal"}};

	(void)state;
	assert_int_equal(stat(directory, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	add_session("so that there is a log");
	free(path);
	path = xasprintf("%s/tacho.db-wal", directory);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	path[strlen(path) - 4] = '\0';
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	for (size_t i = 0; i < ARRAY_LEN(pragmas); i++) {
		assert_int_equal(sqlite3_prepare_v2(db, pragmas[i][0], -1, &stmt, NULL), 0);
		assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
		assert_string_equal((const char *)sqlite3_column_text(stmt, 0), pragmas[i][1]);
		sqlite3_finalize(stmt);
	}
	sqlite3_close(db);
}

static void test_uuids(void **state)
{
	char a[UUID_BYTES], b[UUID_BYTES];

	(void)state;
	for (int i = 0; i < 100; i++) {
		uuid_make(a);
		uuid_make(b);
		assert_true(uuid_valid(a));
		assert_string_not_equal(a, b);
		assert_int_equal(a[14], '4');
	}
	assert_false(uuid_valid(NULL));
	assert_false(uuid_valid(""));
	assert_false(uuid_valid("../../../../../../../../etc/passwd.."));
	assert_false(uuid_valid("123e4567-e89b-42d3-a456-42661417400"));
	assert_false(uuid_valid("123e4567-e89b-42d3-a456-4266141740000"));
	assert_false(uuid_valid("123e4567-e89b-42d3-a456-42661417400g"));
	assert_false(uuid_valid("123E4567-E89B-42D3-A456-426614174000"));
	assert_true(uuid_valid("123e4567-e89b-42d3-a456-426614174000"));
}

/* ---- sessions ---- */

static void test_sessions(void **state)
{
	struct stored_session s = {}, t = {};

	(void)state;
	OK(store_session_add(store, "First \"one\"", &s, &error));
	assert_true(uuid_valid(s.uuid));
	OK(store_session_get(store, s.uuid, &t, &error));
	assert_int_equal(t.id, s.id);
	assert_string_equal(t.title, "First \"one\"");
	assert_int_equal(t.created_ms, s.created_ms);
	assert_true(t.created_ms > 1600000000000);
	assert_int_equal(t.runs, 0);
	stored_session_release(&t);
	add_run(s.id, "true");
	OK(store_session_rename(store, s.id, "renamed", &error));
	reopen();
	OK(store_session_get(store, s.uuid, &t, &error));
	assert_string_equal(t.title, "renamed");
	assert_int_equal(t.runs, 1);
	stored_session_release(&t);
	OK(store_session_delete(store, s.id, &error));
	assert_int_equal(store_session_get(store, s.uuid, &t, &error), -ENOENT);
	assert_non_null(strstr(error.text, s.uuid));
	assert_int_equal(store_session_delete(store, s.id, &error), -ENOENT);
	assert_int_equal(store_session_rename(store, s.id, "x", &error), -ENOENT);
	assert_int_equal(store_session_get(store, "no", &t, &error), -ENOENT);
	stored_session_release(&s);
}

static void test_pages_of_sessions(void **state)
{
	stored_sessions page = {};
	char title[32];

	(void)state;
	for (int i = 0; i < 25; i++) {
		snprintf(title, sizeof(title), i % 5 ? "Plain %d" : "50%% _Odd_ %d", i);
		add_session(title);
	}
	OK(store_sessions(store, &(struct page){.limit = 10}, &page, &error));
	assert_int_equal(page.len, 10);
	assert_string_equal(page.items[0].title, "Plain 24");
	OK(store_sessions(store, &(struct page){.limit = 100, .before = page.items[9].id}, &page,
			  &error));
	assert_int_equal(page.len, 25);
	for (size_t i = 1; i < page.len; i++)
		assert_true(page.items[i].id < page.items[i - 1].id);
	stored_sessions_release(&page);
	/* What is special in LIKE is not special to people; case does not matter. */
	OK(store_sessions(store, &(struct page){.limit = 100, .search = "0% _oDD_"}, &page,
			  &error));
	assert_int_equal(page.len, 5);
	stored_sessions_release(&page);
	OK(store_sessions(store, &(struct page){.limit = 100, .search = "P_ain"}, &page, &error));
	assert_int_equal(page.len, 0);
	stored_sessions_release(&page);
}

static void test_search_too_long(void **state)
{
	stored_sessions page = {};
	char *longer = xcalloc(1, 100001);

	(void)state;
	memset(longer, 'x', 100000);
	assert_int_equal(
		store_sessions(store, &(struct page){.limit = 1, .search = longer}, &page, &error),
		-EINVAL);
	free(longer);
}

/* ---- runs ---- */

static void check_run(const struct stored_run *a, const struct stored_run *b)
{
	assert_int_equal(a->id, b->id);
	assert_int_equal(a->session_id, b->session_id);
	assert_string_equal(a->uuid, b->uuid);
	assert_string_equal(a->session_uuid, b->session_uuid);
	assert_int_equal(a->state, b->state);
	assert_true(a->position == b->position);
	assert_int_equal(a->exclusive, b->exclusive);
	assert_string_equal(a->user, b->user);
	assert_string_equal(a->description, b->description);
	assert_string_equal(a->command, b->command);
	assert_string_equal(a->plan, b->plan);
	assert_string_equal(a->tags, b->tags);
	assert_int_equal(a->created_ms, b->created_ms);
	assert_int_equal(a->started_ms, b->started_ms);
	assert_int_equal(a->ended_ms, b->ended_ms);
	assert_int_equal(a->start_ns, b->start_ns);
	assert_int_equal(a->duration_ms, b->duration_ms);
	assert_int_equal(a->samples, b->samples);
}

static void test_runs(void **state)
{
	struct stored_run r = plain_run(add_session("s"), "sleep 1"), t = {};

	(void)state;
	r.description = (char *)"a run";
	r.position = 1.5;
	r.exclusive = true;
	OK(store_run_add(store, &r, &error));
	assert_true(uuid_valid(r.uuid) && uuid_valid(r.session_uuid));
	OK(store_run_get(store, r.uuid, &t, &error));
	check_run(&r, &t);
	assert_null(t.opened);
	assert_null(t.ledger);
	assert_null(t.ended);
	assert_null(t.error);
	assert_null(t.raw_path);
	stored_run_release(&t);

	r.state = STATE_FAILED;
	r.position = 2.25;
	r.opened = (char *)"{\"o\":1}";
	r.ledger = (char *)"{\"l\":1}";
	r.ended = (char *)"{\"e\":1}";
	r.error = (char *)"It broke.";
	r.raw_path = (char *)"raw/x.data";
	r.started_ms = 1700000000001;
	r.ended_ms = 1700000000002;
	r.start_ns = INT64_MAX - 5;
	r.duration_ms = 77;
	r.samples = 1234567890123;
	OK(store_run_update(store, &r, &error));
	reopen();
	OK(store_run_get_id(store, r.id, &t, &error));
	check_run(&r, &t);
	assert_string_equal(t.opened, r.opened);
	assert_string_equal(t.ledger, r.ledger);
	assert_string_equal(t.ended, r.ended);
	assert_string_equal(t.error, r.error);
	assert_string_equal(t.raw_path, r.raw_path);
	stored_run_release(&t);
	assert_int_equal(store_run_get(store, "nothing", &t, &error), -ENOENT);
}

/* A person's note survives the news of the run, and the other way round. */
static void test_notes_of_people(void **state)
{
	struct stored_run r = plain_run(add_session("s"), "x"), t = {};

	(void)state;
	OK(store_run_add(store, &r, &error));
	OK(store_run_annotate(store, r.id, "look here", "[\"keep\"]", &error));
	r.state = STATE_DONE;
	OK(store_run_update(store, &r, &error));
	OK(store_run_describe(store, r.id, "other", &error));
	OK(store_run_annotate(store, r.id, NULL, "[]", &error));
	OK(store_run_get(store, r.uuid, &t, &error));
	assert_string_equal(t.note, "look here");
	assert_string_equal(t.tags, "[]");
	assert_string_equal(t.description, "other");
	assert_int_equal(t.state, STATE_DONE);
	stored_run_release(&t);
	assert_int_equal(store_run_annotate(store, 999, "x", NULL, &error), -ENOENT);
	assert_int_equal(store_run_describe(store, 999, "x", &error), -ENOENT);
}

static void test_run_needs_a_session(void **state)
{
	struct stored_run r = plain_run(77, "x");
	int64_t session = add_session("s");

	(void)state;
	assert_int_equal(store_run_add(store, &r, &error), -ENOENT);
	OK(store_session_delete(store, session, &error));
	r.session_id = session;
	assert_int_equal(store_run_add(store, &r, &error), -ENOENT);
	assert_int_equal(store_note_add(store, 4711, 1, "of no run", &error), -ENOENT);
}

static void test_lists_of_runs(void **state)
{
	int64_t a = add_session("a"), b = add_session("b");
	stored_runs list = {};
	struct stored_run r;

	(void)state;
	for (int i = 0; i < 10; i++) {
		r = plain_run(i % 2 ? a : b, i % 2 ? "sort big" : "Grep it");
		r.position = 10 - i;
		r.state = i < 4 ? STATE_QUEUED : i < 6 ? STATE_RUNNING : STATE_DONE;
		if (i == 7)
			r.note = (char *)"The NEEDLE";
		OK(store_run_add(store, &r, &error));
	}
	OK(store_runs(store, a, &(struct page){.limit = 3}, &list, &error));
	assert_int_equal(list.len, 3);
	assert_string_equal(list.items[0].command, "sort big");
	OK(store_runs(store, a, &(struct page){.limit = 3, .before = list.items[2].id}, &list,
		      &error));
	assert_int_equal(list.len, 5);
	stored_runs_release(&list);
	OK(store_runs(store, 0, &(struct page){.limit = 99}, &list, &error));
	assert_int_equal(list.len, 10);
	stored_runs_release(&list);
	OK(store_runs(store, 0, &(struct page){.limit = 99, .search = "grep"}, &list, &error));
	assert_int_equal(list.len, 5);
	stored_runs_release(&list);
	OK(store_runs(store, 0, &(struct page){.limit = 99, .search = "needle"}, &list, &error));
	assert_int_equal(list.len, 1);
	stored_runs_release(&list);
	OK(store_runs_in_state(store, STATE_QUEUED, &list, &error));
	assert_int_equal(list.len, 4);
	for (size_t i = 1; i < list.len; i++)
		assert_true(list.items[i - 1].position < list.items[i].position);
	stored_runs_release(&list);
	OK(store_runs_oldest(store, 0, 2, &list, &error));
	assert_int_equal(list.len, 2);
	assert_int_equal(list.items[0].state, STATE_DONE);
	assert_true(list.items[0].id < list.items[1].id);
	stored_runs_release(&list);
}

static void test_durations(void **state)
{
	int64_t session = add_session("s"), ms[8];
	struct stored_run r;

	(void)state;
	for (int i = 0; i < 12; i++) {
		r = plain_run(session, i % 2 ? "a" : "b");
		r.state = i == 11 ? STATE_FAILED : STATE_DONE;
		r.duration_ms = i == 9 ? 0 : 1000 + i;
		OK(store_run_add(store, &r, &error));
	}
	assert_int_equal(store_durations(store, "a", ms, ARRAY_LEN(ms), &error), 4);
	assert_int_equal(ms[0], 1007);
	assert_int_equal(ms[3], 1001);
	assert_int_equal(store_durations(store, "b", ms, 2, &error), 2);
	assert_int_equal(ms[0], 1010);
	assert_int_equal(store_durations(store, "c", ms, 2, &error), 0);
}

/* ---- data ---- */

struct seen {
	int pieces, stop_at;
	int64_t last_number;
	struct buf bytes;
};

static int see_piece(void *ctx, int64_t number, const void *bytes, size_t size)
{
	struct seen *seen = ctx;

	assert_true(number > seen->last_number);
	seen->last_number = number;
	buf_add_mem(&seen->bytes, bytes, size);
	return ++seen->pieces == seen->stop_at ? 42 : 0;
}

static int64_t bytes_of(int64_t run)
{
	struct stored_run r;
	int64_t bytes;

	OK(store_run_get_id(store, run, &r, &error));
	bytes = r.bytes;
	stored_run_release(&r);
	return bytes;
}

static void test_dictionaries(void **state)
{
	int64_t run = new_run(), other = new_run(), generation;
	struct seen seen = {};
	struct buf merged = {};
	dictionary_counts counts = {};

	(void)state;
	OK(store_dictionary_add(store, run, 0, "one", 3, &error));
	OK(store_dictionary_add(store, other, 0, "ooo", 3, &error));
	OK(store_dictionary_add(store, run, 1, "source", 6, &error));
	OK(store_dictionary_add(store, run, 0, "t\0o", 3, &error));
	OK(store_dictionary_each(store, run, 0, 0, see_piece, &seen, &error));
	assert_int_equal(seen.pieces, 2);
	assert_memory_equal(seen.bytes.s, "onet\0o", 6);
	OK(store_dictionary_add(store, run, 0, "new", 3, &error));
	buf_clear(&seen.bytes);
	OK(store_dictionary_each(store, run, 0, seen.last_number + 1, see_piece, &seen, &error));
	assert_string_equal(seen.bytes.s, "new");
	assert_int_equal(bytes_of(run), 15);
	OK(store_dictionary_counts(store, run, &counts, &error));
	assert_int_equal(counts.len, 2);
	assert_int_equal(counts.items[0].pieces, 3);
	assert_int_equal(counts.items[1].source, 1);
	vec_release(&counts);
	OK(store_run_generation(store, run, &generation, &error));
	buf_add(&merged, "whole");
	OK(store_dictionary_replace(store, run, 0, seen.last_number, &merged, 1, &error));
	assert_int_equal(bytes_of(run), 11);
	buf_release(&seen.bytes);
	seen = (struct seen){.stop_at = 1};
	assert_int_equal(store_dictionary_each(store, run, 0, 0, see_piece, &seen, &error), 42);
	assert_string_equal(seen.bytes.s, "whole");
	int64_t now;
	OK(store_run_generation(store, run, &now, &error));
	assert_true(now > generation);
	buf_release(&seen.bytes);
	buf_release(&merged);
}

static struct chunk_info counts_info(uint32_t counter, uint64_t first_ns, uint64_t last_ns)
{
	return (struct chunk_info){.kind = counter ? CHUNK_COUNTS : CHUNK_SAMPLES,
				   .rows = 10,
				   .counter = counter,
				   .first_ns = first_ns,
				   .last_ns = last_ns};
}

static size_t count_chunks(int64_t run, struct chunk_query q)
{
	stored_chunks chunks = {};
	size_t count;

	OK(store_chunks(store, run, &q, &chunks, &error));
	for (size_t i = 1; i < chunks.len; i++)
		assert_true(chunks.items[i - 1].info.first_ns <= chunks.items[i].info.first_ns);
	count = chunks.len;
	vec_release(&chunks);
	return count;
}

static void test_windows_of_chunks(void **state)
{
	int64_t run = new_run(), id = 0;
	struct chunk_info info;

	(void)state;
	/* Ten of samples, one hundred nanoseconds each, backwards; ten of counter 3. */
	for (uint64_t i = 10; i-- > 0;) {
		info = counts_info(0, 1000 + i * 100, 1099 + i * 100);
		OK(store_chunk_add(store, run, 0, &info, "samples", 7, NULL, 0, &id, &error));
		info.counter = 3;
		info.kind = CHUNK_COUNTS;
		OK(store_chunk_add(store, run, 0, &info, "counts", 6, NULL, 0, NULL, &error));
	}
	assert_int_equal(count_chunks(run, (struct chunk_query){}), 20);
	assert_int_equal(count_chunks(run, (struct chunk_query){.kind = CHUNK_SAMPLES}), 10);
	assert_int_equal(count_chunks(run, (struct chunk_query){.counter = 3}), 10);
	assert_int_equal(count_chunks(run, (struct chunk_query){.counter = 4}), 0);
	assert_int_equal(count_chunks(run, (struct chunk_query){.kind = CHUNK_SAMPLES,
								.from_ns = 1099,
								.to_ns = 1200}),
			 3);
	assert_int_equal(count_chunks(run, (struct chunk_query){.kind = CHUNK_SAMPLES,
								.from_ns = 1100,
								.to_ns = 1199}),
			 1);
	assert_int_equal(count_chunks(run, (struct chunk_query){.from_ns = 2000}), 0);
	assert_int_equal(count_chunks(run, (struct chunk_query){.after_id = id - 1}), 2);
	assert_int_equal(bytes_of(run), 130);
	/* No time is too large. */
	info = counts_info(0, UINT64_MAX - 1, UINT64_MAX);
	OK(store_chunk_add(store, run, 0, &info, "", 0, NULL, 0, &id, &error));
	assert_int_equal(count_chunks(run, (struct chunk_query){.from_ns = UINT64_MAX}), 1);
}

static void test_replacing_chunks(void **state)
{
	int64_t run = new_run(), ids[3], generation, now, last;
	struct chunk_info info = counts_info(0, 100, 200);
	struct buf bytes = {}, summary = {}, got = {}, got_summary = {};
	stored_chunks chunks = {};
	run_numbers runs = {};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ids); i++)
		OK(store_chunk_add(store, run, 7, &info, "0123456789", 10, NULL, 0, &ids[i],
				   &error));
	OK(store_runs_to_merge(store, &runs, &error));
	assert_int_equal(runs.len, 1);
	assert_int_equal(runs.items[0], run);
	OK(store_chunks_to_merge(store, run, 2, &chunks, &error));
	assert_int_equal(chunks.len, 2);
	chunks.len = 0;
	OK(store_chunks_to_merge(store, run, 10, &chunks, &error));
	assert_int_equal(chunks.len, 3);
	assert_int_equal(chunks.items[0].source, 7);
	OK(store_run_generation(store, run, &generation, &error));
	buf_add(&bytes, "merged");
	buf_add(&summary, "sum");
	info.rows = 30;
	/* One that is not there: nothing happens. */
	last = ids[2];
	ids[2] = 12345;
	assert_int_equal(
		store_chunks_replace(store, run, ids, 3, 7, &info, &bytes, &summary, &error),
		-ENOENT);
	assert_int_equal(count_chunks(run, (struct chunk_query){}), 3);
	assert_int_equal(bytes_of(run), 30);
	ids[2] = last;
	OK(store_chunks_replace(store, run, ids, 3, 7, &info, &bytes, &summary, &error));
	OK(store_run_generation(store, run, &now, &error));
	assert_true(now > generation);
	assert_int_equal(bytes_of(run), 9);
	chunks.len = 0;
	OK(store_chunks(store, run, &(struct chunk_query){}, &chunks, &error));
	assert_int_equal(chunks.len, 1);
	assert_true(chunks.items[0].merged);
	assert_true(chunks.items[0].id > last);
	assert_int_equal(chunks.items[0].source, 7);
	assert_int_equal(chunks.items[0].info.rows, 30);
	assert_int_equal(chunks.items[0].bytes, 6);
	OK(store_chunk_read(store, chunks.items[0].id, &got, &got_summary, &error));
	assert_string_equal(got.s, "merged");
	assert_string_equal(got_summary.s, "sum");
	assert_int_equal(store_chunk_read(store, ids[0], &got, NULL, &error), -ENOENT);
	assert_int_equal(store_chunk_read(store, ids[0], NULL, &got, &error), -ENOENT);
	chunks.len = 0;
	OK(store_chunks_to_merge(store, run, 10, &chunks, &error));
	assert_int_equal(chunks.len, 0);
	runs.len = 0;
	OK(store_runs_to_merge(store, &runs, &error));
	assert_int_equal(runs.len, 0);
	vec_release(&runs);
	vec_release(&chunks);
	buf_release(&bytes);
	buf_release(&summary);
	buf_release(&got);
	buf_release(&got_summary);
}

/* Numbers are never given out twice: who has seen one and asks again must not get another's bytes. */
static void test_numbers_are_not_used_again(void **state)
{
	int64_t run = new_run(), a, b;
	struct chunk_info info = counts_info(0, 1, 2);
	bool more = true;

	(void)state;
	OK(store_chunk_add(store, run, 0, &info, "x", 1, NULL, 0, &a, &error));
	OK(store_run_delete(store, run, &error));
	while (more)
		OK(store_purge(store, 1 << 20, &more, &error));
	reopen();
	run = new_run();
	OK(store_chunk_add(store, run, 0, &info, "x", 1, NULL, 0, &b, &error));
	assert_true(b > a);
}

static void test_code_and_derived(void **state)
{
	int64_t run = new_run();
	struct buf got = {};

	(void)state;
	OK(store_code_add(store, run, 0, 17, "old", 3, &error));
	OK(store_code_add(store, run, 0, 17, "new", 3, &error));
	OK(store_code_get(store, run, 0, 17, &got, &error));
	assert_string_equal(got.s, "new");
	assert_int_equal(store_code_get(store, run, 0, 18, &got, &error), -ENOENT);
	assert_int_equal(store_code_get(store, run, 1, 17, &got, &error), -ENOENT);
	buf_clear(&got);
	OK(store_derived_put(store, run, "paths", "long", 4, &error));
	OK(store_derived_put(store, run, "paths", "longer", 6, &error));
	OK(store_derived_get(store, run, "paths", &got, &error));
	assert_string_equal(got.s, "longer");
	assert_int_equal(bytes_of(run), 12);
	OK(store_derived_put(store, run, "paths", NULL, 0, &error));
	assert_int_equal(store_derived_get(store, run, "paths", &got, &error), -ENOENT);
	assert_int_equal(bytes_of(run), 6);
	buf_release(&got);
}

static int see_output(void *ctx, int stream, uint64_t time_ns, const void *bytes, size_t size)
{
	buf_addf(ctx, "%d@%llu:", stream, (unsigned long long)time_ns);
	buf_add_mem(ctx, bytes, size);
	return 0;
}

static int see_note(void *ctx, uint64_t time_ns, const char *text)
{
	buf_addf(ctx, "%llu:%s;", (unsigned long long)time_ns, text);
	return 0;
}

static void test_output_and_notes(void **state)
{
	int64_t run = new_run();
	struct buf all = {};

	(void)state;
	OK(store_output_add(store, run, 1, 5, "out ", 4, &error));
	OK(store_output_add(store, run, 2, 4, "err ", 4, &error));
	OK(store_output_add(store, run, 1, 6, "more", 4, &error));
	OK(store_output_each(store, run, 0, see_output, &all, &error));
	assert_string_equal(all.s, "1@5:out 2@4:err 1@6:more");
	buf_clear(&all);
	OK(store_output_each(store, run, 2, see_output, &all, &error));
	assert_string_equal(all.s, "2@4:err ");
	buf_clear(&all);
	OK(store_note_add(store, run, 9, "first", &error));
	OK(store_note_add(store, run, 3, "second", &error));
	OK(store_notes(store, run, see_note, &all, &error));
	assert_string_equal(all.s, "9:first;3:second;");
	buf_release(&all);
}

/* ---- users ---- */

static void test_users(void **state)
{
	struct stored_user ann = {.name = (char *)"ann", .role = 3, .token_hash = "abc"};
	struct stored_user twin = {.name = (char *)"ann", .role = 1, .token_hash = "def"}, got;
	stored_users all = {};

	(void)state;
	OK(store_user_add(store, &ann, &error));
	assert_int_equal(store_user_add(store, &twin, &error), -EEXIST);
	assert_non_null(strstr(error.text, "'ann'"));
	OK(store_user_by_hash(store, "abc", &got, &error));
	assert_string_equal(got.name, "ann");
	assert_int_equal(got.role, 3);
	stored_user_release(&got);
	OK(store_user_revoke(store, "ann", &error));
	assert_int_equal(store_user_by_hash(store, "abc", &got, &error), -ENOENT);
	assert_int_equal(store_user_revoke(store, "ann", &error), -ENOENT);
	OK(store_user_add(store, &twin, &error));
	OK(store_users(store, &all, &error));
	assert_int_equal(all.len, 2);
	assert_true(all.items[0].revoked_ms > 0);
	assert_int_equal(all.items[1].revoked_ms, 0);
	stored_users_release(&all);
}

static void test_settings(void **state)
{
	char *value = NULL;

	(void)state;
	assert_int_equal(store_setting_get(store, "id", &value, &error), -ENOENT);
	OK(store_setting_put(store, "id", "1", &error));
	OK(store_setting_put(store, "id", "'; DROP TABLE users; --", &error));
	reopen();
	OK(store_setting_get(store, "id", &value, &error));
	assert_string_equal(value, "'; DROP TABLE users; --");
	free(value);
}

/* ---- transactions ---- */

static void test_transactions(void **state)
{
	int64_t run = new_run();
	struct store *reader = NULL;
	struct stored_run r;

	(void)state;
	OK(store_open(&reader, &(struct store_options){.directory = directory, .read_only = true},
		      &error));
	OK(store_begin(store, &error));
	assert_int_equal(store_begin(store, &error), -EALREADY);
	OK(store_output_add(store, run, 1, 1, "xyz", 3, &error));
	OK(store_output_add(store, run, 1, 1, "xyz", 3, &error));
	OK(store_run_get_id(reader, run, &r, &error));
	assert_int_equal(r.bytes, 0);
	stored_run_release(&r);
	OK(store_commit(store, &error));
	OK(store_run_get_id(reader, run, &r, &error));
	assert_int_equal(r.bytes, 6);
	stored_run_release(&r);
	OK(store_begin(store, &error));
	OK(store_output_add(store, run, 1, 1, "xyz", 3, &error));
	store_rollback(store);
	store_rollback(store);
	assert_int_equal(bytes_of(run), 6);
	assert_int_equal(store_commit(store, &error), -EINVAL);
	assert_true(store_note_add(reader, run, 1, "no", &error) < 0);
	assert_non_null(strstr(error.text, "cannot be written"));
	store_close(reader);
}

static int ask_again(void *ctx, int64_t number, const void *bytes, size_t size)
{
	struct seen *outer = ctx, inner = {};

	OK(store_dictionary_each(store, outer->stop_at, 0, 0, see_piece, &inner, &error));
	assert_int_equal(inner.pieces, 3);
	buf_release(&inner.bytes);
	outer->pieces++;
	(void)number;
	(void)bytes;
	(void)size;
	return 0;
}

static void test_question_inside_an_answer(void **state)
{
	int64_t run = new_run();
	struct seen seen = {.stop_at = (int)run};

	(void)state;
	for (int i = 0; i < 3; i++)
		OK(store_dictionary_add(store, run, 0, "piece", 5, &error));
	OK(store_dictionary_each(store, run, 0, 0, ask_again, &seen, &error));
	assert_int_equal(seen.pieces, 3);
}

/* ---- room ---- */

static int64_t fill_run(size_t megabytes)
{
	struct chunk_info info = counts_info(0, 1, 2);
	char *noise = xcalloc(1, 1 << 20);
	int64_t run = new_run();

	for (size_t i = 0; i < 1 << 20; i++)
		noise[i] = (char)(i * i >> 3);
	OK(store_begin(store, &error));
	for (size_t i = 0; i < megabytes; i++)
		OK(store_chunk_add(store, run, 0, &info, noise, 1 << 20, noise, 1000, NULL,
				   &error));
	for (size_t i = 0; i < 3; i++) {
		OK(store_dictionary_add(store, run, 0, noise, 100000, &error));
		OK(store_code_add(store, run, 0, (uint32_t)i, noise, 1000, &error));
		OK(store_output_add(store, run, 1, 1, noise, 1000, &error));
		OK(store_note_add(store, run, 1, "note", &error));
	}
	OK(store_derived_put(store, run, "paths", noise, 100000, &error));
	OK(store_commit(store, &error));
	free(noise);
	return run;
}

static void test_deleting_gives_room_back(void **state)
{
	uint64_t empty, full, after, unused;
	unsigned steps = 0;
	bool more = true;
	int64_t keep, run, kept_bytes;

	(void)state;
	keep = fill_run(1);
	kept_bytes = bytes_of(keep);
	while (store_shrink(store, 1 << 20))
		;
	OK(store_size(store, &empty, &unused, &error));
	run = fill_run(40);
	assert_true(bytes_of(run) > 40 << 20);
	OK(store_size(store, &full, &unused, &error));
	assert_true(full > 40 << 20);
	OK(store_run_delete(store, run, &error));
	assert_int_equal(store_run_delete(store, run, &error), -ENOENT);
	/* A crash in between: whoever comes next goes on. */
	OK(store_purge(store, 4 << 20, &more, &error));
	assert_true(more);
	reopen();
	for (steps = 0; more; steps++)
		OK(store_purge(store, 4 << 20, &more, &error));
	assert_true(steps >= 10);
	OK(store_size(store, &after, &unused, &error));
	assert_true(unused > 38 << 20);
	for (steps = 1; store_shrink(store, 2 << 20); steps++)
		;
	assert_true(steps >= 19);
	OK(store_size(store, &after, &unused, &error));
	assert_int_equal(unused, 0);
	assert_true(after < empty + (1 << 20));
	assert_int_equal(bytes_of(keep), kept_bytes);
	assert_int_equal(count_chunks(keep, (struct chunk_query){}), 1);
}

/* One number out of the file, past the store. */
static int64_t look(const char *sql)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/tacho.db", directory);
	sqlite3_stmt *stmt;
	sqlite3 *db;
	int64_t number;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	number = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return number;
}

static void test_session_takes_its_runs_along(void **state)
{
	int64_t session = add_session("s");
	stored_runs list = {};
	bool more = true;

	(void)state;
	add_run(session, "a");
	add_run(session, "b");
	OK(store_session_delete(store, session, &error));
	OK(store_runs(store, 0, &(struct page){.limit = 9}, &list, &error));
	assert_int_equal(list.len, 0);
	assert_int_equal(look("SELECT COUNT(*) FROM runs"), 2);
	while (more)
		OK(store_purge(store, 4 << 20, &more, &error));
	assert_int_equal(look("SELECT COUNT(*) FROM runs"), 0);
	assert_int_equal(look("SELECT COUNT(*) FROM sessions"), 0);
	stored_runs_release(&list);
}

static void test_newer_schema(void **state)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/tacho.db", directory);
	struct store *other = NULL;
	sqlite3 *db;

	(void)state;
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "INSERT INTO schema_steps VALUES (1000, '9.8.7', 1)",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	sqlite3_close(db);
	assert_int_equal(
		store_open(&other, &(struct store_options){.directory = directory}, &error),
		-EPROTONOSUPPORT);
	assert_non_null(strstr(error.text, "newer tacho (9.8.7, schema 1000"));
	assert_null(other);
}

#define STORE_TEST(name) cmocka_unit_test_setup_teardown(name, open_new, close_it)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_rights_and_settings),
		STORE_TEST(test_uuids),
		STORE_TEST(test_sessions),
		STORE_TEST(test_pages_of_sessions),
		STORE_TEST(test_search_too_long),
		STORE_TEST(test_runs),
		STORE_TEST(test_notes_of_people),
		STORE_TEST(test_run_needs_a_session),
		STORE_TEST(test_lists_of_runs),
		STORE_TEST(test_durations),
		STORE_TEST(test_dictionaries),
		STORE_TEST(test_windows_of_chunks),
		STORE_TEST(test_replacing_chunks),
		STORE_TEST(test_numbers_are_not_used_again),
		STORE_TEST(test_code_and_derived),
		STORE_TEST(test_output_and_notes),
		STORE_TEST(test_users),
		STORE_TEST(test_settings),
		STORE_TEST(test_transactions),
		STORE_TEST(test_question_inside_an_answer),
		STORE_TEST(test_deleting_gives_room_back),
		STORE_TEST(test_session_takes_its_runs_along),
		STORE_TEST(test_newer_schema),
	};

	return cmocka_run_group_tests(tests, make_support_dir, remove_support_dir);
}
