/* The collector process: waits for rings, signals, its starter and the clock until it is done. */
#include "collect/recording.h"
#include "base/as_user.h"
#include "base/clock.h"
#include "collect/keep/jvm.h"
#include "collect/punctual.h"
#include "collect/recorder.h"
#include "collect/tree.h"
#include "collect/workload.h"
#include "perf/open.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* Longest time between rounds, even if no ring fills: a crash loses at most this much. */
#define ROUND_NS NS_PER_SEC
/* How long to wait at the end until all messages are sent: the starter may be stopped. */
#define GOODBYE_MS    10000
#define EVENTS_A_TURN 64
/* How often to check attached tasks when there are no rings that report their end. */
#define TASK_POLL_NS (50 * NS_PER_MSEC)

/* Closing this many tracepoints takes the kernel about a second; the time for each. */
#define SLOW_CLOSE_FROM 20
#define SLOW_CLOSE_S    0.04

/* Tags of epoll events that are not ring numbers. */
enum { FROM_SIGNALS = 1u << 31, FROM_CHANNEL };

struct collector {
	const struct recording_plan *plan;
	struct channel channel;
	struct target target;
	struct workload workload;
	struct workload_options options;
	struct recorder recorder;
	struct record_summary summary;
	struct punctual punctual;
	int epoll_fd, signals_fd;
	uint64_t start_ns, last_round_ns, last_progress_ns;
	size_t rings_ended;
	bool enabled;
	bool round_due;
	bool snapshot_due;
	bool child_ended; /* SIGCHLD came */
	bool stopping;    /* the user asked to stop */
	bool hurried;     /* do not wait for the workload */
	bool killing;     /* end the workload by SIGKILL, without SIGTERM first */
	bool orphaned;    /* the starter is gone */
	bool failed;      /* recording has failed, and the error was sent */
};

/* ---- messages to the starter ---- */

static void send_error(struct collector *c, const struct err *e)
{
	CLEANUP(buf_release) struct buf body = {};

	body_u32(&body, (uint32_t)e->code);
	buf_add(&body, e->text);
	channel_send(&c->channel, MESSAGE_ERROR, 0, &body);
}

static void send_notes(struct collector *c)
{
	vec_each(&c->recorder.sampling.notes, note) {
		CLEANUP(buf_release) struct buf body = {};

		buf_add(&body, *note);
		channel_send(&c->channel, MESSAGE_NOTE, 0, &body);
	}
}

static void send_started(struct collector *c)
{
	const struct sampling *s = &c->recorder.sampling;
	CLEANUP(buf_release) struct buf body = {};

	body_u32(&body, (uint32_t)s->rows.len);
	body_u32(&body, (uint32_t)s->rings.len);
	body_u64(&body, s->ring_bytes);
	channel_send(&c->channel, MESSAGE_STARTED, 0, &body);
}

static void send_opened(struct collector *c)
{
	CLEANUP(buf_release) struct buf body = {};

	body_u64(&body, c->start_ns);
	body_u64(&body, clock_ns_of(CLOCK_REALTIME) - (clock_now_ns() - c->start_ns));
	body_u32(&body, (uint32_t)c->workload.pid);
	recorder_describe(&c->recorder, &body);
	channel_send(&c->channel, MESSAGE_OPENED, 0, &body);
}

static void send_progress(struct collector *c, uint64_t now)
{
	CLEANUP(buf_release) struct buf body = {};

	c->last_progress_ns = now;
	c->recorder.counts.cpu_ns = clock_ns_of(CLOCK_PROCESS_CPUTIME_ID);
	counts_put(&body, &c->recorder.counts);
	channel_send_droppable(&c->channel, MESSAGE_PROGRESS, &body);
}

/* ---- messages, signals and rings ---- */

static void handle_messages(struct collector *c)
{
	struct message m;
	int r;

	while ((r = channel_receive(&c->channel, &m)) > 0) {
		if (m.type == MESSAGE_STOP) {
			int signal = (int)cursor_u32(&m.body);

			c->stopping = true;
			c->hurried |= m.flags & STOP_NOW;
			c->killing |= m.flags & STOP_KILL;
			if (!m.body.failed && signal)
				workload_signal(&c->workload, signal);
		} else if (m.type == MESSAGE_SNAPSHOT) {
			c->snapshot_due = true;
		}
	}
	c->orphaned |= r < 0;
}

static void handle_signals(struct collector *c)
{
	struct signalfd_siginfo info;

	while (read(c->signals_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD) {
			c->child_ended = true;
			continue;
		}
		c->hurried |= c->stopping;
		c->stopping = true;
		workload_signal(&c->workload, (int)info.ssi_signo);
	}
}

