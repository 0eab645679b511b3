/* Run slices are what the schedule was: sequences by hand, and random schedules that must come back. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/vec.h"
#include "derive/run_slices.h"

/* ---- by hand ---- */

static struct run_slices *machine;
static VEC(struct run_slice) given;
static size_t looked;

static void take(void *ctx, const struct run_slice *slice)
{
	(void)ctx;
	vec_push(&given, *slice);
}

static int begin(void **state)
{
	(void)state;
	machine = run_slices_new(false, take, NULL);
	looked = 0;
	return 0;
}

static int end(void **state)
{
	(void)state;
	run_slices_free(machine);
	vec_release(&given);
	return 0;
}

/* The state of a switch is its time, and so is the stack, so that it can be seen where they come from. */
static void change(uint64_t time_ns, uint32_t cpu, uint32_t prev, enum slice_stop stop,
		   uint32_t next)
{
	run_slices_switch(machine, &(struct slice_switch){
					   .time_ns = time_ns,
					   .cpu = cpu,
					   .prev_tid = prev,
					   .prev_thread = prev + 1000,
					   .prev_prio = (int32_t)prev,
					   .next_tid = next,
					   .next_prio = -(int32_t)next,
					   .state = (uint32_t)time_ns,
					   .stack = (uint32_t)time_ns,
					   .stop = stop,
				   });
}

static void wake(uint64_t time_ns, uint32_t cpu, uint32_t current, enum slice_wakeup_kind kind,
		 uint32_t tid)
{
	run_slices_wakeup(machine, &(struct slice_wakeup){
					   .time_ns = time_ns,
					   .cpu = cpu,
					   .current_tid = current,
					   .current_thread = current ? current + 1000 : 0,
					   .waker = current ? current + 1000 : 0,
					   .tid = tid,
					   .kind = kind,
				   });
}

/* The next slice that was given out, with everything but its wait. */
static const struct run_slice *next_is(uint32_t tid, uint32_t cpu, uint64_t start, uint64_t stop,
				       bool begun, enum slice_end how)
{
	const struct run_slice *s;

	assert_true(looked < given.len);
	s = &given.items[looked++];
	assert_int_equal(s->tid, tid);
	assert_int_equal(s->cpu, cpu);
	assert_int_equal(s->start_ns, start);
	assert_int_equal(s->end_ns, stop);
	assert_int_equal(s->begun, begun);
	assert_int_equal(s->end, how);
	if (how == SLICE_ENDED) {
		assert_int_equal(s->thread, tid + 1000);
		assert_int_equal(s->state, (uint32_t)stop);
		assert_int_equal(s->stack, (uint32_t)stop);
		assert_int_equal(s->prio, tid);
	} else {
		assert_int_equal(s->state, 0);
		assert_int_equal(s->stack, 0);
	}
	return s;
}

static void waited(const struct run_slice *s, enum slice_wait wait, uint64_t wait_ns,
		   uint32_t waker)
{
	assert_int_equal(s->wait, wait);
	assert_int_equal(s->wait_ns, wait_ns);
	assert_int_equal(s->waker, waker);
}

static void no_more(void)
{
	assert_int_equal(looked, given.len);
}

static void starts_in_the_middle(void **state)
{
	(void)state;
	change(100, 0, 7, STOP_WAITS, 8);
	waited(next_is(7, 0, 100, 100, false, SLICE_ENDED), WAIT_UNKNOWN, 0, 0);
	change(250, 0, 8, STOP_WAITS, 0);
	waited(next_is(8, 0, 100, 250, true, SLICE_ENDED), WAIT_UNKNOWN, 0, 0);
	change(300, 0, 0, STOP_READY, 7);
	run_slices_end(machine, 400, true);
	/* Nobody was seen to wake it. */
	waited(next_is(7, 0, 300, 400, true, SLICE_OPEN), WAIT_UNKNOWN, 0, 0);
	no_more();
	assert_int_equal(run_slices_counts(machine)->broken, 0);
	assert_true(run_slices_counts(machine)->whole_cpus);
}

