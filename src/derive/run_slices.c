#include "derive/run_slices.h"
#include "base/number.h"
#include "base/open_table.h"
#include "base/vec.h"
#include "profile/slots.h"

#define ANY_CPU (~0u)

enum task_state {
	TASK_UNKNOWN,
	TASK_RUNS,      /* on `cpu` */
	TASK_WAITS,     /* sleeps since since_ns */
	TASK_WOKEN,     /* ready since since_ns */
	TASK_CREATED,   /* as TASK_WOKEN */
	TASK_PREEMPTED, /* as TASK_WOKEN */
};

/* The state of a thread. */
struct task {
	uint64_t since_ns;
	uint32_t tid;   /* 0: the slot is free */
	uint32_t epoch; /* the state is valid only in this epoch, see run_slices */
	uint32_t cpu, waker;
	uint8_t state;
	/* The thread was woken while it ran. Either it was about to sleep, and is ready as soon as it stops
	 * (TASK_WOKEN), or it did not sleep at all. */
	bool woken_early;
	bool unsure; /* TASK_WOKEN because of woken_early: a later wakeup replaces it */
};

struct tasks {
	struct task *slots;
	size_t mask, count;
	uint64_t seed;
};

/* The slice that runs on a CPU. */
struct cpu {
	uint64_t last_ns; /* time of its last event */
	uint64_t seen_ns; /* the thread is known to have run until then */
	struct run_slice slice;
	bool known;
	bool recorded; /* had an event */
};

struct run_slices {
	void (*slice)(void *ctx, const struct run_slice *slice);
	void *ctx;
	VEC(struct cpu) cpus;
	struct tasks tasks;
	uint32_t epoch; /* incremented by each loss: older states of tasks may be out of date */
	struct slice_counts counts;
};

/* ---- tasks ---- */

static bool task_home(const void *slot, uint64_t seed, uint64_t *ret_hash)
{
	const struct task *task = slot;

	*ret_hash = hash_mix(seed, task->tid);
	return task->tid;
}

static size_t task_slot(const struct tasks *t, uint32_t tid)
{
	size_t at = hash_mix(t->seed, tid) & t->mask;

	while (t->slots[at].tid && t->slots[at].tid != tid)
		at = (at + 1) & t->mask;
	return at;
}

/* Returns the entry of a task, even if it is out of date, or NULL. */
static struct task *find_old_task(struct run_slices *r, uint32_t tid)
{
	struct task *task;

	if (!r->tasks.slots || !tid)
		return NULL;
	task = &r->tasks.slots[task_slot(&r->tasks, tid)];
	return task->tid ? task : NULL;
}

/* The CPU that a task is known to run on, or NULL. */
static struct cpu *cpu_of_task(struct run_slices *r, const struct task *task)
{
	struct cpu *c;

	if (task->state != TASK_RUNS || task->cpu >= r->cpus.len)
		return NULL;
	c = &r->cpus.items[task->cpu];
	return c->known && c->slice.tid == task->tid ? c : NULL;
}

/* Returns a task whose state is known, or NULL. A running thread stays known after a loss on another CPU. */
static struct task *find_task(struct run_slices *r, uint32_t tid)
{
	struct task *task = find_old_task(r, tid);

	return task && (task->epoch == r->epoch || cpu_of_task(r, task)) ? task : NULL;
}

static void forget_tasks(struct tasks *t)
{
	table_free(t->slots, t->mask + 1, sizeof(*t->slots));
	t->slots = NULL;
	t->mask = t->count = 0;
}

/* Adds a task, or resets its state. @tid must not be 0. */
static struct task *begin_task(struct run_slices *r, uint32_t tid)
{
	struct tasks *t = &r->tasks;
	struct task *task;

	if (t->count >= SLICE_TASKS_MAX) {
		forget_tasks(t);
		r->counts.forgotten++;
	}
	if (!t->slots || t->count * 2 > t->mask)
		t->slots =
			open_table_grow(t->slots, &t->mask, sizeof(*t->slots), task_home, t->seed);
	task = &t->slots[task_slot(t, tid)];
	t->count += !task->tid;
	*task = (struct task){.tid = tid, .epoch = r->epoch};
	return task;
}

/* Removes a task. Later entries of the probe sequence move up, so that lookups still reach them. */
static void drop_task(struct run_slices *r, uint32_t tid)
{
	struct tasks *t = &r->tasks;
	size_t hole, at;

	if (!t->slots)
		return;
	hole = task_slot(t, tid);
	if (!t->slots[hole].tid)
		return;
	t->count--;
	for (at = (hole + 1) & t->mask; t->slots[at].tid; at = (at + 1) & t->mask) {
		size_t home = hash_mix(t->seed, t->slots[at].tid) & t->mask;

		if (((at - home) & t->mask) < ((at - hole) & t->mask))
			continue;
		t->slots[hole] = t->slots[at];
		hole = at;
	}
	t->slots[hole] = (struct task){};
}

