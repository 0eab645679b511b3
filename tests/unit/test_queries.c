/* Questions about a run: the handlers on a real store, beside counting the samples by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "server/api/question.h"
#include "profile/schema.h"
#include "query_fixture.h"

#include <math.h>

static void windows_are_counted_exactly(void **state)
{
	(void)state;
	whole_run(0);
	compare_many();
}

static void merged_chunks_say_the_same(void **state)
{
	json_t *before, *after;

	(void)state;
	whole_run(17);
	compare_many();
	/* From what the first one has stored. */
	before = ask("flame?min=0");
	forget();
	after = ask("flame?min=0");
	assert_true(json_equal(before, after));
	json_decref(before);
	json_decref(after);
	compare_many();
}

/* Chunks go while the list is known: it is read anew. */
static void merging_meanwhile_is_no_problem(void **state)
{
	(void)state;
	whole_run(0);
	compare(&(struct filter){10, 20, -1, -1, 0, false});
	merge_chunks(SCHEMA_SAMPLES, 0, 10);
	compare_many();
	merge_chunks(SCHEMA_SAMPLES, 0, 10);
	compare_many();
}

static void running_ones_grow(void **state)
{
	struct dictionary_writer w;
	json_t *json;

	(void)state;
	json = ask("flame");
	assert_int_equal(number(json, "samples"), 0);
	json_decref(json);
	dictionary_writer_init(&w);
	store_tables(&w);
	for (uint32_t i = 0; i < 2000; i += 100) {
		store_samples(i, i + 100);
		json = ask("functions?event=cpu-clock");
		assert_int_equal(number(json, "samples"), (i + 100) / 5 * 4);
		json_decref(json);
	}
	merge_chunks(SCHEMA_SAMPLES, 0, 7);
	for (uint32_t i = 2000; i < SAMPLES; i += 100)
		store_samples(i, i + 100);
	/* A function that nobody knew before. */
	stacks[0] =
		profile_stack(&made, stacks[0], named_frame((module_id){1}, 0x9000, "newcomer"));
	store_tables(&w);
	store_samples(0, 100);
	json = ask("functions?event=cpu-clock&frames=newcomer");
	assert_int_equal(number(json, "samples"), 60); /* 10 of the 70 are faults */
	json_decref(json);
	set_state(STATE_DONE);
	json = ask("functions?event=cpu-clock&frames=newcomer");
	assert_int_equal(number(json, "samples"), 60);
	json_decref(json);
	dictionary_writer_release(&w);
}

static void graphs(void **state)
{
	json_t *json, *nodes, *names;

	(void)state;
	whole_run(17);
	json = ask("flame?to=5s"); /* the event with most samples */
	nodes = json_object_get(json, "nodes");
	names = json_object_get(json, "names");
	assert_string_equal(json_string_value(json_object_get(json, "event")), "cpu-clock");
	assert_int_equal(json_array_size(json_object_get(nodes, "parent")), 4);
	assert_int_equal(element(nodes, "total", 0), 400000);
	assert_int_equal(element(nodes, "total", 1), 400000);
	assert_string_equal(json_string_value(json_array_get(json_array_get(names, 1), 0)), "main");
	assert_string_equal(json_string_value(json_array_get(json_array_get(names, 1), 1)), "x");
	assert_string_equal(json_string_value(json_array_get(json_array_get(names, 1), 2)), "user");
	json_decref(json);
	json = ask("flame?mode=inverted&from=5s");
	nodes = json_object_get(json, "nodes");
	assert_int_equal(json_array_size(json_object_get(nodes, "parent")), 5);
	json_decref(json);
	json = ask("flame?mode=sandwich&function=late");
	nodes = json_object_get(json_object_get(json, "callers"), "nodes");
	assert_int_equal(json_array_size(json_object_get(nodes, "parent")), 4);
	assert_int_equal(number(json_object_get(json, "callers"), "total"), 400000);
	assert_int_equal(number(json_object_get(json, "callees"), "total"), 400000);
	json_decref(json);
	json = ask("flame?min=0.3");
	assert_int_equal(number(json_object_get(json, "hidden"), "weight"), 200000);
	json_decref(json);
}