static void a_wakeup_shows_who_runs(void **state)
{
	(void)state;
	wake(50, 1, 7, WAKING, 9);
	wake(80, 1, 7, WAKING, 9);
	change(100, 1, 7, STOP_READY, 9);
	next_is(7, 1, 50, 100, false, SLICE_ENDED);
	run_slices_end(machine, 500, false);
	no_more();
}

static void waits_are_told_apart(void **state)
{
	(void)state;
	change(10, 0, 7, STOP_WAITS, 8);
	next_is(7, 0, 10, 10, false, SLICE_ENDED);
	wake(40, 0, 8, WAKING, 7);
	wake(42, 0, 8, WAKEUP, 7);
	change(50, 0, 8, STOP_READY, 7);
	next_is(8, 0, 10, 50, true, SLICE_ENDED);
	change(80, 0, 7, STOP_EXITED, 8);
	waited(next_is(7, 0, 50, 80, true, SLICE_ENDED), WAIT_WOKEN, 10, 1008);
	change(95, 0, 8, STOP_WAITS, 0);
	waited(next_is(8, 0, 80, 95, true, SLICE_ENDED), WAIT_PREEMPTED, 30, 0);
	/* The tid is used again. */
	wake(96, 1, 5, WAKEUP_NEW, 7);
	change(99, 0, 0, STOP_READY, 7);
	change(100, 0, 7, STOP_WAITS, 0);
	waited(next_is(7, 0, 99, 100, true, SLICE_ENDED), WAIT_CREATED, 3, 1005);
	/* An interrupt wakes. */
	wake(104, 0, 0, WAKING, 7);
	change(106, 0, 0, STOP_READY, 7);
	change(107, 0, 7, STOP_WAITS, 0);
	waited(next_is(7, 0, 106, 107, true, SLICE_ENDED), WAIT_WOKEN, 2, 0);
	no_more();
}

/* A thread that has exited was woken last by nobody: what was known of it before must not come back. */
static void exit_forgets(void **state)
{
	(void)state;
	change(10, 0, 0, STOP_READY, 7);
	change(20, 0, 7, STOP_EXITED, 0);
	next_is(7, 0, 10, 20, true, SLICE_ENDED);
	wake(25, 1, 5, WAKING, 7);
	change(30, 0, 0, STOP_READY, 7);
	change(40, 0, 7, STOP_WAITS, 0);
	waited(next_is(7, 0, 30, 40, true, SLICE_ENDED), WAIT_UNKNOWN, 0, 0);
	no_more();
}

/* Woken when it was about to sleep: it was ready from the moment when it stopped. */
static void woken_before_it_sleeps(void **state)
{
	(void)state;
	wake(5, 1, 5, WAKING, 6);
	change(10, 0, 0, STOP_READY, 7);
	wake(15, 1, 5, WAKING, 7);
	change(20, 0, 7, STOP_WAITS, 0);
	change(30, 0, 0, STOP_READY, 7);
	change(40, 0, 7, STOP_WAITS, 0);
	next_is(7, 0, 10, 20, true, SLICE_ENDED);
	waited(next_is(7, 0, 30, 40, true, SLICE_ENDED), WAIT_WOKEN, 10, 1005);
	/* That wakeup is over. */
	change(50, 0, 0, STOP_READY, 7);
	change(60, 0, 7, STOP_WAITS, 0);
	waited(next_is(7, 0, 50, 60, true, SLICE_ENDED), WAIT_UNKNOWN, 0, 0);
	no_more();
}

/* Woken while it ran, it did not sleep then, but later: the wakeup behind that is the one. */
static void an_old_wakeup_is_no_wakeup(void **state)
{
	(void)state;
	wake(5, 1, 5, WAKING, 9);
	wake(5, 2, 6, WAKING, 9);
	change(10, 0, 0, STOP_READY, 7);
	wake(15, 1, 5, WAKING, 7);
	change(20, 0, 7, STOP_WAITS, 0);
	wake(70, 2, 6, WAKING, 7);
	wake(71, 1, 5, WAKEUP, 7);
	change(75, 0, 0, STOP_READY, 7);
	change(80, 0, 7, STOP_WAITS, 0);
	next_is(7, 0, 10, 20, true, SLICE_ENDED);
	waited(next_is(7, 0, 75, 80, true, SLICE_ENDED), WAIT_WOKEN, 5, 1006);
	no_more();
}

