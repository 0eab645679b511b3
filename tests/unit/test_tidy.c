/* Tidying up: what merging must not change, what goes and what stays. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "profile/schema.h"
#include "profile/dictionary.h"
#include "profile/summary.h"
#include "runs/retention.h"
#include "runs/tidy_run.h"
#include "store_support.h"

static struct store *store;
static struct tidy_run work;
static unsigned directories;
static char directory[300];

static int open_new(void **state)
{
	(void)state;
	snprintf(directory, sizeof(directory), "%s/%u", support_dir, directories++);
	work = (struct tidy_run){.clock = &system_clock};
	return store_open(&store, &(struct store_options){.directory = directory}, &error);
}

static int close_it(void **state)
{
	(void)state;
	tidy_run_release(&work);
	store_close(store);
	store = NULL;
	return 0;
}

static struct stored_run new_run(enum run_state run_state)
{
	struct stored_session session = {};
	struct stored_run run = {.command = (char *)"x", .state = run_state};

	OK(store_session_add(store, "s", &session, &error));
	run.session_id = session.id;
	stored_session_release(&session);
	OK(store_run_add(store, &run, &error));
	return run;
}

/* ---- samples and counts that can be told from each other ---- */

static uint64_t mix(uint64_t n)
{
	n = (n ^ (n >> 31)) * 0x9e3779b97f4a7c15ull;
	return n ^ (n >> 29);
}

static struct sample_row sample(uint64_t n)
{
	return (struct sample_row){.time_ns = 1000000000 + n * 1000 + mix(n) % 900,
				   .weight = 1 + mix(n) % 7,
				   .event = 0,
				   .thread = (uint32_t)(mix(n) % 4),
				   .stack = (uint32_t)(mix(n + 1) % 500),
				   .cpu = (uint32_t)(n % 8)};
}

/* Samples @first … @first + @count of a run, as a chunk. */
static void add_samples(int64_t run, uint64_t first, size_t count)
{
	CLEANUP(buf_release) struct buf bytes = {};
	struct sample_row *rows = xcalloc(count, sizeof(*rows));
	struct chunk_info info;

	for (size_t i = 0; i < count; i++)
		rows[i] = sample(first + i);
	chunk_encode_samples(rows, count, &bytes, &info);
	OK(store_chunk_add(store, run, 0, &info, bytes.s, bytes.len, NULL, 0, NULL, &error));
	free(rows);
}

static void add_counts(int64_t run, uint32_t counter, uint64_t first, size_t count)
{
	CLEANUP(buf_release) struct buf bytes = {};
	struct count_row *rows = xcalloc(count, sizeof(*rows));
	struct chunk_info info;

	for (size_t i = 0; i < count; i++)
		rows[i] = (struct count_row){.time_ns = (first + i) * 10000,
					     .duration_ns = 10000,
					     .value = first + i,
					     .running_ppm = 1000000};
	chunk_encode_counts(counter, rows, count, &bytes, &info);
	OK(store_chunk_add(store, run, 0, &info, bytes.s, bytes.len, NULL, 0, NULL, &error));
	free(rows);
}

static void list_chunks(int64_t run, uint32_t kind, stored_chunks *ret)
{
	ret->len = 0;
	OK(store_chunks(store, run, &(struct chunk_query){.schema = kind}, ret, &error));
}

