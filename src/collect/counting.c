#include "collect/counting.h"
#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* Reading may take a tenth of the time; above that the interval grows until it takes a fortieth. */
#define READ_SHARE_MAX    10
#define READ_SHARE_WANTED 40
#define READ_SHARE_LOW    100

struct run {
	const struct counting_plan *plan;
	struct counting_result *out;
	struct counters counters;
	int signals_fd, timer_fd;
	uint64_t start_ns, last_ns;    /* clock at enabling and at the last reading */
	uint64_t interval_ns, next_ns; /* now in force; when the next tick is due */
	uint64_t end_ns;               /* by timeout, 0: none */
	bool enabled;
};

static uint64_t cpu_ns(void)
{
	return clock_ns_of(CLOCK_THREAD_CPUTIME_ID);
}

static void arm_timer(struct run *run)
{
	uint64_t due = run->next_ns;
	struct itimerspec when = {};

	if (!run->enabled)
		due = run->start_ns + run->plan->delay_ns;
	if (run->end_ns && (!due || run->end_ns < due))
		due = run->end_ns;
	when.it_value.tv_sec = (time_t)(due / NS_PER_SEC);
	when.it_value.tv_nsec = (long)(due % NS_PER_SEC);
	timerfd_settime(run->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static void take_reading(struct run *run)
{
	struct tick_ledger *ledger = &run->out->ledger;
	uint64_t before = cpu_ns(), cost;

	counters_read(&run->counters);
	cost = cpu_ns() - before;
	ledger->worst_read_ns = cost > ledger->worst_read_ns ? cost : ledger->worst_read_ns;
	if (!run->plan->interval_ns)
		return;
	if (cost * READ_SHARE_MAX > run->interval_ns)
		run->interval_ns = cost * READ_SHARE_WANTED;
	else if (run->interval_ns > run->plan->interval_ns &&
		 cost * READ_SHARE_LOW < run->interval_ns)
		run->interval_ns = cost * READ_SHARE_WANTED > run->plan->interval_ns
					   ? cost * READ_SHARE_WANTED
					   : run->plan->interval_ns;
	if (run->interval_ns > run->plan->interval_ns && run->interval_ns > ledger->stretched_ns)
		ledger->stretched_ns = run->interval_ns;
}

/* The next due time on the grid of the interval that is still ahead. */
static void schedule_next(struct run *run, uint64_t now)
{
	uint64_t wanted = run->plan->interval_ns, due = run->next_ns + run->interval_ns;

	if (run->interval_ns > wanted)
		due = run->start_ns + (due - run->start_ns + wanted - 1) / wanted * wanted;
	if (due <= now) {
		uint64_t skipped = (now - due) / wanted + 1;

		run->out->ledger.missed += skipped;
		due += skipped * wanted;
	}
	run->next_ns = due;
}

static void tick(struct run *run)
{
	struct tick_ledger *ledger = &run->out->ledger;
	uint64_t now = clock_now_ns(), late = now - run->next_ns;

	/* Nothing is printed of a program that could not be executed. */
	if (!ledger->ticks && workload_check_exec(&run->out->workload, "", NULL) < 0) {
		run->next_ns = 0;
		return;
	}
	ledger->worst_late_ns = late > ledger->worst_late_ns ? late : ledger->worst_late_ns;
	ledger->ticks++;
	take_reading(run);
	run->plan->on_tick(run->plan->ctx, &run->counters, now - run->start_ns, now - run->last_ns);
	run->last_ns = now;
	schedule_next(run, clock_now_ns());
}

static void enable(struct run *run)
{
	run->enabled = true;
	run->last_ns = run->start_ns + run->plan->delay_ns;
	run->interval_ns = run->plan->interval_ns;
	run->next_ns = run->interval_ns ? run->last_ns + run->interval_ns : 0;
	if (run->plan->delay_ns)
		counters_enable(&run->counters);
}

/* A key press reaches the workload by itself; a signal meant for us is handed on. */
static void handle_signal(struct run *run)
{
	struct signalfd_siginfo info;

	if (read(run->signals_fd, &info, sizeof(info)) != sizeof(info) || info.ssi_signo == SIGCHLD)
		return;
	if (run->out->interrupted)
		run->out->hurried = true;
	run->out->interrupted = true;
	if (info.ssi_code != SI_KERNEL || run->out->hurried)
		workload_signal(&run->out->workload,
				run->out->hurried ? SIGTERM : (int)info.ssi_signo);
}

/* True when the run is over. */
static bool is_over(struct run *run)
{
	const struct counting_plan *plan = run->plan;
	bool alive = false;

	if (plan->argv)
		return workload_reap(&run->out->workload, false) || run->out->hurried;
	if (run->out->interrupted)
		return true;
	if (!plan->target.tasks.len)
		return false;
	/* Attached: until the last of them is gone. */
	vec_each(&plan->target.tasks, task)
		alive |= kill(*task, 0) == 0 || errno == EPERM;
	return !alive;
}

static void watch(struct run *run)
{
	struct pollfd fds[] = {{.fd = run->signals_fd, .events = POLLIN},
			       {.fd = run->timer_fd, .events = POLLIN}};
	/* Attached processes do not tell us when they end. */
	int patience_ms = run->plan->argv || !run->plan->target.tasks.len ? -1 : 50;
	uint64_t expirations;

	while (!is_over(run)) {
		uint64_t now;

		arm_timer(run);
		if (poll(fds, 2, patience_ms) < 0 && errno != EINTR)
			return;
		if (fds[0].revents)
			handle_signal(run);
		if (fds[1].revents && read(run->timer_fd, &expirations, sizeof(expirations)) < 0)
			continue;
		now = clock_now_ns();
		if (run->end_ns && now >= run->end_ns)
			return;
		if (!run->enabled && now >= run->start_ns + run->plan->delay_ns)
			enable(run);
		else if (run->enabled && run->next_ns && now >= run->next_ns)
			tick(run);
		if (run->plan->tick_limit && run->out->ledger.ticks >= run->plan->tick_limit)
			return;
	}
}

static int open_descriptors(struct run *run, struct err *e)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	run->signals_fd = signalfd(-1, &set, SFD_CLOEXEC);
	run->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (run->signals_fd < 0 || run->timer_fd < 0)
		return err_set(e, errno, "cannot wait for signals: %s", strerror(errno));
	return 0;
}

static int start(struct run *run, struct err *e)
{
	const struct counting_plan *plan = run->plan;
	int r = 0;

	if (plan->on_open)
		r = plan->on_open(plan->ctx, &run->counters, e);
	if (r < 0)
		return r;
	/* What does not wait for the command's exec must count before its first step. */
	if (!plan->delay_ns && !run->counters.target->on_exec)
		counters_enable(&run->counters);
	run->start_ns = clock_now_ns();
	if (plan->argv)
		workload_start(&run->out->workload);
	if (plan->timeout_ns)
		run->end_ns = run->start_ns + plan->timeout_ns;
	if (!plan->delay_ns)
		enable(run);
	return 0;
}

static void finish(struct run *run)
{
	uint64_t now = clock_now_ns();

	run->out->elapsed_ns = now - run->start_ns;
	counters_disable(&run->counters);
	take_reading(run);
	/* What is left behind the last full interval, unless these were all that is wanted. */
	if (run->plan->interval_ns && now > run->last_ns && run->enabled &&
	    !(run->plan->tick_limit && run->out->ledger.ticks >= run->plan->tick_limit))
		run->plan->on_tick(run->plan->ctx, &run->counters, now - run->start_ns,
				   now - run->last_ns);
	run->plan->on_end(run->plan->ctx, &run->counters, run->out->elapsed_ns);
}

int counting_run(const struct counting_plan *plan, struct counting_result *ret, struct err *e)
{
	struct run run = {.plan = plan, .out = ret, .signals_fd = -1, .timer_fd = -1};
	struct target target = plan->target;
	int r = open_descriptors(&run, e);

	*ret = (struct counting_result){.workload = {.go_fd = -1, .error_fd = -1}};
	if (r == 0 && plan->argv)
		r = workload_spawn(&ret->workload, plan->argv, e);
	if (r == 0 && plan->argv && !target.cpus.len && !target.tasks.len) {
		target.tasks.items = &ret->workload.pid;
		target.tasks.len = 1;
		target.on_exec = !plan->delay_ns;
	}
	if (r == 0)
		r = counters_open(&run.counters, plan->events, &target, e);
	if (r == 0) {
		r = start(&run, e);
		if (r == 0) {
			watch(&run);
			r = workload_check_exec(&ret->workload, plan->argv ? plan->argv[0] : "", e);
			ret->exec_failed = r < 0;
		}
		if (r == 0)
			finish(&run);
		counters_close(&run.counters);
	}
	/* A child that still waits for us to let it run ends when the pipe closes. */
	workload_close(&ret->workload);
	if (ret->workload.pid)
		workload_end(&ret->workload);
	close(run.signals_fd);
	close(run.timer_fd);
	return r;
}