/* 7 stops on CPU 0 and is woken, but before it runs there again CPU 1 begins to be recorded. */
static void a_cpu_that_begins_late(void **state)
{
	(void)state;
	change(10, 0, 7, STOP_WAITS, 0);
	wake(20, 0, 0, WAKING, 7);
	change(25, 1, 0, STOP_READY, 9);
	change(30, 0, 0, STOP_READY, 7);
	change(40, 0, 7, STOP_READY, 0);
	next_is(7, 0, 10, 10, false, SLICE_ENDED);
	waited(next_is(7, 0, 30, 40, true, SLICE_ENDED), WAIT_UNKNOWN, 0, 0);
	change(50, 0, 0, STOP_READY, 7);
	change(60, 0, 7, STOP_READY, 0);
	waited(next_is(7, 0, 50, 60, true, SLICE_ENDED), WAIT_PREEMPTED, 10, 0);
	no_more();
}

/* 7 stops and is woken. Then something is missing on CPU 1: it may have run there meanwhile. */
static void a_contradiction_says_that_waits_are_unsure(void **state)
{
	(void)state;
	change(5, 1, 0, STOP_READY, 8);
	change(10, 0, 7, STOP_WAITS, 0);
	wake(20, 0, 0, WAKING, 7);
	change(25, 1, 9, STOP_WAITS, 0);
	change(30, 0, 0, STOP_READY, 7);
	change(40, 0, 7, STOP_READY, 0);
	next_is(7, 0, 10, 10, false, SLICE_ENDED);
	next_is(9, 1, 25, 25, false, SLICE_ENDED);
	waited(next_is(7, 0, 30, 40, true, SLICE_ENDED), WAIT_UNKNOWN, 0, 0);
	no_more();
}

static void migration(void **state)
{
	(void)state;
	wake(5, 3, 9, WAKING, 8);
	change(10, 0, 0, STOP_READY, 7);
	change(20, 0, 7, STOP_READY, 8);
	change(25, 3, 9, STOP_WAITS, 7);
	change(40, 3, 7, STOP_WAITS, 0);
	next_is(7, 0, 10, 20, true, SLICE_ENDED);
	next_is(9, 3, 5, 25, false, SLICE_ENDED);
	waited(next_is(7, 3, 25, 40, true, SLICE_ENDED), WAIT_PREEMPTED, 5, 0);
	assert_int_equal(run_slices_counts(machine)->broken, 0);
	no_more();
}

/* The switch from 7 to 8 is missing. */
static void a_lost_switch(void **state)
{
	(void)state;
	change(10, 0, 0, STOP_READY, 7);
	wake(14, 0, 7, WAKING, 9);
	change(30, 0, 8, STOP_WAITS, 0);
	/* It was still seen at 14. */
	next_is(7, 0, 10, 14, true, SLICE_LOST);
	next_is(8, 0, 30, 30, false, SLICE_ENDED);
	assert_int_equal(run_slices_counts(machine)->broken, 1);
	no_more();
}

/* 7 → 8, 8 → 7 are missing between two switches that fit to each other. */
static void a_loss_that_is_told(void **state)
{
	(void)state;
	change(10, 0, 0, STOP_READY, 7);
	change(10, 1, 0, STOP_READY, 8);
	run_slices_lost(machine, 0);
	next_is(7, 0, 10, 10, true, SLICE_LOST);
	change(90, 0, 7, STOP_WAITS, 0);
	next_is(7, 0, 90, 90, false, SLICE_ENDED);
	change(95, 1, 8, STOP_WAITS, 0);
	next_is(8, 1, 10, 95, true, SLICE_ENDED);
	run_slices_lost(machine, ~0u);
	change(99, 1, 0, STOP_READY, 7);
	/* It may have run in between, and slept again. */
	wake(100, 1, 7, WAKING, 8);
	change(101, 1, 7, STOP_WAITS, 8);
	waited(next_is(7, 1, 99, 101, true, SLICE_ENDED), WAIT_UNKNOWN, 0, 0);
	change(102, 1, 8, STOP_WAITS, 0);
	waited(next_is(8, 1, 101, 102, true, SLICE_ENDED), WAIT_UNKNOWN, 0, 0);
	assert_int_equal(run_slices_counts(machine)->broken, 0);
	assert_int_equal(run_slices_counts(machine)->losses, 2);
	no_more();
}