/* What the samples of a thread say, one after the other: leaves that follow each other are one. */
static size_t leaf_changes(uint32_t thread, uint32_t from, uint32_t to)
{
	size_t changes = 0;
	int last = -1;

	for (uint32_t i = from; i < to; i++) {
		if (i % 3 != thread || i % 5 == 4)
			continue;
		changes += last != (int)leaf_of(i);
		last = (int)leaf_of(i);
	}
	return changes;
}

static void order_of_time(void **state)
{
	json_t *json, *boxes;
	size_t leaves_seen = 0;

	(void)state;
	whole_run(17);
	json = ask("flame?mode=ordered&threads=101&event=cpu-clock&from=2s&to=2.3s&pixels=10000");
	boxes = json_object_get(json, "boxes");
	assert_int_equal(number(json_object_get(json, "thread"), "tid"), 101);
	assert_int_equal(number(json, "samples"), 80);
	assert_int_equal(number(json, "total"), 8000);
	assert_int_equal(number(json, "from_ns"), 2 * NS_A_S);
	/* main is on the stack all the time. */
	assert_int_equal(element(boxes, "depth", 0), 0);
	assert_int_equal(element(boxes, "from_ns", 0), 2000 * MS + 2 * MS);
	assert_int_equal(element(boxes, "to_ns", 0), 2299 * MS);
	for (size_t i = 1; i < json_array_size(json_object_get(boxes, "depth")); i++)
		leaves_seen += element(boxes, "depth", i) == 1;
	assert_int_equal(leaves_seen, json_array_size(json_object_get(boxes, "depth")) - 1);
	assert_int_equal(leaves_seen, leaf_changes(1, 2000, 2300));
	json_decref(json);
	/* By itself it takes the thread with most samples. */
	json = ask("flame?mode=ordered&frames=hot&pixels=7");
	assert_int_equal(number(json_object_get(json, "thread"), "pid"), 100);
	assert_in_range(number(json, "samples"), 900, 1100);
	assert_int_equal(json_array_size(json_object_get(json, "names")), 3);
	json_decref(json);
	json = ask("flame?mode=ordered&frames=hot&from=6s");
	assert_true(json_is_null(json_object_get(json, "thread")));
	assert_int_equal(json_array_size(json_object_get(json_object_get(json, "boxes"), "name")),
			 0);
	json_decref(json);
	refuses("flame?mode=ordered&pixels=0", EINVAL, "at least 1");
}

static void differences(void **state)
{
	json_t *json;

	(void)state;
	whole_run(17);
	json = ask("diff?before=%s&after=%s&before_to=5s&after_from=5s", run.uuid, run.uuid);
	assert_int_equal(number(json, "total_before"), 400000);
	assert_int_equal(number(json, "total_after"), 400000);
	assert_true(fabs(of_function(json, "hot", "self_before") - 0.75) < 1e-9);
	assert_true(of_function(json, "hot", "self_after") == 0);
	assert_true(of_function(json, "late", "self_after") == 1);
	assert_true(of_function(json, "main", "total_before") == 1);
	json_decref(json);
	refuses("diff?before=x", ENOENT, "no run 'x'");
}

static const char *text(const json_t *json, const char *key)
{
	return json_string_value(json_object_get(json, key));
}

/* The change of a counter between two windows of the run. The caller calls json_decref() of @ret_all. */
static const json_t *counter_change(const char *name, const char *before, const char *after,
				    json_t **ret_all)
{
	const json_t *found = NULL;
	json_t *one;
	size_t i;

	*ret_all = ask("counters?before=%s&after=%s&%s&%s", run.uuid, run.uuid, before, after);
	json_array_foreach(json_object_get(*ret_all, "counters"), i, one)
	{
		if (!strcmp(text(one, "name"), name))
			found = one;
	}
	assert_non_null(found);
	return found;
}