/* All samples 0 … @count are there, once each, with their summaries where there should be ones. */
static void check_samples(int64_t run, uint64_t count)
{
	stored_chunks chunks = {};
	uint64_t rows = 0, weight = 0, times = 0, expected_weight = 0, expected_times = 0;

	for (uint64_t n = 0; n < count; n++) {
		expected_weight += sample(n).weight * (n % 8 + 1);
		expected_times += sample(n).time_ns;
	}
	list_chunks(run, SCHEMA_SAMPLES, &chunks);
	vec_each(&chunks, chunk) {
		CLEANUP(buf_release) struct buf bytes = {};
		CLEANUP(buf_release) struct buf summary = {};
		struct sample_columns c;
		struct histogram h;
		uint64_t in_histogram = 0;

		OK(store_chunk_read(store, chunk, &bytes, &summary, &error));
		OK(chunk_decode_samples(bytes.s, bytes.len, &c, &error));
		assert_int_equal(c.rows, chunk->info.rows);
		for (size_t i = 0; i < c.rows; i++) {
			weight += c.weight[i] * (c.cpu[i] + 1);
			times += c.time_ns[i];
			assert_in_range(c.time_ns[i], chunk->info.first_ns, chunk->info.last_ns);
		}
		rows += c.rows;
		sample_columns_release(&c);
		assert_int_equal(chunk->merged, summary.len > 0);
		if (!summary.len)
			continue;
		OK(histogram_decode(summary.s, summary.len, &h, &error));
		for (size_t i = 0; i < h.len; i++)
			in_histogram += h.samples[i];
		assert_int_equal(in_histogram, chunk->info.rows);
		histogram_release(&h);
	}
	assert_int_equal(rows, count);
	assert_int_equal(weight, expected_weight);
	assert_int_equal(times, expected_times);
	vec_release(&chunks);
}

static unsigned merge_all(int64_t run, bool ended)
{
	unsigned steps = 0;
	int result;

	while ((result = tidy_run_merge(&work, store, run, ended, &error)) > 0)
		steps++;
	OK(result);
	return steps;
}

/* ---- merging ---- */

static void test_whole_chunks_while_it_runs(void **state)
{
	struct stored_run run = new_run(STATE_RUNNING);
	stored_chunks chunks = {};

	(void)state;
	OK(store_begin(store, &error));
	for (uint64_t i = 0; i < 30; i++)
		add_samples(run.id, i * 2000, 2000);
	OK(store_commit(store, &error));
	assert_int_equal(merge_all(run.id, false), 0);
	OK(store_begin(store, &error));
	for (uint64_t i = 30; i < 50; i++)
		add_samples(run.id, i * 2000, 2000);
	OK(store_commit(store, &error));
	assert_int_equal(merge_all(run.id, false), 1);
	list_chunks(run.id, SCHEMA_SAMPLES, &chunks);
	assert_int_equal(chunks.len, 1 + 50 - 32);
	assert_int_equal(chunks.items[0].info.rows, 64000);
	assert_true(chunks.items[0].merged);
	check_samples(run.id, 100000);
	/* It has ended: the rest, too. */
	assert_int_equal(merge_all(run.id, true), 1);
	list_chunks(run.id, SCHEMA_SAMPLES, &chunks);
	assert_int_equal(chunks.len, 2);
	check_samples(run.id, 100000);
	assert_int_equal(merge_all(run.id, true), 0);
	assert_int_equal(work.merges, 2);
	assert_int_equal(work.merged_chunks, 50);
	vec_release(&chunks);
}

/* One that came whole, as imports send them, needs a summary all the same. */
static void test_a_whole_one_gets_its_summary(void **state)
{
	struct stored_run run = new_run(STATE_RUNNING);
	stored_chunks before = {}, after = {};
	int64_t generation, now;

	(void)state;
	add_samples(run.id, 0, CHUNK_ROWS_MAX);
	list_chunks(run.id, SCHEMA_SAMPLES, &before);
	OK(store_run_generation(store, run.id, &generation, &error));
	assert_int_equal(merge_all(run.id, false), 1);
	check_samples(run.id, CHUNK_ROWS_MAX);
	assert_int_equal(merge_all(run.id, true), 0);
	/* It is not written once more, but whoever has it in memory learns of the summary. */
	list_chunks(run.id, SCHEMA_SAMPLES, &after);
	assert_int_equal(after.len, 1);
	assert_int_equal(after.items[0].id, before.items[0].id);
	assert_true(after.items[0].merged);
	OK(store_run_generation(store, run.id, &now, &error));
	assert_true(now > generation);
	vec_release(&before);
	vec_release(&after);
}

