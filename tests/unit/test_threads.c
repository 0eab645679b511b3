/* Tasks from records: names, processes, numbers that are used again, and too many of them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "resolve/threads.h"

#include <string.h>

static void comm(struct threads *t, uint32_t pid, uint32_t tid, const char *name, bool exec)
{
	struct record r = {
		.type = PERF_RECORD_COMM,
		.misc = exec ? PERF_RECORD_MISC_COMM_EXEC : 0,
		.comm = {.pid = pid, .tid = tid, .comm = name},
	};

	threads_record(t, &r);
}

static void task(struct threads *t, uint32_t type, uint32_t pid, uint32_t tid, uint32_t parent_pid,
		 uint32_t parent_tid)
{
	struct record r = {
		.type = type,
		.task = {.pid = pid,
			 .tid = tid,
			 .parent_pid = parent_pid,
			 .parent_tid = parent_tid},
	};

	threads_record(t, &r);
}

static void idle_task(void **state)
{
	struct threads t;

	(void)state;
	threads_init(&t);
	assert_string_equal(threads_get(&t, 0, 0)->comm, "swapper");
	assert_int_equal(threads_get(&t, ~0u, 0)->pid, 0);
	threads_release(&t);
}

/* Whoever writes a file must not know which tids share a place. */
static void places_cannot_be_foreseen(void **state)
{
	struct threads a, b;

	(void)state;
	threads_init(&a);
	threads_init(&b);
	assert_int_not_equal(a.seed, b.seed);
	threads_release(&a);
	threads_release(&b);
}

static void unknown_tasks(void **state)
{
	struct threads t;
	struct thread *thread;

	(void)state;
	threads_init(&t);
	thread = threads_get(&t, ~0u, 1234);
	assert_string_equal(thread->comm, ":1234");
	assert_int_equal(thread->comm_len, 5);
	assert_int_equal(thread->pid, ~0u);
	/* Whoever knows the process first tells it; later ones change nothing. */
	assert_int_equal(threads_get(&t, 1200, 1234)->pid, 1200);
	assert_int_equal(threads_get(&t, 1300, 1234)->pid, 1200);
	assert_string_equal(threads_get(&t, ~0u, ~0u)->comm, ":-1");
	assert_null(threads_find(&t, 99));
	threads_release(&t);
}

static void names(void **state)
{
	char long_name[200];
	struct threads t;
	struct thread *thread;

	(void)state;
	threads_init(&t);
	comm(&t, 10, 10, "first", false);
	thread = threads_find(&t, 10);
	assert_string_equal(thread->comm, "first");
	comm(&t, 10, 10, "second", true);
	assert_string_equal(thread->comm, "second");
	assert_int_equal(thread->lives, 2);
	memset(long_name, 'x', sizeof(long_name));
	long_name[sizeof(long_name) - 1] = '\0';
	comm(&t, 10, 10, long_name, false);
	assert_int_equal(thread->comm_len, THREAD_COMM_SIZE - 1);
	assert_int_equal(strlen(thread->comm), THREAD_COMM_SIZE - 1);
	comm(&t, 10, 10, "", false);
	assert_int_equal(thread->comm_len, 0);
	threads_release(&t);
}

static void forks(void **state)
{
	struct threads t;

	(void)state;
	threads_init(&t);
	comm(&t, 10, 10, "shell", false);
	task(&t, PERF_RECORD_FORK, 11, 11, 10, 10);
	assert_string_equal(threads_find(&t, 11)->comm, "shell");
	assert_int_equal(threads_find(&t, 11)->pid, 11);
	/* A thread of it, named for itself. */
	task(&t, PERF_RECORD_FORK, 11, 12, 11, 11);
	comm(&t, 11, 12, "worker", false);
	assert_string_equal(threads_find(&t, 11)->comm, "shell");
	assert_string_equal(threads_find(&t, 12)->comm, "worker");
	assert_int_equal(threads_find(&t, 12)->pid, 11);
	/* A parent of whom nothing is known has no name to give. */
	task(&t, PERF_RECORD_FORK, 21, 21, 20, 20);
	assert_string_equal(threads_find(&t, 20)->comm, ":20");
	assert_string_equal(threads_find(&t, 21)->comm, ":21");
	threads_release(&t);
}

static void numbers_used_again(void **state)
{
	struct threads t;
	struct thread *thread;

	(void)state;
	threads_init(&t);
	comm(&t, 10, 10, "old", false);
	task(&t, PERF_RECORD_EXIT, 10, 10, 1, 1);
	thread = threads_find(&t, 10);
	assert_true(thread->exited);
	assert_string_equal(thread->comm, "old"); /* its last samples may still come */
	comm(&t, 1, 1, "init", false);
	task(&t, PERF_RECORD_FORK, 10, 10, 1, 1);
	assert_ptr_equal(threads_find(&t, 10), thread);
	assert_string_equal(thread->comm, "init");
	assert_false(thread->exited);
	assert_int_equal(thread->lives, 2);
	/* The parent's tid belongs to another process than we knew: it was used again. */
	task(&t, PERF_RECORD_FORK, 30, 31, 30, 10);
	assert_string_equal(thread->comm, ":10");
	assert_int_equal(thread->pid, 30);
	assert_string_equal(threads_find(&t, 31)->comm, ":31");
	/* Its own parent: nonsense, but no harm. */
	task(&t, PERF_RECORD_FORK, 1, 1, 1, 1);
	assert_string_equal(threads_find(&t, 1)->comm, "init");
	threads_release(&t);
}

static void many_tasks(void **state)
{
	struct threads t;

	(void)state;
	threads_init(&t);
	for (uint32_t i = 1; i <= 50000; i++) {
		char name[16] = "task";

		name[4] = (char)('a' + i % 26);
		comm(&t, i, i * 7, name, false);
	}
	for (uint32_t i = 1; i <= 50000; i++) {
		struct thread *thread = threads_find(&t, i * 7);

		assert_non_null(thread);
		assert_int_equal(thread->pid, i);
		assert_int_equal(thread->comm[4], 'a' + (char)(i % 26));
		assert_ptr_equal(threads_at(&t, thread->number), thread);
	}
	assert_int_equal(t.count, 50001);
	assert_int_equal(t.dropped, 0);
	threads_release(&t);
}

static void too_many_tasks(void **state)
{
	struct threads t;

	(void)state;
	threads_init(&t);
	t.limit = 3;
	comm(&t, 1, 1, "one", false);
	comm(&t, 2, 2, "two", false);
	comm(&t, 3, 3, "three", false);
	assert_string_equal(threads_find(&t, 2)->comm, "two");
	assert_null(threads_find(&t, 3));
	assert_string_equal(threads_get(&t, 4, 4)->comm, ":4");
	task(&t, PERF_RECORD_FORK, 6, 6, 5, 5);
	task(&t, PERF_RECORD_FORK, 6, 6, 1, 1);
	task(&t, PERF_RECORD_EXIT, 6, 6, 1, 1);
	assert_int_equal(t.count, 3);
	assert_true(t.dropped >= 5);
	assert_string_equal(threads_find(&t, 1)->comm, "one");
	threads_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle_task),     cmocka_unit_test(places_cannot_be_foreseen),
		cmocka_unit_test(unknown_tasks), cmocka_unit_test(names),
		cmocka_unit_test(forks),         cmocka_unit_test(numbers_used_again),
		cmocka_unit_test(many_tasks),    cmocka_unit_test(too_many_tasks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
