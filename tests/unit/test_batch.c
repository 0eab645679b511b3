/* Chunks on their way into the store: few of them, with every row. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runs/batch.h"
#include "store_support.h"

static struct store *store;
static int64_t run;

static int begin(void **state)
{
	struct stored_session session = {};
	struct stored_run r = {.command = (char *)"x"};

	if (make_support_dir(state) ||
	    store_open(&store, &(struct store_options){.directory = in_dir("data")}, &error))
		return -1;
	OK(store_session_add(store, "s", &session, &error));
	r.session_id = session.id;
	stored_session_release(&session);
	OK(store_run_add(store, &r, &error));
	run = r.id;
	return 0;
}

static int end(void **state)
{
	store_close(store);
	return remove_support_dir(state);
}

static struct buf counts(uint32_t counter, uint64_t first, size_t rows)
{
	struct count_row *r = xcalloc(rows, sizeof(*r));
	struct chunk_info info;
	struct buf bytes = {};

	for (size_t i = 0; i < rows; i++)
		r[i] = (struct count_row){.time_ns = 1000 + first + i,
					  .duration_ns = 1,
					  .value = counter * 1000000 + first + i,
					  .running_ppm = 1000000};
	chunk_encode_counts(counter, r, rows, &bytes, &info);
	free(r);
	return bytes;
}

/* Rows of a counter, which must be those from 0 on; how many chunks they are in. */
static size_t read_back(uint32_t counter, size_t rows)
{
	stored_chunks chunks = {};
	size_t seen = 0, count;

	OK(store_chunks(store, run, &(struct chunk_query){.partition = counter}, &chunks, &error));
	vec_each(&chunks, c) {
		CLEANUP(buf_release) struct buf bytes = {};
		struct count_columns columns;

		assert_false(c->merged);
		OK(store_chunk_read(store, c, &bytes, NULL, &error));
		OK(chunk_decode_counts(bytes.s, bytes.len, &columns, &error));
		for (size_t i = 0; i < columns.rows; i++)
			assert_int_equal(columns.value[i], counter * 1000000 + seen++);
		count_columns_release(&columns);
	}
	assert_int_equal(seen, rows);
	count = chunks.len;
	vec_release(&chunks);
	return count;
}

static void test_one_for_each_counter(void **state)
{
	struct buf bytes[300];
	batch b = {};

	(void)state;
	/* In the order in which rounds send them: every counter, again and again. */
	for (uint32_t i = 0; i < ARRAY_LEN(bytes); i++) {
		bytes[i] = counts(1 + i % 3, i / 3 * 2, 2);
		OK(batch_add(&b, bytes[i].s, bytes[i].len, &error));
	}
	batch_join(&b);
	OK(batch_store(&b, store, run, 0, &error));
	for (uint32_t counter = 1; counter <= 3; counter++)
		assert_int_equal(read_back(counter, 200), 1);
	for (size_t i = 0; i < ARRAY_LEN(bytes); i++)
		buf_release(&bytes[i]);
	batch_release(&b);
}

static void test_large_ones_go_as_they_are(void **state)
{
	struct buf bytes[3] = {counts(7, 0, 100), counts(7, 100, BATCH_ROWS_MAX),
			       counts(7, 100 + BATCH_ROWS_MAX, 100)};
	batch b = {};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bytes); i++)
		OK(batch_add(&b, bytes[i].s, bytes[i].len, &error));
	batch_join(&b);
	OK(batch_store(&b, store, run, 0, &error));
	assert_int_equal(read_back(7, 200 + BATCH_ROWS_MAX), 3);
	for (size_t i = 0; i < ARRAY_LEN(bytes); i++)
		buf_release(&bytes[i]);
	batch_release(&b);
}

/* Whatever it is, it is kept, and so are the others. */
static void test_damaged_one(void **state)
{
	struct buf good = counts(9, 0, 5), bad = counts(9, 5, 5);
	stored_chunks chunks = {};
	batch b = {};

	(void)state;
	bad.s[bad.len - 1] ^= 1;
	OK(batch_add(&b, good.s, good.len, &error));
	OK(batch_add(&b, bad.s, bad.len, &error));
	assert_int_equal(batch_add(&b, "nonsense", 8, &error), -EBADMSG);
	batch_join(&b);
	OK(batch_store(&b, store, run, 0, &error));
	OK(store_chunks(store, run, &(struct chunk_query){.partition = 9}, &chunks, &error));
	assert_int_equal(chunks.len, 2);
	vec_release(&chunks);
	buf_release(&good);
	buf_release(&bad);
	batch_release(&b);
}

/* Compressing is over before the write lock is asked for: it goes on while somebody else writes. */
static void test_joined_while_another_writes(void **state)
{
	struct buf bytes[20];
	struct store *other;
	batch b = {};

	(void)state;
	OK(store_open(&other, &(struct store_options){.directory = in_dir("data")}, &error));
	OK(store_begin(other, &error));
	for (uint32_t i = 0; i < ARRAY_LEN(bytes); i++) {
		bytes[i] = counts(11 + i % 2, i / 2 * 3, 3);
		OK(batch_add(&b, bytes[i].s, bytes[i].len, &error));
	}
	batch_join(&b);
	/* The chunks that arrived are not needed any more. */
	for (size_t i = 0; i < ARRAY_LEN(bytes); i++)
		buf_release(&bytes[i]);
	assert_int_equal(b.len, 2);
	assert_int_equal(b.items[0].info.rows, 30);
	store_rollback(other);
	store_close(other);
	OK(store_begin(store, &error));
	OK(batch_store(&b, store, run, 0, &error));
	OK(store_commit(store, &error));
	for (uint32_t counter = 11; counter <= 12; counter++)
		assert_int_equal(read_back(counter, 30), 1);
	batch_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_for_each_counter),
		cmocka_unit_test(test_large_ones_go_as_they_are),
		cmocka_unit_test(test_damaged_one),
		cmocka_unit_test(test_joined_while_another_writes),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
