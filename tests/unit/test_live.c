/* Live data of runs that are larger than a watcher can look at: limits hold, and nothing is lost. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "bus/bus.h"
#include "profile/chunk.h"
#include "profile/dictionary.h"
#include "runs/live/live.h"
#include "runs/live/internal.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define UUID "1b4e28ba-2fa1-41d2-883f-0016d3cca427"

static struct manual_clock clock_now; /* stands still unless a test moves it */
static struct run_host host;
static struct live_run *run;
static struct profile profile;
static struct dictionary_writer writer;

static int begin(void **state)
{
	struct stored_run stored = {.start_ns = 1000, .uuid = UUID};

	(void)state;
	manual_clock_init(&clock_now, 1000 * NS_PER_SEC, 1000000 * NS_PER_SEC);
	host = (struct run_host){.clock = &clock_now.clock, .bus = bus_new(&clock_now.clock)};
	host.live = live_new(&host);
	run = live_run_begin(host.live, &stored);
	profile_init(&profile);
	dictionary_writer_init(&writer);
	return 0;
}

static int end(void **state)
{
	(void)state;
	live_run_end(run);
	live_free(host.live);
	bus_free(host.bus);
	profile_release(&profile);
	dictionary_writer_release(&writer);
	return 0;
}

static void tell_dictionary(void)
{
	CLEANUP(buf_release) struct buf piece = {};

	while (dictionary_encode(&writer, &profile, &piece)) {
		live_run_dictionary(run, piece.s, piece.len);
		buf_clear(&piece);
	}
}

static void wake(void *ctx)
{
	(void)ctx;
}

static struct bus_watch *watch_from(uint64_t last_id)
{
	char *names[] = {(char *)"run/" UUID};
	strvec topics = {.items = names, .len = 1};

	return bus_watch(host.bus, &topics, NULL, last_id, wake, NULL);
}

static struct bus_watch *watch(void)
{
	return watch_from(0);
}

/* What a client knows after all that is there has been read. */
struct seen {
	uint64_t samples, weight, value, duration, last_id;
	size_t nodes, values, notes, snapshots;
	int64_t event; /* the one that is shown */
};

static uint64_t sum_of(const json_t *rows, int member)
{
	const json_t *row;
	uint64_t sum = 0;
	size_t i;

	json_array_foreach(rows, i, row) sum += (uint64_t)json_integer_value(
		member < 0 ? row : json_array_get(row, (size_t)member));
	return sum;
}

static void take(struct seen *s, const char *event, const json_t *data)
{
	if (!strcmp(event, "snapshot"))
		*s = (struct seen){.snapshots = s->snapshots + 1}; /* all of it follows */
	s->notes += !strcmp(event, "note");
	if (!strcmp(event, "samples")) {
		s->nodes += json_array_size(json_object_get(data, "nodes"));
		s->samples += sum_of(json_object_get(data, "gain"), 2);
		s->weight += sum_of(json_object_get(data, "gain"), 3);
		s->event = json_integer_value(json_object_get(data, "event"));
	} else if (!strcmp(event, "counts")) {
		s->values += json_array_size(json_object_get(data, "value"));
		s->value += sum_of(json_object_get(data, "value"), -1);
		s->duration += sum_of(json_object_get(data, "duration"), -1);
	}
}

static void read_all(struct bus_watch *w, struct seen *ret)
{
	CLEANUP(buf_release) struct buf text = {};
	uint32_t wait_ms = 0;
	char *next, *message;

	while (wait_ms != BUS_FOREVER) {
		manual_clock_advance(&clock_now, wait_ms * NS_PER_MSEC);
		bus_read(w, &text, 1 << 20, &wait_ms);
	}
	for (message = text.s; message && (next = strstr(message, "\n\n")); message = next + 2) {
		char event[32] = "", *at = strstr(message, "event: "),
		     *data = strstr(message, "data: ");
		json_t *json;

		*next = '\0';
		if (!strncmp(message, "id: ", 4))
			ret->last_id = strtoull(message + 4, NULL, 10);
		if (!at || !data || at > next)
			continue;
		sscanf(at, "event: %31s", event);
		json = json_loads(data + 6, 0, NULL);
		assert_non_null(json);
		take(ret, event, json);
		json_decref(json);
	}
}

static void finish_update(void)
{
	while (live_wait_ms(host.live) >= 0) {
		manual_clock_advance(&clock_now, (uint64_t)live_wait_ms(host.live) * NS_PER_MSEC);
		live_tick(host.live);
	}
}

