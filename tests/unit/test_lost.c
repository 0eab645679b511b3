/* Recordings that the database does not know: set aside, brought back, and what is said about them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runs/internal.h"
#include "store_support.h"

static struct store *store;
static struct run_host host;
static char directory[300];

static void open_store(void)
{
	OK(store_open(&store, &(struct store_options){.directory = directory}, &error));
}

static int begin(void **state)
{
	static unsigned count;

	(void)state;
	snprintf(directory, sizeof(directory), "%s/data%u", support_dir, count++);
	host = (struct run_host){.settings = {.data = directory}, .clock = &system_clock};
	open_store();
	return 0;
}

static int end(void **state)
{
	(void)state;
	store_close(store);
	strvec_release(&host.notices);
	return 0;
}

static const char *path_of(const char *name)
{
	static char path[600];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

/* What the server does at its start; its only notice, or "". */
static const char *settle(void)
{
	strvec_release(&host.notices);
	host.notices = (strvec){};
	lost_settle(&host, store);
	assert_true(host.notices.len <= 1);
	return host.notices.len ? host.notices.items[0] : "";
}

static size_t files_in(const char *name)
{
	CLEANUP(strvec_release) strvec names = {};

	fs_list(path_of(name), &names);
	return names.len;
}

/* A run with its recording. */
static struct stored_run recorded_as(enum run_state state, const char *plan)
{
	struct stored_session session = {};
	struct stored_run run = {.command = (char *)"x", .state = state, .plan = (char *)plan};
	CLEANUP(free_ptr) char *name = NULL;
	FILE *f;

	OK(store_session_add(store, "s", &session, &error));
	run.session_id = session.id;
	stored_session_release(&session);
	OK(store_run_add(store, &run, &error));
	name = raw_name(run.uuid);
	mkdir(path_of("raw"), 0700);
	f = fopen(path_of(name), "w");
	assert_non_null(f);
	assert_true(fputs("recording", f) >= 0);
	assert_int_equal(fclose(f), 0);
	return run;
}

static struct stored_run recorded(void)
{
	return recorded_as(STATE_DONE, NULL);
}

static void take_database_away(const char *to)
{
	CLEANUP(free_ptr) char *from = xstrdup(path_of("tacho.db"));

	store_close(store); /* the log goes into the file */
	assert_int_equal(rename(from, in_dir(to)), 0);
}

static void put_database_back(const char *from)
{
	store_close(store);
	assert_int_equal(rename(in_dir(from), path_of("tacho.db")), 0);
	open_store();
}

static void test_known_recordings_stay(void **state)
{
	(void)state;
	recorded();
	assert_string_equal(settle(), "");
	assert_string_equal(settle(), "");
	assert_int_equal(files_in("raw"), 1);
	assert_int_equal(files_in("lost"), 0);
}

/* The end of a run that keeps no recording could not remove it; whoever still needs his, or may, keeps it. */
static void test_those_that_nobody_wanted_go(void **state)
{
	(void)state;
	recorded_as(STATE_DONE, "{\"keep_raw\": false}");
	assert_string_equal(settle(), "");
	assert_int_equal(files_in("raw"), 0);
	recorded_as(STATE_QUEUED, "{\"keep_raw\": false, \"import\": \"x\"}");
	recorded_as(STATE_DONE, "{\"keep_raw\": true}");
	recorded_as(STATE_DONE, "{\"keep_raw\"");
	assert_string_equal(settle(), "");
	assert_int_equal(files_in("raw"), 3);
	assert_int_equal(files_in("lost"), 0);
}

/* What a server leaves that is killed, or that could not remove it. */
static void test_leftovers_go(void **state)
{
	static const char *const names[] = {"spill", "upload", "spill/spill-x", "upload/upload-x",
					    "export-abc123"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (i < 2)
			assert_int_equal(mkdir(path_of(names[i]), 0700), 0);
		else
			fclose(fopen(path_of(names[i]), "w"));
	}
	files_clean(&host);
	for (size_t i = 2; i < ARRAY_LEN(names); i++)
		assert_false(fs_exists("%s", path_of(names[i])));
	assert_true(fs_exists("%s", path_of("tacho.db")));
}

