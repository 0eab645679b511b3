/* Growing in place loses nothing, wherever the slots lie: also around the end, also in huge pages. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/open_table.h"

struct entry {
	uint64_t hash;
	uint32_t number; /* 0: free */
};

struct table {
	struct entry *slots;
	size_t mask, count;
};

static bool home(const void *slot, uint64_t seed, uint64_t *ret_hash)
{
	const struct entry *e = slot;

	*ret_hash = e->hash ^ seed;
	return e->number;
}

static void add(struct table *t, uint64_t hash, uint64_t seed)
{
	struct entry e = {hash, (uint32_t)t->count + 1};

	if (!t->slots || t->count * 3 > t->mask * 2)
		t->slots = open_table_grow(t->slots, &t->mask, sizeof(e), home, seed);
	open_table_put(t->slots, t->mask, sizeof(e), &e, home, seed);
	t->count++;
}

static uint32_t find(const struct table *t, uint64_t hash, uint64_t seed)
{
	for (size_t at = (hash ^ seed) & t->mask; t->slots[at].number; at = (at + 1) & t->mask)
		if (t->slots[at].hash == hash)
			return t->slots[at].number;
	return 0;
}

/* @spread: the n-th hash. All are found, and nothing else is there. */
static void check(uint64_t (*spread)(uint64_t n), uint32_t count, uint64_t seed)
{
	struct table t = {};
	size_t used = 0;

	for (uint32_t n = 0; n < count; n++)
		add(&t, spread(n), seed);
	for (uint32_t n = 0; n < count; n++)
		assert_int_equal(find(&t, spread(n), seed), n + 1);
	for (size_t i = 0; i <= t.mask; i++)
		used += t.slots[i].number != 0;
	assert_int_equal(used, count);
	assert_int_equal(find(&t, spread(count), seed), 0);
	table_free(t.slots, t.mask + 1, sizeof(*t.slots));
}

static uint64_t evenly(uint64_t n)
{
	return (n + 1) * 0x9e3779b97f4a7c15ull;
}

/* In one heap that goes around the end of every table. */
static uint64_t at_the_end(uint64_t n)
{
	return (n + 1) << 32 | (uint32_t)(-1 - (int32_t)(n % 7));
}

/* Half of them move to the new half, among those that stay. */
static uint64_t in_heaps(uint64_t n)
{
	return (n + 1) << 40 | (n % 97) * 64 | (n % 3) << 8;
}

static void test_evenly(void **state)
{
	(void)state;
	for (uint32_t count = 1; count < 3000; count += 97)
		check(evenly, count, count);
}

static void test_around_the_end(void **state)
{
	(void)state;
	for (uint32_t count = 1; count < 1500; count += 61) {
		check(at_the_end, count, 0);
		check(at_the_end, count, 5);
	}
}

static void test_heaps(void **state)
{
	(void)state;
	for (uint32_t count = 1; count < 3000; count += 131)
		check(in_heaps, count, 0);
}

static void test_huge(void **state)
{
	(void)state;
	check(evenly, 700000, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_evenly),
		cmocka_unit_test(test_around_the_end),
		cmocka_unit_test(test_heaps),
		cmocka_unit_test(test_huge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
