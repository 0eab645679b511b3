/* The bus: order, numbers, snapshots for who is late or slow, and that its memory is bounded. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "bus/bus.h"
#include "bus/bus_internal.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct manual_clock now; /* stands still unless a test moves it */

static struct bus *new_bus(void)
{
	manual_clock_init(&now, 1000 * NS_PER_SEC, 1000000 * NS_PER_SEC);
	return bus_new(&now.clock);
}

static void wake(void *ctx)
{
	atomic_uint *count = ctx;

	(*count)++;
}

static atomic_uint wakes;

static struct bus_watch *watch_fresh(struct bus *b, const char *one, const char *two,
				     const char *fresh, uint64_t last_id)
{
	char *names[] = {(char *)one, (char *)two}, *fresh_names[] = {(char *)fresh};
	strvec topics = {.items = names, .len = two ? 2 : 1};
	strvec fresh_topics = {.items = fresh_names, .len = fresh ? 1 : 0};

	return bus_watch(b, &topics, &fresh_topics, last_id, wake, &wakes);
}

static struct bus_watch *watch(struct bus *b, const char *one, const char *two, uint64_t last_id)
{
	return watch_fresh(b, one, two, NULL, last_id);
}

static void say(struct bus *b, const char *topic, int n)
{
	char json[32];

	snprintf(json, sizeof(json), "{\"n\":%d}", n);
	bus_publish(b, topic, "state", json, strlen(json));
}

/* All that there is by now; the clock is moved by the time that the bus says to wait. */
static void read_all(struct bus_watch *w, struct buf *out, size_t max)
{
	uint32_t wait_ms = 0;

	while (wait_ms != BUS_FOREVER) {
		manual_clock_advance(&now, wait_ms * NS_PER_MSEC);
		bus_read(w, out, max, &wait_ms);
	}
}

/* The n of all messages, in their order: "1 2 3 ". */
static void numbers(const struct buf *text, struct buf *ret)
{
	buf_clear(ret);
	for (const char *at = buf_str(text); (at = strstr(at, "\"n\":")); at += 4)
		buf_addf(ret, "%d ", atoi(at + 4));
}

static uint64_t last_id(const struct buf *text)
{
	uint64_t id = 0;

	for (const char *at = buf_str(text); (at = strstr(at, "id: ")); at += 4)
		id = strtoull(at + 4, NULL, 10);
	return id;
}

static void test_order(void **state)
{
	CLEANUP(buf_release) struct buf text = {}, found = {};
	struct bus *b = new_bus();
	struct bus_watch *w = watch(b, "a", "b", 0);
	uint64_t before = 0;

	(void)state;
	assert_true(bus_is_watched(b, "a"));
	assert_false(bus_is_watched(b, "c"));
	for (int i = 1; i <= 9; i++)
		say(b, i % 3 == 0 ? "c" : i % 2 ? "a" : "b", i);
	read_all(w, &text, 1 << 20);
	numbers(&text, &found);
	assert_string_equal(found.s, "1 2 4 5 7 8 ");
	for (const char *at = text.s; (at = strstr(at, "id: ")); at += 4) {
		uint64_t id = strtoull(at + 4, NULL, 10);

		assert_true(id > before);
		before = id;
	}
	assert_non_null(strstr(text.s, "\nevent: state\ndata: {\"n\":1}\n\n"));
	bus_unwatch(w);
	assert_false(bus_is_watched(b, "a"));
	bus_free(b);
}

static void test_wakes(void **state)
{
	CLEANUP(buf_release) struct buf text = {};
	struct bus *b = new_bus();
	struct bus_watch *w = watch(b, "a", NULL, 0);
	uint32_t wait_ms;

	(void)state;
	wakes = 0;
	read_all(w, &text, 1000);
	say(b, "other", 1);
	assert_int_equal(wakes, 0);
	say(b, "a", 1);
	say(b, "a", 2);
	assert_int_equal(wakes, 1); /* not for each: it has not looked yet */
	assert_true(bus_read(w, &text, 1000, &wait_ms));
	assert_int_equal(wait_ms, BUS_FOREVER);
	bus_unwatch(w);
	bus_free(b);
}

