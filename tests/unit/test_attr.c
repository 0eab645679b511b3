/* perf_event_attr as it stands in files: every field and flag of either byte order, and names. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "perfdata/attr.h"
#include "record_build.h"

#include <stdlib.h>

#define W(n) (0x1122334455667700ull + (n))
#define D(n) (0x11223300u + (n))

/* All fields of version 7, with flags as the byte order has them. */
static void build_attr(struct build *b, uint64_t flags)
{
	build_u32(b, D(1));
	build_u32(b, PERF_ATTR_SIZE_VER7);
	build_u64(b, W(1));
	build_u64(b, W(2));
	build_u64(b, W(3));
	build_u64(b, W(4));
	build_u64(b, flags);
	build_u32(b, D(2));
	build_u32(b, D(3));
	build_u64(b, W(5));
	build_u64(b, W(6));
	build_u64(b, W(7));
	build_u64(b, W(8));
	build_u32(b, D(4));
	build_u32(b, D(5));
	build_u64(b, W(9));
	build_u32(b, D(6));
	build_u16(b, 0x1234);
	build_u16(b, 0);
	build_u32(b, D(7));
	build_u32(b, 0);
	build_u64(b, W(10));
}

static struct perf_event_attr read_attr(bool foreign, uint64_t flags)
{
	struct build b = {.foreign = foreign};
	struct perf_event_attr attr;
	struct cursor c;

	build_attr(&b, flags);
	c = cursor_of(b.out.s, b.out.len);
	c.swap = foreign;
	assert_true(attr_read(&c, 0, &attr));
	assert_int_equal(c.at, b.out.len);
	build_release(&b);
	return attr;
}

static void fields(void **state)
{
	(void)state;
	for (int foreign = 0; foreign < 2; foreign++) {
		struct perf_event_attr a = read_attr(foreign, 0);

		assert_int_equal(a.type, D(1));
		assert_int_equal(a.size, PERF_ATTR_SIZE_VER7);
		assert_int_equal(a.config, W(1));
		assert_int_equal(a.sample_period, W(2));
		assert_int_equal(a.sample_type, W(3));
		assert_int_equal(a.read_format, W(4));
		assert_int_equal(a.wakeup_events, D(2));
		assert_int_equal(a.bp_type, D(3));
		assert_int_equal(a.config1, W(5));
		assert_int_equal(a.config2, W(6));
		assert_int_equal(a.branch_sample_type, W(7));
		assert_int_equal(a.sample_regs_user, W(8));
		assert_int_equal(a.sample_stack_user, D(4));
		assert_int_equal(a.clockid, D(5));
		assert_int_equal(a.sample_regs_intr, W(9));
		assert_int_equal(a.aux_watermark, D(6));
		assert_int_equal(a.sample_max_stack, 0x1234);
		assert_int_equal(a.aux_sample_size, D(7));
		assert_int_equal(a.sig_data, W(10));
	}
}

/* A flag is counted from the low end here, from the high end there. */
static void flags(void **state)
{
	(void)state;
	for (unsigned bit = 0; bit < 64; bit++) {
		struct perf_event_attr ours, foreign;

		if (bit == 15 || bit == 16) /* precise_ip has two */
			continue;
		ours = read_attr(false, 1ull << bit);
		foreign = read_attr(true, 1ull << (63 - bit));
		assert_memory_equal(&ours, &foreign, sizeof(ours));
	}
	for (uint64_t precise = 0; precise < 4; precise++) {
		assert_int_equal(read_attr(false, precise << 15).precise_ip, precise);
		assert_int_equal(read_attr(true, precise << 47).precise_ip, precise);
	}
	assert_int_equal(read_attr(false, 1 << 18).sample_id_all, 1);
	assert_int_equal(read_attr(true, 1ull << (63 - 18)).sample_id_all, 1);
}

static void sizes_that_lie(void **state)
{
	static const uint32_t lies[] = {1, 63, 137, 4097, UINT32_MAX};
	struct perf_event_attr attr;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lies); i++) {
		struct build b = {};
		struct cursor c;

		build_attr(&b, 0);
		build_patch(&b, 4, lies[i], 4, false);
		c = cursor_of(b.out.s, b.out.len);
		assert_false(attr_read(&c, 0, &attr));
		c = cursor_of(b.out.s, b.out.len);
		assert_false(attr_read(&c, 128, &attr));
		build_release(&b);
	}
	for (size_t len = 0; len < PERF_ATTR_SIZE_VER7; len++) {
		struct build b = {};
		char *bytes = malloc(len + 1);
		struct cursor c;

		build_attr(&b, 0);
		memcpy(bytes, b.out.s, len);
		c = cursor_of(bytes, len);
		assert_false(attr_read(&c, 0, &attr));
		free(bytes);
		build_release(&b);
	}
}

static void is_called(struct perf_event_attr attr, const char *expected)
{
	struct buf name = {};

	attr.exclude_guest = attr.precise_ip || attr.exclude_kernel || attr.exclude_user;
	attr.exclude_host = 0;
	attr_name(&attr, &name);
	/* Whether host and guest are counted is told by the letters behind. */
	assert_memory_equal(buf_str(&name), expected, strlen(expected));
	buf_release(&name);
}

static void names(void **state)
{
	(void)state;
	is_called((struct perf_event_attr){.type = PERF_TYPE_HARDWARE}, "cycles");
	is_called((struct perf_event_attr){.type = PERF_TYPE_HARDWARE,
					   .config = PERF_COUNT_HW_INSTRUCTIONS,
					   .exclude_kernel = 1,
					   .exclude_hv = 1},
		  "instructions:u");
	is_called((struct perf_event_attr){.type = PERF_TYPE_HARDWARE, .precise_ip = 3},
		  "cycles:ppp");
	is_called((struct perf_event_attr){.type = PERF_TYPE_RAW, .config = 0x1a8}, "raw 0x1a8");
	is_called((struct perf_event_attr){.type = PERF_TYPE_TRACEPOINT, .config = 318},
		  "tracepoint 318");
	is_called((struct perf_event_attr){.type = PERF_TYPE_BREAKPOINT, .bp_addr = 0x1000},
		  "mem:0x1000");
	is_called((struct perf_event_attr){.type = 77, .config = 1}, "pmu 77 raw 0x1");
	/* The upper half is the kind of core. */
	is_called((struct perf_event_attr){.type = PERF_TYPE_HARDWARE, .config = 4ull << 32},
		  "cycles");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields),
		cmocka_unit_test(flags),
		cmocka_unit_test(sizes_that_lie),
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
