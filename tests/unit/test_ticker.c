/* When counters are read: the grid, missed ticks, and ticks that cost too much. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "collect/ticker.h"

#include <time.h>

#define INTERVAL_NS (10 * NS_PER_MSEC)

static void use_cpu(uint64_t ns)
{
	uint64_t end = clock_ns_of(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (clock_ns_of(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static void wait_until(uint64_t ns)
{
	while (clock_now_ns() < ns) {
		uint64_t left = ns - clock_now_ns();
		struct timespec t = {.tv_nsec = (long)(left < NS_PER_SEC ? left : NS_PER_SEC - 1)};

		nanosleep(&t, NULL);
	}
}

static void ticks_keep_to_the_grid(void **state)
{
	uint64_t start = clock_now_ns();
	struct ticker t = {};

	(void)state;
	ticker_start(&t, start, start, INTERVAL_NS);
	for (int i = 0; i < 20; i++) {
		assert_int_equal((t.next_ns - start) % INTERVAL_NS, 0);
		assert_true(t.next_ns > start);
		assert_false(ticker_due(&t, t.next_ns - 1));
		wait_until(t.next_ns);
		assert_true(ticker_due(&t, clock_now_ns()));
		assert_true(ticker_begin(&t) >= start);
		ticker_end(&t);
	}
	assert_int_equal(t.ledger.ticks, 20);
}

static void late_ones_are_counted(void **state)
{
	uint64_t start = clock_now_ns();
	struct ticker t = {};

	(void)state;
	ticker_start(&t, start, start, INTERVAL_NS);
	wait_until(start + 55 * NS_PER_MSEC);
	ticker_begin(&t);
	ticker_end(&t);
	/* Those due at 20, 30, 40 and 50 are gone, at least. */
	assert_true(t.ledger.missed >= 4);
	assert_true(t.ledger.worst_late_ns >= 45 * NS_PER_MSEC);
	assert_true(t.next_ns > clock_now_ns() - INTERVAL_NS);
	assert_int_equal((t.next_ns - start) % INTERVAL_NS, 0);
}

static void costly_ones_become_rarer(void **state)
{
	uint64_t start = clock_now_ns();
	struct ticker t = {};

	(void)state;
	ticker_start(&t, start, start, INTERVAL_NS);
	for (int i = 0; i < 5; i++) {
		t.next_ns = clock_now_ns();
		ticker_begin(&t);
		use_cpu(3 * NS_PER_MSEC);
		ticker_end(&t);
	}
	/* A fortieth of the interval is what they cost now. */
	assert_true(t.interval_ns >= 120 * NS_PER_MSEC);
	assert_true(t.ledger.stretched_ns >= 120 * NS_PER_MSEC);
	assert_true(t.ledger.worst_cost_ns >= 3 * NS_PER_MSEC);
	/* And back again. */
	for (int i = 0; i < 5; i++) {
		t.next_ns = clock_now_ns();
		ticker_begin(&t);
		ticker_end(&t);
	}
	assert_int_equal(t.interval_ns, INTERVAL_NS);
}

static void without_an_interval_there_are_none(void **state)
{
	struct ticker t = {};

	(void)state;
	ticker_start(&t, 5, 5, 0);
	assert_false(ticker_due(&t, UINT64_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ticks_keep_to_the_grid),
		cmocka_unit_test(late_ones_are_counted),
		cmocka_unit_test(costly_ones_become_rarer),
		cmocka_unit_test(without_an_interval_there_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
