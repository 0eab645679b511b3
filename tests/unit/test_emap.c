/* Event names of plans: one catalogue for all of them, read again when it lacks a name. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "server/emap.h"
#include "support.h"

#include <pthread.h>

#define DEVICES "sys/bus/event_source/devices"

static struct emap *emap;

/* A PMU in a sysfs of our own. */
static void add_pmu(const char *name)
{
	CLEANUP(free_ptr) char *type = xasprintf(DEVICES "/%s/type", name);
	CLEANUP(free_ptr) char *format = xasprintf(DEVICES "/%s/format/event", name);

	write_text(type, "42\n");
	write_text(format, "config:0-7\n");
}

static int begin(void **state)
{
	if (make_support_dir(state))
		return -1;
	add_pmu("alpha");
	setenv("TACHO_SYSFS", in_dir("sys"), 1);
	emap = emap_new();
	return 0;
}

static int end(void **state)
{
	emap_free(emap);
	return remove_support_dir(state);
}

static int check(const char *event, struct err *e)
{
	struct run_plan plan = {};
	int r;

	vec_push(&plan.sample_events, (char *)event);
	r = emap_check_events(emap, &plan, e);
	vec_release(&plan.sample_events);
	return r;
}

static void test_read_once_and_again_for_new_names(void **state)
{
	struct err e = {};

	(void)state;
	assert_int_equal(check("alpha/event=1/", &e), 0);
	assert_int_equal(rename(in_dir(DEVICES "/alpha"), in_dir(DEVICES "/beta")), 0);
	/* What was read is not read for every plan. */
	assert_int_equal(check("alpha/event=2/", &e), 0);
	/* What it lacks may be new. */
	assert_int_equal(check("beta/event=1/", &e), 0);
	assert_true(check("alpha/event=1/", &e) < 0);
	assert_non_null(strstr(e.text, "alpha"));
	assert_int_equal(check("beta/event=1/", &e), 0);
}

/* Counts what went wrong: assertions are for the first thread. */
static void *check_often(void *arg)
{
	size_t *wrong = arg;

	for (int i = 0; i < 50; i++) {
		/* Each of the second kind reads the catalogue anew. */
		*wrong += check("beta/event=1/", NULL) != 0;
		*wrong += check("gamma/event=1/", NULL) >= 0;
	}
	return NULL;
}

static void test_any_thread(void **state)
{
	pthread_t threads[4];
	size_t wrong[4] = {};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, check_often, &wrong[i]), 0);
	for (size_t i = 0; i < ARRAY_LEN(threads); i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < ARRAY_LEN(threads); i++)
		assert_int_equal(wrong[i], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read_once_and_again_for_new_names),
		cmocka_unit_test(test_any_thread),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