static bool watch(struct collector *c, int fd, uint32_t tag)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u32 = tag};

	return !epoll_ctl(c->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

/* Whether the task behind @fd has ended. poll() also consumes the ring's POLLIN, so note that. */
static bool has_hung_up(struct collector *c, int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	poll(&p, 1, 0);
	c->round_due |= p.revents & POLLIN;
	return p.revents & (POLLHUP | POLLERR);
}

/* The task behind a ring's descriptor has ended; others may still write into the same ring. */
static void handle_hangup(struct collector *c, uint32_t number)
{
	struct sampling_ring *ring = &c->recorder.sampling.rings.items[number];

	epoll_ctl(c->epoll_fd, EPOLL_CTL_DEL, ring->fds.items[ring->watched], NULL);
	while (++ring->watched < ring->fds.len)
		if (!has_hung_up(c, ring->fds.items[ring->watched])) {
			watch(c, ring->fds.items[ring->watched], number);
			return;
		}
	c->rings_ended++;
}

static void handle(struct collector *c, const struct epoll_event *event)
{
	if (event->data.u32 == FROM_SIGNALS)
		handle_signals(c);
	else if (event->data.u32 == FROM_CHANNEL)
		handle_messages(c);
	else if (event->events & (EPOLLHUP | EPOLLERR))
		handle_hangup(c, event->data.u32);
	else
		c->round_due = true;
}

/* ---- time ---- */

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t round_ns(const struct collector *c)
{
	return c->plan->round_ns ? c->plan->round_ns : ROUND_NS;
}

/* Whether attached tasks must be polled: without rings, nothing reports their end. */
static bool polls_tasks(const struct collector *c)
{
	return !c->plan->argv && c->target.tasks.len && !c->recorder.sampling.rings.len;
}

static struct timespec time_left(const struct collector *c)
{
	const struct recording_plan *plan = c->plan;
	uint64_t now = clock_now_ns(), due = c->last_round_ns + round_ns(c);
	uint64_t tick_ns = c->recorder.counting.ticker.next_ns, left;

	if (plan->progress_ns)
		due = earlier(due, c->last_progress_ns + plan->progress_ns);
	if (!c->enabled)
		due = earlier(due, c->start_ns + plan->delay_ns);
	if (plan->timeout_ns)
		due = earlier(due, c->start_ns + plan->timeout_ns);
	if (tick_ns)
		due = earlier(due, tick_ns);
	if (polls_tasks(c))
		due = earlier(due, now + TASK_POLL_NS);
	left = due > now ? due - now : 0;
	return (struct timespec){.tv_sec = (time_t)(left / NS_PER_SEC),
				 .tv_nsec = (long)(left % NS_PER_SEC)};
}

/* Ends the recording after an error. The workload goes on without being recorded. */
static void fails(struct collector *c, struct err *e)
{
	sampling_disable(&c->recorder.sampling);
	recorder_finish(&c->recorder, NULL);
	if (c->workload.pid)
		err_prefix(e, "recording has stopped while the command goes on");
	send_error(c, e);
	c->failed = true;
}

static void do_round(struct collector *c)
{
	uint64_t now = clock_now_ns();
	struct err e = {};
	int r;

	if (c->failed)
		r = 0;
	else
		r = c->snapshot_due ? recorder_snapshot(&c->recorder, &e)
				    : recorder_round(&c->recorder, &e);
	c->round_due = c->snapshot_due = false;
	c->last_round_ns = now;
	if (r < 0)
		fails(c, &e);
	if (recorder_is_full(&c->recorder))
		c->summary.end = END_MAX_SIZE;
}

/* The counters of a program whose exec failed mean nothing: do not read them. */
static void tick(struct collector *c)
{
	struct ticker *ticker = &c->recorder.counting.ticker;
	struct err e = {};

	if (!ticker->ledger.ticks && workload_check_exec(&c->workload, "", NULL) < 0)
		ticker->next_ns = 0;
	else if (recorder_tick(&c->recorder, &e) < 0 && !c->failed)
		fails(c, &e);
}

static void look_at_clock(struct collector *c)
{
	const struct recording_plan *plan = c->plan;
	uint64_t now = clock_now_ns();
	bool progress = plan->progress_ns && now >= c->last_progress_ns + plan->progress_ns;

	if (!c->enabled && now >= c->start_ns + plan->delay_ns) {
		c->enabled = true;
		sampling_enable(&c->recorder.sampling);
	}
	if (ticker_due(&c->recorder.counting.ticker, now))
		tick(c);
	if (c->round_due || c->snapshot_due || progress || now >= c->last_round_ns + round_ns(c))
		do_round(c);
	if (progress)
		send_progress(c, now);
	if (plan->timeout_ns && now >= c->start_ns + plan->timeout_ns)
		c->summary.end = END_TIMEOUT;
}

static bool any_alive(const struct collector *c)
{
	vec_each(&c->target.tasks, task)
		if (task_is_alive(*task))
			return true;
	return false;
}

static bool is_over(struct collector *c)
{
	if (c->orphaned || c->hurried || c->summary.end != END_NATURAL)
		return true;
	if (c->plan->argv) {
		bool look = c->child_ended, ended = false;

		c->child_ended = false;
		if (look) {
			ended = workload_reap(&c->workload, false);
			tree_reap(c->workload.pid);
		}
		return ended;
	}
	if (c->stopping || c->failed)
		return true;
	if (polls_tasks(c))
		return !any_alive(c);
	return c->target.tasks.len && c->rings_ended == c->recorder.sampling.rings.len;
}

/* Ticks need better than millisecond precision, which epoll has from Linux 5.11 on. */
static int wait_for_events(struct collector *c, struct epoll_event *events)
{
	struct timespec left = time_left(c);
	int n = epoll_pwait2(c->epoll_fd, events, EVENTS_A_TURN, &left, NULL);

	if (n >= 0 || errno != ENOSYS)
		return n;
	return epoll_wait(c->epoll_fd, events, EVENTS_A_TURN,
			  (int)(left.tv_sec * 1000 + (left.tv_nsec + 999999) / 1000000));
}

static void run(struct collector *c)
{
	struct epoll_event events[EVENTS_A_TURN];

	while (!is_over(c)) {
		int n = wait_for_events(c, events);

		if (n < 0 && errno != EINTR)
			return;
		for (int i = 0; i < n; i++)
			handle(c, &events[i]);
		channel_flush(&c->channel);
		look_at_clock(c);
	}
	/* Take the time before the collector's own work begins. */
	c->summary.end_ns = clock_now_ns();
}

/* ---- beginning and end ---- */

/*
 * Ctrl-C reaches us as well as the starter, which tells us what to do: such signals are only
 * blocked here. SIGTERM, sent to us alone, stops the recording.
 */
static int open_descriptors(struct collector *c, struct err *e)
{
	sigset_t blocked, wanted;

	sigemptyset(&wanted);
	sigaddset(&wanted, SIGCHLD);
	sigaddset(&wanted, SIGTERM);
	blocked = wanted;
	sigaddset(&blocked, SIGINT);
	sigaddset(&blocked, SIGHUP);
	sigaddset(&blocked, SIGQUIT);
	sigaddset(&blocked, SIGUSR1);
	sigaddset(&blocked, SIGUSR2);
	sigaddset(&blocked, SIGXFSZ); /* write() then fails with EFBIG */
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	c->signals_fd = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
	c->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (c->signals_fd < 0 || c->epoll_fd < 0 || !watch(c, c->signals_fd, FROM_SIGNALS) ||
	    !watch(c, c->channel.fd, FROM_CHANNEL))
		return err_set(e, errno, "cannot wait for signals: %s", strerror(errno));
	return 0;
}

/* Redirects terminals to /dev/null: a workload must not use its watcher's screen and keys. */
static void leave_terminal(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
		if (isatty(fd))
			dup2(null, fd);
	if (null > STDERR_FILENO)
		close(null);
}

static int open_all(struct collector *c, struct err *e)
{
	const struct recording_plan *plan = c->plan;
	struct sampling *s = &c->recorder.sampling;
	int r = 0;

	c->target = plan->target;
	if (plan->no_terminal)
		leave_terminal();
	if (plan->argv) {
		c->options = plan->workload;
		c->options.to_stderr |=
			plan->output.writer.path && !strcmp(plan->output.writer.path, "-");
		/* Check this first: recorder_open() renames an existing recording to PATH.old. */
		if (!plan->workload.env && !plan->workload.cwd && !plan->workload.user &&
		    !workload_exists(plan->argv[0])) {
			c->summary.exec_failed = true;
			return workload_cannot_run(plan->argv[0], ENOENT, e);
		}
		if (!plan->no_jvm)
			jvm_set_environment();
		r = workload_spawn(&c->workload, plan->argv, &c->options, e);
		c->summary.has_workload = r == 0;
		perf_open_expect(c->workload.pid);
		if (c->options.captured) {
			close(c->options.out_fd);
			close(c->options.err_fd);
		}
	}
	if (r == 0 && plan->argv && !c->target.cpus.len && !c->target.tasks.len) {
		c->target.tasks.items = &c->workload.pid;
		c->target.tasks.len = 1;
		c->target.on_exec = true;
	}
	if (r == 0)
		r = recorder_open(&c->recorder, plan, &c->target, c->workload.pid, &c->channel, e);
	for (uint32_t i = 0; r == 0 && i < s->rings.len; i++)
		if (!watch(c, s->rings.items[i].fds.items[0], i))
			r = err_set(e, errno, "cannot wait for samples: %s", strerror(errno));
	return r;
}

static void start(struct collector *c)
{
	struct err e = {};

	/* Only now: the workload exists already and does not inherit the priority. */
	be_punctual(&c->punctual);
	send_notes(c);
	send_started(c);
	c->start_ns = c->last_round_ns = c->last_progress_ns = clock_now_ns();
	c->enabled = !c->plan->delay_ns;
	if (c->plan->on_opened)
		send_opened(c);
	if (recorder_start(&c->recorder, c->start_ns, &e) < 0)
		fails(c, &e);
	perf_open_expect(0);
	if (c->plan->argv)
		workload_start(&c->workload);
}

static void finish(struct collector *c)
{
	struct err e = {};
	int r;

	sampling_disable(&c->recorder.sampling);
	if (c->plan->argv)
		r = workload_check_exec(&c->workload, c->plan->argv[0], &e);
	else
		r = 0;
	c->summary.exec_failed = r < 0;
	if (r == 0 && !c->failed)
		r = recorder_finish(&c->recorder, &e);
	if (r < 0)
		send_error(c, &e);
	/* Before the workload is ended: a JVM can only be asked while it runs. */
	recorder_keep(&c->recorder, c->hurried || c->orphaned);
	c->recorder.counts.cpu_ns = clock_ns_of(CLOCK_PROCESS_CPUTIME_ID);
	c->summary.counts = c->recorder.counts;
	if (c->recorder.counting.end_ns > c->summary.end_ns)
		c->summary.end_ns = c->recorder.counting.end_ns;
}

/*
 * Ends the workload with its descendants. If it has ended by itself, they are left running, unless the run
 * has another user's rights: his programs would stay on a machine that is not his, and nobody would end them.
 */
static void end_workload(struct collector *c)
{
	workload_close(&c->workload);
	if (c->workload.pid) {
		if (c->killing)
			tree_kill(getpid(), false, c->workload.pid);
		else
			tree_end(getpid(), false, c->workload.pid);
		/* No descendants are found without /proc, or with another pid namespace's. */
		workload_signal(&c->workload, SIGKILL);
		workload_reap(&c->workload, true);
	} else if (as_user_chosen()) {
		tree_end(getpid(), false, 0);
	}
	tree_reap(0);
	c->summary.wait_status = c->workload.wait_status;
}

/* The kernel closes tracepoints one after the other, waiting each time: tell the user how long. */
static void warn_of_closing(struct collector *c)
{
	CLEANUP(free_ptr) char *text = NULL;
	size_t count = 0;

	vec_each(&c->recorder.sampling.rows, row)
		count += row->unit.type == PERF_TYPE_TRACEPOINT;
	if (count <= SLOW_CLOSE_FROM)
		return;
	text = xasprintf("the kernel takes about %.0f s to close %zu tracepoints …",
			 SLOW_CLOSE_S * (double)count, count);
	recorder_say(&c->recorder, MESSAGE_NOTE, text);
}

int collector_main(const struct recording_plan *plan, int channel_fd)
{
	struct collector c = {
		.plan = plan, .epoll_fd = -1, .signals_fd = -1, .workload = {.go_fd = -1}};
	CLEANUP(buf_release) struct buf body = {};
	struct err e = {};
	int r;

	c.workload.error_fd = -1;
	channel_init(&c.channel, channel_fd);
	c.channel.body_max = RECORDING_BODY_MAX;
	tree_adopt();
	r = open_descriptors(&c, &e);
	if (r == 0)
		r = open_all(&c, &e);
	if (r == 0) {
		start(&c);
		run(&c);
		finish(&c);
	} else {
		send_error(&c, &e);
	}
	end_workload(&c);
	summary_put(&body, &c.summary);
	channel_send(&c.channel, MESSAGE_FINISHED, 0, &body);
	warn_of_closing(&c);
	channel_drain(&c.channel, GOODBYE_MS);
	recorder_close(&c.recorder);
	channel_release(&c.channel);
	return r < 0;
}