/* It may have been any CPU, and the thread may have run there. */
static void a_cpu_that_cannot_be(void **state)
{
	(void)state;
	change(10, 0, 0, STOP_READY, 7);
	change(20, 0, 7, STOP_READY, 8);
	next_is(7, 0, 10, 20, true, SLICE_ENDED);
	change(30, ~0u, 9, STOP_WAITS, 7);
	next_is(8, 0, 20, 20, true, SLICE_LOST);
	wake(40, ~0u, 7, WAKING, 8);
	change(50, 0, 8, STOP_WAITS, 7);
	next_is(8, 0, 50, 50, false, SLICE_ENDED);
	change(60, 0, 7, STOP_WAITS, 0);
	waited(next_is(7, 0, 50, 60, true, SLICE_ENDED), WAIT_UNKNOWN, 0, 0);
	assert_int_equal(run_slices_counts(machine)->losses, 2);
	no_more();
}

static void nobody_runs_twice(void **state)
{
	(void)state;
	change(10, 0, 0, STOP_READY, 7);
	change(20, 1, 0, STOP_READY, 7);
	change(21, 0, 7, STOP_WAITS, 0);
	change(30, 1, 7, STOP_WAITS, 0);
	run_slices_end(machine, 40, true);
	/* Where it was first and until when cannot be said: nothing but the two moments is sure. */
	next_is(7, 0, 21, 21, false, SLICE_ENDED);
	next_is(7, 1, 30, 30, false, SLICE_ENDED);
	no_more();
	assert_true(run_slices_counts(machine)->broken > 0);
}

static void events_of_one_moment(void **state)
{
	(void)state;
	change(10, 1, 0, STOP_READY, 9);
	change(10, 0, 0, STOP_READY, 7);
	change(10, 0, 7, STOP_READY, 8);
	change(10, 0, 8, STOP_WAITS, 7);
	wake(10, 0, 7, WAKING, 8);
	change(10, 0, 7, STOP_WAITS, 8);
	next_is(7, 0, 10, 10, true, SLICE_ENDED);
	next_is(8, 0, 10, 10, true, SLICE_ENDED);
	waited(next_is(7, 0, 10, 10, true, SLICE_ENDED), WAIT_PREEMPTED, 0, 0);
	change(11, 0, 8, STOP_WAITS, 0);
	waited(next_is(8, 0, 10, 11, true, SLICE_ENDED), WAIT_WOKEN, 0, 1007);
	no_more();
	assert_int_equal(run_slices_counts(machine)->broken, 0);
}

static void too_late(void **state)
{
	(void)state;
	change(10, 0, 0, STOP_READY, 7);
	change(5, 0, 7, STOP_WAITS, 8);
	change(20, 0, 7, STOP_WAITS, 8);
	next_is(7, 0, 20, 20, false, SLICE_ENDED);
	assert_int_equal(run_slices_counts(machine)->late, 1);
	no_more();
}

/* Events of single tasks: only these are seen to stop. 8 is one of them, 100 and 200 are not. */
static void single_tasks(void **state)
{
	(void)state;
	change(10, 0, 7, STOP_READY, 8);
	change(20, 0, 8, STOP_WAITS, 100);
	change(50, 0, 7, STOP_WAITS, 200);
	change(70, 0, 7, STOP_WAITS, 200);
	run_slices_end(machine, 90, run_slices_counts(machine)->whole_cpus);
	next_is(7, 0, 10, 10, false, SLICE_ENDED);
	next_is(8, 0, 10, 20, true, SLICE_ENDED);
	next_is(7, 0, 50, 50, false, SLICE_ENDED);
	next_is(7, 0, 70, 70, false, SLICE_ENDED);
	no_more();
}