/* ---- CPUs ---- */

/* Returns a CPU, added if new. @number must be below CPU_LIMIT. */
static struct cpu *cpu_of(struct run_slices *r, uint32_t number)
{
	while (r->cpus.len <= number)
		vec_push(&r->cpus, (struct cpu){});
	return &r->cpus.items[number];
}

static void give(struct run_slices *r, const struct run_slice *slice)
{
	if (!slice->tid)
		return;
	r->counts.slices++;
	r->counts.partial += !slice->begun || slice->end != SLICE_ENDED;
	r->slice(r->ctx, slice);
}

/*
 * Ends the slice of a CPU because what it runs is unknown from now on. A slice of a single moment is given
 * out only if that moment is its begin, and not if an event @contradicted it.
 */
static void lose(struct run_slices *r, struct cpu *c, bool contradicted)
{
	if (!c->known)
		return;
	c->known = false;
	c->slice.end = SLICE_LOST;
	c->slice.end_ns = c->seen_ns;
	if (c->seen_ns > c->slice.start_ns || (c->slice.begun && !contradicted))
		give(r, &c->slice);
}

/* Handles an event that contradicts earlier ones: switches were missed, and with them states of tasks. */
static void contradict(struct run_slices *r, struct cpu *c)
{
	r->counts.broken++;
	r->epoch += r->counts.whole_cpus;
	lose(r, c, true);
}

/* Ends the slice of a thread on another CPU: it cannot run on two, so that slice is out of date. */
static void leave_other_cpu(struct run_slices *r, uint32_t tid, uint32_t cpu)
{
	const struct task *task = find_old_task(r, tid);
	struct cpu *other = task && task->cpu != cpu ? cpu_of_task(r, task) : NULL;

	if (other)
		contradict(r, other);
}

static void begin_running(struct run_slices *r, uint32_t tid, uint32_t cpu)
{
	struct task *task;

	if (!tid)
		return;
	task = begin_task(r, tid);
	task->state = TASK_RUNS;
	task->cpu = cpu;
}

/* Notes that an event shows thread @tid running on a CPU. */
static void see(struct run_slices *r, struct cpu *c, uint32_t number, uint32_t tid,
		uint64_t time_ns)
{
	if (c->known && c->slice.tid == tid) {
		c->seen_ns = time_ns;
		return;
	}
	if (c->known)
		contradict(r, c);
	leave_other_cpu(r, tid, number);
	c->known = true;
	c->seen_ns = time_ns;
	c->slice = (struct run_slice){
		.start_ns = time_ns, .tid = tid, .cpu = number, .wait = WAIT_UNKNOWN};
	begin_running(r, tid, number);
}

/* Returns the CPU of an event, or NULL if the event must be ignored: it is too late, or its CPU does not exist,
 * which counts as a loss on any CPU. */
static struct cpu *take_cpu(struct run_slices *r, uint32_t number, uint64_t time_ns)
{
	struct cpu *c;

	if (number >= CPU_LIMIT) {
		run_slices_lost(r, ANY_CPU);
		return NULL;
	}
	c = cpu_of(r, number);
	/* Recording does not begin on all CPUs at once. The time before the first event of a CPU counts as
	 * lost: a thread that was seen to stop elsewhere may have run here. */
	r->epoch += !c->recorded;
	c->recorded = true;
	if (time_ns < c->last_ns) {
		r->counts.late++;
		lose(r, c, true);
		r->epoch++;
		return NULL;
	}
	c->last_ns = time_ns;
	return c;
}

/* ---- switches ---- */

static void stop_task(struct run_slices *r, const struct slice_switch *s)
{
	const struct task *before = find_task(r, s->prev_tid);
	bool early = before && before->state == TASK_RUNS && before->epoch == r->epoch &&
		     before->woken_early;
	uint32_t waker = early ? before->waker : 0;
	struct task *task;

	if (!s->prev_tid)
		return;
	if (s->stop == STOP_EXITED) {
		drop_task(r, s->prev_tid);
		return;
	}
	task = begin_task(r, s->prev_tid);
	task->since_ns = s->time_ns;
	task->state = s->stop == STOP_READY ? TASK_PREEMPTED : early ? TASK_WOKEN : TASK_WAITS;
	if (task->state == TASK_WOKEN) {
		task->unsure = true;
		task->waker = waker;
	}
}