/* Deliveries are counted from when they were due; a late one gains a tenth of the interval. */
static void test_pace(void **state)
{
	const uint64_t interval_ns = BUS_INTERVAL_MS * NS_PER_MSEC;
	CLEANUP(buf_release) struct buf text = {};
	struct bus *b = new_bus();
	struct bus_watch *w = watch(b, "a", NULL, 0);
	uint32_t wait_ms;

	(void)state;
	say(b, "a", 1);
	assert_true(bus_read(w, &text, 1000, &wait_ms));
	/* Too early: not one nanosecond before it is due. */
	say(b, "a", 2);
	assert_false(bus_read(w, &text, 1000, &wait_ms));
	assert_int_equal(wait_ms, BUS_INTERVAL_MS * 9 / 10 + 1);
	manual_clock_advance(&now, interval_ns * 9 / 10 - 1);
	assert_false(bus_read(w, &text, 1000, &wait_ms));
	assert_int_equal(wait_ms, 1);
	manual_clock_advance(&now, 1);
	assert_true(bus_read(w, &text, 1000, &wait_ms));
	/* News that come as often as they may be delivered, each a little late: none waits longer. */
	for (int i = 0; i < 1000; i++) {
		manual_clock_advance(&now, interval_ns + (i % 2 ? -NS_PER_MSEC : NS_PER_MSEC));
		say(b, "a", i);
		assert_true(bus_read(w, &text, 1000, &wait_ms));
	}
	/* Who was away for long does not get a burst: at most one delivery comes early. */
	manual_clock_advance(&now, 1000 * interval_ns);
	say(b, "a", 3);
	assert_true(bus_read(w, &text, 1000, &wait_ms));
	say(b, "a", 4);
	assert_false(bus_read(w, &text, 1000, &wait_ms));
	bus_unwatch(w);
	bus_free(b);
}

/* A topic without a snapshot: who is new gets what was published in the last ten seconds. */
static void test_age(void **state)
{
	CLEANUP(buf_release) struct buf text = {}, found = {};
	struct bus *b = new_bus();
	struct bus_watch *w;

	(void)state;
	say(b, "a", 1);
	manual_clock_advance(&now, NS_PER_SEC);
	say(b, "a", 2);
	manual_clock_advance(&now, PLAIN_TOPIC_AGE_NS - NS_PER_SEC);
	w = watch(b, "a", NULL, 0);
	read_all(w, &text, 1000);
	numbers(&text, &found);
	assert_string_equal(found.s, "2 ");
	bus_unwatch(w);
	bus_free(b);
}

static void known_after(struct bus *b, uint64_t ns, bool known)
{
	char name[16];

	manual_clock_advance(&now, ns);
	/* Old topics are looked for when there are many. */
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "%llu-%d", (unsigned long long)ns % 1000, i);
		say(b, name, i);
	}
	assert_int_equal(bus_is_known(b, "old"), known);
}

/* A topic that nobody has to do with is forgotten a minute after its last message. */
static void test_forgets(void **state)
{
	struct bus *b = new_bus();

	(void)state;
	say(b, "old", 1);
	known_after(b, 6 * PLAIN_TOPIC_AGE_NS, true);
	known_after(b, 1, false);
	bus_free(b);
}

static void test_resume(void **state)
{
	CLEANUP(buf_release) struct buf text = {}, found = {};
	struct bus *b = new_bus();
	struct bus_watch *w = watch(b, "a", "b", 0);
	uint64_t id;

	(void)state;
	say(b, "a", 1);
	say(b, "b", 2);
	read_all(w, &text, 1000);
	id = last_id(&text);
	bus_unwatch(w);
	say(b, "b", 3);
	say(b, "a", 4);
	w = watch(b, "a", "b", id);
	buf_clear(&text);
	read_all(w, &text, 1000);
	numbers(&text, &found);
	assert_string_equal(found.s, "3 4 ");
	bus_unwatch(w);
	/* Numbers that this bus has not given: as if it had seen nothing. */
	for (int i = 0; i < 2; i++) {
		w = watch(b, "a", "b", i ? id + 1000000 : 12345);
		buf_clear(&text);
		read_all(w, &text, 1000);
		numbers(&text, &found);
		assert_string_equal(found.s, "1 2 3 4 ");
		bus_unwatch(w);
	}
	bus_free(b);
}