#define FUNCTIONS 100000u

static void tell_samples(uint32_t first, uint32_t count)
{
	struct sample_row *rows = xcalloc(count, sizeof(*rows));
	CLEANUP(buf_release) struct buf bytes = {};
	struct chunk_info info;

	for (uint32_t i = 0; i < count; i++)
		rows[i] = (struct sample_row){
			.time_ns = 2000 + i, .weight = 3, .stack = 1 + first + i};
	chunk_encode_samples(rows, count, &bytes, &info);
	live_run_chunk(run, bytes.s, bytes.len);
	free(rows);
}

static void test_many_functions(void **state)
{
	struct bus_watch *early = watch(), *late;
	struct seen all = {}, snapshot = {};

	(void)state;
	profile_event(&profile, "cpu-clock");
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		char name[32];
		int len = snprintf(name, sizeof(name), "function_%u", i);
		frame_id frame = profile_frame_named(&profile, name, (size_t)len, CODE_USER);

		profile_stack(&profile, (stack_id){}, frame);
	}
	tell_dictionary();
	for (uint32_t at = 0; at < FUNCTIONS; at += 20000) {
		tell_samples(at, 20000);
		finish_update();
		read_all(early, &all);
	}
	assert_int_equal(all.samples, FUNCTIONS);
	assert_int_equal(all.weight, 3 * FUNCTIONS);
	assert_in_range(all.nodes, 20000, 70000);
	assert_int_equal(all.notes, 1); /* said once */
	late = watch();
	read_all(late, &snapshot);
	assert_int_equal(snapshot.snapshots, 1);
	assert_int_equal(snapshot.samples, FUNCTIONS);
	assert_int_equal(snapshot.nodes, all.nodes);
	assert_int_equal(snapshot.notes, 1);
	bus_unwatch(early);
	bus_unwatch(late);
}

#define PLACES 100000u
#define ROUNDS 30u

static void tell_stack(uint32_t stack)
{
	tell_samples(stack - 1, 1);
}

/*
 * A run of days has more stacks than anybody remembers. Those that come up again and again stay where
 * they are in the graph, new ones get there; of code that comes too late to be remembered its callers
 * are known.
 */
static void test_many_stacks(void **state)
{
	frame_id main_frame = profile_frame_named(&profile, "main", 4, CODE_USER), frame = {};
	struct frame_name main_name = *names_of(&profile, main_frame);
	stack_id main_stack, hot, stack;
	uint32_t node;

	(void)state;
	profile_event(&profile, "cpu-clock");
	main_stack = profile_stack_new(&profile, (stack_id){}, main_frame);
	hot = profile_stack_new(&profile, main_stack,
				profile_frame_named(&profile, "hot", 3, CODE_USER));
	for (uint32_t round = 0; round < ROUNDS; round++) {
		for (uint32_t i = 0; i < PLACES; i++) {
			/* The first ones of each are new code, of one function. */
			if (i < 10000) {
				frame = profile_frame(&profile, (module_id){},
						      round << 20 | i | 1u << 30);
				profile_name_frame(&profile, frame, &main_name, 1);
			}
			stack = profile_stack_new(&profile, main_stack, frame);
		}
		tell_dictionary();
		profile_forget_stacks(&profile);
		tell_stack(hot.n);
		tell_stack(stack.n);
		finish_update();
	}
	assert_true(run->closed);
	assert_int_equal(run->profile.stacks.len, 1);
	assert_true(run->profile.frames.len < 200000);
	assert_true(run->stacks.mask < 1u << 21);
	assert_true(run->paths.nodes.len < 10);
	assert_true(live_stacks_find(&run->stacks, hot.n, &node));
	assert_int_equal(run->events.items[0].total.items[node].samples, ROUNDS);
	/* Nothing is the root's. */
	assert_int_equal(run->events.items[0].total.items[0].samples, 0);
}

#define VALUES 3000u

static void tell_counts(uint32_t counter, uint64_t from_ns)
{
	struct count_row *rows = xcalloc(VALUES, sizeof(*rows));
	CLEANUP(buf_release) struct buf bytes = {};
	struct chunk_info info;

	for (uint32_t i = 0; i < VALUES; i++)
		rows[i] = (struct count_row){from_ns + 1000 * i, 1000, 7, 1000000};
	chunk_encode_counts(counter, rows, VALUES, &bytes, &info);
	live_run_chunk(run, bytes.s, bytes.len);
	free(rows);
}

