/* The table of symbols: order, choice among aliases, sizes, look-up; limits that hold. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "symbol/symtab.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

static void add(struct symtab *t, uint64_t start, uint64_t size, const char *name, uint8_t binding)
{
	symtab_add(t, start, size, name, strlen(name), STT_FUNC, binding);
}

static const char *name_at(const struct symtab *t, uint64_t address)
{
	const struct symbol *s = symtab_find(t, address);

	return s ? symtab_name(t, s) : "";
}

static void finds_what_covers(void **state)
{
	struct symtab t = {};

	(void)state;
	add(&t, 0x300, 0x10, "c", STB_GLOBAL);
	add(&t, 0x100, 0x20, "a", STB_GLOBAL);
	add(&t, 0x200, 0x100, "b", STB_GLOBAL);
	symtab_finish(&t);
	assert_string_equal(name_at(&t, 0xff), "");
	assert_string_equal(name_at(&t, 0x100), "a");
	assert_string_equal(name_at(&t, 0x11f), "a");
	assert_string_equal(name_at(&t, 0x120), "");
	assert_string_equal(name_at(&t, 0x2ff), "b");
	assert_string_equal(name_at(&t, 0x300), "c");
	assert_string_equal(name_at(&t, 0x310), "");
	symtab_release(&t);
	assert_null(symtab_find(&t, 0x100));
}

static void the_outer_one_goes_on(void **state)
{
	struct symtab t = {};

	(void)state;
	add(&t, 0x100, 0x100, "outer", STB_GLOBAL);
	add(&t, 0x120, 0x10, "inner", STB_LOCAL);
	symtab_finish(&t);
	assert_string_equal(name_at(&t, 0x125), "inner");
	assert_string_equal(name_at(&t, 0x130), "outer");
	symtab_release(&t);
}

/* Of two at one place, in both orders. */
static void assert_better(const char *good, uint8_t good_binding, uint64_t good_size,
			  const char *bad, uint8_t bad_binding, uint64_t bad_size)
{
	for (int order = 0; order < 2; order++) {
		struct symtab t = {};

		if (order)
			add(&t, 0x100, bad_size, bad, bad_binding);
		add(&t, 0x100, good_size, good, good_binding);
		if (!order)
			add(&t, 0x100, bad_size, bad, bad_binding);
		symtab_finish(&t);
		assert_int_equal(t.symbols.len, 1);
		assert_string_equal(name_at(&t, 0x100), good);
		symtab_release(&t);
	}
}

static void chooses_as_perf_does(void **state)
{
	(void)state;
	assert_better("x", STB_WEAK, 8, "sizeless", STB_GLOBAL, 0);
	assert_better("x", STB_GLOBAL, 8, "longer", STB_LOCAL, 8);
	assert_better("__x", STB_LOCAL, 8, "longer", STB_WEAK, 8);
	assert_better("malloc", STB_GLOBAL, 8, "__libc_malloc", STB_GLOBAL, 8);
	assert_better("__libc_malloc", STB_GLOBAL, 8, "__malloc", STB_GLOBAL, 8);
	assert_better("sys_read", STB_GLOBAL, 8, "SyS_reaa", STB_GLOBAL, 8);
	/* By the names that are shown: the second is longer only as it is mangled. */
	assert_better("longer_than", STB_GLOBAL, 8, "_ZN1aC1ESsSsSsSs", STB_GLOBAL, 8);
}

static void gives_sizes(void **state)
{
	struct symtab t = {};
	struct symbol in_part = {.start = 0x9000, .end = 0x9000, .part = 1};

	(void)state;
	add(&t, 0x1000, 0, "a", STB_GLOBAL);
	add(&t, 0x1800, 0, "b", STB_GLOBAL);
	assert_non_null(memcpy(symtab_add_names(&t, 1, &in_part.name), "m", 1));
	symtab_add_symbol(&t, &in_part);
	symtab_finish(&t);
	assert_int_equal(t.symbols.items[0].end, 0x1800);
	assert_int_equal(t.symbols.items[1].end, 0x3000); /* not across to the other part */
	assert_int_equal(t.symbols.items[2].end, 0xa000);
	symtab_release(&t);
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void sorts_many(void **state)
{
	enum { COUNT = 20000 };
	uint64_t *starts = calloc(COUNT, sizeof(*starts)), seed = 1;
	struct symtab t = {};
	size_t different = 0;

	(void)state;
	assert_non_null(starts);
	for (size_t i = 0; i < COUNT; i++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		starts[i] = i % 3 ? seed : seed >> 44;
		add(&t, starts[i], 1, "n", STB_GLOBAL);
	}
	symtab_finish(&t);
	qsort(starts, COUNT, sizeof(*starts), compare_u64);
	for (size_t i = 0; i < COUNT; i++) {
		if (i && starts[i] == starts[i - 1])
			continue;
		assert_int_equal(t.symbols.items[different].start, starts[i]);
		assert_non_null(symtab_find(&t, starts[i]));
		different++;
	}
	assert_int_equal(t.symbols.len, different);
	symtab_release(&t);
	free(starts);
}

static void the_end_of_memory(void **state)
{
	struct symtab t = {};

	(void)state;
	add(&t, UINT64_MAX - 4, 100, "last", STB_GLOBAL);
	add(&t, UINT64_MAX - 16, 0, "sizeless", STB_GLOBAL);
	symtab_finish(&t);
	assert_string_equal(name_at(&t, UINT64_MAX - 1), "last");
	assert_string_equal(name_at(&t, UINT64_MAX - 10), "sizeless");
	symtab_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_what_covers),    cmocka_unit_test(the_outer_one_goes_on),
		cmocka_unit_test(chooses_as_perf_does), cmocka_unit_test(gives_sizes),
		cmocka_unit_test(sorts_many),           cmocka_unit_test(the_end_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