/* The server ended between deleting a run and deleting its recording. */
static void test_those_of_deleted_runs_go(void **state)
{
	struct stored_run run = recorded();

	(void)state;
	OK(store_run_delete(store, run.id, &error));
	assert_string_equal(settle(), "");
	assert_int_equal(files_in("raw"), 0);
	assert_int_equal(files_in("lost"), 0);
}

static void test_a_new_database(void **state)
{
	const char *said;

	(void)state;
	recorded();
	recorded();
	assert_string_equal(settle(), "");
	take_database_away("away");
	open_store();
	said = settle();
	assert_non_null(strstr(said, "The database is new"));
	assert_non_null(strstr(said, "2 recordings"));
	assert_non_null(strstr(said, "Nothing was deleted"));
	assert_non_null(strstr(said, path_of("lost")));
	assert_non_null(strstr(said, "import"));
	assert_int_equal(files_in("raw"), 0);
	assert_int_equal(files_in("lost"), 2);
	/* Once. */
	assert_string_equal(settle(), "");
	/* The right one comes back, and so do they. */
	put_database_back("away");
	assert_non_null(strstr(settle(), "2 recordings were moved back"));
	assert_int_equal(files_in("raw"), 2);
	assert_int_equal(files_in("lost"), 0);
	assert_string_equal(settle(), "");
}

static void test_another_database(void **state)
{
	const char *said;

	(void)state;
	assert_string_equal(settle(), "");
	take_database_away("other");
	open_store();
	settle();
	recorded();
	put_database_back("other");
	said = settle();
	assert_non_null(strstr(said, "not the one that this data directory had"));
	assert_int_equal(files_in("raw"), 0);
	assert_int_equal(files_in("lost"), 1);
}

/* A backup from before the recording was made: the right database, but it does not know it. */
static void test_an_older_database(void **state)
{
	CLEANUP(free_ptr) char *copy = NULL;
	const char *said;

	(void)state;
	settle();
	store_close(store);
	copy = xasprintf("cp %s %s", path_of("tacho.db"), in_dir("backup"));
	assert_int_equal(system(copy), 0);
	open_store();
	recorded();
	put_database_back("backup");
	said = settle();
	assert_non_null(strstr(said, "does not know the runs of 1 recording."));
	assert_int_equal(files_in("raw"), 0);
	assert_int_equal(files_in("lost"), 1);
}

/* A directory of an older version, without an id: nothing is said. */
static void test_an_older_version(void **state)
{
	(void)state;
	recorded();
	assert_string_equal(settle(), "");
	assert_int_equal(unlink(path_of("database-id")), 0);
	assert_string_equal(settle(), "");
	assert_int_equal(files_in("raw"), 1);
}

static void test_what_is_not_ours_stays(void **state)
{
	FILE *f;

	(void)state;
	mkdir(path_of("raw"), 0700);
	f = fopen(path_of("raw/notes.txt"), "w");
	assert_non_null(f);
	fclose(f);
	assert_string_equal(settle(), "");
	assert_int_equal(files_in("raw"), 1);
}

#define LOST_TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LOST_TEST(test_known_recordings_stay),  LOST_TEST(test_those_of_deleted_runs_go),
		LOST_TEST(test_a_new_database),         LOST_TEST(test_another_database),
		LOST_TEST(test_an_older_database),      LOST_TEST(test_an_older_version),
		LOST_TEST(test_leftovers_go),           LOST_TEST(test_those_that_nobody_wanted_go),
		LOST_TEST(test_what_is_not_ours_stays),
	};

	return cmocka_run_group_tests(tests, make_support_dir, remove_support_dir);
}
