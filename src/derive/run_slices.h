/*
 * Run slices: when each thread ran on which CPU, derived from the scheduler's events. A slice begins
 * with the switch to a thread and ends with the switch away from it.
 *
 * Only what the events prove is told. From start_ns to end_ns the thread ran on the CPU without a
 * break. Where the switch at an end was not seen (the recording began or ended, records were lost, an
 * event contradicts what was known), the thread may have run before or afterwards as well, and the
 * slice says so: !begun, SLICE_LOST, SLICE_OPEN. If nothing is known but a moment, start and
 * end are that moment.
 *
 * Losses must be told before the first event of the CPU that follows them, as rings do. Slices are
 * then right; a wait may be wrong if another CPU lost events before and told of it only later.
 *
 * Events come in the order of time. Threads are known by the kernel's number, the tid; thread, stack
 * and state numbers mean nothing here and are passed on. The idle task (tid 0) has no slices. Memory is bounded:
 * CPU_LIMIT CPUs, SLICE_TASKS_MAX threads at a time. One thread of ours.
 */
#ifndef TACHO_DERIVE_RUN_SLICES_H
#define TACHO_DERIVE_RUN_SLICES_H

#include <stdbool.h>
#include <stdint.h>

/* Threads whose waits are followed. With more, all are forgotten, and waits are unknown until each has
 * stopped once more. */
#define SLICE_TASKS_MAX (128u << 10)

/* How the previous thread of a switch stopped. */
enum slice_stop {
	STOP_READY, /* it could have gone on: preempted, or it yielded */
	STOP_WAITS, /* it sleeps, waits, is stopped or parked */
	STOP_EXITED,
};

struct slice_switch {
	uint64_t time_ns;
	uint32_t cpu;
	uint32_t prev_tid, next_tid;
	int32_t prev_prio, next_prio;
	uint32_t prev_thread; /* passed on */
	uint32_t state;       /* passed on: how prev stopped, in the kernel's words */
	uint32_t stack;       /* passed on: where prev stopped */
	enum slice_stop stop;
};

enum slice_wakeup_kind {
	WAKING,     /* sched_waking: in the context of whoever wakes */
	WAKEUP,     /* sched_wakeup: when the thread is ready, maybe on another CPU */
	WAKEUP_NEW, /* sched_wakeup_new: the thread was created */
};

struct slice_wakeup {
	uint64_t time_ns;
	uint32_t cpu, current_tid; /* where the event happened, and the thread that ran there */
	uint32_t current_thread;   /* passed on as current_tid's, if its slice needs a thread */
	uint32_t tid;              /* that is woken */
	uint32_t waker;            /* passed on; 0: not known, or an interrupt */
	enum slice_wakeup_kind kind;
};

enum slice_end {
	SLICE_ENDED, /* the switch was seen */
	SLICE_LOST,  /* what came after end_ns was lost, or contradicts */
	SLICE_OPEN,  /* it still ran when the recording ended */
};

/* What a thread waited for before it ran: from then on it was ready. */
enum slice_wait {
	WAIT_UNKNOWN,
	WAIT_WOKEN,
	WAIT_CREATED,
	WAIT_PREEMPTED, /* since it had stopped as STOP_READY */
};

struct run_slice {
	uint64_t start_ns, end_ns;
	uint64_t wait_ns; /* from `wait` to start_ns */
	uint32_t tid, cpu;
	uint32_t thread;       /* 0: no event has told it */
	uint32_t waker;        /* of WAIT_WOKEN and WAIT_CREATED; 0: not known */
	uint32_t state, stack; /* of SLICE_ENDED */
	int32_t prio;          /* when it ended; if that was not seen, when it began */
	bool begun;            /* the switch at start_ns was seen */
	enum slice_end end;
	enum slice_wait wait;
};

struct slice_counts {
	uint64_t slices;  /* given out */
	uint64_t partial; /* of these: an end was not seen */
	uint64_t broken;  /* events that contradict the ones before, without a loss that was told */
	uint64_t late;    /* events older than those of their CPU before them: left out */
	uint64_t losses;  /* that were told */
	uint64_t forgotten; /* how often all threads were forgotten */
	bool whole_cpus;    /* run_slices_new() was told so, or the idle task was seen to stop */
};

struct run_slices;

/*
 * @slice is told of each slice when it ends; slices come by their ends. @whole_cpus: switches of whole CPUs
 * are recorded, whoever runs there. False: perhaps those of single tasks only. Of these each stop is seen, but no
 * switch to them from another task: so one event that contradicts the one before it means nothing.
 */
struct run_slices *run_slices_new(bool whole_cpus,
				  void (*slice)(void *ctx, const struct run_slice *slice),
				  void *ctx);
void run_slices_free(struct run_slices *r);

void run_slices_switch(struct run_slices *r, const struct slice_switch *s);
void run_slices_wakeup(struct run_slices *r, const struct slice_wakeup *w);

/* Events of a CPU were lost between the one before and the next one. @cpu ~0: of any CPU. */
void run_slices_lost(struct run_slices *r, uint32_t cpu);

/* The end of the recording. @run_on: threads that ran then did so up to @time_ns, because every switch of
 * their CPU was seen. */
void run_slices_end(struct run_slices *r, uint64_t time_ns, bool run_on);

const struct slice_counts *run_slices_counts(const struct run_slices *r);

#endif
