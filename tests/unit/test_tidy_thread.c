/* The thread that tidies up: what it does without being asked, how often, and that it sleeps. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "bus/bus.h"
#include "runs/live/live.h"
#include "runs/runs.h"
#include "runs/tidy.h"
#include "store_support.h"

#define WALL_NS (1700000000 * NS_PER_SEC)

static struct manual_clock now; /* stands still unless a test moves it */
/* Until when the thread waits, as it has told the clock; 0: it has never waited for a time. */
static _Atomic uint64_t waits_until_ns;
static void (*manual_wait)(const struct clock *c, pthread_cond_t *cond, pthread_mutex_t *lock,
			   uint64_t until_ns);
static struct run_host host;
static struct store *store;
static char directory[300];

static void noted_wait(const struct clock *c, pthread_cond_t *cond, pthread_mutex_t *lock,
		       uint64_t until_ns)
{
	waits_until_ns = until_ns;
	manual_wait(c, cond, lock, until_ns);
}

static int begin(void **state)
{
	static unsigned count;

	(void)state;
	snprintf(directory, sizeof(directory), "%s/data%u", support_dir, count++);
	manual_clock_init(&now, 1000 * NS_PER_SEC, WALL_NS);
	manual_wait = now.clock.wait;
	now.clock.wait = noted_wait;
	waits_until_ns = 0;
	host = (struct run_host){.settings = {.data = directory}, .clock = &now.clock};
	OK(store_open(&store, &(struct store_options){.directory = directory}, &error));
	return 0;
}

static int end(void **state)
{
	(void)state;
	store_close(store);
	return 0;
}

