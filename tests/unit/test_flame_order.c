/* Flame graphs in the order of time. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/paths/flame_order.h"
#include "base/buf.h"

#include <string.h>

/* main 1 calls a 2, which calls b 3; and b 4. Names: main 1, a 2, b 3. */
static struct call_path nodes[] = {
	{0, 0, false}, {0, 1, false}, {1, 2, false}, {2, 3, false}, {1, 3, false}};

static void finish(struct flame_order *f, const char *expected)
{
	static const char *const names[] = {"", "main", "a", "b"};
	struct call_paths c = {};
	CLEANUP(buf_release) struct buf out = {};

	c.nodes.items = nodes;
	c.nodes.len = ARRAY_LEN(nodes);
	flame_order_finish(f, &c);
	vec_each(&f->boxes, box)
		buf_addf(&out, "%s%u %s %llu-%llu", out.len ? ", " : "", box->depth,
			 names[box->name], (unsigned long long)box->from_ns,
			 (unsigned long long)box->to_ns);
	assert_string_equal(buf_str(&out), expected);
	flame_order_release(f);
}

static void calls_are_one_box(void **state)
{
	struct flame_order f;

	(void)state;
	flame_order_init(&f, 1000, 2000, 100);
	flame_order_add(&f, 1100, 1, 2);
	flame_order_add(&f, 1110, 1, 3);
	flame_order_add(&f, 1120, 1, 3);
	flame_order_add(&f, 1130, 1, 4); /* the same function, called by another */
	flame_order_add(&f, 1140, 1, 1);
	flame_order_add(&f, 1150, 1, 4);
	assert_int_equal(f.samples, 6);
	finish(&f, "0 main 1100-1160, 1 a 1100-1130, 2 b 1110-1130, 1 b 1130-1140, 1 b 1150-1160");
}

static void nothing_for_long_is_a_gap(void **state)
{
	struct flame_order f;

	(void)state;
	flame_order_init(&f, 0, 1000, 1000);
	for (unsigned i = 0; i < 5; i++)
		flame_order_add(&f, i * 10, 1, 2);
	flame_order_add(&f, 90, 1, 2);  /* 50 later: late, but not away */
	flame_order_add(&f, 141, 1, 2); /* 51 */
	flame_order_add(&f, 995, 1, 1);
	finish(&f, "0 main 0-100, 1 a 0-100, 0 main 141-151, 1 a 141-151, 0 main 995-1000");
}

static void pauses_that_cannot_be_seen_are_none(void **state)
{
	struct flame_order f;

	(void)state;
	flame_order_init(&f, 0, 100000, 1000);
	for (unsigned turn = 0; turn < 4; turn++)
		for (unsigned i = 0; i < 10; i++)
			flame_order_add(&f, turn * 490 + i * 10, 1, 2); /* away for 400 */
	flame_order_add(&f, 1961, 1, 2);                                /* for 401 */
	finish(&f, "0 main 0-1570, 1 a 0-1570, 0 main 1961-1971, 1 a 1961-1971");
}

static void columns_show_the_heaviest(void **state)
{
	struct flame_order f;

	(void)state;
	flame_order_init(&f, 0, 100, 2);
	/* In any order; of equal ones the first. */
	flame_order_add(&f, 40, 5, 4);
	flame_order_add(&f, 20, 5, 3);
	flame_order_add(&f, 30, 1, 1);
	flame_order_add(&f, 60, 1, 3);
	flame_order_add(&f, 70, 2, 4);
	assert_int_equal(f.weight, 14);
	finish(&f, "0 main 20-80, 1 a 20-60, 2 b 20-60, 1 b 60-80");
}

static void few_and_none(void **state)
{
	struct flame_order f;

	(void)state;
	flame_order_init(&f, 0, 100, 10);
	finish(&f, "");
	flame_order_init(&f, 0, 100, 10);
	flame_order_add(&f, 0, 0, 1);
	finish(&f, "0 main 0-11");
	/* A stack without frames is nothing to draw. */
	flame_order_init(&f, 0, 100, 10);
	flame_order_add(&f, 50, 1, 0);
	finish(&f, "");
}

/* The usual space is that of the last ones, however many there are. */
static void many(void **state)
{
	struct flame_order f;

	(void)state;
	flame_order_init(&f, 0, 1000000, 4);
	for (unsigned i = 0; i < 3 * FLAME_ORDER_SPACES; i++)
		flame_order_add(&f, i * 10, 1, 1);
	flame_order_add(&f, 900000, 1, 1);
	finish(&f, "0 main 0-122880, 0 main 900000-900010");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_one_box),
		cmocka_unit_test(nothing_for_long_is_a_gap),
		cmocka_unit_test(pauses_that_cannot_be_seen_are_none),
		cmocka_unit_test(columns_show_the_heaviest),
		cmocka_unit_test(few_and_none),
		cmocka_unit_test(many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