/* Twenty slices of a tenth of a second; one of them has the spike. */
static void counters_compared(void **state)
{
	const double t19 = 2.0930240544082634;
	const json_t *change, *side;
	json_t *all;

	(void)state;
	whole_run(17);
	change = counter_change("ticks,x", "before_to=2s", "after_from=2.5s&after_to=4.5s", &all);
	assert_true(number(all, "confidence") == 0.95);
	assert_int_equal(json_array_size(json_object_get(all, "counters")), 2);
	assert_true(number(change, "scale") == 0.5);
	side = json_object_get(change, "before");
	assert_int_equal(number(side, "slices"), 20);
	assert_true(fabs(number(side, "mean") - 1000) < 1e-6);
	assert_true(fabs(number(side, "stddev")) < 1e-6);
	assert_true(fabs(number(side, "sum") - 2000) < 1e-6);
	side = json_object_get(change, "after");
	assert_true(fabs(number(side, "mean") - 1495) < 1e-6);
	assert_true(fabs(number(side, "stddev") - 9900 / sqrt(20)) < 1e-6);
	assert_true(fabs(number(side, "sum") - 2990) < 1e-6);
	assert_true(fabs(number(change, "difference") - 495) < 1e-6);
	assert_true(fabs(number(change, "low") - (495 - t19 * 495)) < 1e-6);
	assert_true(fabs(number(change, "high") - (495 + t19 * 495)) < 1e-6);
	assert_string_equal(text(change, "verdict"), "unclear");
	json_decref(all);
	refuses("counters?before=x", ENOENT, "no run 'x'");
	refuses("counters?after=x", EINVAL, "Missing parameter 'before'");
	refuses("counters?pixels=5", EINVAL, "no parameter 'pixels'");
}

static void counters_compared_with_too_little(void **state)
{
	const json_t *change;
	json_t *all;

	(void)state;
	whole_run(17);
	/* Half of one reading. */
	change = counter_change("ticks,x", "before_from=1s&before_to=1.005s", "after_to=2s", &all);
	assert_int_equal(number(json_object_get(change, "before"), "slices"), 1);
	assert_true(fabs(number(json_object_get(change, "before"), "sum") - 5) < 1e-6);
	assert_true(json_is_null(json_object_get(json_object_get(change, "before"), "stddev")));
	assert_true(fabs(number(change, "difference")) < 1e-6);
	assert_true(json_is_null(json_object_get(change, "low")));
	assert_string_equal(text(change, "verdict"), "unknown");
	json_decref(all);
	/* Nothing was counted then. */
	change = counter_change("ticks,x", "before_from=6.1s&before_to=6.5s", "after_to=2s", &all);
	assert_true(json_is_null(json_object_get(change, "before")));
	assert_true(json_is_null(json_object_get(change, "difference")));
	assert_string_equal(text(change, "verdict"), "unknown");
	json_decref(all);
}

/* A counter that was read on two CPUs is one row; CPU 2 has it only in the second half. */
static void counters_of_cpus_compared(void **state)
{
	const json_t *change;
	json_t *all;

	(void)state;
	profile_counter(&made, &(struct profile_counter){.name = profile_string(&made, "idle"),
							 .unit = profile_string(&made, "J"),
							 .scale = 1,
							 .cpu = 2});
	whole_run(0);
	store_counts_from(3, 500);
	change = counter_change("idle", "before_to=2s", "after_from=7.5s&after_to=9.5s", &all);
	assert_int_equal(json_array_size(json_object_get(all, "counters")), 2);
	assert_string_equal(text(change, "unit"), "J");
	assert_true(fabs(number(json_object_get(change, "before"), "mean") - 1000) < 1e-6);
	assert_true(fabs(number(json_object_get(change, "after"), "mean") - 2000) < 1e-6);
	assert_true(fabs(number(json_object_get(change, "after"), "sum") - 4000) < 1e-6);
	assert_string_equal(text(change, "verdict"), "more");
	json_decref(all);
	change = counter_change("idle", "before_from=7.5s&before_to=9.5s", "after_to=2s", &all);
	assert_string_equal(text(change, "verdict"), "less");
	json_decref(all);
}

