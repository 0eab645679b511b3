/* Plans of runs: words of a command, fields and their limits, and the way back to JSON. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "collect/run/plan.h"
#include "event/catalog.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- words ---- */

static void splits(const char *text, size_t count, const char *const *wanted)
{
	CLEANUP(buf_release) struct buf line = {};
	CLEANUP(strvec_release) strvec words = {}, again = {};

	assert_int_equal(words_split(text, &words, NULL), 0);
	assert_int_equal(words.len, count);
	for (size_t i = 0; i < count; i++)
		assert_string_equal(words.items[i], wanted[i]);
	words_join(words.items, words.len, &line);
	assert_int_equal(words_split(buf_str(&line), &again, NULL), 0);
	assert_int_equal(again.len, count);
	for (size_t i = 0; i < count; i++)
		assert_string_equal(again.items[i], wanted[i]);
}

#define SPLITS(text, ...)                                                                          \
	do {                                                                                       \
		const char *const wanted[] = {__VA_ARGS__};                                        \
		splits(text, ARRAY_LEN(wanted), wanted);                                           \
	} while (0)

static void words_are_split_as_a_shell_does(void **state)
{
	(void)state;
	splits("", 0, NULL);
	splits(" \t\n", 0, NULL);
	SPLITS("ls -l /tmp", "ls", "-l", "/tmp");
	SPLITS("a  'b c' \"d e\"f", "a", "b c", "d ef");
	SPLITS("''", "");
	SPLITS("a \"\" b", "a", "", "b");
	SPLITS("a\\ b c\\\\d", "a b", "c\\d");
	SPLITS("\"a\\\"b\\$c\\n\"", "a\"b$c\\n");
	SPLITS("'it'\\''s'", "it's");
	SPLITS("a\\\nb \\\n c", "ab", "c");
	SPLITS("$(rm -rf /) `x` ; | & * ~ # > <", "$(rm", "-rf", "/)", "`x`", ";", "|", "&", "*",
	       "~", "#", ">", "<");
}

static void bad_quotes_are_refused(void **state)
{
	const char *const bad[] = {"a 'b", "\"", "a \\", "\"\\\"", "x y 'z\"'\""};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		CLEANUP(strvec_release) strvec words = {};
		struct err e = {};

		assert_int_equal(words_split(bad[i], &words, &e), -EINVAL);
		assert_int_equal(words.len, 0);
		assert_true(e.text[0]);
	}
}

/* ---- plans ---- */

static int parse(const char *text, struct run_plan *ret, struct err *e)
{
	json_t *json = json_loads(text, 0, NULL);
	int r;

	assert_non_null(json);
	r = run_plan_parse(json, ret, e);
	json_decref(json);
	return r;
}

static void refused(const char *text, const char *said)
{
	struct run_plan p = {};
	struct err e = {};

	assert_int_equal(parse(text, &p, &e), -EINVAL);
	if (!strstr(e.text, said))
		fail_msg("%s: '%s' does not say '%s'", text, e.text, said);
}

static void defaults_are_filled_in(void **state)
{
	CLEANUP(run_plan_release) struct run_plan p = {};

	(void)state;
	assert_int_equal(parse("{\"workload\": \"sleep '1 2'\"}", &p, NULL), 0);
	assert_int_equal(p.tool, RUN_STAT);
	assert_int_equal(p.argv.len, 2);
	assert_string_equal(p.argv.items[1], "1 2");
	assert_true(p.interval_s == 0.1);
	assert_true(p.streaming);
	assert_true(run_plan_exclusive(&p));
	run_plan_release(&p);
	assert_int_equal(parse("{\"pids\": [1, 7], \"tool\": \"record\"}", &p, NULL), 0);
	assert_false(run_plan_exclusive(&p));
	assert_int_equal(p.pids.len, 2);
	assert_true(p.frequency_hz == 999);
	assert_string_equal(p.callgraph, "fp");
	run_plan_release(&p);
	assert_int_equal(parse("{\"system_wide\": true, \"sample\": {\"period\": 5}}", &p, NULL),
			 0);
	assert_int_equal(p.tool, RUN_RECORD);
	assert_int_equal(p.period, 5);
	assert_true(p.frequency_hz == 0);
}