static void memory_is_bounded(void **state)
{
	const uint32_t many = SLICE_TASKS_MAX + 1000;

	(void)state;
	for (uint32_t i = 1; i <= many; i++) {
		change(i * 10, 0, 0, STOP_READY, i);
		change(i * 10 + 1, 0, i, STOP_WAITS, 0);
	}
	assert_int_equal(given.len, many);
	assert_int_equal(run_slices_counts(machine)->partial, 0);
	assert_int_equal(run_slices_counts(machine)->forgotten, 1);
	/* Of one that was forgotten no wait is known, of others it is. */
	looked = given.len;
	wake(many * 10ull + 10, 0, 0, WAKING, 1);
	change(many * 10ull + 11, 0, 0, STOP_READY, 1);
	change(many * 10ull + 12, 0, 1, STOP_WAITS, 0);
	wake(many * 10ull + 13, 0, 0, WAKING, many);
	change(many * 10ull + 15, 0, 0, STOP_READY, many);
	change(many * 10ull + 16, 0, many, STOP_WAITS, 0);
	assert_int_equal(given.items[looked].wait, WAIT_UNKNOWN);
	waited(&given.items[looked + 1], WAIT_WOKEN, 2, 0);
	/* A CPU that cannot be. */
	change(UINT64_MAX, ~0u, 1, STOP_WAITS, 2);
	assert_int_equal(given.len, looked + 2);
}

/* Threads that come and go leave no room behind that is not used again. */
static void threads_come_and_go(void **state)
{
	(void)state;
	for (uint32_t i = 1; i <= 3 * SLICE_TASKS_MAX; i++) {
		wake(i * 10, 0, 0, WAKEUP_NEW, i);
		change(i * 10 + 1, 0, 0, STOP_READY, i);
		change(i * 10 + 2, 0, i, STOP_EXITED, 0);
		waited(&given.items[given.len - 1], WAIT_CREATED, 1, 0);
	}
	assert_int_equal(run_slices_counts(machine)->forgotten, 0);
}

/* Those that stay are still found when others have left. */
static void exits_among_many(void **state)
{
	const uint32_t many = 20000;
	uint64_t now = 1;

	(void)state;
	for (uint32_t i = 1; i <= many; i++) {
		change(now++, 0, 0, STOP_READY, i);
		change(now++, 0, i, STOP_WAITS, 0);
	}
	for (uint32_t i = 1; i <= many; i += 3) {
		change(now++, 0, 0, STOP_READY, i);
		change(now++, 0, i, STOP_EXITED, 0);
	}
	for (uint32_t i = 1; i <= many; i++) {
		wake(now, 0, 0, WAKING, i);
		change(now + 5, 0, 0, STOP_READY, i);
		now += 6;
		change(now++, 0, i, STOP_WAITS, 0);
		waited(&given.items[given.len - 1], i % 3 == 1 ? WAIT_UNKNOWN : WAIT_WOKEN,
		       i % 3 == 1 ? 0 : 5, 0);
	}
}

/* Clocks of CPUs may be apart. */
static void nobody_waits_backwards(void **state)
{
	(void)state;
	wake(5, 1, 5, WAKING, 6);
	change(10, 0, 7, STOP_WAITS, 0);
	wake(30, 1, 5, WAKING, 7);
	change(29, 0, 0, STOP_READY, 7);
	change(40, 0, 7, STOP_WAITS, 0);
	next_is(7, 0, 10, 10, false, SLICE_ENDED);
	waited(next_is(7, 0, 29, 40, true, SLICE_ENDED), WAIT_UNKNOWN, 0, 0);
	no_more();
}

/* ---- random schedules ---- */

#define CPUS    5u
#define THREADS 14u
#define STEPS   400u

enum what { SWITCHED, WOKEN };

struct happening {
	enum what what;
	uint64_t time_ns;
	uint32_t cpu, current, tid; /* tid: the next thread, or the one that is woken */
	enum slice_stop stop;
	enum slice_wakeup_kind kind;
	bool dropped;
	uint64_t told_ns; /* of a dropped one: when the loss was told */
};