static void counters_over_time(void **state)
{
	json_t *json, *counter;
	double sum = 0;

	(void)state;
	whole_run(17);
	json = ask("timeline?pixels=10&samples=1&from=0&to=10s");
	counter = json_array_get(json_object_get(json, "counters"), 0);
	assert_int_equal(json_array_size(json_object_get(json, "counters")), 2);
	assert_string_equal(json_string_value(json_object_get(counter, "name")), "ticks,x");
	assert_true(fabs(element(counter, "max", 3) - 100000) < 1e-3);
	assert_true(fabs(element(counter, "mean", 2) - 1000) < 1e-3);
	assert_true(json_is_null(json_array_get(json_object_get(counter, "mean"), 6)));
	assert_int_equal(element(counter, "t", 7), 7 * NS_A_S);
	for (size_t i = 0; i < 10; i++)
		sum += element(counter, "sum", i);
	assert_true(fabs(sum - (9000 + 990)) < 1e-6);
	counter = json_array_get(json_object_get(json, "samples"), 1);
	assert_string_equal(json_string_value(json_object_get(counter, "event")), "faults");
	assert_int_equal(element(counter, "count", 9), 200);
	json_decref(json);
	json = ask("timeline?counters=idle,ticks,x&pixels=3000");
	assert_int_equal(json_array_size(json_object_get(json, "counters")), 2);
	json_decref(json);
	json = ask("timeline?counters=idle&from=3s&to=3.02s&pixels=4");
	counter = json_array_get(json_object_get(json, "counters"), 0);
	assert_int_equal(json_array_size(json_object_get(json, "counters")), 1);
	assert_int_equal(number(counter, "cpu"), 1);
	assert_true(fabs(element(counter, "mean", 0) - 100000) < 1e-3);
	assert_true(fabs(element(counter, "mean", 2) - 1000) < 1e-3);
	json_decref(json);
	refuses("timeline?counters=ticks", EINVAL, "no counter 'ticks'");
}

static void heat_and_spread(void **state)
{
	json_t *json, *cells;
	double sum = 0;

	(void)state;
	whole_run(17);
	json = ask("heatmap?rows=10&event=faults&from=2s&to=8s");
	cells = json_object_get(json, "cells");
	assert_int_equal(number(json, "seconds"), 6);
	assert_int_equal(number(json, "first_s"), 2);
	assert_int_equal(json_array_size(cells), 60);
	for (size_t i = 0; i < 60; i++)
		assert_int_equal(json_number_value(json_array_get(cells, i)), 20);
	json_decref(json);
	json = ask("heatmap?rows=10&counter=ticks,x&to=10s");
	assert_int_equal(number(json, "seconds"), 10);
	for (size_t i = 0; i < 100; i++)
		sum += element(json, "cells", i);
	assert_true(fabs(sum - 9990) < 1e-6);
	assert_true(fabs(number(json, "max") - 1090) < 1e-6);
	json_decref(json);
	json = ask("histogram?counter=ticks,x&bins=5"); /* times its scale */
	assert_int_equal(number(json, "count"), 900);
	assert_true(number(json, "p50") == 5 && number(json, "max") == 500);
	json_decref(json);
	json = ask("histogram?weight=cpu-clock&scale=log&from=0&to=100ms");
	assert_int_equal(number(json, "count"), 80);
	assert_true(number(json, "min") == 100 && number(json, "p999") == 100);
	json_decref(json);
	refuses("histogram?bins=3", EINVAL, "exactly one of counter=NAME");
}