/* A topic whose snapshot is the sum of all that was published. */
struct sum {
	struct bus *bus;
	long total;
	unsigned snapshots;
	size_t padding;
};

static void sum_snapshot(void *ctx,
			 void (*message)(void *to, const char *event, const char *json, size_t len),
			 void *to)
{
	struct sum *s = ctx;
	CLEANUP(buf_release) struct buf json = {};

	s->snapshots++;
	buf_addf(&json, "{\"n\":%ld,\"x\":\"", s->total);
	buf_pad(&json, s->padding, 'x');
	buf_add(&json, "\"}");
	message(to, "all", json.s, json.len);
}

static void sum_add(struct sum *s, long n, size_t size)
{
	struct bus_topic *topic = bus_topic_lock(s->bus, "sum");
	CLEANUP(buf_release) struct buf json = {};

	buf_addf(&json, "{\"n\":%ld,\"x\":\"", n);
	buf_pad(&json, size, 'x');
	buf_add(&json, "\"}");
	s->total += n;
	bus_publish(s->bus, "sum", "one", json.s, json.len);
	bus_topic_unlock(s->bus, topic);
}

/* What a client that follows the rules comes to, by whole messages; a part at the end is left. */
static long client_take(long sum, struct buf *text)
{
	char *end;

	while (text->len && (end = strstr(text->s, "\n\n"))) {
		const char *event = strstr(text->s, "event: "), *n;

		*end = '\0';
		n = strstr(text->s, "\"n\":");
		if (event && event < end && !strncmp(event, "event: snapshot", 15))
			sum = 0;
		else if (n)
			sum += atol(n + 4);
		buf_cut_front(text, (size_t)(end + 2 - text->s));
	}
	return sum;
}

static long client_sum(const struct buf *text)
{
	CLEANUP(buf_release) struct buf copy = {};

	buf_add_mem(&copy, buf_str(text), text->len);
	return client_take(0, &copy);
}

static void test_snapshots(void **state)
{
	struct sum s = {.bus = new_bus()};
	CLEANUP(buf_release) struct buf text = {};
	struct bus_watch *w, *clients[50];
	uint64_t id;

	(void)state;
	bus_topic_snapshot(s.bus, "sum", sum_snapshot, &s);
	for (int i = 1; i <= 10; i++)
		sum_add(&s, i, 10);
	w = watch(s.bus, "sum", NULL, 0);
	read_all(w, &text, 1 << 20);
	assert_int_equal(s.snapshots, 1);
	assert_non_null(strstr(text.s, "event: snapshot\ndata: {\"topic\":\"sum\"}\n\n"));
	sum_add(&s, 100, 10);
	read_all(w, &text, 1 << 20);
	assert_int_equal(client_sum(&text), s.total);
	/* The last one and what came after it is good enough for many others. */
	for (size_t i = 0; i < ARRAY_LEN(clients); i++) {
		CLEANUP(buf_release) struct buf own = {};

		clients[i] = watch(s.bus, "sum", NULL, 0);
		read_all(clients[i], &own, 1 << 20);
		assert_int_equal(client_sum(&own), s.total);
	}
	assert_int_equal(s.snapshots, 1);
	for (size_t i = 0; i < ARRAY_LEN(clients); i++)
		bus_unwatch(clients[i]);

	/* Too slow: a megabyte later it gets one instead of all. */
	buf_clear(&text);
	for (int i = 0; i < 200; i++)
		sum_add(&s, 1, 10000);
	read_all(w, &text, 1 << 20);
	assert_int_equal(s.snapshots, 2);
	assert_int_equal(client_sum(&text), s.total);
	assert_true(text.len < 300000);
	/* Back after something that nobody saw. */
	id = last_id(&text);
	bus_unwatch(w);
	s.total += 7;
	bus_topic_gap(s.bus, "sum");
	w = watch(s.bus, "sum", NULL, id);
	buf_clear(&text);
	read_all(w, &text, 1 << 20);
	assert_int_equal(client_sum(&text), s.total);
	bus_unwatch(w);
	bus_topic_end(s.bus, "sum");
	bus_free(s.bus);
}