static void test_many_values(void **state)
{
	struct bus_watch *w = watch();
	struct seen all = {}, snapshot = {};
	uint32_t counter;

	(void)state;
	counter = profile_counter(
		&profile, &(struct profile_counter){.name = profile_string(&profile, "task-clock"),
						    .scale = 1,
						    .cpu = -1});
	tell_dictionary();
	for (unsigned i = 0; i < 4; i++) /* the first at once, the others together */
		tell_counts(counter, 2000 + 1000ull * VALUES * i);
	finish_update();
	read_all(w, &all);
	assert_int_equal(all.value, 4 * 7 * VALUES);
	assert_int_equal(all.duration, 4 * 1000 * VALUES);
	assert_int_equal(all.snapshots, 1);
	assert_in_range(all.values, VALUES, 3 * VALUES); /* in pairs */
	bus_unwatch(w);
	w = watch();
	read_all(w, &snapshot);
	assert_in_range(snapshot.values, 1, 8192);
	bus_unwatch(w);
}

/* What nobody has watched is not encoded, but who comes then has all of it. */
static void test_unwatched(void **state)
{
	struct bus_watch *w;
	struct seen all = {};

	(void)state;
	profile_event(&profile, "cpu-clock");
	profile_stack(&profile, (stack_id){}, profile_frame_named(&profile, "f", 1, CODE_USER));
	tell_dictionary();
	for (int i = 0; i < 3; i++) {
		tell_samples(0, 1);
		finish_update();
	}
	w = watch();
	read_all(w, &all);
	assert_int_equal(all.samples, 3);
	tell_samples(0, 1);
	finish_update();
	read_all(w, &all);
	assert_int_equal(all.samples, 4);
	assert_int_equal(all.snapshots, 1);
	/* Away for a while, and back with the number of the last. */
	bus_unwatch(w);
	tell_samples(0, 1);
	finish_update();
	w = watch_from(all.last_id);
	read_all(w, &all);
	assert_int_equal(all.samples, 5);
	bus_unwatch(w);
}

static void tell_event(uint32_t event, uint32_t count)
{
	struct sample_row *rows = xcalloc(count, sizeof(*rows));
	CLEANUP(buf_release) struct buf bytes = {};
	struct chunk_info info;

	for (uint32_t i = 0; i < count; i++)
		rows[i] = (struct sample_row){
			.time_ns = 2000 + i, .weight = 1, .stack = 1, .event = event};
	chunk_encode_samples(rows, count, &bytes, &info);
	live_run_chunk(run, bytes.s, bytes.len);
	free(rows);
	finish_update();
}

/* The busiest event so far is shown, not the first; two that go on equally do not take turns. */
static void test_shown_event(void **state)
{
	struct bus_watch *w = watch(), *late;
	struct seen all = {}, snapshot = {};

	(void)state;
	profile_event(&profile, "page-faults");
	profile_event(&profile, "cpu-clock");
	profile_stack(&profile, (stack_id){}, profile_frame_named(&profile, "f", 1, CODE_USER));
	tell_dictionary();
	tell_event(0, 10);
	read_all(w, &all);
	assert_int_equal(all.event, 0);
	tell_event(1, 100);
	read_all(w, &all);
	assert_int_equal(all.event, 1);
	for (int i = 0; i < 5; i++) {
		tell_event(0, i ? 2 : 91); /* one ahead */
		read_all(w, &all);
		assert_int_equal(all.event, 1);
		tell_event(1, 2); /* one behind */
		read_all(w, &all);
		assert_int_equal(all.event, 1);
	}
	late = watch();
	read_all(late, &snapshot);
	assert_int_equal(snapshot.event, 1);
	tell_event(0, 100);
	read_all(w, &all);
	read_all(late, &snapshot);
	assert_int_equal(all.event, 0);
	assert_int_equal(snapshot.event, 0);
	bus_unwatch(w);
	bus_unwatch(late);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_many_functions, begin, end),
		cmocka_unit_test_setup_teardown(test_many_stacks, begin, end),
		cmocka_unit_test_setup_teardown(test_many_values, begin, end),
		cmocka_unit_test_setup_teardown(test_unwatched, begin, end),
		cmocka_unit_test_setup_teardown(test_shown_event, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