static void threads_and_points(void **state)
{
	json_t *json, *thread;
	size_t i;

	(void)state;
	whole_run(17);
	forget(); /* without frames and stacks in memory */
	json = ask("threads?pixels=10&event=faults&from=0&to=10s");
	assert_int_equal(json_array_size(json_object_get(json, "threads")), 3);
	json_array_foreach(json_object_get(json, "threads"), i, thread)
	{
		double sum = 0;

		for (size_t n = 0; n < 10; n++)
			sum += element(thread, "cells", n);
		assert_int_equal(number(thread, "pid"), 100);
		assert_true(sum == number(thread, "weight"));
		assert_true(fabs(sum - 2000 / 3.0) < 1);
	}
	json_decref(json);
	json = ask("points?max=500&from=1s&to=9s");
	assert_int_equal(number(json, "thinned_from"), 8000);
	assert_in_range(json_array_size(json_object_get(json, "t")), 450, 500);
	assert_int_equal(json_array_size(json_object_get(json, "names")), 3);
	for (i = 0; i < json_array_size(json_object_get(json, "t")); i++) {
		uint32_t at = (uint32_t)(element(json, "t", i) / MS);
		const char *name = json_string_value(
			json_array_get(json_array_get(json_object_get(json, "names"),
						      (size_t)element(json, "function", i)),
				       0));

		assert_string_equal(name, leaves[leaf_of(at)]);
		assert_int_equal(element(json, "event", i), at % 5 == 4);
		assert_int_equal(element(json, "address", i),
				 0x2000 + 0x1000 * (leaf_of(at) < 3 ? leaf_of(at) : 2) +
					 leaf_of(at));
	}
	json_decref(json);
}

static void pages_of_functions(void **state)
{
	json_t *json;

	(void)state;
	whole_run(17);
	json = ask("functions?limit=2&sort=total&event=cpu-clock");
	assert_string_equal(json_string_value(json_object_get(
				    json_array_get(json_object_get(json, "functions"), 0), "name")),
			    "main");
	assert_string_equal(json_string_value(json_object_get(json, "next")), "2");
	json_decref(json);
	json = ask("functions?limit=10&before=2&sort=total&event=cpu-clock");
	assert_int_equal(json_array_size(json_object_get(json, "functions")), 3);
	assert_true(json_is_null(json_object_get(json, "next")));
	json_decref(json);
	json = ask("functions?search=AT");
	assert_int_equal(json_array_size(json_object_get(json, "functions")), 1);
	json_decref(json);
	json = ask("ledger");
	assert_int_equal(number(json_object_get(json, "ledger"), "lost"), 3);
	json_decref(json);
}

/* No instructions were kept: the samples of the selection are there all the same. */
static void annotations(void **state)
{
	json_t *json;

	(void)state;
	whole_run(17);
	forget();
	json = ask("annotate?function=hot&event=cpu-clock&to=2.5s");
	assert_int_equal(number(json, "samples"), 2000);
	assert_int_equal(number(json_array_get(json_object_get(json, "functions"), 0), "samples"),
			 1500);
	json_decref(json);
	refuses("annotate?function=nobody", ENOENT, "no function 'nobody'");
	refuses("annotate", EINVAL, "function");
}

/* The same numbers as in JSON, as they lie in memory. */
static void columns(void **state)
{
	json_t *answer, *json, *line, *part;
	struct http_reply reply;
	const char *raw;
	size_t offset;

	(void)state;
	whole_run(17);
	answer = ask("timeline?pixels=100");
	OK(ask_bytes("timeline?pixels=100&format=columns", &reply));
	assert_string_equal(reply.type, "application/octet-stream");
	line = json_loadb(reply.body.s, strcspn(reply.body.s, "\n"), 0, NULL);
	assert_non_null(line);
	raw = reply.body.s + ((strcspn(reply.body.s, "\n") + 8) & ~7ul);
	json = json_array_get(json_object_get(answer, "counters"), 0);
	part = json_object_get(json_array_get(json_object_get(line, "counters"), 0), "mean");
	assert_string_equal(json_string_value(json_object_get(part, "type")), "f64");
	assert_int_equal(number(part, "length"), 100);
	offset = (size_t)number(part, "offset");
	for (size_t i = 0; i < 100; i++) {
		double value;

		memcpy(&value, raw + offset + i * 8, 8);
		if (json_is_null(json_array_get(json_object_get(json, "mean"), i)))
			assert_true(isnan(value));
		else
			assert_true(fabs(value - element(json, "mean", i)) < 1e-3);
	}
	part = json_object_get(json_array_get(json_object_get(line, "counters"), 0), "t");
	offset = (size_t)number(part, "offset");
	assert_int_equal(((const int64_t *)(const void *)(raw + offset))[1],
			 (int64_t)element(json, "t", 1));
	assert_int_equal(reply.headers.len, 1);
	assert_string_equal(reply.headers.items[0].name, "Server-Timing");
	json_decref(line);
	json_decref(answer);
	reply_release(&reply);
}

