/* What the ledger of a run says to people. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runs/ledger_words.h"

#include <stdio.h>
#include <string.h>

static const struct ledger_run measured = {.seconds = 5}, imported = {.seconds = 5, .import = true};

struct wanted {
	const char *key;
	char value[300], words[300], sentence[600];
	bool found, bad;
};

static void find(void *ctx, const struct ledger_entry *e)
{
	struct wanted *w = ctx;

	assert_non_null(e->name);
	assert_non_null(e->value);
	assert_non_null(e->about);
	if (e->bad)
		assert_non_null(e->sentence);
	if (strcmp(e->key, w->key) != 0)
		return;
	assert_false(w->found); /* one line each */
	w->found = true;
	w->bad = e->bad;
	snprintf(w->value, sizeof(w->value), "%s", e->value);
	snprintf(w->words, sizeof(w->words), "%s", e->words ? e->words : "");
	snprintf(w->sentence, sizeof(w->sentence), "%s", e->sentence ? e->sentence : "");
}

static struct wanted line(const char *ledger, const char *key, const struct ledger_run *run)
{
	json_t *json = json_loads(ledger, 0, NULL);
	struct wanted w = {.key = key};

	assert_non_null(json);
	ledger_words(json, run, find, &w);
	json_decref(json);
	return w;
}

static void check(const char *ledger, const char *key, const char *value, const char *words,
		  const char *sentence)
{
	struct wanted w = line(ledger, key, &measured);

	assert_true(w.found);
	assert_string_equal(w.value, value);
	assert_string_equal(w.words, words);
	assert_string_equal(w.sentence, sentence);
}

static void test_nothing_lost(void **state)
{
	static const char clean[] = "{\"samples\": 1000, \"lost\": 0, \"intervals\": 10,"
				    " \"intervals_missed\": 0, \"overlap\": []}";

	(void)state;
	check(clean, "samples", "1,000", "", "1,000 samples, none lost.");
	check(clean, "lost", "none", "", "");
	check(clean, "throttled", "never", "", "");
	check(clean, "intervals_missed", "none", "", "");
	check(clean, "multiplexed", "none", "", "");
	check(clean, "overlap", "nothing else", "", "");
	assert_false(line(clean, "output_dropped_bytes", &measured).found);
	assert_false(line(clean, "collector_cpu_ns", &measured).found);
}

static void test_losses(void **state)
{
	static const char bad[] = "{\"samples\": 7500, \"lost\": 2000, \"dropped\": 500,"
				  " \"throttled\": 1, \"cut_stacks\": 750}";

	(void)state;
	check(bad, "samples", "7,500", "", "");
	check(bad, "lost", "2,000 samples (20.0 %)", "20.0 % of samples lost",
	      "2,000 of 10,000 samples were lost: the kernel had no room for them.");
	check(bad, "dropped", "500 samples (5.00 %)", "5.00 % of samples left out",
	      "500 of 10,000 samples were left out: tacho could not keep up with them.");
	check(bad, "throttled", "1 time", "slowed down 1 time",
	      "The kernel held sampling back 1 time, because it took too much CPU time.");
	/* Of those taken: a lost sample has no stack that could have been cut. */
	check(bad, "cut_stacks", "750 samples (10.0 %)", "",
	      "750 of 7,500 samples were taken without the outermost callers: the stack was too "
	      "deep.");
	assert_true(line(bad, "cut_stacks", &measured).bad);
	check("{\"samples\": 642, \"cut_stacks\": 1}", "cut_stacks", "1 sample (0.16 %)", "",
	      "1 of 642 samples was taken without the outermost callers: the stack was too deep.");
}

static void test_counters(void **state)
{
	static const char bad[] =
		"{\"intervals\": 10, \"intervals_missed\": 2, \"interval_stretched_ns\": 20000000,"
		" \"interval_worst_late_ns\": 1500, \"multiplexed\": [{\"event\": \"cycles\","
		" \"running_ppm\": 250000}, {\"event\": \"ref\", \"running_ppm\": 995000}]}";

	(void)state;
	check(bad, "intervals_missed", "2 of 12", "2 readings missed",
	      "2 of 12 readings of the counters were missed.");
	check(bad, "multiplexed", "cycles 25.0 % of the time, ref 99.5 % of the time",
	      "1 counter estimated",
	      "Events shared a counter of the CPU, and their values are scaled up from the time "
	      "they counted: cycles 25.0 % of the time, ref 99.5 % of the time.");
	check(bad, "interval_stretched_ns", "20 ms", "",
	      "Reading the counters took so long that the interval became 20 ms.");
	check(bad, "interval_worst_late_ns", "1.5 µs late", "", "");
	assert_false(line(bad, "lost", &measured).found);
	assert_false(line("{\"samples\": 3}", "intervals_missed", &measured).found);
}

