/* Call stacks from the CPU's record of calls. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "unwind/lbr.h"

#define KERNEL ((uint64_t)PERF_CONTEXT_KERNEL)
#define USER   ((uint64_t)PERF_CONTEXT_USER)

static const struct branch_entry calls[] = {
	{.from = 0x2010, .to = 0x1000},
	{.from = 0x3010, .to = 0x2000},
	{.from = 0x4010, .to = 0x3000},
};

static void assert_chain(const uint64_t *chain, size_t len, size_t call_count, size_t max,
			 const uint64_t *wanted, size_t wanted_len)
{
	struct sample s = {.chain = chain,
			   .chain_len = len,
			   .branches = {.count = call_count, .entries = calls}};
	uint64_t got[16];

	assert_int_equal(lbr_chain(&s, got, max), wanted_len);
	assert_memory_equal(got, wanted, wanted_len * sizeof(got[0]));
}

#define LIST(...) (const uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / 8

static void user_code(void **state)
{
	(void)state;
	/* What frame pointers had made of it is replaced, except for the sampled place. */
	assert_chain(LIST(USER, 0x1234, 0x99, 0x98), 3, 16,
		     LIST(USER, 0x1234, 0x2010, 0x3010, 0x4010));
	assert_chain(LIST(USER), 3, 16, LIST(USER, 0x1000, 0x2010, 0x3010, 0x4010));
}

static void kernel_code(void **state)
{
	(void)state;
	assert_chain(LIST(KERNEL, 0xf1, 0xf2, USER, 0x1234, 0x99), 2, 16,
		     LIST(KERNEL, 0xf1, 0xf2, USER, 0x1234, 0x2010, 0x3010));
	/* a thread of the kernel has no user code: what stands in the record is of somebody else */
	assert_chain(LIST(KERNEL, 0xf1, 0xf2), 3, 16, LIST(KERNEL, 0xf1, 0xf2));
}

static void nothing_recorded(void **state)
{
	struct sample none = {};
	uint64_t got[1];

	(void)state;
	assert_chain(LIST(KERNEL, 0xf1, USER, 0x1234, 0x99), 0, 16,
		     LIST(KERNEL, 0xf1, USER, 0x1234, 0x99));
	assert_int_equal(lbr_chain(&none, got, 1), 0);
}

static void room(void **state)
{
	(void)state;
	assert_chain(LIST(KERNEL, 0xf1, USER, 0x1234), 3, 5,
		     LIST(KERNEL, 0xf1, USER, 0x1234, 0x2010));
	assert_chain(LIST(KERNEL, 0xf1, USER, 0x1234), 3, 3, LIST(KERNEL, 0xf1, USER));
	assert_chain(LIST(KERNEL, 0xf1, USER, 0x1234), 3, 1, LIST(KERNEL));
	assert_chain(LIST(KERNEL, 0xf1, USER, 0x1234), 0, 2, LIST(KERNEL, 0xf1));
}

static void which_events(void **state)
{
	struct perf_event_attr attr = {.sample_type = PERF_SAMPLE_BRANCH_STACK,
				       .branch_sample_type = PERF_SAMPLE_BRANCH_CALL_STACK};

	(void)state;
	assert_true(lbr_is_call_stack(&attr));
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
	assert_false(lbr_is_call_stack(&attr));
	attr = (struct perf_event_attr){.branch_sample_type = PERF_SAMPLE_BRANCH_CALL_STACK};
	assert_false(lbr_is_call_stack(&attr));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(user_code),        cmocka_unit_test(kernel_code),
		cmocka_unit_test(nothing_recorded), cmocka_unit_test(room),
		cmocka_unit_test(which_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
