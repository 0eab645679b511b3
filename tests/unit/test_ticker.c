/* When counters are read: the grid, missed ticks, and ticks that cost too much. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "collect/ticker.h"

#define START_NS    (1000 * NS_PER_SEC)
#define INTERVAL_NS (10 * NS_PER_MSEC)

static struct manual_clock now;
static struct ticker t;

static int begin(void **state)
{
	(void)state;
	manual_clock_init(&now, START_NS, 1);
	t = (struct ticker){};
	ticker_start(&t, &now.clock, START_NS, START_NS, INTERVAL_NS);
	return 0;
}

static void wait_until(uint64_t ns)
{
	manual_clock_advance(&now, ns - now.monotonic_ns);
}

/* A tick at its time that computes for @cpu_ns and then is kept from running for @away_ns. */
static void tick(uint64_t cpu_ns, uint64_t away_ns)
{
	if (now.monotonic_ns < t.next_ns)
		wait_until(t.next_ns);
	assert_true(ticker_due(&t, now.monotonic_ns));
	assert_int_equal(ticker_begin(&t), now.monotonic_ns);
	manual_clock_work(&now, cpu_ns);
	manual_clock_advance(&now, away_ns);
	ticker_end(&t);
}

static void ticks_keep_to_the_grid(void **state)
{
	(void)state;
	for (uint64_t i = 1; i <= 20; i++) {
		assert_int_equal(t.next_ns, START_NS + i * INTERVAL_NS);
		assert_false(ticker_due(&t, t.next_ns - 1));
		/* Each a little late, and each takes a moment: nothing of that adds up. */
		wait_until(t.next_ns + i % 3 * NS_PER_MSEC);
		tick(NS_PER_MSEC / 10, NS_PER_MSEC / 10);
	}
	assert_int_equal(t.ledger.ticks, 20);
	assert_int_equal(t.ledger.missed, 0);
	assert_int_equal(t.ledger.worst_late_ns, 2 * NS_PER_MSEC);
	assert_int_equal(t.ledger.stretched_ns, 0);
}

static void late_ones_are_counted(void **state)
{
	(void)state;
	wait_until(START_NS + 55 * NS_PER_MSEC);
	tick(0, 0);
	/* Those due at 20, 30, 40 and 50 are gone. */
	assert_int_equal(t.ledger.missed, 4);
	assert_int_equal(t.ledger.worst_late_ns, 45 * NS_PER_MSEC);
	assert_int_equal(t.next_ns, START_NS + 60 * NS_PER_MSEC);
	/* One that ends exactly when the next is due: that one is gone, too. */
	tick(0, INTERVAL_NS);
	assert_int_equal(t.ledger.missed, 5);
	assert_int_equal(t.next_ns, START_NS + 80 * NS_PER_MSEC);
}

static void costly_ones_become_rarer(void **state)
{
	const uint64_t cost_ns = 3 * NS_PER_MSEC;

	(void)state;
	/* The first looks suspicious, the second costs too much, the third is not bad luck any more. */
	for (int i = 0; i < 3; i++) {
		assert_int_equal(t.interval_ns, INTERVAL_NS);
		tick(cost_ns, 0);
	}
	/* A fortieth of the interval is what they cost now; the grid is the same. */
	assert_int_equal(t.interval_ns, 40 * cost_ns);
	assert_int_equal(t.ledger.stretched_ns, 40 * cost_ns);
	assert_int_equal(t.ledger.worst_cost_ns, cost_ns);
	assert_int_equal((t.next_ns - START_NS) % INTERVAL_NS, 0);
	assert_int_equal(t.ledger.missed, 0);
	tick(cost_ns, 0);
	assert_int_equal(t.interval_ns, 40 * cost_ns);
	/* And back again. */
	tick(0, 0);
	assert_int_equal(t.interval_ns, INTERVAL_NS);
}

/* Time in which others have the CPU is not what a tick costs. */
static void waiting_costs_nothing(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++)
		tick(NS_PER_MSEC / 10, 8 * NS_PER_MSEC);
	assert_int_equal(t.interval_ns, INTERVAL_NS);
	assert_int_equal(t.ledger.stretched_ns, 0);
	assert_int_equal(t.ledger.worst_cost_ns, NS_PER_MSEC / 10);
}

/* One tick that costs much may be bad luck. */
static void a_single_costly_one_is_forgiven(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++)
		tick(i % 2 ? 3 * NS_PER_MSEC : 0, 0);
	assert_int_equal(t.interval_ns, INTERVAL_NS);
	assert_int_equal(t.ledger.worst_cost_ns, 3 * NS_PER_MSEC);
}

static void without_an_interval_there_are_none(void **state)
{
	(void)state;
	ticker_start(&t, &now.clock, 5, 5, 0);
	assert_false(ticker_due(&t, UINT64_MAX));
}

#define TICKER_TEST(f) cmocka_unit_test_setup(f, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TICKER_TEST(ticks_keep_to_the_grid),
		TICKER_TEST(late_ones_are_counted),
		TICKER_TEST(costly_ones_become_rarer),
		TICKER_TEST(waiting_costs_nothing),
		TICKER_TEST(a_single_costly_one_is_forgiven),
		TICKER_TEST(without_an_interval_there_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