/* Counters that are read slowly never make a whole chunk: they must not become thousands of rows. */
static void test_very_many_small_ones(void **state)
{
	struct stored_run run = new_run(STATE_RUNNING);
	stored_chunks chunks = {};
	uint64_t sum = 0;

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		if (i % 100 == 0)
			OK(store_begin(store, &error));
		add_counts(run.id, 1, i * 2, 2);
		add_counts(run.id, 2, i * 2, 2);
		if (i % 100 == 99) {
			OK(store_commit(store, &error));
			merge_all(run.id, false);
		}
	}
	list_chunks(run.id, SCHEMA_COUNTS, &chunks);
	assert_true(chunks.len <= 2 * TIDY_CHUNKS_MAX);
	vec_each(&chunks, c)
		assert_false(c->merged);
	assert_true(merge_all(run.id, true) > 0);
	list_chunks(run.id, SCHEMA_COUNTS, &chunks);
	assert_int_equal(chunks.len, 2);
	vec_each(&chunks, chunk) {
		CLEANUP(buf_release) struct buf bytes = {};
		CLEANUP(buf_release) struct buf summary = {};
		count_blocks blocks = {};
		struct count_columns c;

		OK(store_chunk_read(store, chunk, &bytes, &summary, &error));
		OK(chunk_decode_counts(bytes.s, bytes.len, &c, &error));
		for (size_t i = 0; i < c.rows; i++) {
			assert_int_equal(c.value[i], i);
			sum += c.value[i];
		}
		count_columns_release(&c);
		OK(count_blocks_decode(summary.s, summary.len, &blocks, &error));
		vec_each(&blocks, b)
			sum -= b->sum;
		vec_release(&blocks);
	}
	assert_int_equal(sum, 0);
	vec_release(&chunks);
}

/* One that cannot be decoded does not keep the others from being merged, nor the thread busy. */
static void test_damaged_chunk(void **state)
{
	struct stored_run run = new_run(STATE_RUNNING);
	struct chunk_info info = {.schema = SCHEMA_SAMPLES,
				  .sampled = true,
				  .rows = 100,
				  .first_ns = 1,
				  .last_ns = 2};
	stored_chunks chunks = {};

	(void)state;
	add_samples(run.id, 0, 1000);
	OK(store_chunk_add(store, run.id, 0, &info, "nonsense", 8, NULL, 0, NULL, &error));
	add_samples(run.id, 1000, 1000);
	assert_true(merge_all(run.id, true) < 5);
	list_chunks(run.id, SCHEMA_SAMPLES, &chunks);
	assert_int_equal(chunks.len, 2);
	assert_int_equal(work.damaged.len, 1);
	assert_int_equal(chunks.items[0].id, work.damaged.items[0]);
	assert_int_equal(chunks.items[1].info.rows, 2000);
	assert_int_equal(merge_all(run.id, true), 0);
	vec_release(&chunks);
}

/* ---- dictionaries ---- */

static void grow(struct profile *p, unsigned step)
{
	char text[64];

	for (unsigned i = 0; i < 50; i++) {
		struct profile_function f = {.named = true, .kind = CODE_USER};
		struct frame_name name = {};
		frame_id frame;

		snprintf(text, sizeof(text), "function_%u_%u", step, i);
		f.module = profile_module(p, step % 2 ? "/bin/a" : "/bin/b", "0123", CODE_USER);
		f.name = f.label = profile_string(p, text);
		f.start = step * 1000 + i;
		name.function = profile_function(p, &f);
		frame = profile_frame(p, f.module, f.start);
		profile_name_frame(p, frame, &name, 1);
		profile_stack(p, (stack_id){(uint32_t)p->stacks.len / 2}, frame);
		profile_thread(p, 1, step, profile_string(p, "thread"));
	}
	profile_event(p, step % 2 ? "cycles" : "faults");
}

static int apply(void *ctx, int64_t number, const void *bytes, size_t size)
{
	(void)number;
	return dictionary_apply(ctx, bytes, size, &error);
}