/* Larger than one delivery: in parts; who loses the connection in the middle begins anew. */
/* A client that begins to watch one topic more: it goes on with the others where it was. */
static void test_fresh_topic(void **state)
{
	struct sum s = {.bus = new_bus()};
	CLEANUP(buf_release) struct buf text = {}, found = {};
	struct bus_watch *w = watch(s.bus, "a", NULL, 0);
	uint64_t id;

	(void)state;
	bus_topic_snapshot(s.bus, "sum", sum_snapshot, &s);
	say(s.bus, "a", 1);
	sum_add(&s, 1000, 10);
	sum_add(&s, 2000, 10);
	say(s.bus, "a", 2);
	read_all(w, &text, 1 << 20);
	id = last_id(&text);
	bus_unwatch(w);
	say(s.bus, "a", 3);
	/* As an old one it would begin behind what came before the client's last message. */
	w = watch(s.bus, "a", "sum", id);
	buf_clear(&text);
	read_all(w, &text, 1 << 20);
	numbers(&text, &found);
	assert_string_equal(found.s, "3 ");
	bus_unwatch(w);

	w = watch_fresh(s.bus, "a", "sum", "sum", id);
	buf_clear(&text);
	read_all(w, &text, 1 << 20);
	numbers(&text, &found);
	assert_string_equal(found.s, "3 3000 ");
	/* The number of the whole comes with its last message, which says that it is the last. */
	assert_non_null(strstr(text.s, "\nevent: current\ndata: {\"topic\":\"sum\"}\n\n"));
	assert_true(last_id(&text) > id);
	bus_unwatch(w);
	bus_topic_end(s.bus, "sum");
	bus_free(s.bus);
}

static void test_large_snapshot(void **state)
{
	struct sum s = {.bus = new_bus(), .padding = 100000};
	CLEANUP(buf_release) struct buf text = {};
	struct bus_watch *w;
	uint32_t wait_ms;

	(void)state;
	bus_topic_snapshot(s.bus, "sum", sum_snapshot, &s);
	sum_add(&s, 5, 0);
	w = watch(s.bus, "sum", NULL, 0);
	assert_true(bus_read(w, &text, 1000, &wait_ms));
	assert_int_equal(wait_ms, 0);
	assert_int_equal(text.len, 1000);
	assert_int_equal(last_id(&text), 0);
	sum_add(&s, 6, 0);
	read_all(w, &text, 1000);
	assert_int_equal(client_sum(&text), 11);
	assert_true(last_id(&text) > 0);
	bus_unwatch(w);
	bus_free(s.bus);
}

static void test_plain_topic_is_behind(void **state)
{
	struct bus *b = new_bus();
	CLEANUP(buf_release) struct buf text = {}, found = {};
	struct bus_watch *w = watch(b, "a", NULL, 0);

	(void)state;
	for (int i = 0; i < 100000; i++)
		say(b, "a", i);
	read_all(w, &text, 1 << 20);
	numbers(&text, &found);
	assert_true(text.len < 100000);
	assert_non_null(strstr(text.s, "event: missed\ndata: {\"topic\":\"a\"}\n\n"));
	assert_non_null(strstr(found.s, "99998 99999 "));
	bus_unwatch(w);
	bus_free(b);
}

static void test_end(void **state)
{
	struct sum s = {.bus = new_bus()};
	CLEANUP(buf_release) struct buf text = {};
	struct bus *b = s.bus;
	struct bus_watch *w, *slow;

	(void)state;
	bus_topic_snapshot(s.bus, "sum", sum_snapshot, &s);
	sum_add(&s, 1, 0);
	w = watch(s.bus, "sum", NULL, 0);
	slow = watch(s.bus, "sum", NULL, 0);
	read_all(w, &text, 1 << 20);
	sum_add(&s, 2, 0);
	bus_topic_end(s.bus, "sum");
	s.bus = NULL; /* nobody may ask it any more */
	read_all(w, &text, 1 << 20);
	assert_int_equal(client_sum(&text), 3);
	assert_non_null(strstr(text.s, "event: end\ndata: {\"topic\":\"sum\"}\n\n"));
	buf_clear(&text);
	read_all(slow, &text, 1 << 20);
	assert_int_equal(client_sum(&text), 3);
	assert_non_null(strstr(text.s, "event: end"));
	assert_int_equal(s.snapshots, 1);
	bus_unwatch(w);
	bus_unwatch(slow);
	bus_free(b);
}

