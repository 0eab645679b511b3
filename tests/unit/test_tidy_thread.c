/* The thread that tidies up: what it does without being asked, and that it sleeps. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runs/tidy.h"
#include "store_support.h"

static struct store *store;
static char directory[300];

static int64_t new_run(void)
{
	struct stored_session session = {};
	struct stored_run run = {.command = (char *)"x", .state = STATE_DONE};

	OK(store_session_add(store, "s", &session, &error));
	run.session_id = session.id;
	stored_session_release(&session);
	OK(store_run_add(store, &run, &error));
	return run.id;
}

static void add_samples(int64_t run, uint64_t first, size_t count)
{
	CLEANUP(buf_release) struct buf bytes = {};
	struct sample_row rows[100] = {};
	struct chunk_info info;

	assert_true(count <= ARRAY_LEN(rows));
	for (size_t i = 0; i < count; i++)
		rows[i] = (struct sample_row){.time_ns = first + i, .weight = 1};
	chunk_encode_samples(rows, count, &bytes, &info);
	OK(store_chunk_add(store, run, 0, &info, bytes.s, bytes.len, NULL, 0, NULL, &error));
}

static void list_chunks(int64_t run, stored_chunks *ret)
{
	ret->len = 0;
	OK(store_chunks(store, run, &(struct chunk_query){}, ret, &error));
}

static void wait_until_merged(int64_t run, size_t chunks)
{
	stored_chunks list = {};

	/* Gives up after a minute: any machine is quicker than that. */
	for (int i = 0; i < 6000; i++) {
		list_chunks(run, &list);
		if (list.len == chunks)
			break;
		usleep(10000);
	}
	assert_int_equal(list.len, chunks);
	vec_release(&list);
}

static void test_thread(void **state)
{
	struct server server = {.config = {.data = directory}};
	int64_t run, other;
	struct tidy_counts before, after;
	uint64_t size = UINT64_MAX, unused;
	char *much = xcalloc(1, 20 << 20);

	(void)state;
	snprintf(directory, sizeof(directory), "%s/data", support_dir);
	OK(store_open(&store, &(struct store_options){.directory = directory}, &error));
	run = new_run();
	other = new_run();
	for (uint64_t i = 0; i < 10; i++)
		add_samples(run, i * 100, 100);
	/* What was left to do is done at the start. */
	OK(tidy_start(&server, &error));
	wait_until_merged(run, 1);
	/* What comes later, when it is said. */
	add_samples(other, 0, 100);
	add_samples(other, 100, 100);
	tidy_kick(server.tidy, other);
	wait_until_merged(other, 1);
	/* What was deleted goes, and its room as well. */
	OK(store_output_add(store, other, 1, 1, much, 20 << 20, &error));
	OK(store_run_delete(store, other, &error));
	tidy_kick(server.tidy, 0);
	for (int i = 0; i < 6000 && size > 2 << 20; i++) {
		OK(store_size(store, &size, &unused, &error));
		usleep(10000);
	}
	assert_true(size <= 2 << 20);
	/* Then it sleeps. */
	sleep(1);
	tidy_counts(server.tidy, &before);
	sleep(2);
	tidy_counts(server.tidy, &after);
	assert_int_equal(before.passes, after.passes);
	assert_int_equal(after.failures, 0);
	assert_int_equal(after.merges, 2);
	assert_int_equal(after.merged_chunks, 12);
	/* However often it is woken, it comes once a second. */
	for (int i = 0; i < 200; i++) {
		tidy_kick(server.tidy, run);
		usleep(10000);
	}
	tidy_counts(server.tidy, &after);
	assert_in_range(after.passes - before.passes, 1, 4);
	tidy_stop(&server);
	tidy_kick(server.tidy, run);
	tidy_stop(&server);
	tidy_free(&server);
	assert_null(server.tidy);
	tidy_free(&server);
	tidy_kick(server.tidy, 1);
	store_close(store);
	free(much);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_thread),
	};

	return cmocka_run_group_tests(tests, make_support_dir, remove_support_dir);
}
