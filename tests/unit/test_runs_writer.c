/* The thread that stores what collectors have sent. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "wire/run_messages.h"
#include "runs/internal.h"
#include "store_support.h"

static struct store *other;
static struct runs runs;
static struct active active;

static int begin(void **state)
{
	/* Whoever waits for the write lock gives up soon. */
	struct store_options options = {.busy_ms = 100};
	struct stored_session session = {};

	if (make_support_dir(state))
		return -1;
	options.directory = in_dir("data");
	OK(store_open(&other, &options, &error));
	OK(store_open(&runs.writer.store, &options, &error));
	OK(store_session_add(other, "s", &session, &error));
	runs.wake_fd = -1; /* nobody waits for it */
	active.runs = &runs;
	active.run = (struct stored_run){.session_id = session.id, .command = (char *)"x"};
	stored_session_release(&session);
	OK(store_run_add(other, &active.run, &error));
	pthread_mutex_init(&runs.lock, NULL);
	pthread_cond_init(&runs.writer.work, NULL);
	OK(writer_begin(&runs, &error));
	return 0;
}

static int end(void **state)
{
	writer_stop(&runs);
	store_close(runs.writer.store);
	store_close(other);
	return remove_support_dir(state);
}

/* Sends a chunk through the writer; returns how that ended. */
static int deposit(const void *bytes, size_t size)
{
	struct deposit *done = NULL;
	int result;

	vec_push(&active.arrived, (struct arrived){RUN_CHUNK, 0, size});
	buf_add_mem(&active.bytes, bytes, size);
	writer_take(&active);
	while (!done) {
		usleep(1000);
		pthread_mutex_lock(&runs.lock);
		done = runs.writer.done.first;
		runs.writer.done = (struct deposits){.last = &runs.writer.done.first};
		pthread_mutex_unlock(&runs.lock);
	}
	result = done->result;
	done->arrived.len = 0;
	buf_clear(&done->bytes);
	return result;
}

/*
 * Chunks are looked at, joined and compressed before the write lock is asked for: what is no chunk is
 * found while somebody else holds it.
 */
static void test_chunks_are_prepared_without_the_lock(void **state)
{
	struct count_row row = {.time_ns = 5, .duration_ns = 1, .value = 7, .running_ppm = 1000000};
	CLEANUP(buf_release) struct buf chunk = {};
	stored_chunks chunks = {};
	struct chunk_info info;

	(void)state;
	chunk_encode_counts(1, &row, 1, &chunk, &info);
	OK(store_begin(other, &error));
	assert_int_equal(deposit("nonsense", 8), -EBADMSG);
	/* Storing it is another matter. */
	assert_int_not_equal(deposit(chunk.s, chunk.len), 0);
	store_rollback(other);
	OK(deposit(chunk.s, chunk.len));
	OK(store_chunks(other, active.run.id, &(struct chunk_query){}, &chunks, &error));
	assert_int_equal(chunks.len, 1);
	vec_release(&chunks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chunks_are_prepared_without_the_lock),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