static void test_late_after_end(void **state)
{
	struct bus *b = new_bus();
	CLEANUP(buf_release) struct buf text = {}, found = {};
	struct bus_watch *w;

	(void)state;
	say(b, "a", 1);
	say(b, "a", 2);
	bus_topic_end(b, "a");
	w = watch(b, "a", NULL, 0);
	read_all(w, &text, 1000);
	numbers(&text, &found);
	assert_string_equal(found.s, "2 ");
	assert_non_null(strstr(text.s, "event: end"));
	bus_unwatch(w);
	bus_free(b);
}

/* Messages of a topic that has ended are not kept for a client without a connection: it is told to ask anew. */
static void test_away_at_the_end(void **state)
{
	struct sum s = {.bus = new_bus()};
	CLEANUP(buf_release) struct buf text = {}, found = {};
	struct bus *b = s.bus;
	struct bus_watch *w;
	uint64_t id;

	(void)state;
	bus_topic_snapshot(b, "sum", sum_snapshot, &s);
	sum_add(&s, 1, 0);
	w = watch(b, "sum", NULL, 0);
	read_all(w, &text, 1 << 20);
	id = last_id(&text);
	bus_unwatch(w);
	sum_add(&s, 2, 0);
	sum_add(&s, 4, 0);
	bus_topic_end(b, "sum");
	buf_clear(&text);
	w = watch(b, "sum", NULL, id);
	read_all(w, &text, 1 << 20);
	assert_non_null(strstr(text.s, "event: missed\ndata: {\"topic\":\"sum\"}\n\n"));
	numbers(&text, &found);
	assert_string_equal(found.s, "4 ");
	assert_non_null(strstr(text.s, "event: end"));
	bus_unwatch(w);
	bus_free(b);
}

/* Two that publish, eight that read at their own speed: all come to the same sum. */
#define ADDS 3000

static void *publisher(void *ctx)
{
	for (int i = 0; i < ADDS; i++)
		sum_add(ctx, 1, (size_t)(i % 7) * 300);
	return NULL;
}

struct reader {
	struct sum *sum;
	unsigned pause_us;
	long found;
};

static void *reader(void *ctx)
{
	struct reader *r = ctx;
	struct bus_watch *w = watch(r->sum->bus, "sum", "other", 0);
	CLEANUP(buf_release) struct buf text = {};

	while (r->found < 2 * ADDS) {
		uint32_t wait_ms;

		bus_read(w, &text, 20000, &wait_ms);
		r->found = client_take(r->found, &text);
		manual_clock_advance(&now, BUS_INTERVAL_MS * NS_PER_MSEC);
		usleep(r->pause_us);
	}
	bus_unwatch(w);
	return NULL;
}

static void test_threads(void **state)
{
	struct sum s = {.bus = new_bus()};
	struct reader readers[8];
	pthread_t threads[ARRAY_LEN(readers) + 2];

	(void)state;
	bus_topic_snapshot(s.bus, "sum", sum_snapshot, &s);
	for (size_t i = 0; i < ARRAY_LEN(threads); i++)
		if (i < ARRAY_LEN(readers)) {
			readers[i] = (struct reader){&s, (unsigned)i * 9000, 0};
			pthread_create(&threads[i], NULL, reader, &readers[i]);
		} else {
			pthread_create(&threads[i], NULL, publisher, &s);
		}
	for (size_t i = 0; i < ARRAY_LEN(threads); i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < ARRAY_LEN(readers); i++)
		assert_int_equal(readers[i].found, 2 * ADDS);
	bus_topic_end(s.bus, "sum");
	bus_free(s.bus);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_wakes),
		cmocka_unit_test(test_pace),
		cmocka_unit_test(test_age),
		cmocka_unit_test(test_forgets),
		cmocka_unit_test(test_resume),
		cmocka_unit_test(test_snapshots),
		cmocka_unit_test(test_fresh_topic),
		cmocka_unit_test(test_large_snapshot),
		cmocka_unit_test(test_plain_topic_is_behind),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_late_after_end),
		cmocka_unit_test(test_away_at_the_end),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
