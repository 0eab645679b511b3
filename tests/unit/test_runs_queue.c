/* The queue of runs: how long runs will take, when the next begins, which runs overlapped and when. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "bus/bus.h"
#include "runs/internal.h"
#include "store_support.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define START_NS (1000 * NS_PER_SEC)

static struct manual_clock now; /* stands still unless a test moves it */
static struct run_host host;
static struct runs runs;
static struct active first, second;

static int begin(void **state)
{
	(void)state;
	manual_clock_init(&now, START_NS, 1700000000 * NS_PER_SEC);
	host = (struct run_host){.clock = &now.clock, .bus = bus_new(&now.clock), .runs = &runs};
	host.live = live_new(&host);
	runs = (struct runs){.host = &host};
	pthread_mutex_init(&runs.lock, NULL);
	first = (struct active){.runs = &runs, .run = {.uuid = "first"}};
	second = (struct active){.runs = &runs, .run = {.uuid = "second"}};
	return 0;
}

static void release_overlaps(struct active *a)
{
	vec_each(&a->overlaps, o)
		free(o->command);
	vec_release(&a->overlaps);
}

static int end(void **state)
{
	(void)state;
	release_overlaps(&first);
	release_overlaps(&second);
	vec_release(&runs.queue);
	vec_release(&runs.active);
	vec_release(&runs.visible);
	pthread_mutex_destroy(&runs.lock);
	live_free(host.live);
	bus_free(host.bus);
	return 0;
}

/* It runs since now. */
static void start(struct active *a, double expected_s, bool exclusive)
{
	a->expected_s = expected_s;
	a->run.exclusive = exclusive;
	a->begun_ns = runs_now_ns(&runs);
	vec_push(&runs.active, a);
	vec_push(&runs.visible, a);
}

static void put_in_queue(const char *uuid, double position, double expected_s, bool exclusive)
{
	struct request q = {.position = position, .expected_s = expected_s, .exclusive = exclusive};

	snprintf(q.uuid, sizeof(q.uuid), "%s", uuid);
	queue_add(&runs, &q);
}

static void pass_seconds(uint64_t s)
{
	manual_clock_advance(&now, s * NS_PER_SEC);
}

static struct run_progress progress(const char *uuid)
{
	struct run_progress p = {};

	assert_true(runs_progress(&runs, uuid, &p));
	return p;
}

static void test_eta_counts_down(void **state)
{
	(void)state;
	start(&first, 10, true);
	assert_true(progress("first").eta_s == 10);
	pass_seconds(4);
	assert_true(progress("first").elapsed_s == 4);
	assert_true(progress("first").eta_s == 6);
	/* It takes longer than the ones before it did: any moment now, but never less than that. */
	pass_seconds(7);
	assert_true(progress("first").elapsed_s == 11);
	assert_true(progress("first").eta_s == 0);
	assert_false(runs_progress(&runs, "unknown", &(struct run_progress){}));
}

static void test_eta_is_unknown(void **state)
{
	(void)state;
	start(&first, 0, true);
	put_in_queue("next", 1, 5, true);
	pass_seconds(3);
	assert_true(progress("first").elapsed_s == 3);
	assert_true(progress("first").eta_s < 0);
	assert_true(progress("next").starts_in_s < 0);
	assert_true(progress("next").eta_s < 0);
	/* The run is over, its collector has something to send: the next one need not wait for more. */
	first.over = true;
	assert_true(progress("next").starts_in_s == 0);
	assert_true(progress("next").eta_s == 5);
}

static void test_queue_adds_up(void **state)
{
	struct run_progress last;

	(void)state;
	start(&first, 10, true);
	/* What disturbs nobody is not waited for, and does not know when it begins. */
	start(&second, 100, false);
	put_in_queue("c", 3, 7, true);
	put_in_queue("a", 1, 20, true);
	put_in_queue("b", 2, 50, false);
	pass_seconds(4);
	assert_int_equal(progress("a").place, 1);
	assert_true(progress("a").starts_in_s == 6);
	assert_true(progress("a").eta_s == 26);
	assert_true(progress("b").starts_in_s < 0);
	last = progress("c");
	assert_int_equal(last.place, 3);
	assert_true(last.starts_in_s == 26);
	assert_true(last.eta_s == 33);
	/* The one that runs is overdue: the others come when it ends, so they are not nearer than that. */
	pass_seconds(100);
	assert_true(progress("c").starts_in_s == 20);
	assert_true(progress("c").elapsed_s == 0);
}

/* After the store has failed, starting is tried again a second later, not at every event. */
static void test_start_is_tried_again(void **state)
{
	char directory[300];

	(void)state;
	snprintf(directory, sizeof(directory), "%s/retry", support_dir);
	host.settings.data = directory;
	OK(store_open(&runs.store, &(struct store_options){.directory = directory}, &error));
	put_in_queue("gone", 1, 0, true); /* deleted meanwhile: taken out when its turn comes */
	runs.retry_ns = runs_now_ns(&runs) + RETRY_MS * NS_PER_MSEC;
	queue_start(&runs);
	assert_int_equal(runs.queue.len, 1);
	manual_clock_advance(&now, RETRY_MS * NS_PER_MSEC - 1);
	queue_start(&runs);
	assert_int_equal(runs.queue.len, 1);
	manual_clock_advance(&now, 1);
	queue_start(&runs);
	assert_int_equal(runs.queue.len, 0);
	assert_int_equal(runs.retry_ns, 0);
	store_close(runs.store);
}

static void assert_overlap(const struct active *a, json_int_t from_ns, json_int_t to_ns)
{
	CLEANUP(free_ptr) char *text = overlap_ledger(a);
	json_t *ledger = json_loads(text, 0, NULL);
	const json_t *list = json_object_get(ledger, "overlap"), *one = json_array_get(list, 0);

	assert_int_equal(json_array_size(list), 1);
	assert_int_equal(json_integer_value(json_object_get(one, "from_ns")), from_ns);
	if (to_ns)
		assert_int_equal(json_integer_value(json_object_get(one, "to_ns")), to_ns);
	else
		assert_true(json_is_null(json_object_get(one, "to_ns")));
	json_decref(ledger);
}

/* On the clock of each run, which begins with it. */
static void test_meeting(void **state)
{
	(void)state;
	start(&first, 0, false);
	overlap_begin(&runs, &first);
	pass_seconds(5);
	start(&second, 0, false);
	overlap_begin(&runs, &second);
	assert_overlap(&first, 5 * NS_PER_SEC, 0);
	assert_overlap(&second, 0, 0);
	pass_seconds(3);
	overlap_end(&runs, &first);
	first.over = true;
	pass_seconds(2);
	overlap_end(&runs, &second);
	assert_overlap(&first, 5 * NS_PER_SEC, 8 * NS_PER_SEC);
	assert_overlap(&second, 0, 3 * NS_PER_SEC);
}

#define QUEUE_TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		QUEUE_TEST(test_eta_counts_down), QUEUE_TEST(test_eta_is_unknown),
		QUEUE_TEST(test_queue_adds_up),   QUEUE_TEST(test_start_is_tried_again),
		QUEUE_TEST(test_meeting),
	};

	return cmocka_run_group_tests(tests, make_support_dir, remove_support_dir);
}
