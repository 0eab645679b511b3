/* Records in the order of time: runs, rounds, what comes late, and how much may wait. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "perf/order.h"

#include <stdlib.h>
#include <string.h>

struct given {
	uint64_t time_ns;
	uint32_t number; /* in the order of arrival */
};

struct fixture {
	struct order order;
	struct block *block;
	size_t used;
	uint32_t arrived;
	VEC(struct given) given;
	size_t stop_after; /* 0: never */
	bool only_count;
	uint64_t count, newest_ns, backwards;
};

static bool on_give(void *ctx, const struct order_entry *entry)
{
	struct fixture *f = ctx;

	f->count++;
	if (entry->time_ns < f->newest_ns)
		f->backwards++;
	else
		f->newest_ns = entry->time_ns;
	if (!f->only_count) {
		uint32_t number;

		memcpy(&number, entry->bytes, sizeof(number));
		assert_int_equal(number, entry->event);
		vec_push(&f->given, (struct given){entry->time_ns, number});
	}
	return f->count != f->stop_after;
}

static void begin(struct fixture *f)
{
	f->order.give = on_give;
	f->order.ctx = f;
	f->block = order_block_new(&f->order);
}

static void next_block(struct fixture *f)
{
	order_block_close(&f->order, f->block);
	f->block = order_block_new(&f->order);
	f->used = 0;
}

static void push(struct fixture *f, uint64_t time_ns)
{
	unsigned char *at;

	if (f->used + 8 > BLOCK_ROOM)
		next_block(f);
	at = f->block->data + f->used;
	f->used += 8;
	memcpy(at, &f->arrived, sizeof(f->arrived));
	order_push(&f->order, time_ns, at, f->arrived++);
}

static void push_all(struct fixture *f, const uint64_t *times, size_t count)
{
	for (size_t i = 0; i < count; i++)
		push(f, times[i]);
}

static void end(struct fixture *f)
{
	order_block_close(&f->order, f->block);
	order_release(&f->order);
	assert_int_equal(f->order.waiting, 0);
	assert_int_equal(f->order.block_count, 0);
	vec_release(&f->given);
}