static void set_wait(struct run_slice *slice, const struct task *task)
{
	static const enum slice_wait waits[] = {
		[TASK_WOKEN] = WAIT_WOKEN,
		[TASK_CREATED] = WAIT_CREATED,
		[TASK_PREEMPTED] = WAIT_PREEMPTED,
	};

	if (!task || task->state < TASK_WOKEN || task->since_ns > slice->start_ns)
		return;
	slice->wait = waits[task->state];
	slice->wait_ns = slice->start_ns - task->since_ns;
	slice->waker = task->waker;
}

static void begin_slice(struct run_slices *r, struct cpu *c, const struct slice_switch *s)
{
	c->known = true;
	c->seen_ns = s->time_ns;
	c->slice = (struct run_slice){.start_ns = s->time_ns,
				      .tid = s->next_tid,
				      .cpu = s->cpu,
				      .prio = s->next_prio,
				      .begun = true};
	leave_other_cpu(r, s->next_tid, s->cpu);
	set_wait(&c->slice, find_task(r, s->next_tid));
	begin_running(r, s->next_tid, s->cpu);
}

void run_slices_switch(struct run_slices *r, const struct slice_switch *s)
{
	struct cpu *c = take_cpu(r, s->cpu, s->time_ns);

	if (!c)
		return;
	see(r, c, s->cpu, s->prev_tid, s->time_ns);
	c->slice.end_ns = s->time_ns;
	c->slice.end = SLICE_ENDED;
	c->slice.thread = s->prev_thread;
	c->slice.state = s->state;
	c->slice.stack = s->stack;
	c->slice.prio = s->prev_prio;
	give(r, &c->slice);
	r->counts.whole_cpus |= !s->prev_tid;
	stop_task(r, s);
	begin_slice(r, c, s);
}

/* ---- wakeups ---- */

/* Notes a wakeup. Of sched_waking and sched_wakeup of the same wakeup, the first one counts. */
static void wake(struct task *task, const struct slice_wakeup *w)
{
	switch (task->state) {
	case TASK_WOKEN:
		if (!task->unsure)
			return;
		if (w->kind == WAKING || !task->waker)
			task->waker = w->waker;
		break;
	case TASK_WAITS:
		task->waker = w->waker;
		break;
	case TASK_RUNS:
		if (w->kind == WAKING || !task->woken_early)
			task->waker = w->waker;
		task->woken_early = true;
		return;
	default:
		return;
	}
	task->state = TASK_WOKEN;
	task->since_ns = w->time_ns;
	task->unsure = false;
}

void run_slices_wakeup(struct run_slices *r, const struct slice_wakeup *w)
{
	struct cpu *c = take_cpu(r, w->cpu, w->time_ns);
	struct task *task;

	if (!c)
		return;
	see(r, c, w->cpu, w->current_tid, w->time_ns);
	if (w->current_thread)
		c->slice.thread = w->current_thread;
	if (!w->tid)
		return;
	if (w->kind == WAKEUP_NEW) {
		task = begin_task(r, w->tid);
		task->state = TASK_CREATED;
		task->since_ns = w->time_ns;
		task->waker = w->waker;
		return;
	}
	task = find_task(r, w->tid);
	if (!task)
		return;
	/* The thread runs. A wakeup from before the loss may not have been its last one. */
	if (task->epoch != r->epoch)
		begin_running(r, w->tid, task->cpu);
	wake(find_task(r, w->tid), w);
}

/* ---- losses and the end ---- */

void run_slices_lost(struct run_slices *r, uint32_t cpu)
{
	r->counts.losses++;
	r->epoch++;
	for (uint32_t i = 0; i < r->cpus.len; i++)
		if (cpu == ANY_CPU || i == cpu)
			lose(r, &r->cpus.items[i], false);
}

void run_slices_end(struct run_slices *r, uint64_t time_ns, bool run_on)
{
	vec_each(&r->cpus, c) {
		if (c->known && run_on) {
			c->known = false;
			c->slice.end = SLICE_OPEN;
			c->slice.end_ns = time_ns > c->seen_ns ? time_ns : c->seen_ns;
			give(r, &c->slice);
		}
		lose(r, c, true);
	}
}

/* ---- the whole ---- */

struct run_slices *run_slices_new(bool whole_cpus,
				  void (*slice)(void *ctx, const struct run_slice *slice),
				  void *ctx)
{
	struct run_slices *r = xcalloc(1, sizeof(*r));

	r->slice = slice;
	r->ctx = ctx;
	r->counts.whole_cpus = whole_cpus;
	r->tasks.seed = hash_seed();
	return r;
}

void run_slices_free(struct run_slices *r)
{
	if (!r)
		return;
	forget_tasks(&r->tasks);
	vec_release(&r->cpus);
	free(r);
}

const struct slice_counts *run_slices_counts(const struct run_slices *r)
{
	return &r->counts;
}
