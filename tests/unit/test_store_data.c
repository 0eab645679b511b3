/* The store on a real SQLite file: what runs are made of, transactions, and room on the disk. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "profile/schema.h"
#include "store/store.h"
#include "store_fixture.h"

#include <sqlite3.h>

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
	return (struct chunk_info){.schema = counter ? SCHEMA_COUNTS : SCHEMA_SAMPLES,
				   .sampled = !counter,
				   .rows = 10,
				   .partition = counter,
				   .first_ns = first_ns,
				   .last_ns = last_ns};
}

/* A chunk of samples that can be read back: its bytes are what @ret says. */
static void make_chunk(uint32_t rows, struct buf *bytes, struct chunk_info *ret)
{
	CLEANUP(free_ptr) struct sample_row *samples = xcalloc(rows, sizeof(*samples));

	for (uint32_t i = 0; i < rows; i++)
		samples[i].time_ns = 100 + i;
	chunk_encode_samples(samples, rows, bytes, ret);
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
		info.partition = 3;
		info.schema = SCHEMA_COUNTS;
		OK(store_chunk_add(store, run, 0, &info, "counts", 6, NULL, 0, NULL, &error));
	}
	assert_int_equal(count_chunks(run, (struct chunk_query){}), 20);
	assert_int_equal(count_chunks(run, (struct chunk_query){.schema = SCHEMA_SAMPLES}), 10);
	assert_int_equal(count_chunks(run, (struct chunk_query){.partition = 3}), 10);
	assert_int_equal(count_chunks(run, (struct chunk_query){.partition = 4}), 0);
	assert_int_equal(count_chunks(run, (struct chunk_query){.schema = SCHEMA_SAMPLES,
								.from_ns = 1099,
								.to_ns = 1200}),
			 3);
	assert_int_equal(count_chunks(run, (struct chunk_query){.schema = SCHEMA_SAMPLES,
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
	make_chunk(30, &bytes, &info);
	buf_add(&summary, "sum");
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
	assert_int_equal(bytes_of(run), bytes.len + 3);
	chunks.len = 0;
	OK(store_chunks(store, run, &(struct chunk_query){}, &chunks, &error));
	assert_int_equal(chunks.len, 1);
	assert_true(chunks.items[0].merged);
	assert_true(chunks.items[0].id > last);
	assert_int_equal(chunks.items[0].source, 7);
	assert_int_equal(chunks.items[0].info.rows, 30);
	assert_int_equal(chunks.items[0].bytes, bytes.len);
	OK(store_chunk_read(store, &chunks.items[0], &got, &got_summary, &error));
	assert_int_equal(got.len, bytes.len);
	assert_memory_equal(got.s, bytes.s, bytes.len);
	assert_string_equal(got_summary.s, "sum");
	chunks.items[0].id = ids[0];
	assert_int_equal(store_chunk_read(store, &chunks.items[0], &got, NULL, &error), -ENOENT);
	assert_int_equal(store_chunk_read(store, &chunks.items[0], NULL, &got, &error), -ENOENT);
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

static void test_summary_of_a_whole_chunk(void **state)
{
	int64_t run = new_run(), other = new_run(), id, generation, now;
	struct buf bytes = {}, summary = {}, got = {}, got_summary = {};
	struct chunk_info info;
	stored_chunks chunks = {};

	(void)state;
	make_chunk(10, &bytes, &info);
	buf_add(&summary, "sum");
	OK(store_chunk_add(store, run, 7, &info, bytes.s, bytes.len, NULL, 0, &id, &error));
	OK(store_chunks(store, run, &(struct chunk_query){}, &chunks, &error));
	OK(store_run_generation(store, run, &generation, &error));
	assert_int_equal(store_chunk_summarize(store, other, id, &summary, &error), -ENOENT);
	assert_int_equal(store_chunk_summarize(store, run, id + 1, &summary, &error), -ENOENT);
	assert_int_equal(bytes_of(run), bytes.len);
	OK(store_chunk_summarize(store, run, id, &summary, &error));
	OK(store_run_generation(store, run, &now, &error));
	assert_true(now > generation);
	assert_int_equal(bytes_of(run), bytes.len + 3);
	OK(store_chunk_read(store, &chunks.items[0], &got, &got_summary, &error));
	assert_int_equal(got.len, bytes.len);
	assert_memory_equal(got.s, bytes.s, bytes.len);
	assert_string_equal(got_summary.s, "sum");
	chunks.len = 0;
	OK(store_chunks_to_merge(store, run, 10, &chunks, &error));
	assert_int_equal(chunks.len, 0);
	/* It has one already. */
	assert_int_equal(store_chunk_summarize(store, run, id, &summary, &error), -ENOENT);
	assert_int_equal(bytes_of(run), bytes.len + 3);
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
		OK(store_purge(store, 0, 1 << 20, &more, &error));
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
	OK(store_purge(store, 0, 4 << 20, &more, &error));
	assert_true(more);
	reopen();
	for (steps = 0; more; steps++)
		OK(store_purge(store, 0, 4 << 20, &more, &error));
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
		OK(store_purge(store, 0, 4 << 20, &more, &error));
	assert_int_equal(look("SELECT COUNT(*) FROM runs"), 0);
	assert_int_equal(look("SELECT COUNT(*) FROM sessions"), 0);
	stored_runs_release(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_dictionaries),
		STORE_TEST(test_windows_of_chunks),
		STORE_TEST(test_replacing_chunks),
		STORE_TEST(test_summary_of_a_whole_chunk),
		STORE_TEST(test_numbers_are_not_used_again),
		STORE_TEST(test_code_and_derived),
		STORE_TEST(test_output_and_notes),
		STORE_TEST(test_transactions),
		STORE_TEST(test_question_inside_an_answer),
		STORE_TEST(test_deleting_gives_room_back),
		STORE_TEST(test_session_takes_its_runs_along),
	};

	return cmocka_run_group_tests(tests, make_support_dir, remove_support_dir);
}
