/* Stacks of Java: which are whole, which are cut, and where main() is. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/tree/jvm_stacks.h"

#include <string.h>

static struct profile p;

static int begin(void **state)
{
	(void)state;
	profile_init(&p);
	profile_event(&p, "cycles");
	return 0;
}

static int end(void **state)
{
	(void)state;
	profile_release(&p);
	return 0;
}

/* A frame in a module; those of "//anon" are made code. */
static frame_id frame(const char *module_path, uint64_t address, const char *name)
{
	enum code_kind kind = !strcmp(module_path, "//anon") ? CODE_JIT : CODE_USER;
	module_id module = profile_module(&p, module_path, NULL, kind);
	frame_id id = profile_frame(&p, module, address);
	struct profile_function f = {.name = profile_string(&p, name),
				     .module = module,
				     .start = address,
				     .kind = kind,
				     .named = true};
	struct frame_name named = {.function = profile_function(&p, &f)};

	profile_name_frame(&p, id, &named, 1);
	return id;
}

static stack_id native_part(bool main_call)
{
	stack_id s = {};

	s = profile_stack(&p, s, frame("/lib/libc.so.6", 1, "start_thread"));
	s = profile_stack(&p, s, frame("/jdk/libjli.so", 2, "JavaMain"));
	s = profile_stack(&p, s,
			  main_call ? frame("/jdk/libjvm.so", 3, "jni_CallStaticVoidMethod")
				    : frame("/jdk/libjvm.so", 4, "jni_CallStaticObjectMethod"));
	s = profile_stack(&p, s, frame("/jdk/libjvm.so", 5, "jni_invoke_static"));
	s = profile_stack(&p, s, frame("/jdk/libjvm.so", 6, "JavaCalls::call_helper"));
	return profile_stack(&p, s, frame("//anon", 7, "StubRoutines (1)"));
}

static void add(stack_id stack, uint32_t pid, uint64_t samples)
{
	struct profile_row row = {.thread =
					  profile_thread(&p, pid, pid, profile_string(&p, "java")),
				  .stack = stack,
				  .samples = samples,
				  .weight = samples};

	profile_add(&p, &row);
}

static const char *name_of(stack_id id)
{
	return function_text(&p, names_of(&p, p.stacks.items[id.n].frame)->function);
}

static void interpreted_main(void **state)
{
	frame_id interpreter = frame("//anon", 8, "Interpreter");
	stack_id main_stack, inner, other;

	(void)state;
	main_stack = profile_stack(&p, native_part(true), interpreter);
	inner = profile_stack(&p, main_stack, interpreter);
	/* The launcher looks for the class by another call. */
	other = profile_stack(&p, native_part(false), interpreter);
	add(inner, 10, 1);
	add(other, 10, 1);
	assert_int_equal(jvm_name_main(&p), 1);
	assert_string_equal(name_of(main_stack), JVM_MAIN_NAME);
	assert_string_equal(name_of(inner), "Interpreter");
	assert_string_equal(name_of(other), "Interpreter");
	assert_int_equal(jvm_name_main(&p), 0);
}

static void compiled_main(void **state)
{
	stack_id compiled;

	(void)state;
	compiled = profile_stack(&p, native_part(true), frame("//anon", 9, "void A.main()"));
	compiled = profile_stack(&p, compiled, frame("//anon", 8, "Interpreter"));
	assert_int_equal(jvm_name_main(&p), 0);
	assert_string_equal(name_of(compiled), "Interpreter");
}

static void names_only(void **state)
{
	static const char *const names[] = {
		"start_thread",      "JavaMain",         "jni_CallStaticVoidMethod",
		"jni_invoke_static", "StubRoutines (1)", "Interpreter",
		"Interpreter"};

	(void)state;
	assert_int_equal(jvm_find_main(names, 7), 5);
	assert_int_equal(jvm_find_main(names, 5), -1);
	assert_int_equal(jvm_find_main(names + 2, 5), -1);
	assert_int_equal(jvm_find_main(names, 0), -1);
}

static void cut_stacks_are_told(void **state)
{
	frame_id leaf = frame("//anon", 20, "int A.leaf()");
	stack_id whole, cut = {};
	struct jvm_stacks s;
	char *problem;

	(void)state;
	whole = profile_stack(&p, native_part(true), leaf);
	cut = profile_stack(&p, cut, frame("//anon", 21, "[unknown]"));
	cut = profile_stack(&p, cut, leaf);
	add(whole, 10, 70);
	add(cut, 10, 29);
	assert_true(jvm_stacks_cut(&p, &s));
	assert_int_equal(s.java_samples, 99);
	assert_int_equal(s.cut, 29);
	assert_null(jvm_stacks_problem(&p));
	/* No JVM: code of some other process that was made at run time. */
	add(cut, 11, 1000);
	assert_null(jvm_stacks_problem(&p));
	add(cut, 10, 31);
	problem = jvm_stacks_problem(&p);
	assert_non_null(problem);
	assert_non_null(strstr(problem, "46 % of the Java stacks of process 10"));
	assert_non_null(strstr(problem, "-XX:+PreserveFramePointer"));
	free(problem);
}

/* Recorded without -g: nothing is wrong with one frame. */
static void no_stacks_at_all(void **state)
{
	stack_id none = {};

	(void)state;
	add(profile_stack(&p, none, frame("//anon", 20, "int A.leaf()")), 10, 100);
	add(profile_stack(&p, none, frame("/jdk/libjvm.so", 6, "gc")), 10, 100);
	assert_null(jvm_stacks_problem(&p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(interpreted_main, begin, end),
		cmocka_unit_test_setup_teardown(compiled_main, begin, end),
		cmocka_unit_test_setup_teardown(names_only, begin, end),
		cmocka_unit_test_setup_teardown(cut_stacks_are_told, begin, end),
		cmocka_unit_test_setup_teardown(no_stacks_at_all, begin, end),
	};

	return cmocka_run_group_tests_name("jvm_stacks", tests, NULL, NULL);
}
