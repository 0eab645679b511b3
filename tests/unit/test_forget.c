/* Who resolves for days forgets stacks that came up once, and gives no wrong answer for it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "resolve/resolver.h"

#define PID    77u
#define START  0x400000ull
#define LENGTH 0x40000000ull
#define DEPTH  4u

static struct profile p;
static struct history h;
static struct resolver r;
static struct resolve_shared shared;
static struct resolve_options options;
static struct perfdata_facts facts;
static struct stream_event event = {
	.attr = {.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN}};

/* All that was ever told, as a server has it: by the number of a stack. */
static VEC(struct profile_stack) told;
static struct sample_row last;

static void on_sample(void *ctx, const struct sample_row *sample)
{
	(void)ctx;
	last = *sample;
}

static int begin(void **state)
{
	struct record map = {.type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER};

	(void)state;
	profile_init(&p);
	history_init(&h, &p);
	options = (struct resolve_options){.no_names = true, .on_sample = on_sample};
	shared = (struct resolve_shared){.history = &h,
					 .options = &options,
					 .facts = &facts,
					 .grows = true,
					 .seed = hash_seed(),
					 .nowhere = profile_module(&p, "[unknown]", NULL, 0)};
	resolver_init(&r, &shared, &p);
	map.mmap.pid = map.mmap.tid = PID;
	map.mmap.start = START;
	map.mmap.length = LENGTH;
	map.mmap.filename = "/bin/program";
	history_record(&h, &map, 1);
	vec_push(&told, (struct profile_stack){});
	return 0;
}

static int end(void **state)
{
	(void)state;
	resolver_release(&r);
	history_release(&h);
	profile_release(&p);
	vec_release(&told);
	return 0;
}

/* What is called at @leaf by the same callers; its frame. */
static struct profile_frame sample_at(uint64_t leaf)
{
	const uint64_t chain[DEPTH + 1] = {PERF_CONTEXT_USER, START + leaf, START + 0x30,
					   START + 0x20, START + 0x10};
	struct record s = {.type = PERF_RECORD_SAMPLE,
			   .misc = PERF_RECORD_MISC_USER,
			   .id = {.pid = PID, .tid = PID},
			   .sample = {.ip = chain[1], .chain = chain, .chain_len = DEPTH + 1}};

	resolver_sample(&r, &s, &event, 0, 1000, 1);
	resolver_flush(&r);
	return p.frames.items[last.leaf];
}

/* Its number. */
static uint32_t sample(uint64_t leaf)
{
	assert_int_equal(sample_at(leaf).address, leaf);
	return last.stack;
}

/* Stacks go to the server, and are given up. */
static void send_and_forget(void)
{
	for (size_t i = 1; i < p.stacks.len; i++)
		vec_push(&told, p.stacks.items[i]);
	assert_int_equal(told.len, profile_stacks_end(&p));
	profile_forget_stacks(&p);
	resolver_forget_stacks(&r);
	assert_int_equal(p.stacks.len, 1);
}

static void check_told(uint32_t stack, uint64_t leaf)
{
	const uint64_t addresses[DEPTH] = {leaf, 0x30 - 1, 0x20 - 1, 0x10 - 1};

	for (size_t i = 0; i < DEPTH; i++) {
		assert_true(stack && stack < told.len);
		assert_int_equal(p.frames.items[told.items[stack].frame.n].address, addresses[i]);
		assert_true(told.items[stack].parent.n < stack);
		stack = told.items[stack].parent.n;
	}
	assert_int_equal(stack, 0);
}

#define ROUNDS 60u
#define NEW    20000u

static void stacks_that_came_once(void **state)
{
	uint32_t hot = sample(0x100), rare = sample(0x200), again;
	uint64_t next = 0x1000;

	(void)state;
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < NEW; i++, next += 8)
			sample(next);
		/* What comes up all the time keeps its number; so nobody is told of it twice. */
		assert_int_equal(sample(0x100), hot);
		send_and_forget();
		check_told(sample(0x100), 0x100);
		assert_true(r.stacks.mask < 1u << 20);
	}
	assert_int_equal(last.stack, hot);
	/* Of callers there is hardly more than one of each, too. */
	assert_true(told.len < ROUNDS * NEW + 100);
	again = sample(0x200);
	assert_true(again > rare);
	send_and_forget();
	check_told(again, 0x200);
	check_told(rare, 0x200);
	assert_int_equal(p.refused, 0);
}

/* The program is nowhere to be found: all that can be told apart are addresses. */
static void places_without_names(void **state)
{
	(void)state;
	options.no_names = false;
	options.fine_frames = 1000;
	shared.modules = modules_new(NULL);
	for (uint64_t leaf = 0x1000; leaf < 0x101000; leaf += 16)
		sample_at(leaf);
	/* A thousand, and then pages. */
	assert_in_range(p.frames.len, 1000 + 200, 1000 + 300);
	assert_int_equal(sample_at(0x1010).address, 0x1010);
	assert_int_equal(sample_at(0x100ff0).address, 0x100000);
	modules_free(shared.modules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(stacks_that_came_once, begin, end),
		cmocka_unit_test_setup_teardown(places_without_names, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