/* What a schedule was. */
struct truth {
	uint32_t tid, cpu;
	uint64_t start, end;
	bool begun;
	enum slice_end how;
	enum slice_wait wait;
	uint64_t ready_ns;
	uint32_t waker;
	bool found;
};

enum where { ASLEEP, READY, RUNNING, DEAD };

struct schedule {
	uint64_t seed, now;
	VEC(struct happening) happenings;
	VEC(struct truth) slices; /* by their ends */
	struct {
		uint32_t tid;
		bool seen; /* an event has told who runs */
		struct truth slice;
	} cpus[CPUS];
	struct {
		enum where where;
		enum slice_wait wait; /* WAIT_UNKNOWN: it was not seen to stop */
		bool seen_to_stop, woken;
		uint64_t ready_ns;
		uint32_t waker, woken_early;
	} threads[THREADS + 1];
};

static uint32_t dice(struct schedule *s, uint32_t sides)
{
	s->seed = s->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(s->seed >> 33) % sides;
}

/* From nothing to a minute. */
static void pass_time(struct schedule *s)
{
	static const uint64_t steps[] = {0, 1, 1000, 40000, 3000000, 200000000, 60000000000};

	s->now += steps[dice(s, ARRAY_LEN(steps))] * (1 + dice(s, 3));
}

static uint32_t find_thread(struct schedule *s, enum where where)
{
	uint32_t first = dice(s, THREADS);

	for (uint32_t i = 0; i < THREADS; i++) {
		uint32_t tid = 1 + (first + i) % THREADS;

		if (s->threads[tid].where == where)
			return tid;
	}
	return 0;
}

static struct happening *happen(struct schedule *s, enum what what, uint32_t cpu, uint32_t tid)
{
	__typeof__(s->cpus[0]) *c = &s->cpus[cpu];

	if (!c->seen) {
		c->seen = true;
		c->slice = (struct truth){.tid = c->tid, .cpu = cpu, .start = s->now};
		/* From now on; before, any of them may have run here. */
		for (uint32_t i = 1; i <= THREADS; i++) {
			s->threads[i].seen_to_stop = false;
			s->threads[i].woken_early = 0;
		}
	}
	vec_push(&s->happenings, (struct happening){.what = what,
						    .time_ns = s->now,
						    .cpu = cpu,
						    .current = c->tid,
						    .tid = tid});
	return &s->happenings.items[s->happenings.len - 1];
}

static void end_slice(struct schedule *s, uint32_t cpu, enum slice_end how)
{
	struct truth *slice = &s->cpus[cpu].slice;

	slice->end = s->now;
	slice->how = how;
	if (slice->tid)
		vec_push(&s->slices, *slice);
}

static void do_switch(struct schedule *s, uint32_t cpu)
{
	uint32_t prev = s->cpus[cpu].tid, next = dice(s, 4) ? find_thread(s, READY) : 0;
	struct happening *h;

	if (prev == next)
		return;
	h = happen(s, SWITCHED, cpu, next);
	h->stop = prev ? (enum slice_stop)(dice(s, 20) ? dice(s, 2) : STOP_EXITED) : STOP_READY;
	end_slice(s, cpu, SLICE_ENDED);
	if (prev) {
		__typeof__(s->threads[0]) *t = &s->threads[prev];

		t->seen_to_stop = h->stop != STOP_EXITED;
		t->wait = h->stop == STOP_READY ? WAIT_PREEMPTED : WAIT_WOKEN;
		t->where = h->stop == STOP_READY ? READY : h->stop == STOP_WAITS ? ASLEEP : DEAD;
		t->ready_ns = s->now;
		t->waker = 0;
		t->woken = false;
		/* The waker was in the middle of it: the thread is ready at once. */
		if (t->where == ASLEEP && t->woken_early && dice(s, 2)) {
			t->where = READY;
			t->waker = t->woken_early;
		}
		t->woken_early = 0;
	}
	s->cpus[cpu].tid = next;
	s->cpus[cpu].slice =
		(struct truth){.tid = next, .cpu = cpu, .start = s->now, .begun = true};
	if (!next)
		return;
	s->threads[next].where = RUNNING;
	if (s->threads[next].seen_to_stop) {
		s->cpus[cpu].slice.wait = s->threads[next].wait;
		s->cpus[cpu].slice.ready_ns = s->threads[next].ready_ns;
		s->cpus[cpu].slice.waker = s->threads[next].waker;
	}
}