static void wrong_questions(void **state)
{
	(void)state;
	whole_run(0);
	refuses("flame?from=5s&to=5s", EINVAL, "window is empty");
	refuses("flame?from=18446744073709551615", EINVAL, "is a time since the run began");
	refuses("flame?from=9000000000000000001", EINVAL, "is a time since the run began");
	refuses("flame?to=18446744073709551615", EINVAL, "is a time since the run began");
	refuses("flame?from=yesterday", EINVAL, "a time since the run began");
	refuses("flame?fram=x", EINVAL, "'fram'");
	refuses("flame?event=cpu-clok", EINVAL, "cpu-clock");
	refuses("flame?frames=(", EINVAL, "no regular expression");
	refuses("flame?threads=a", EINVAL, "list of numbers");
	refuses("flame?cpus=3-", EINVAL, "list of CPUs");
	refuses("flame?mode=x", EINVAL, "plain, inverted, sandwich or ordered");
	refuses("flame?mode=sandwich", EINVAL, "function");
	refuses("flame?mode=sandwich&function=nobody", ENOENT, "no function 'nobody'");
	refuses("flame?min=2", EINVAL, "min");
	refuses("heatmap?rows=0", EINVAL, "rows");
	refuses("heatmap?rows=1000&to=100000h", EINVAL, "too many seconds");
	refuses("timeline?pixels=1000000", EINVAL, "pixels");
	refuses("timeline?format=xml", EINVAL, "json or columns");
}

/* Rows that are kept say the same as those that are decoded each time. */
static void rows_are_kept(void **state)
{
	static const char *const questions[] = {
		"threads?pixels=33",
		"threads?event=faults&cpus=1&from=1ms",
		"threads?frames=late",
		"heatmap?rows=7",
		"heatmap?rows=100&threads=101,102&from=2500ms&to=8s",
		"timeline?samples=1&pixels=77&from=1234ms&to=7s",
		"timeline?samples=1&pixels=5000&cpus=0",
		"points?max=300",
		"flame?cpus=1&min=0",
		"flame?mode=ordered",
		"histogram?weight=cpu-clock"};
	struct run_cache_counts before, after;
	char *decoded[ARRAY_LEN(questions)];

	(void)state;
	whole_run(17);
	run_cache_free(server.cache);
	server.cache = run_cache_new(1);
	for (size_t i = 0; i < ARRAY_LEN(questions); i++)
		decoded[i] = ask_text(questions[i]);
	forget();
	free(ask_text("flame"));
	run_cache_counts(server.cache, &before);
	for (size_t i = 0; i < 2 * ARRAY_LEN(questions); i++) {
		char *kept = ask_text(questions[i % ARRAY_LEN(questions)]);

		assert_string_equal(kept, decoded[i % ARRAY_LEN(questions)]);
		free(kept);
	}
	run_cache_counts(server.cache, &after);
	assert_true(after.bytes > before.bytes + SAMPLES * 10);
	for (size_t i = 0; i < ARRAY_LEN(questions); i++)
		free(decoded[i]);
	compare_many();
}

/* However many values of counters were looked at, samples have as much room as before. */
static void counts_have_their_own_room(void **state)
{
	struct run_data *d;

	(void)state;
	whole_run(17);
	free(ask_text("histogram?counter=ticks,x"));
	OK(run_cache_get(server.cache, store, &run, &d, &error));
	assert_int_equal(d->rows_bytes, 0);
	assert_true(d->counts_bytes > 0);
	d->counts_bytes_max = 0;
	run_cache_put(server.cache, d);
	free(ask_text("flame?cpus=1"));
	free(ask_text("histogram?counter=idle"));
	OK(run_cache_get(server.cache, store, &run, &d, &error));
	assert_true(d->rows_bytes > 0 && d->rows_bytes < d->rows_bytes_max);
	assert_int_equal(d->counts_bytes, 900 * sizeof(struct count_row));
	run_cache_put(server.cache, d);
}

