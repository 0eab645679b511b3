/* Samples whose code or callers have no name. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/plot/gaps.h"

static struct profile p;

static frame_id frame(uint64_t address, const char *name, bool named)
{
	module_id module = profile_module(&p, "/bin/x", NULL, CODE_USER);
	frame_id id = profile_frame(&p, module, address);
	struct profile_function f = {.name = profile_string(&p, name),
				     .module = module,
				     .start = address,
				     .named = named};
	struct frame_name one = {.function = profile_function(&p, &f)};

	profile_name_frame(&p, id, &one, 1);
	return id;
}

static void add(stack_id stack, uint64_t samples)
{
	profile_add(&p, &(struct profile_row){
				.stack = stack, .samples = samples, .weight = samples * 1000});
}

static void counted_by_samples(void **state)
{
	struct profile_gaps gaps;
	frame_id named, nameless, nowhere;
	stack_id whole, below, astray;

	(void)state;
	profile_init(&p);
	profile_event(&p, "cycles");
	named = frame(1, "main", true);
	nameless = frame(2, "x+0x2", false);
	nowhere = frame(3, "[unknown]", false);
	whole = profile_stack(&p, (stack_id){}, named);
	add(profile_stack(&p, whole, named), 100);
	/* Itself, whatever called it; the callers count where the leaf has a name. */
	below = profile_stack(&p, whole, nameless);
	add(below, 20);
	add(profile_stack(&p, below, named), 3);
	astray = profile_stack(&p, (stack_id){}, nowhere);
	add(profile_stack(&p, profile_stack(&p, astray, named), named), 5);
	add(profile_stack(&p, astray, nameless), 7);
	profile_gaps(&p, &gaps);
	assert_int_equal(gaps.samples, 135);
	assert_int_equal(gaps.unnamed, 27);
	assert_int_equal(gaps.unnamed_callers, 8);
	assert_int_equal(gaps.lost_callers, 5);
	profile_release(&p);
}

static void nothing_at_all(void **state)
{
	struct profile_gaps gaps;

	(void)state;
	profile_init(&p);
	profile_gaps(&p, &gaps);
	assert_int_equal(gaps.samples + gaps.unnamed + gaps.unnamed_callers, 0);
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counted_by_samples),
		cmocka_unit_test(nothing_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