static void test_dictionaries_become_one(void **state)
{
	struct stored_run run = new_run(STATE_DONE);
	struct profile sent, got;
	struct dictionary_writer w;
	dictionary_counts counts = {};
	struct stored_run before, after;

	(void)state;
	profile_init(&sent);
	profile_init(&got);
	dictionary_writer_init(&w);
	for (unsigned step = 0; step < 20; step++) {
		CLEANUP(buf_release) struct buf piece = {};

		grow(&sent, step);
		assert_true(dictionary_encode(&w, &sent, &piece));
		OK(store_dictionary_add(store, run.id, 0, piece.s, piece.len, &error));
	}
	OK(store_run_get_id(store, run.id, &before, &error));
	assert_int_equal(tidy_run_dictionaries(store, run.id, &error), 1);
	assert_int_equal(tidy_run_dictionaries(store, run.id, &error), 0);
	OK(store_run_get_id(store, run.id, &after, &error));
	assert_true(after.bytes < before.bytes);
	OK(store_dictionary_counts(store, run.id, &counts, &error));
	assert_int_equal(counts.len, 1);
	assert_int_equal(counts.items[0].pieces, 1);
	OK(store_dictionary_each(store, run.id, 0, 0, apply, &got, &error));
	assert_int_equal(got.stacks.len, sent.stacks.len);
	assert_int_equal(got.events.len, sent.events.len);
	assert_int_equal(got.threads.len, sent.threads.len);
	for (size_t i = 1; i < sent.stacks.len; i++) {
		frame_id frame = got.stacks.items[i].frame;

		assert_int_equal(got.stacks.items[i].parent.n, sent.stacks.items[i].parent.n);
		assert_int_equal(frame.n, sent.stacks.items[i].frame.n);
		assert_string_equal(function_text(&got, names_of(&got, frame)->function),
				    function_text(&sent, names_of(&sent, frame)->function));
	}
	stored_run_release(&before);
	stored_run_release(&after);
	vec_release(&counts);
	dictionary_writer_release(&w);
	profile_release(&sent);
	profile_release(&got);
}

/* ---- retention ---- */

static void add_ended(int64_t session, const char *command, int64_t ended_ms, const char *note,
		      const char *tags, size_t bytes)
{
	struct stored_run run = {.session_id = session,
				 .command = (char *)command,
				 .state = STATE_DONE,
				 .ended_ms = ended_ms,
				 .note = (char *)note,
				 .tags = (char *)tags};
	char *output = xcalloc(1, bytes + 1);

	OK(store_run_add(store, &run, &error));
	OK(store_output_add(store, run.id, 1, 1, output, bytes, &error));
	free(output);
}

static void check_chosen(struct retention r, const char *expected)
{
	CLEANUP(strvec_release) strvec chosen = {};
	CLEANUP(buf_release) struct buf text = {};

	r.data = directory;
	OK(retention_choose(store, &r, &chosen, NULL, &error));
	vec_each(&chosen, uuid) {
		struct stored_run run;

		OK(store_run_get(store, *uuid, &run, &error));
		buf_add(&text, run.command);
		stored_run_release(&run);
	}
	assert_string_equal(buf_str(&text), expected);
}

static void test_old_runs_go(void **state)
{
	struct stored_run first = new_run(STATE_RUNNING);
	const int64_t day = 86400000, now = 100 * day;

	(void)state;
	add_ended(first.session_id, "a", now - 50 * day, NULL, "[]", 1000);
	add_ended(first.session_id, "b", now - 40 * day, "look at this", "[]", 1000);
	add_ended(first.session_id, "c", now - 40 * day, "", "[\"x\",\"keep\"]", 1000);
	add_ended(first.session_id, "d", now - 31 * day, "", "[\"keeper\"]", 1000);
	add_ended(first.session_id, "e", now - 29 * day, NULL, NULL, 1000);
	check_chosen((struct retention){.now_ms = now}, "");
	check_chosen((struct retention){.now_ms = now, .keep_s = 30 * 86400}, "ad");
	check_chosen((struct retention){.now_ms = now, .keep_s = 3000 * 86400}, "");
	check_chosen((struct retention){.now_ms = now, .keep_bytes = 5000}, "");
	check_chosen((struct retention){.now_ms = now, .keep_bytes = 4500}, "a");
	check_chosen((struct retention){.now_ms = now, .keep_bytes = 3500}, "ad");
	check_chosen((struct retention){.now_ms = now, .keep_bytes = 1}, "ade");
	/* A clock that stands before them all. */
	check_chosen((struct retention){.now_ms = 1, .keep_s = 86400}, "");
}