static void do_wake(struct schedule *s, uint32_t cpu)
{
	uint32_t tid = find_thread(s, dice(s, 4) ? ASLEEP : RUNNING);
	uint32_t waker = s->cpus[cpu].tid, other = dice(s, CPUS);
	bool running;

	if (!tid)
		return;
	running = s->threads[tid].where == RUNNING;
	happen(s, WOKEN, cpu, tid)->kind = WAKING;
	if (running) {
		/* Only if the machine could know that it runs. */
		for (uint32_t i = 0; i < CPUS; i++)
			if (s->cpus[i].tid == tid && s->cpus[i].seen)
				s->threads[tid].woken_early = waker ? waker : ~0u;
		return;
	}
	s->threads[tid].where = READY;
	s->threads[tid].ready_ns = s->now;
	s->threads[tid].waker = waker;
	if (dice(s, 2)) {
		pass_time(s);
		happen(s, WOKEN, other, tid)->kind = WAKEUP;
	}
}

static void do_create(struct schedule *s, uint32_t cpu)
{
	uint32_t tid = find_thread(s, DEAD);

	if (!tid)
		return;
	happen(s, WOKEN, cpu, tid)->kind = WAKEUP_NEW;
	s->threads[tid].where = READY;
	s->threads[tid].seen_to_stop = true;
	s->threads[tid].wait = WAIT_CREATED;
	s->threads[tid].ready_ns = s->now;
	s->threads[tid].waker = s->cpus[cpu].tid;
}

static void make_schedule(struct schedule *s, uint64_t seed)
{
	*s = (struct schedule){.seed = seed, .now = 1000};
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		s->cpus[cpu].tid = dice(s, 3) ? cpu + 1 : 0;
		s->threads[s->cpus[cpu].tid].where = RUNNING;
	}
	for (uint32_t i = 0; i < STEPS; i++) {
		uint32_t cpu = dice(s, CPUS), what = dice(s, 10);

		pass_time(s);
		if (what < 6)
			do_switch(s, cpu);
		else if (what < 9)
			do_wake(s, cpu);
		else
			do_create(s, cpu);
	}
	s->now += 5000;
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		if (s->cpus[cpu].seen)
			end_slice(s, cpu, SLICE_OPEN);
}

static void feed(const struct happening *h)
{
	if (h->what == SWITCHED)
		change(h->time_ns, h->cpu, h->current, h->stop, h->tid);
	else
		wake(h->time_ns, h->cpu, h->current, h->kind, h->tid);
}

static void release_schedule(struct schedule *s)
{
	vec_release(&s->happenings);
	vec_release(&s->slices);
}

static void same_wait(const struct run_slice *got, const struct truth *t)
{
	assert_int_equal(got->wait, t->wait);
	if (!t->wait)
		return;
	assert_int_equal(got->wait_ns, t->start - t->ready_ns);
	assert_int_equal(got->waker, t->waker && t->waker != ~0u ? t->waker + 1000 : 0);
}

static void schedules_come_back(void **state)
{
	for (uint64_t seed = 1; seed <= 1000; seed++) {
		struct schedule s;

		begin(state);
		make_schedule(&s, seed);
		vec_each(&s.happenings, h)
			feed(h);
		run_slices_end(machine, s.now, true);
		assert_int_equal(given.len, s.slices.len);
		vec_each(&s.slices, t)
			same_wait(next_is(t->tid, t->cpu, t->start, t->end, t->begun, t->how), t);
		assert_int_equal(run_slices_counts(machine)->broken, 0);
		assert_int_equal(run_slices_counts(machine)->late, 0);
		release_schedule(&s);
		end(state);
	}
}

/* ---- with losses ---- */