static void record_samples_what_is_in_events(void **state)
{
	CLEANUP(run_plan_release) struct run_plan p = {};

	(void)state;
	assert_int_equal(parse("{\"workload\": [\"a b\", \"$x\"], \"tool\": \"record\","
			       " \"events\": [\"cs\", \"cycles:u\"]}",
			       &p, NULL),
			 0);
	assert_int_equal(p.events.len, 0);
	assert_int_equal(p.sample_events.len, 2);
	assert_string_equal(p.sample_events.items[1], "cycles:u");
	assert_string_equal(p.workload, "'a b' '$x'");
	assert_int_equal(p.argv.len, 2);
}

static void a_shell_gets_the_text_as_it_is(void **state)
{
	CLEANUP(run_plan_release) struct run_plan p = {};

	(void)state;
	assert_int_equal(parse("{\"workload\": \"a | b 'c\", \"shell\": true}", &p, NULL), 0);
	assert_int_equal(p.argv.len, 3);
	assert_string_equal(p.argv.items[0], "/bin/sh");
	assert_string_equal(p.argv.items[2], "a | b 'c");
}

static void wrong_plans_say_why(void **state)
{
	(void)state;
	refused("[]", "object");
	refused("{}", "nothing to measure");
	refused("{\"workload\": \"\"}", "empty");
	refused("{\"workload\": \"a 'b\"}", "quote");
	refused("{\"workload\": 3}", "'workload'");
	refused("{\"workload\": [\"a\", 3]}", "'workload'");
	refused("{\"workload\": [\"a\"], \"shell\": true}", "shell");
	refused("{\"workload\": \"a\", \"wrkload\": 1}", "did you mean 'workload'");
	refused("{\"workload\": \"a\", \"sample\": {\"freq\": 1}}", "'freq'");
	refused("{\"workload\": \"a\", \"tool\": \"perf\"}", "'tool'");
	refused("{\"workload\": \"a\", \"interval\": 0.0001}", "'interval'");
	refused("{\"workload\": \"a\", \"interval\": \"1\"}", "'interval'");
	refused("{\"workload\": \"a\", \"timeout\": -1}", "'timeout'");
	/* It would become 0, and 0 is never. */
	refused("{\"workload\": \"a\", \"timeout\": 1e-300}", "'timeout'");
	refused("{\"system_wide\": true, \"duration\": 1e-10}", "'duration'");
	refused("{\"workload\": \"a\", \"duration\": 1}", "'duration'");
	refused("{\"workload\": \"a\", \"pids\": [1]}", "choose one");
	refused("{\"pids\": [0]}", "'pids'");
	refused("{\"pids\": [\"1\"]}", "'pids'");
	refused("{\"pids\": [1], \"env\": {\"A\": \"b\"}}", "'workload'");
	refused("{\"workload\": \"a\", \"env\": {\"A=B\": \"b\"}}", "'env'");
	refused("{\"workload\": \"a\", \"env\": {\"A\": 3}}", "'env'");
	refused("{\"workload\": \"a\", \"env\": [[\"A\"]]}", "'env'");
	refused("{\"workload\": \"a\", \"cwd\": \"x\"}", "'cwd'");
	refused("{\"workload\": \"a\", \"affinity\": \"0-\"}", "'affinity'");
	refused("{\"workload\": \"a\", \"cpus\": \"0\"}", "'cpus'");
	refused("{\"workload\": \"a\", \"limits\": {\"cpus_s\": 1}}", "did you mean 'cpu_s'");
	refused("{\"workload\": \"a\", \"limits\": {\"cpu_s\": -1}}", "cpu_s");
	refused("{\"workload\": \"a\", \"tool\": \"stat\", \"sample\": {}}", "'sample'");
	refused("{\"workload\": \"a\", \"tool\": \"record\", \"events\": [\"a\"],"
		" \"sample\": {\"events\": [\"b\"]}}",
		"both");
	refused("{\"workload\": \"a\", \"sample\": {\"period\": 1, \"frequency\": 1}}",
		"choose one");
	refused("{\"workload\": \"a\", \"sample\": {\"callgraph\": \"gp\"}}", "fp, dwarf");
	refused("{\"workload\": \"a\", \"sample\": {\"callgraph\": \"fp,12\"}}", "size");
	refused("{\"workload\": \"a\", \"events\": [\"\"]}", "without a name");
	refused("{\"workload\": \"a\", \"sample\": {\"filter\": 1}}",
		"'sample.filter' must be a text");
	refused("{\"workload\": \"a\", \"sample\": {\"filter\": \"a == 1\"}}",
		"name them in 'sample.events'");
}

