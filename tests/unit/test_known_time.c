/* What is believed of a wall clock that somebody may have set. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runs/known_time.h"

#include <stdlib.h>
#include <string.h>

#define MINUTE 60000ll
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)
#define YEAR   (365 * DAY)
#define START  (20000 * DAY)
#define KEEP   (30 * DAY)

static struct known_time at;
static struct moment now;

static int begin(void **state)
{
	(void)state;
	at = (struct known_time){};
	now = (struct moment){.wall_ms = START, .boot_ms = HOUR, .boot = "first boot"};
	known_time_pass(&at, &now, KEEP);
	return 0;
}

static void pass(int64_t ms)
{
	now.wall_ms += ms;
	now.boot_ms += ms;
	known_time_pass(&at, &now, KEEP);
}

static void boot(int64_t off_ms)
{
	now.wall_ms += off_ms;
	now.boot_ms = MINUTE;
	strcpy(now.boot, strcmp(now.boot, "first boot") ? "first boot" : "second boot");
	known_time_pass(&at, &now, KEEP);
}

static void check(int64_t known_ms, int64_t ahead_ms)
{
	assert_int_equal(known_time_ms(&at), known_ms);
	assert_int_equal(known_time_ahead_ms(&at), ahead_ms);
}

static void test_time_passes(void **state)
{
	(void)state;
	check(START, 0);
	pass(10 * DAY);
	check(START + 10 * DAY, 0);
	/* Adjusted by a little. */
	now.wall_ms += 40 * MINUTE;
	pass(MINUTE);
	check(START + 10 * DAY + 41 * MINUTE, 0);
}

static void test_a_clock_that_is_set_on_makes_nothing_older(void **state)
{
	(void)state;
	now.wall_ms += 20 * YEAR;
	pass(MINUTE);
	check(START + MINUTE, 20 * YEAR);
	pass(DAY);
	check(START + MINUTE + DAY, 20 * YEAR);
	/* Corrected. */
	now.wall_ms -= 20 * YEAR;
	pass(MINUTE);
	check(START + 2 * MINUTE + DAY, 0);
}

static void test_a_clock_that_is_set_back_makes_nothing_older(void **state)
{
	(void)state;
	now.wall_ms -= 2 * DAY;
	pass(MINUTE);
	check(START - 2 * DAY + MINUTE, 0);
	now.wall_ms += 2 * DAY;
	pass(MINUTE);
	check(START + 2 * MINUTE, 0);
}

static void test_a_machine_that_was_off(void **state)
{
	(void)state;
	boot(6 * DAY);
	check(START + 6 * DAY, 0);
	/* For longer than one can tell from a wrong clock. */
	boot(20 * YEAR);
	check(START + 6 * DAY, 20 * YEAR);
	boot(DAY);
	check(START + 7 * DAY, 20 * YEAR);
	boot(-20 * YEAR);
	check(START + 7 * DAY, 0);
}

static void test_a_clock_that_goes_on_evenly_is_believed(void **state)
{
	(void)state;
	boot(YEAR);
	check(START, YEAR);
	pass(KEEP - HOUR);
	check(START + KEEP - HOUR, YEAR);
	pass(HOUR);
	check(START + YEAR + KEEP, 0);
}

static void test_another_jump_begins_anew(void **state)
{
	(void)state;
	boot(YEAR);
	pass(KEEP - HOUR);
	now.wall_ms += DAY;
	pass(HOUR);
	check(START + KEEP, YEAR + DAY);
	pass(KEEP - HOUR);
	check(START + 2 * KEEP - HOUR, YEAR + DAY);
	pass(HOUR);
	check(START + YEAR + DAY + 2 * KEEP, 0);
}

static void test_the_newest_run_is_what_is_known_at_first(void **state)
{
	(void)state;
	known_time_begin(&at, START - 2 * DAY);
	known_time_pass(&at, &now, KEEP);
	check(START, 0);
	known_time_begin(&at, START - 20 * YEAR);
	known_time_pass(&at, &now, KEEP);
	check(START - 20 * YEAR, 20 * YEAR);
	known_time_begin(&at, 0);
	known_time_pass(&at, &now, KEEP);
	check(START, 0);
}

static void test_is_kept_as_text(void **state)
{
	struct known_time again;
	char *text;

	(void)state;
	boot(YEAR);
	pass(DAY);
	text = known_time_text(&at);
	assert_true(known_time_parse(&again, text));
	assert_int_equal(again.known_ms, at.known_ms);
	assert_int_equal(again.steady_ms, at.steady_ms);
	assert_int_equal(again.seen.wall_ms, at.seen.wall_ms);
	assert_int_equal(again.seen.boot_ms, at.seen.boot_ms);
	assert_string_equal(again.seen.boot, at.seen.boot);
	free(text);
}

static void test_text_that_is_not_valid(void **state)
{
	static const char *const texts[] = {
		"",
		"{}",
		"[1]",
		"{\"known_ms\":-1,\"steady_ms\":0,\"wall_ms\":0,\"boot_ms\":0,\"boot\":\"\"}",
		"{\"known_ms\":9007199254740993,\"steady_ms\":0,\"wall_ms\":0,\"boot_ms\":0,"
		"\"boot\":\"\"}",
		"{\"known_ms\":1.5,\"steady_ms\":0,\"wall_ms\":0,\"boot_ms\":0,\"boot\":\"\"}",
		"{\"known_ms\":1,\"steady_ms\":0,\"wall_ms\":0,\"boot_ms\":0,\"boot\":"
		"\"0123456789012345678901234567890123456789\"}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_false(known_time_parse(&at, texts[i]));
		assert_int_equal(at.known_ms, 0);
	}
}

#define TIME_TEST(f) cmocka_unit_test_setup(f, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TIME_TEST(test_time_passes),
		TIME_TEST(test_a_clock_that_is_set_on_makes_nothing_older),
		TIME_TEST(test_a_clock_that_is_set_back_makes_nothing_older),
		TIME_TEST(test_a_machine_that_was_off),
		TIME_TEST(test_a_clock_that_goes_on_evenly_is_believed),
		TIME_TEST(test_another_jump_begins_anew),
		TIME_TEST(test_the_newest_run_is_what_is_known_at_first),
		TIME_TEST(test_is_kept_as_text),
		TIME_TEST(test_text_that_is_not_valid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