static void small_caches_forget(void **state)
{
	struct run_cache_counts counts;

	(void)state;
	whole_run(17);
	run_cache_free(server.cache);
	server.cache = run_cache_new(1); /* whatever is not in use goes at once */
	compare_many();
	run_cache_counts(server.cache, &counts);
	assert_int_equal(counts.runs, 0);
	assert_int_equal(counts.bytes, 0);
	assert_int_equal(counts.hits, 0);
	forget();
	compare_many();
	run_cache_counts(server.cache, &counts);
	assert_int_equal(counts.runs, 1);
	assert_int_equal(counts.misses, 1);
	assert_true(counts.bytes > 10000);
}

/* ---- several at once ---- */

struct asker {
	pthread_t thread;
	const char *directory;
	unsigned number, wrong;
	bool *stop;
};

static void *keep_asking(void *ctx)
{
	static const char *const questions[] = {
		"functions?event=cpu-clock", "flame?mode=inverted", "timeline?pixels=50&samples=1",
		"threads?pixels=20",         "points?max=100",      "flame?cpus=0"};
	struct asker *a = ctx;
	struct err e = {};
	struct api own = {.server = &server};

	if (store_open(&own.store, &(struct store_options){.directory = a->directory}, &e))
		abort();
	for (unsigned i = 0; !__atomic_load_n(a->stop, __ATOMIC_RELAXED) || i < 20; i++) {
		const char *question = questions[(i + a->number) % ARRAY_LEN(questions)];
		struct http_reply reply;

		a->wrong += ask_by(&own, question, &reply, &e) < 0;
		if (!strncmp(question, "functions", 9) && !reply.immutable)
			a->wrong += !strstr(buf_str(&reply.body), "\"samples\":");
		reply_release(&reply);
	}
	store_close(own.store);
	return NULL;
}

/* While a run grows, is merged, and ends. */
static void many_ask_at_once(void **state)
{
	struct dictionary_writer w;
	bool stop = false;
	struct asker askers[3];
	char directory[300];

	(void)state;
	snprintf(directory, sizeof(directory), "%s/%u", support_dir, directories - 1);
	dictionary_writer_init(&w);
	store_tables(&w);
	dictionary_writer_release(&w);
	for (unsigned i = 0; i < ARRAY_LEN(askers); i++) {
		askers[i] = (struct asker){.directory = directory, .number = i, .stop = &stop};
		assert_int_equal(pthread_create(&askers[i].thread, NULL, keep_asking, &askers[i]),
				 0);
	}
	for (uint32_t i = 0; i < SAMPLES; i += 100) {
		store_samples(i, i + 100);
		if (i % 1000 == 900)
			merge_chunks(SCHEMA_SAMPLES, 0, 10);
	}
	set_state(STATE_DONE);
	merge_chunks(SCHEMA_SAMPLES, 0, 10);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < ARRAY_LEN(askers); i++) {
		pthread_join(askers[i].thread, NULL);
		assert_int_equal(askers[i].wrong, 0);
	}
	compare_many();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(windows_are_counted_exactly),
		TEST(merged_chunks_say_the_same),
		TEST(merging_meanwhile_is_no_problem),
		TEST(running_ones_grow),
		TEST(graphs),
		TEST(order_of_time),
		TEST(differences),
		TEST(counters_compared),
		TEST(counters_compared_with_too_little),
		TEST(counters_of_cpus_compared),
		TEST(counters_over_time),
		TEST(heat_and_spread),
		TEST(threads_and_points),
		TEST(pages_of_functions),
		TEST(annotations),
		TEST(columns),
		TEST(wrong_questions),
		TEST(rows_are_kept),
		TEST(counts_have_their_own_room),
		TEST(small_caches_forget),
		TEST(many_ask_at_once),
	};

	return cmocka_run_group_tests(tests, make_support_dir, remove_support_dir);
}