#define PUSH(f, ...)                                                                               \
	push_all((f), (const uint64_t[]){__VA_ARGS__},                                             \
		 sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void gave(struct fixture *f, const uint64_t *times, size_t count)
{
	assert_int_equal(f->given.len, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(f->given.items[i].time_ns, times[i]);
	f->given.len = 0;
}

#define GAVE(f, ...)                                                                               \
	gave((f), (const uint64_t[]){__VA_ARGS__},                                                 \
	     sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* Ascending in time; equal times in the order of arrival. */
static void assert_sorted(const struct fixture *f)
{
	for (size_t i = 1; i < f->given.len; i++) {
		const struct given *a = &f->given.items[i - 1], *b = &f->given.items[i];

		if (a->time_ns > b->time_ns || (a->time_ns == b->time_ns && a->number > b->number))
			fail_msg("%zu: time %llu number %u before time %llu number %u", i,
				 (unsigned long long)a->time_ns, a->number,
				 (unsigned long long)b->time_ns, b->number);
	}
}

/* ---- order ---- */

static void runs_are_merged(void **state)
{
	struct fixture f = {};

	(void)state;
	begin(&f);
	PUSH(&f, 10, 20, 30, 5, 25, 35, 1, 40);
	assert_int_equal(f.order.runs.len, 3);
	order_flush_all(&f.order);
	GAVE(&f, 1, 5, 10, 20, 25, 30, 35, 40);
	assert_int_equal(f.order.late, 0);
	end(&f);
}

static void nothing_waits(void **state)
{
	struct fixture f = {};

	(void)state;
	begin(&f);
	order_round(&f.order);
	order_flush_all(&f.order);
	assert_int_equal(f.count, 0);
	end(&f);
}

static void equal_times_keep_their_order(void **state)
{
	struct fixture f = {};

	(void)state;
	begin(&f);
	PUSH(&f, 7, 7, 9, 7, 7, 8, 9, 7, 3, 7, 9, 9, 8, 8, 7);
	order_flush_all(&f.order);
	assert_int_equal(f.given.len, 15);
	assert_sorted(&f);
	end(&f);
}

/* Few different times and many runs, also more than are merged by the heap alone. */
static void many_mixtures(void **state)
{
	static const size_t sizes[] = {1, 2, 3, 10, 100, 1000, 5000, 40000};
	uint64_t seed = 7;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
		for (uint64_t range = 1; range <= 1000000; range *= 100) {
			struct fixture f = {};

			begin(&f);
			for (size_t k = 0; k < sizes[i]; k++) {
				seed = seed * 6364136223846793005ull + 1442695040888963407ull;
				push(&f, 1 + (seed >> 33) % range);
			}
			order_flush_all(&f.order);
			assert_int_equal(f.given.len, sizes[i]);
			assert_sorted(&f);
			assert_int_equal(f.order.late, 0);
			end(&f);
		}
}

/* ---- rounds ---- */

static void rounds(void **state)
{
	struct fixture f = {};

	(void)state;
	begin(&f);
	PUSH(&f, 10, 20, 12);
	order_round(&f.order);
	assert_int_equal(f.given.len, 0); /* a ring read earlier may still have older ones */
	PUSH(&f, 15, 30);
	order_round(&f.order);
	GAVE(&f, 10, 12, 15, 20); /* up to the newest of the round before */
	PUSH(&f, 25);
	order_round(&f.order);
	GAVE(&f, 25, 30);
	order_round(&f.order);
	order_flush_all(&f.order);
	assert_int_equal(f.given.len, 0);
	assert_int_equal(f.order.late, 0);
	end(&f);
}

/* What stays over a round keeps its place among equals. */
static void equal_times_over_rounds(void **state)
{
	struct fixture f = {};

	(void)state;
	begin(&f);
	PUSH(&f, 10, 50, 50, 20, 50);
	order_round(&f.order);
	PUSH(&f, 50, 60, 50);
	order_round(&f.order);
	PUSH(&f, 60, 60);
	order_flush_all(&f.order);
	assert_int_equal(f.given.len, 10);
	assert_sorted(&f);
	end(&f);
}

static void late_is_counted(void **state)
{
	struct fixture f = {};

	(void)state;
	begin(&f);
	PUSH(&f, 100, 200);
	order_round(&f.order);
	order_round(&f.order);
	GAVE(&f, 100, 200);
	PUSH(&f, 150, 50, 300);
	order_flush_all(&f.order);
	GAVE(&f, 50, 150, 300);
	assert_int_equal(f.order.late, 2);
	assert_int_equal(f.order.worst_late_ns, 150);
	end(&f);
}

static void whole_ignores_rounds(void **state)
{
	struct fixture f = {.order.whole = true};

	(void)state;
	begin(&f);
	for (unsigned i = 10; i > 0; i--) {
		push(&f, i);
		order_round(&f.order);
	}
	assert_int_equal(f.given.len, 0);
	order_flush_all(&f.order);
	GAVE(&f, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
	assert_int_equal(f.order.late, 0);
	end(&f);
}

static void stops_when_told(void **state)
{
	struct fixture f = {.stop_after = 2};

	(void)state;
	begin(&f);
	PUSH(&f, 3, 2, 1, 4);
	order_flush_all(&f.order);
	GAVE(&f, 1, 2);
	assert_true(f.order.stopped);
	PUSH(&f, 9);
	order_flush_all(&f.order);
	assert_int_equal(f.given.len, 0);
	end(&f);
}

/* ---- memory ---- */

static void blocks_live_as_their_records(void **state)
{
	struct fixture f = {};
	struct block *first;

	(void)state;
	begin(&f);
	first = f.block;
	PUSH(&f, 10);
	next_block(&f);
	assert_int_equal(f.order.block_count, 2);
	assert_int_equal(f.order.spare.len, 0);
	order_flush_all(&f.order);
	assert_int_equal(f.order.block_count, 1);
	assert_ptr_equal(f.order.spare.items[0], first);
	next_block(&f); /* the second had no records: it is used again at once */
	assert_int_equal(f.order.block_count, 1);
	end(&f);
}

static void held_blocks_stay(void **state)
{
	struct fixture f = {};
	struct block *held;

	(void)state;
	begin(&f);
	held = f.block;
	order_block_hold(held);
	next_block(&f);
	assert_ptr_not_equal(f.block, held);
	assert_int_equal(f.order.block_count, 2);
	order_block_let_go(&f.order, held);
	assert_int_equal(f.order.block_count, 1);
	end(&f);
}

static void offsets(void **state)
{
	struct fixture f = {};
	uint64_t offset = 777;

	(void)state;
	begin(&f);
	f.block->file_offset = 1000;
	assert_ptr_equal(block_of(f.block->data + BLOCK_ROOM - 1), f.block);
	assert_int_equal(block_offset_of(f.block->data), 1000);
	assert_int_equal(block_offset_of(f.block->data + 24), 1024);
	f.block->outside = true;
	assert_int_equal(block_offset_of(f.block->data + 24), 1000);
	f.block->copies = true;
	memcpy(f.block->data + 16, &offset, sizeof(offset));
	assert_int_equal(block_offset_of(f.block->data + 24), 777);
	end(&f);
}

static void entries_are_limited(void **state)
{
	struct fixture f = {.only_count = true, .order.whole = true};
	size_t most = 0;

	(void)state;
	begin(&f);
	for (uint64_t i = 1; i <= ORDER_ENTRIES_MAX + 1000; i++) {
		push(&f, i);
		most = f.order.waiting > most ? f.order.waiting : most;
	}
	assert_int_equal(most, ORDER_ENTRIES_MAX);
	/* The older half went, the younger waits on. */
	assert_int_equal(f.count, ORDER_ENTRIES_MAX / 2);
	assert_int_equal(f.newest_ns, ORDER_ENTRIES_MAX / 2);
	push(&f, 1);
	order_flush_all(&f.order);
	assert_int_equal(f.count, ORDER_ENTRIES_MAX + 1001);
	assert_int_equal(f.order.late, 1);
	assert_int_equal(f.backwards, 1);
	end(&f);
}

static void bytes_are_limited(void **state)
{
	const uint64_t limit = ORDER_BYTES_MAX / BLOCK_BYTES;
	struct fixture f = {.only_count = true};
	uint64_t most = 0;

	(void)state;
	begin(&f);
	for (uint64_t i = 0; i < 3 * limit; i++) {
		push(&f, 1000000 - i); /* one in each block, the newest first */
		next_block(&f);
		most = f.order.block_count > most ? f.order.block_count : most;
	}
	assert_in_range(most, limit, limit + 2);
	order_flush_all(&f.order);
	assert_int_equal(f.count, 3 * limit);
	assert_int_equal(f.order.late, f.backwards);
	assert_true(f.order.spare.len < 16);
	end(&f);
}

/* A recording of many threads has a block for each of its files, full or not: they do not count. */
static void many_writers(void **state)
{
	enum { WRITERS = ORDER_BYTES_MAX / BLOCK_BYTES + 50 };
	struct block *blocks[WRITERS];
	struct fixture f = {.only_count = true};

	(void)state;
	begin(&f);
	for (size_t i = 0; i < WRITERS; i++)
		blocks[i] = order_block_new(&f.order);
	for (uint64_t i = 1; i <= 100; i++)
		push(&f, 1000 - i);
	assert_int_equal(f.count, 0);
	order_flush_all(&f.order);
	assert_int_equal(f.count, 100);
	assert_int_equal(f.order.late, 0);
	for (size_t i = 0; i < WRITERS; i++)
		order_block_close(&f.order, blocks[i]);
	end(&f);
}

/* Let go with records waiting: nobody is told, nothing leaks. */
static void released_in_between(void **state)
{
	struct fixture f = {};

	(void)state;
	begin(&f);
	PUSH(&f, 3, 2, 1);
	end(&f);
	assert_int_equal(f.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_are_merged),
		cmocka_unit_test(nothing_waits),
		cmocka_unit_test(equal_times_keep_their_order),
		cmocka_unit_test(many_mixtures),
		cmocka_unit_test(rounds),
		cmocka_unit_test(equal_times_over_rounds),
		cmocka_unit_test(late_is_counted),
		cmocka_unit_test(whole_ignores_rounds),
		cmocka_unit_test(stops_when_told),
		cmocka_unit_test(blocks_live_as_their_records),
		cmocka_unit_test(held_blocks_stay),
		cmocka_unit_test(offsets),
		cmocka_unit_test(entries_are_limited),
		cmocka_unit_test(bytes_are_limited),
		cmocka_unit_test(many_writers),
		cmocka_unit_test(released_in_between),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