/* Drops events of single CPUs, some in a row; the next one that is kept tells. */
static void drop(struct schedule *s)
{
	uint32_t left[CPUS] = {};

	vec_each(&s->happenings, h) {
		if (!left[h->cpu] && !dice(s, 25))
			left[h->cpu] = 1 + dice(s, 6);
		h->dropped = left[h->cpu];
		left[h->cpu] -= h->dropped;
	}
	vec_each(&s->happenings, h) {
		h->told_ns = UINT64_MAX;
		for (const struct happening *next = h + 1;
		     h->dropped && next < s->happenings.items + s->happenings.len; next++)
			if (next->cpu == h->cpu && !next->dropped) {
				h->told_ns = next->time_ns;
				break;
			}
	}
}

static void feed_with_losses(struct schedule *s)
{
	bool lost[CPUS] = {};

	vec_each(&s->happenings, h) {
		if (h->dropped) {
			lost[h->cpu] = true;
			continue;
		}
		if (lost[h->cpu])
			run_slices_lost(machine, h->cpu);
		lost[h->cpu] = false;
		feed(h);
	}
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		if (lost[cpu])
			run_slices_lost(machine, cpu);
	run_slices_end(machine, s->now, true);
}

/* The true slice that it is all of or a part of. */
static struct truth *truth_of(struct schedule *s, const struct run_slice *got)
{
	bool whole = got->begun && got->end == SLICE_ENDED;

	vec_each(&s->slices, t) {
		if (t->tid != got->tid || t->cpu != got->cpu || got->start_ns < t->start ||
		    got->end_ns > t->end || (whole && t->found))
			continue;
		if ((got->begun && (!t->begun || got->start_ns != t->start)) ||
		    (got->end == SLICE_ENDED && (t->how != SLICE_ENDED || got->end_ns != t->end)) ||
		    (got->end == SLICE_OPEN && t->how != SLICE_OPEN))
			continue;
		t->found |= whole;
		return t;
	}
	return NULL;
}

/* Whether a loss was told only after it had begun to run: one of a wakeup, perhaps. */
static bool may_be_wrong(const struct schedule *s, const struct run_slice *got)
{
	vec_each(&s->happenings, h)
		if (h->dropped && h->time_ns <= got->start_ns && h->told_ns >= got->start_ns)
			return true;
	return false;
}

static void losses_invent_nothing(void **state)
{
	size_t whole = 0, partial = 0, waits = 0;

	for (uint64_t seed = 1; seed <= 1000; seed++) {
		struct schedule s;

		begin(state);
		make_schedule(&s, seed);
		drop(&s);
		feed_with_losses(&s);
		vec_each(&given, got) {
			struct truth *t = truth_of(&s, got);
			bool is_whole = got->begun && got->end == SLICE_ENDED;

			assert_non_null(t);
			whole += is_whole;
			partial += !is_whole;
			if (!got->wait || may_be_wrong(&s, got))
				continue;
			same_wait(got, t);
			waits++;
		}
		release_schedule(&s);
		end(state);
	}
	/* There was something to be wrong about. */
	assert_true(whole > 1000);
	assert_true(partial > 1000);
	assert_true(waits > 1000);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(starts_in_the_middle),
		TEST(a_wakeup_shows_who_runs),
		TEST(waits_are_told_apart),
		TEST(exit_forgets),
		TEST(woken_before_it_sleeps),
		TEST(an_old_wakeup_is_no_wakeup),
		TEST(a_cpu_that_begins_late),
		TEST(a_contradiction_says_that_waits_are_unsure),
		TEST(migration),
		TEST(a_lost_switch),
		TEST(a_loss_that_is_told),
		TEST(a_cpu_that_cannot_be),
		TEST(nobody_runs_twice),
		TEST(events_of_one_moment),
		TEST(too_late),
		TEST(single_tasks),
		TEST(memory_is_bounded),
		TEST(threads_come_and_go),
		TEST(exits_among_many),
		TEST(nobody_waits_backwards),
		cmocka_unit_test(schedules_come_back),
		cmocka_unit_test(losses_invent_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