/* The run beside is named, with what the server writes into ledgers. */
static void test_overlap(void **state)
{
	(void)state;
	check("{\"overlap\": [{\"run\": \"12345678-aaaa\", \"description\": \"sleep 5\"}]}",
	      "overlap", "sleep 5 (12345678)", "ran beside another",
	      "Another run was measured at the same time: sleep 5 (12345678).");
	check("{\"overlap\": [{\"run\": \"12345678-aaaa\"}, {\"description\": \"make\"}]}",
	      "overlap", "12345678-aaaa, make", "ran beside another",
	      "2 other runs were measured at the same time: 12345678-aaaa, make.");
}

static void test_cost(void **state)
{
	static const char cost[] =
		"{\"collector_cpu_ns\": 50000000, \"output_dropped_bytes\": 1500000,"
		" \"spilled_bytes\": 999}";

	(void)state;
	check(cost, "collector_cpu_ns", "50 ms of CPU time, 1.00 % of one CPU", "",
	      "tacho itself used 50 ms of CPU time, 1.00 % of one CPU.");
	assert_string_equal(line(cost, "collector_cpu_ns", &imported).sentence,
			    "Reading the file used 50 ms of CPU time.");
	check(cost, "output_dropped_bytes", "1.5 MB", "",
	      "1.5 MB of output are not kept: the program printed more than the server stores for "
	      "a run.");
	check(cost, "spilled_bytes", "999 B", "", "");
}

/* Ledgers come from another process. */
static void test_nonsense(void **state)
{
	(void)state;
	check("{\"samples\": -1, \"lost\": 1e300, \"intervals\": \"x\", \"overlap\": 7}", "overlap",
	      "nothing else", "", "");
	check("{\"intervals\": 1, \"multiplexed\": [3, {}, {\"event\": 4}]}", "multiplexed", "none",
	      "", "");
	assert_false(line("[]", "overlap", &measured).found);
}

static json_t *answer(const char *ledger, const char *opened, const struct ledger_run *run)
{
	json_t *about = json_loads(ledger, 0, NULL), *events = json_loads(opened, 0, NULL), *json;
	CLEANUP(buf_release) struct buf text = {};
	struct json j = jw_to(&text);

	jw_open(&j, '{');
	jw_key(&j, "ledger");
	ledger_json(&j, about);
	ledger_json_words(&j, about, events, run);
	jw_close(&j, '}');
	json_decref(about);
	json_decref(events);
	json = json_loads(buf_str(&text), 0, NULL);
	assert_non_null(json);
	return json;
}

static void judge(const char *ledger, const char *opened, const struct ledger_run *run, bool good,
		  const char *text, const char *more)
{
	json_t *json = answer(ledger, opened, run), *verdict = json_object_get(json, "verdict");

	assert_int_equal(json_is_true(json_object_get(verdict, "good")), good);
	assert_string_equal(json_string_value(json_object_get(verdict, "text")), text);
	assert_string_equal(json_string_value(json_object_get(verdict, "more")), more);
	json_decref(json);
}

static void test_verdict(void **state)
{
	const struct ledger_run running = {.running = true};
	json_t *json;

	(void)state;
	judge("{\"samples\": 9}", "{}", &measured, true, "Nothing was lost.",
	      "All that was asked for was measured.");
	judge("{\"samples\": 9}", "{}", &running, true, "Nothing was lost so far.",
	      "All that was asked for was measured.");
	judge("{\"samples\": 9}", "{}", &imported, true, "Nothing was lost.",
	      "All samples of the file are here.");
	/* The same advice is given once. */
	judge("{\"samples\": 9, \"lost\": 1, \"throttled\": 2}", "{}", &measured, false,
	      "1 of 10 samples was lost: the kernel had no room for them. The kernel held "
	      "sampling "
	      "back 2 times, because it took too much CPU time.",
	      "Take fewer samples a second, or fewer events.");
	judge("{}",
	      "{\"events\": [{\"name\": \"cycles\", \"problem\": \"no PMU\"}, {\"name\": \"b\"},"
	      " {\"name\": \"c\", \"supported\": false}]}",
	      &measured, false, "cycles, c could not be measured.",
	      "The table of events says why.");
	json = answer("null", "null", &measured);
	assert_true(json_is_null(json_object_get(json, "ledger")));
	assert_true(json_is_null(json_object_get(json, "verdict")));
	assert_int_equal(json_array_size(json_object_get(json, "entries")), 0);
	json_decref(json);
}

static void test_warnings_are_ours(void **state)
{
	json_t *json, *ledger, *first;

	(void)state;
	json = answer("{\"samples\": 1, \"lost\": 1, \"warnings\": \"none\"}", "{}", &measured);
	ledger = json_object_get(json, "ledger");
	first = json_array_get(json_object_get(ledger, "warnings"), 0);
	assert_int_equal(json_array_size(json_object_get(ledger, "warnings")), 1);
	assert_string_equal(json_string_value(json_object_get(first, "key")), "lost");
	assert_int_equal(json_integer_value(json_object_get(ledger, "lost")), 1);
	json_decref(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_lost), cmocka_unit_test(test_losses),
		cmocka_unit_test(test_counters),     cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_cost),         cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_verdict),      cmocka_unit_test(test_warnings_are_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
