#include "collect/counting.h"
#include "base/clock.h"
#include "base/fs.h"
#include "collect/punctual.h"
#include "collect/tree.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* How often to check whether attached processes still run. */
#define TASK_POLL_NS (50 * NS_PER_MSEC)

struct run {
	const struct counting_plan *plan;
	struct counting_result *out;
	struct counters counters;
	int signals_fd;
	uint64_t start_ns, last_ns; /* clock at the start and at the last reading */
	uint64_t enabled_ns;        /* clock at enabling: later, if there is a delay */
	struct ticker ticker;
	uint64_t end_ns; /* when the timeout ends the run, 0: no timeout */
	bool enabled;
	bool poll_tasks;  /* attached processes do not tell us when they end */
	bool child_ended; /* SIGCHLD came */
	bool unheard;     /* on_tick() returned false */
	struct punctual punctual;
};

/* Time until the next deadline; NULL if there is none. */
static struct timespec *time_left(const struct run *run, struct timespec *left)
{
	uint64_t due = run->enabled ? run->ticker.next_ns : run->start_ns + run->plan->delay_ns;
	uint64_t now = clock_now_ns(), ns;

	if (run->end_ns && (!due || run->end_ns < due))
		due = run->end_ns;
	if (run->poll_tasks && (!due || due > now + TASK_POLL_NS))
		due = now + TASK_POLL_NS;
	if (!due)
		return NULL;
	ns = due > now ? due - now : 0;
	left->tv_sec = (time_t)(ns / NS_PER_SEC);
	left->tv_nsec = (long)(ns % NS_PER_SEC);
	return left;
}

static void tick(struct run *run)
{
	struct ticker *ticker = &run->ticker;
	uint64_t now;

	/* Print nothing about a program whose exec failed. */
	if (!ticker->ledger.ticks && workload_check_exec(&run->out->workload, "", NULL) < 0) {
		ticker->next_ns = 0;
		return;
	}
	now = ticker_begin(ticker);
	counters_read(&run->counters);
	run->unheard |= !run->plan->on_tick(run->plan->ctx, &run->counters, now - run->start_ns,
					    now - run->last_ns);
	run->last_ns = now;
	ticker_end(ticker);
}

static void enable(struct run *run)
{
	run->enabled = true;
	run->enabled_ns = clock_now_ns();
	run->last_ns = run->start_ns + run->plan->delay_ns;
	ticker_start(&run->ticker, &system_clock, run->start_ns, run->last_ns,
		     run->plan->interval_ns);
	if (run->plan->delay_ns)
		counters_enable(&run->counters);
}

/* Ctrl-C (SI_KERNEL) reaches the workload by itself; a signal sent to us alone is passed on. */
static void handle_signal(struct run *run)
{
	struct signalfd_siginfo info;

	if (read(run->signals_fd, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGCHLD) {
		run->child_ended = true;
		return;
	}
	if (run->out->interrupted)
		run->out->hurried = true;
	run->out->interrupted = true;
	if (info.ssi_code != SI_KERNEL || run->out->hurried)
		workload_signal(&run->out->workload,
				run->out->hurried ? SIGTERM : (int)info.ssi_signo);
}

static bool is_over(struct run *run)
{
	const struct counting_plan *plan = run->plan;

	if (plan->argv) {
		bool look = run->child_ended;

		run->child_ended = false;
		return (look && workload_reap(&run->out->workload, false)) || run->out->hurried;
	}
	if (run->out->interrupted || run->unheard)
		return true;
	if (!plan->target.tasks.len)
		return false;
	/* Attached: the run ends when the last task has ended. */
	vec_each(&plan->target.tasks, task)
		if (task_is_alive(*task))
			return false;
	return true;
}

static void watch(struct run *run)
{
	struct pollfd signals = {.fd = run->signals_fd, .events = POLLIN};

	while (!is_over(run)) {
		struct timespec left;
		uint64_t now;

		if (ppoll(&signals, 1, time_left(run, &left), NULL) < 0 && errno != EINTR)
			return;
		if (signals.revents)
			handle_signal(run);
		now = clock_now_ns();
		if (run->end_ns && now >= run->end_ns) {
			run->out->ended_by_plan = true;
			return;
		}
		if (!run->enabled && now >= run->start_ns + run->plan->delay_ns)
			enable(run);
		else if (run->enabled && ticker_due(&run->ticker, now))
			tick(run);
		if (run->plan->tick_limit && run->ticker.ledger.ticks >= run->plan->tick_limit) {
			run->out->ended_by_plan = true;
			return;
		}
	}
}

static int open_descriptors(struct run *run, struct err *e)
{
	struct sigaction hangup;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	/* Leave an ignored SIGHUP (nohup) alone: if it were blocked, signalfd would report it. */
	if (!sigaction(SIGHUP, NULL, &hangup) && hangup.sa_handler != SIG_IGN)
		sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	run->signals_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (run->signals_fd < 0)
		return err_set(e, errno, "cannot wait for signals: %s", strerror(errno));
	return 0;
}

static int start(struct run *run, struct err *e)
{
	const struct counting_plan *plan = run->plan;
	int r = 0;

	run->poll_tasks = !plan->argv && plan->target.tasks.len;
	/* Only now: the workload exists already and does not inherit the priority. */
	if (plan->interval_ns)
		be_punctual(&run->punctual);

	if (plan->on_open)
		r = plan->on_open(plan->ctx, &run->counters, e);
	if (r < 0)
		return r;
	/* Counters that are not started by the exec must count before the workload's first step. */
	if (!plan->delay_ns)
		counters_start(&run->counters);
	run->start_ns = clock_now_ns();
	if (!plan->delay_ns)
		enable(run);
	if (plan->argv)
		workload_start(&run->out->workload);
	if (plan->timeout_ns)
		run->end_ns = run->start_ns + plan->timeout_ns;
	return 0;
}

static void finish(struct run *run)
{
	uint64_t now = clock_now_ns();
	uint64_t elapsed_ns = now - (run->enabled ? run->enabled_ns : run->start_ns);

	counters_disable(&run->counters);
	counters_read(&run->counters);
	/* Report the time after the last full interval, unless the tick limit was reached. */
	if (run->plan->interval_ns && now > run->last_ns && run->enabled &&
	    !(run->plan->tick_limit && run->ticker.ledger.ticks >= run->plan->tick_limit))
		run->plan->on_tick(run->plan->ctx, &run->counters, now - run->start_ns,
				   now - run->last_ns);
	if (run->out->workload.pid)
		workload_end(&run->out->workload);
	run->out->ledger = run->ticker.ledger;
	run->plan->on_end(run->plan->ctx, &run->counters, elapsed_ns);
}

int counting_run(const struct counting_plan *plan, struct counting_result *ret, struct err *e)
{
	struct run run = {.plan = plan, .out = ret, .signals_fd = -1};
	struct target target = plan->target;
	int r = open_descriptors(&run, e);

	*ret = (struct counting_result){.workload = {.go_fd = -1, .error_fd = -1}};
	if (r == 0 && plan->argv)
		r = workload_spawn(&ret->workload, plan->argv, NULL, e);
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
	/* A child that is still held before its exec ends when the pipe closes. */
	workload_close(&ret->workload);
	if (ret->workload.pid)
		workload_end(&ret->workload);
	close(run.signals_fd);
	be_ordinary(&run.punctual); /* the next workload must not inherit the priority */
	return r;
}
