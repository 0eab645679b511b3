/*
 * Run slices: when each thread ran on which CPU, derived from the scheduler's events. A slice begins
 * with the switch to a thread and ends with the switch away from it.
 *
 * Slices contain only what events prove: from start_ns to end_ns the thread ran on the CPU without a
 * break. If the switch at one end was not seen (the recording began or ended, records were lost, an event
 * contradicts earlier ones), the thread may have run for longer, and the slice is marked: !begun,
 * SLICE_LOST or SLICE_OPEN. If only one moment is known, start and end are that moment.
 *
 * The caller must report a loss before the first event of that CPU after it, as ring buffers do. Slices
 * are then right. A wait may be wrong if another CPU lost events and reports it only later.
 *
 * Events must come in order of time. Threads are identified by tid. Numbers of threads, stacks and states
 * are opaque and passed on. The idle task (tid 0) has no slices. Memory is bounded: CPU_LIMIT CPUs and
 * SLICE_TASKS_MAX threads at a time. Not thread-safe.
 */
#ifndef TACHO_DERIVE_RUN_SLICES_H
#define TACHO_DERIVE_RUN_SLICES_H

#include <stdbool.h>
#include <stdint.h>

/* Limit of threads whose state is kept. When it is reached all are forgotten, and the wait of a thread is
 * unknown until it has stopped once more. */
#define SLICE_TASKS_MAX (128u << 10)

/* How the previous thread of a switch stopped. */
enum slice_stop {
	STOP_READY, /* still runnable: preempted, or it yielded */
	STOP_WAITS, /* sleeping, waiting, stopped or parked */
	STOP_EXITED,
};

struct slice_switch {
	uint64_t time_ns;
	uint32_t cpu;
	uint32_t prev_tid, next_tid;
	int32_t prev_prio, next_prio;
	uint32_t prev_thread; /* passed on */
	uint32_t state;       /* passed on: the kernel's state of prev */
	uint32_t stack;       /* passed on: where prev stopped */
	enum slice_stop stop;
};

enum slice_wakeup_kind {
	WAKING,     /* sched_waking: in the context of the waker */
	WAKEUP,     /* sched_wakeup: the thread is ready; maybe on another CPU */
	WAKEUP_NEW, /* sched_wakeup_new: the thread was created */
};

struct slice_wakeup {
	uint64_t time_ns;
	uint32_t cpu, current_tid; /* CPU of the event and thread that ran there */
	uint32_t current_thread;   /* passed on, if current_tid's slice has no thread yet */
	uint32_t tid;              /* the thread that is woken */
	uint32_t waker;            /* passed on; 0: unknown, or an interrupt */
	enum slice_wakeup_kind kind;
};

enum slice_end {
	SLICE_ENDED, /* the switch was seen */
	SLICE_LOST,  /* events after end_ns were lost or contradict the slice */
	SLICE_OPEN,  /* the thread still ran when the recording ended */
};

/* The event that made a thread ready, from which its wait for the CPU is counted. */
enum slice_wait {
	WAIT_UNKNOWN,
	WAIT_WOKEN,
	WAIT_CREATED,
	WAIT_PREEMPTED, /* the thread stopped as STOP_READY */
};

struct run_slice {
	uint64_t start_ns, end_ns;
	uint64_t wait_ns; /* from the event `wait` to start_ns */
	uint32_t tid, cpu;
	uint32_t thread;       /* 0: unknown */
	uint32_t waker;        /* for WAIT_WOKEN and WAIT_CREATED; 0: unknown */
	uint32_t state, stack; /* for SLICE_ENDED */
	int32_t prio;          /* at the end if that was seen, else at the begin */
	bool begun;            /* the switch at start_ns was seen */
	enum slice_end end;
	enum slice_wait wait;
};

struct slice_counts {
	uint64_t slices;    /* given out */
	uint64_t partial;   /* of these: begin or end was not seen */
	uint64_t broken;    /* events that contradict earlier ones without a reported loss */
	uint64_t late;      /* events older than the previous one of their CPU: ignored */
	uint64_t losses;    /* reported losses */
	uint64_t forgotten; /* how often all threads were forgotten */
	bool whole_cpus;    /* as passed to run_slices_new(), or the idle task was seen to stop */
};

struct run_slices;

/*
 * Calls @slice for each slice when it ends, in order of their ends. @whole_cpus: all switches of the recorded
 * CPUs are recorded. If false, the recording may be one of single tasks, which has the switches away from these
 * tasks but not those to them from other tasks. Contradictions are then expected and do not count as a loss.
 */
struct run_slices *run_slices_new(bool whole_cpus,
				  void (*slice)(void *ctx, const struct run_slice *slice),
				  void *ctx);
void run_slices_free(struct run_slices *r);

void run_slices_switch(struct run_slices *r, const struct slice_switch *s);
void run_slices_wakeup(struct run_slices *r, const struct slice_wakeup *w);

/* Reports that events were lost after the previous event of @cpu; ~0: of any CPU. */
void run_slices_lost(struct run_slices *r, uint32_t cpu);

/* Ends the recording. @run_on: every switch was recorded, so threads that still run ran until @time_ns. */
void run_slices_end(struct run_slices *r, uint64_t time_ns, bool run_on);

const struct slice_counts *run_slices_counts(const struct run_slices *r);

#endif