static int64_t new_run(void)
{
	struct stored_session session = {};
	struct stored_run run = {
		.command = (char *)"x", .state = STATE_DONE, .ended_ms = clock_wall_ms(&now.clock)};

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

static uint64_t passes(void)
{
	struct tidy_counts counts;

	tidy_counts(host.tidy, &counts);
	return counts.passes;
}

/* Gives up after two minutes: any machine is quicker than that. */
#define LOOKS 120000

/* Waits until the thread waits for a time, and returns the time. A time that is over was told late, by a thread
 * that was held up just before it waited. */
static uint64_t wait_until_it_waits(void)
{
	for (int i = 0; i < LOOKS && waits_until_ns <= now.monotonic_ns; i++)
		usleep(1000);
	assert_true(waits_until_ns > now.monotonic_ns);
	return waits_until_ns;
}

static void move_to(uint64_t ns)
{
	manual_clock_advance(&now, ns - now.monotonic_ns);
}

static void wait_for_begun(uint64_t number)
{
	for (int i = 0; i < LOOKS && passes() < number; i++)
		usleep(1000);
	assert_int_equal(passes(), number);
}

/* Moves the clock to when the thread begins its next pass, which is pass @number, and waits until it has. The
 * clock stands while the thread is at work, whatever holds it up. */
static void let_pass_begin(uint64_t number)
{
	move_to(wait_until_it_waits());
	wait_for_begun(number);
}

static void wait_until_merged(int64_t run, size_t chunks)
{
	stored_chunks list = {};

	for (int i = 0; i < LOOKS / 10; i++) {
		list_chunks(run, &list);
		if (list.len == chunks)
			break;
		usleep(10000);
	}
	assert_int_equal(list.len, chunks);
	vec_release(&list);
}

static void test_work(void **state)
{
	int64_t run = new_run(), other = new_run();
	struct tidy_counts counts;
	uint64_t size = UINT64_MAX, unused;
	char *much = xcalloc(1, 20 << 20);

	(void)state;
	for (uint64_t i = 0; i < 10; i++)
		add_samples(run, i * 100, 100);
	/* What was left to do is done at the start. */
	OK(tidy_start(&host, &error));
	wait_until_merged(run, 1);
	/* What comes later, when it is said. The thread waits meanwhile: if we were held up while we write, it
	 * would find the store locked. */
	tidy_kick(host.tidy, 0);
	wait_until_it_waits();
	add_samples(other, 0, 100);
	add_samples(other, 100, 100);
	tidy_kick(host.tidy, other);
	let_pass_begin(2);
	wait_until_merged(other, 1);
	/* What was deleted goes, and its room as well. */
	tidy_kick(host.tidy, 0);
	wait_until_it_waits();
	OK(store_output_add(store, other, 1, 1, much, 20 << 20, &error));
	OK(store_run_delete(store, other, &error));
	tidy_kick(host.tidy, 0);
	let_pass_begin(3);
	for (int i = 0; i < LOOKS / 10 && size > 2 << 20; i++) {
		OK(store_size(store, &size, &unused, &error));
		usleep(10000);
	}
	assert_true(size <= 2 << 20);
	tidy_counts(host.tidy, &counts);
	assert_int_equal(counts.failures, 0);
	assert_int_equal(counts.merges, 2);
	assert_int_equal(counts.merged_chunks, 12);
	tidy_free(&host);
	free(much);
}

/* However often it is told of news, and whether it is still at work or not: one pass a second. */
static void test_once_a_second(void **state)
{
	int64_t run = new_run();

	(void)state;
	OK(tidy_start(&host, &error));
	wait_for_begun(1);
	for (uint64_t number = 2; number < 12; number++) {
		uint64_t due_ns;

		for (int i = 0; i < 20; i++) {
			tidy_kick(host.tidy, run);
			usleep(1000);
		}
		/* The clock has not moved since the last pass began. */
		due_ns = wait_until_it_waits();
		assert_int_equal(due_ns, now.monotonic_ns + NS_PER_SEC);
		/* It looks at the clock again before it waits once more. */
		move_to(due_ns - 1);
		waits_until_ns = 0;
		assert_int_equal(wait_until_it_waits(), due_ns);
		assert_int_equal(passes(), number - 1);
		let_pass_begin(number);
	}
	tidy_free(&host);
}

static void test_sleeps(void **state)
{
	(void)state;
	OK(tidy_start(&host, &error));
	wait_for_begun(1);
	for (int i = 0; i < 100; i++) {
		manual_clock_advance(&now, 3600 * NS_PER_SEC);
		usleep(1000);
	}
	assert_int_equal(passes(), 1);
	assert_int_equal(waits_until_ns, 0);
	tidy_free(&host);
}

static void test_stop(void **state)
{
	int64_t run = new_run();

	(void)state;
	OK(tidy_start(&host, &error));
	tidy_stop(&host);
	tidy_kick(host.tidy, run);
	tidy_stop(&host);
	tidy_free(&host);
	assert_null(host.tidy);
	tidy_free(&host);
	tidy_kick(host.tidy, 1);
}

static bool is_there(int64_t run)
{
	struct stored_run found = {};
	int result = store_run_get_id(store, run, &found, NULL);

	stored_run_release(&found);
	return result == 0;
}

static uint64_t expired(void)
{
	struct tidy_counts counts;

	tidy_counts(host.tidy, &counts);
	return counts.expired_runs;
}

/* A minute passes at most: old runs are looked for, by a pass that nothing else has asked for. */
static void pass_a_minute(void)
{
	uint64_t due_ns = wait_until_it_waits(), before = passes();

	assert_true(due_ns <= now.monotonic_ns + 60 * NS_PER_SEC);
	move_to(due_ns);
	wait_for_begun(before + 1);
}

static void start_server(void)
{
	waits_until_ns = 0;
	host.bus = bus_new(host.clock);
	host.live = live_new(&host);
	OK(runs_prepare(&host.runs, &host, &error));
	OK(tidy_start(&host, &error));
	OK(runs_begin(host.runs, &error));
	wait_for_begun(1);
}

static void stop_server(void)
{
	tidy_stop(&host);
	runs_stop(host.runs);
	tidy_free(&host);
	live_free(host.live);
	bus_free(host.bus);
}

/* Runs go when they are older than the setting says, by the time that has passed, not by a wall clock
 * that somebody has set. */
static void test_old_runs_go(void **state)
{
	int64_t run = new_run();
	uint64_t before, due_ns;

	(void)state;
	host.settings.keep_s = 24 * 3600;
	start_server();
	/* Somebody sets the clock ten years on. */
	manual_clock_set_wall(&now, WALL_NS + 10ull * 365 * 24 * 3600 * NS_PER_SEC);
	pass_a_minute();
	pass_a_minute();
	assert_true(is_there(run));
	/* A day passes. When the next pass begins, the one that looked has ended. */
	due_ns = wait_until_it_waits();
	before = passes();
	move_to(due_ns + 24 * 3600 * NS_PER_SEC);
	wait_for_begun(before + 1);
	pass_a_minute();
	assert_int_equal(expired(), 1);
	assert_false(is_there(run));
	stop_server();
}

/* The warning, when the pass that looked for old runs has ended. */
static char *warning_now(void)
{
	pass_a_minute();
	pass_a_minute();
	return tidy_warning(host.tidy);
}

/* The server was stopped while somebody set the clock: no run is older than it is. */
static void test_a_clock_that_was_set_between_two_starts(void **state)
{
	CLEANUP(free_ptr) char *first = NULL, *jumped = NULL, *corrected = NULL, *future = NULL;
	const uint64_t years_ns = 20ull * 365 * 24 * 3600 * NS_PER_SEC;
	int64_t old = new_run(), later;

	(void)state;
	host.settings.keep_s = 30 * 24 * 3600;
	start_server();
	first = warning_now();
	assert_null(first);
	stop_server();
	manual_clock_set_wall(&now, now.wall_ns + years_ns);
	start_server();
	jumped = warning_now();
	assert_non_null(jumped);
	assert_non_null(strstr(jumped, "The clock has jumped to 2043-"));
	assert_non_null(strstr(jumped, "it is 2023-11-14"));
	assert_true(is_there(old));
	later = new_run();
	stop_server();
	/* Corrected; but now the newest run lies in the future. */
	manual_clock_set_wall(&now, now.wall_ns - years_ns);
	start_server();
	future = warning_now();
	assert_non_null(future);
	assert_non_null(strstr(future, "The newest run has ended at 2043-"));
	assert_true(is_there(old) && is_there(later));
	/* Time passes, and another run ends. */
	new_run();
	corrected = warning_now();
	assert_null(corrected);
	assert_int_equal(expired(), 0);
	stop_server();
}

/* The first start of this version, or with keep-age: what is known is when the newest run has ended. */
static void test_a_clock_that_was_wrong_at_first(void **state)
{
	CLEANUP(free_ptr) char *warning = NULL;
	int64_t run = new_run();

	(void)state;
	host.settings.keep_s = 30 * 24 * 3600;
	manual_clock_set_wall(&now, now.wall_ns + 20ull * 365 * 24 * 3600 * NS_PER_SEC);
	start_server();
	warning = warning_now();
	assert_non_null(warning);
	assert_true(is_there(run));
	stop_server();
}

#define TIDY_TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TIDY_TEST(test_work),
		TIDY_TEST(test_once_a_second),
		TIDY_TEST(test_sleeps),
		TIDY_TEST(test_stop),
		TIDY_TEST(test_old_runs_go),
		TIDY_TEST(test_a_clock_that_was_set_between_two_starts),
		TIDY_TEST(test_a_clock_that_was_wrong_at_first),
	};

	return cmocka_run_group_tests(tests, make_support_dir, remove_support_dir);
}