/* Every field, set: what is written out says the same when it is read again. */
static void json_and_back(void **state)
{
	static const char all[] =
		"{\"description\": \"d\", \"tool\": \"both\", \"workload\": \"a 'b c'\","
		" \"env\": {\"X\": \"1=2\"}, \"cwd\": \"/tmp\", \"user\": \"nobody\","
		" \"affinity\": \"0-1\", \"timeout\": 2.5, \"limits\": {\"cpu_s\": 3, \"files\": "
		"9},"
		" \"events\": [\"cs\"], \"interval\": 0.5, \"sample\": {\"events\": "
		"[\"cpu-clock\"],"
		" \"period\": 1000, \"callgraph\": \"dwarf,4096\", \"filter\": \"a == 1\"},"
		" \"streaming\": false,"
		" \"keep_raw\": true, \"exclusive\": false, \"tags\": [\"t\", \"u\"],"
		" \"note\": \"n\", \"client\": {\"zoom\": [1, 2]}}";
	CLEANUP(run_plan_release) struct run_plan p = {}, again = {};
	json_t *first, *second;

	(void)state;
	assert_int_equal(parse(all, &p, NULL), 0);
	first = run_plan_json(&p);
	assert_int_equal(run_plan_parse(first, &again, NULL), 0);
	second = run_plan_json(&again);
	assert_true(json_equal(first, second));
	assert_string_equal(again.env.items[0], "X=1=2");
	assert_int_equal(again.limits.files, 9);
	assert_int_equal(again.period, 1000);
	assert_string_equal(again.callgraph, "dwarf,4096");
	assert_string_equal(again.filter, "a == 1");
	assert_true(again.has_exclusive && !again.exclusive && again.keep_raw && !again.streaming);
	assert_int_equal(
		json_array_size(json_object_get(json_object_get(second, "client"), "zoom")), 2);
	json_decref(first);
	json_decref(second);
}

static void events_are_checked(void **state)
{
	CLEANUP(run_plan_release) struct run_plan p = {};
	CLEANUP(catalog_release) struct catalog c;
	struct err e = {};

	(void)state;
	catalog_init(&c);
	assert_int_equal(
		parse("{\"workload\": \"a\", \"events\": [\"context-switches\"]}", &p, NULL), 0);
	assert_int_equal(run_plan_check_events(&p, &c, &e), 0);
	run_plan_release(&p);
	assert_int_equal(
		parse("{\"workload\": \"a\", \"events\": [\"contxt-switches\"]}", &p, NULL), 0);
	assert_true(run_plan_check_events(&p, &c, &e) < 0);
	assert_non_null(strstr(e.text, "context-switches"));
}

static void a_filter_is_for_tracepoints(void **state)
{
	CLEANUP(run_plan_release) struct run_plan p = {};
	CLEANUP(catalog_release) struct catalog c;
	struct err e = {};

	(void)state;
	catalog_init(&c);
	assert_int_equal(parse("{\"workload\": \"a\", \"events\": [\"page-faults\"], \"sample\":"
			       " {\"events\": [\"cpu-clock\"], \"filter\": \"a == 1\"}}",
			       &p, NULL),
			 0);
	assert_int_equal(run_plan_check_events(&p, &c, &e), -EINVAL);
	assert_non_null(strstr(e.text, "sample.filter: filters are for tracepoints: 'cpu-clock'"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_split_as_a_shell_does),
		cmocka_unit_test(bad_quotes_are_refused),
		cmocka_unit_test(defaults_are_filled_in),
		cmocka_unit_test(record_samples_what_is_in_events),
		cmocka_unit_test(a_shell_gets_the_text_as_it_is),
		cmocka_unit_test(wrong_plans_say_why),
		cmocka_unit_test(json_and_back),
		cmocka_unit_test(events_are_checked),
		cmocka_unit_test(a_filter_is_for_tracepoints),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