/* Runs are numbered as they come: a clock that was wrong for a while makes none of them old. */
static void test_a_clock_that_was_wrong(void **state)
{
	struct stored_run first = new_run(STATE_RUNNING);
	const int64_t day = 86400000, now = 1000 * day;

	(void)state;
	add_ended(first.session_id, "a", now - 50 * day, NULL, NULL, 1);
	add_ended(first.session_id, "b", now + 300 * day, NULL, NULL, 1);
	add_ended(first.session_id, "c", now - 40 * day, NULL, NULL, 1);
	add_ended(first.session_id, "d", now - 2 * day, NULL, NULL, 1);
	add_ended(first.session_id, "e", now - 366 * day, NULL, NULL, 1);
	add_ended(first.session_id, "f", now - 1 * day, NULL, NULL, 1);
	check_chosen((struct retention){.now_ms = now, .keep_s = 30 * 86400}, "ac");
	check_chosen((struct retention){.now_ms = now + 35 * day, .keep_s = 30 * 86400}, "acdef");
}

/* While the newest run lies in the future, nobody knows how old the others are. */
static void test_the_newest_run_lies_in_the_future(void **state)
{
	struct stored_run first = new_run(STATE_RUNNING);
	const int64_t hour = 3600000, day = 24 * hour, now = 1000 * day;
	struct retention r = {.now_ms = now, .keep_s = 30 * 86400, .data = directory};
	CLEANUP(strvec_release) strvec chosen = {};
	int64_t future_ms;

	(void)state;
	add_ended(first.session_id, "a", now - 50 * day, NULL, NULL, 1000);
	add_ended(first.session_id, "b", now + 300 * day, NULL, NULL, 1000);
	check_chosen(r, "");
	OK(retention_choose(store, &r, &chosen, &future_ms, &error));
	assert_int_equal(future_ms, now + 300 * day);
	/* Sizes need no clock. */
	r.keep_bytes = 1500;
	check_chosen(r, "a");
	r.keep_bytes = 0;
	/* A newer one, at a time that may be right. */
	add_ended(first.session_id, "c", now + hour / 2, NULL, NULL, 1000);
	check_chosen(r, "a");
	OK(retention_choose(store, &r, &chosen, &future_ms, &error));
	assert_int_equal(future_ms, 0);
}

static void test_kept_recordings_count(void **state)
{
	struct stored_run run = new_run(STATE_DONE);
	CLEANUP(free_ptr) char *name = xasprintf("raw/%s.data", run.uuid);
	CLEANUP(free_ptr) char *path = xasprintf("%u/%s", directories - 1, name);

	(void)state;
	run.raw_path = name;
	OK(store_run_update(store, &run, &error));
	write_text(path, "0123456789");
	check_chosen((struct retention){.now_ms = 1, .keep_bytes = 10}, "");
	check_chosen((struct retention){.now_ms = 1, .keep_bytes = 9}, "x");
}

/* More than one page of them. */
static void test_hundreds_of_old_runs(void **state)
{
	struct stored_run first = new_run(STATE_RUNNING);
	CLEANUP(strvec_release) strvec chosen = {};
	struct retention r = {.keep_s = 1, .now_ms = 1000000, .data = directory};

	(void)state;
	OK(store_begin(store, &error));
	for (int i = 0; i < 250; i++)
		add_ended(first.session_id, "a", 1000, NULL, NULL, 1);
	OK(store_commit(store, &error));
	OK(retention_choose(store, &r, &chosen, NULL, &error));
	assert_int_equal(chosen.len, 250);
}

#define TIDY_TEST(name) cmocka_unit_test_setup_teardown(name, open_new, close_it)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TIDY_TEST(test_whole_chunks_while_it_runs),
		TIDY_TEST(test_a_whole_one_gets_its_summary),
		TIDY_TEST(test_very_many_small_ones),
		TIDY_TEST(test_damaged_chunk),
		TIDY_TEST(test_dictionaries_become_one),
		TIDY_TEST(test_old_runs_go),
		TIDY_TEST(test_a_clock_that_was_wrong),
		TIDY_TEST(test_the_newest_run_lies_in_the_future),
		TIDY_TEST(test_kept_recordings_count),
		TIDY_TEST(test_hundreds_of_old_runs),
	};

	return cmocka_run_group_tests(tests, make_support_dir, remove_support_dir);
}
