/* The store on a real SQLite file: the file itself, sessions, runs, users. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/store.h"
#include "store_fixture.h"

#include <sqlite3.h>

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
	char raw_path[64];
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
	snprintf(raw_path, sizeof(raw_path), "raw/%s.data", r.uuid);
	r.raw_path = raw_path;
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

static void test_logins(void **state)
{
	struct stored_user ann = {.name = (char *)"ann", .role = 1, .token_hash = "t1"}, got = {};
	struct stored_user bob = {.name = (char *)"bob", .role = 3, .token_hash = "t2"};
	char hash[16];
	int role;

	(void)state;
	OK(store_user_add(store, &ann, &error));
	OK(store_user_add(store, &bob, &error));
	OK(store_login_add(store, ann.id, "c1", 1000, 2000, &error));
	OK(store_user_by_login(store, "c1", 1999, &got, &error));
	assert_string_equal(got.name, "ann");
	assert_int_equal(got.id, ann.id);
	stored_user_release(&got);
	/* Neither is a token, nor the other way round. */
	assert_int_equal(store_user_by_hash(store, "c1", &got, &error), -ENOENT);
	assert_int_equal(store_user_by_login(store, "t1", 1500, &got, &error), -ENOENT);
	assert_int_equal(store_user_by_login(store, "c1", 2000, &got, &error), -ENOENT);
	/* The oldest of a user go, those of others stay. */
	OK(store_login_add(store, bob.id, "b", 1000, 9000, &error));
	OK(store_login_add(store, ann.id, "first", 1000, 9000, &error));
	for (int i = 0; i < LOGINS_MAX; i++) {
		snprintf(hash, sizeof(hash), "n%d", i);
		OK(store_login_add(store, ann.id, hash, 1000, 9000, &error));
	}
	assert_int_equal(store_user_by_login(store, "first", 1500, &got, &error), -ENOENT);
	OK(store_user_by_login(store, "n0", 1500, &got, &error));
	stored_user_release(&got);
	/* Another token leaves them, unless they are ended. */
	OK(store_user_renew(store, "ann", "t3", &error));
	assert_int_equal(store_user_by_hash(store, "t1", &got, &error), -ENOENT);
	OK(store_user_by_login(store, "n0", 1500, &got, &error));
	stored_user_release(&got);
	OK(store_logins_end(store, "ann", &error));
	assert_int_equal(store_user_by_login(store, "n0", 1500, &got, &error), -ENOENT);
	OK(store_user_by_login(store, "b", 1500, &got, &error));
	stored_user_release(&got);
	OK(store_user_role(store, "bob", &role, &error));
	assert_int_equal(role, 3);
	OK(store_user_revoke(store, "bob", &error));
	assert_int_equal(store_user_by_login(store, "b", 1500, &got, &error), -ENOENT);
	OK(store_user_role(store, "bob", &role, &error));
	assert_int_equal(role, 0);
	assert_int_equal(store_user_renew(store, "bob", "t4", &error), -ENOENT);
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
		STORE_TEST(test_users),
		STORE_TEST(test_logins),
		STORE_TEST(test_settings),
		STORE_TEST(test_newer_schema),
	};

	return cmocka_run_group_tests(tests, make_support_dir, remove_support_dir);
}
