/* Numbers written by hand are those that printf() writes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/digits.h"

#include <math.h>
#include <stdio.h>

static const uint64_t values[] = {
	0,
	1,
	9,
	10,
	15,
	16,
	99,
	100,
	999,
	1000,
	9999,
	10000,
	65535,
	99999,
	0xdeadbeef,
	0xffffffff,
	1ull << 32,
	0x7f1234567,
	999999999999,
	1ull << 63,
	~0ull,
	~0ull - 1,
	1ull << 60,
	(1ull << 60) - 1,
	0x123456789abcdef,
	0xffffffff81000000,
	9999999999999999999ull,
	10000000000000000000ull,
};

static void check(const char *got, const char *end, const char *want)
{
	assert_int_equal(end - got, strlen(want));
	assert_memory_equal(got, want, strlen(want));
}

static void one(uint64_t v)
{
	char got[64], want[64];

	memset(got, '#', sizeof(got));
	sprintf(want, "%llu", (unsigned long long)v);
	check(got, put_u64(got, v), want);
	sprintf(want, "%10llu", (unsigned long long)v);
	check(got, put_u64_right(got, v, 10), want);
	sprintf(want, "%llx", (unsigned long long)v);
	check(got, put_hex(got, v), want);
	sprintf(want, "%16llx", (unsigned long long)v);
	check(got, put_hex_right(got, v), want);
	sprintf(want, "%d", (int32_t)v);
	check(got, put_i32(got, (int32_t)v, 0), want);
	sprintf(want, "%5d", (int32_t)v);
	check(got, put_i32(got, (int32_t)v, 5), want);
	sprintf(want, "%-5d", (int32_t)v);
	check(got, put_i32(got, (int32_t)v, -5), want);
	sprintf(want, "%09llu", (unsigned long long)(v % 1000000000));
	check(got, put_digits(got, v % 1000000000, 9), want);
}

static void as_printf(void **state)
{
	uint64_t random = 88172645463325252ull;

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		one(values[i]);
	for (int i = 0; i < 100000; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		one(random >> (i % 64));
	}
}

static void one_fixed(double value, unsigned decimals)
{
	CLEANUP(buf_release) struct buf ours = {};
	char theirs[64];

	snprintf(theirs, sizeof(theirs), "%9.*f", (int)decimals, value);
	buf_add_fixed(&ours, value, decimals, 9);
	assert_string_equal(buf_str(&ours), theirs);
}

/* Ties are the shares that other programs print differently if one of them rounds them up. */
static void fixed_as_printf(void **state)
{
	uint64_t random = 88172645463325252ull;

	(void)state;
	for (unsigned i = 0; i <= 6400; i++)
		for (unsigned decimals = 0; decimals < 7; decimals++) {
			one_fixed(100.0 * i / 6400, decimals);
			one_fixed(i / 64.0, decimals);
			one_fixed(nextafter(i / 64.0, 1e9), decimals);
			one_fixed(nextafter(i / 64.0, 0), decimals);
		}
	for (int i = 0; i < 100000; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		one_fixed((double)(random >> (i % 50)) / 1e6, random % 7);
		one_fixed((double)(random % 100000) / 1000, 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(as_printf),
					   cmocka_unit_test(fixed_as_printf)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
