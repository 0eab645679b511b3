#include "collect/run/runner.h"
#include "base/clock.h"
#include "collect/run/rights.h"
#include "collect/tree.h"
#include "collect/workload_prepare.h"
#include "perf/rights.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define LEDGER_NS NS_PER_SEC
/* We give way to the workload. */
#define NICE 10
/* How long to wait at the end until all messages are sent: the server may be stopped. */
#define GOODBYE_MS 60000

/* The workload may be a debugger that holds the ring collector. After this many checks, one a
 * second, both are killed. */
#define HELD_MAX 10

/* Indices of the descriptors that turn() waits for. */
enum {
	WAIT_CHANNEL,
	WAIT_WAKE,
	WAIT_OUT,
	WAIT_ERR,
	WAIT_RECORDING,
	WAIT_COUNT = WAIT_RECORDING + 2
};

/* ---- messages from the ring collector ---- */

static void on_progress(void *ctx, const struct record_counts *counts)
{
	struct runner *r = ctx;

	r->counts = *counts;
}

static void on_opened(void *ctx, const struct recording_opened *opened)
{
	runner_send_opened(ctx, opened);
}

static void on_note(void *ctx, const char *text)
{
	runner_note(ctx, text);
}

static void on_switched(void *ctx, const char *path)
{
	(void)ctx;
	(void)path;
}

static void on_finished(void *ctx, const struct record_summary *summary)
{
	struct runner *r = ctx;

	r->end_ns = summary->end_ns;
}

/* ---- messages from the server ---- */

static void stop(struct runner *r, bool kill)
{
	r->stopped = true;
	if (!r->recording)
		__atomic_store_n(&r->feed_stops, true, __ATOMIC_RELAXED);
	else if (kill)
		recording_kill(r->recording);
	else
		recording_stop(r->recording, r->order.plan.argv.len > 0);
}

static void server_gone(struct runner *r)
{
	pthread_mutex_lock(&r->lock);
	r->gone = true;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
	__atomic_store_n(&r->feed_stops, true, __ATOMIC_RELAXED);
	if (r->recording)
		recording_stop(r->recording, true);
}

/* Takes the next message; the lock is only for the channel. */
static int receive(struct runner *r, struct message *ret)
{
	int result;

	pthread_mutex_lock(&r->lock);
	result = channel_receive(&r->channel, ret);
	pthread_mutex_unlock(&r->lock);
	return result;
}

static void listen_to_server(struct runner *r)
{
	struct message m;
	int result;

	if (r->gone)
		return;
	while ((result = receive(r, &m)) > 0)
		if (m.type == RUN_STOP)
			stop(r, cursor_u32(&m.body) == 1);
	if (result < 0)
		server_gone(r);
}

/* ---- waiting ---- */

static void fill_fds(struct runner *r, struct pollfd fds[WAIT_COUNT])
{
	short out;

	pthread_mutex_lock(&r->lock);
	out = channel_waiting(&r->channel) ? POLLOUT : 0;
	pthread_mutex_unlock(&r->lock);
	fds[WAIT_CHANNEL] = (struct pollfd){.fd = r->gone ? -1 : r->channel.fd,
					    .events = (short)(POLLIN | out)};
	fds[WAIT_WAKE] = (struct pollfd){.fd = r->wake_fd, .events = POLLIN};
	fds[WAIT_OUT] = (struct pollfd){.fd = r->output.fds[0], .events = POLLIN};
	fds[WAIT_ERR] = (struct pollfd){.fd = r->output.fds[1], .events = POLLIN};
	fds[WAIT_RECORDING] = fds[WAIT_RECORDING + 1] = (struct pollfd){.fd = -1};
	if (r->recording)
		recording_fds(r->recording, &fds[WAIT_RECORDING]);
}

static int milliseconds_left(const struct runner *r)
{
	uint64_t now = clock_now_ns();

	return r->next_ledger_ns > now ? (int)((r->next_ledger_ns - now) / NS_PER_MSEC) + 1 : 0;
}

/* A workload can stop the ring collector, and would then outlast its own timeout. */
static void watch_ring_collector(struct runner *r)
{
	if (!r->recording || !task_continue(recording_collector(r->recording)))
		r->held = 0;
	else if (++r->held >= HELD_MAX)
		/* Kill the debugger, too: it would hold even the dead ring collector. */
		tree_kill(recording_collector(r->recording), true, 0);
}

static void look_at_clock(struct runner *r)
{
	uint64_t now = clock_now_ns();

	if (now < r->next_ledger_ns)
		return;
	r->next_ledger_ns = now + LEDGER_NS;
	watch_ring_collector(r);
	runner_send_ledger(r, false);
}

static void end_recording(struct runner *r)
{
	struct err e = {};
	int result = recording_finish(r->recording, &r->summary, &e);

	r->recording = NULL;
	r->counts = r->summary.counts;
	if (result < 0)
		r->error = e;
	if (r->held >= HELD_MAX)
		err_set(&r->error, EPIPE,
			"the collector was held by a debugger for %d s, so it was ended with the "
			"workload; what had been measured until then is kept",
			HELD_MAX);
	runner_output_close(r);
	/* Wake the feed: RUN_OPENED will not come any more, and all maps are written. */
	pthread_mutex_lock(&r->lock);
	r->never_opened = !r->opened;
	r->over = true;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
}

/* Returns false when the run is over. */
static bool turn(struct runner *r)
{
	struct pollfd fds[WAIT_COUNT];
	uint64_t wakes;
	bool fed;

	fill_fds(r, fds);
	if (poll(fds, WAIT_COUNT, milliseconds_left(r)) < 0 && errno != EINTR)
		return false;
	if (fds[WAIT_WAKE].revents && read(r->wake_fd, &wakes, sizeof(wakes)) < 0)
		wakes = 0;
	listen_to_server(r);
	runner_flush(r);
	for (unsigned i = 0; i < ARRAY_LEN(r->output.fds); i++)
		if (fds[WAIT_OUT + i].revents)
			runner_output_read(r, i);
	if (r->recording && !recording_turn(r->recording))
		end_recording(r);
	look_at_clock(r);
	pthread_mutex_lock(&r->lock);
	fed = r->fed;
	pthread_mutex_unlock(&r->lock);
	return r->recording || !fed;
}

/* ---- beginning and end ---- */

static int wait_for_order(struct runner *r, struct err *e)
{
	struct pollfd fd = {.fd = r->channel.fd, .events = POLLIN};
	struct message m;
	int result;

	while ((result = channel_receive(&r->channel, &m)) == 0)
		if (poll(&fd, 1, -1) < 0 && errno != EINTR)
			return -errno;
	if (result < 0) {
		r->gone = true;
		return err_set(e, EPIPE, "the server closed the connection before it sent a plan");
	}
	if (m.type != RUN_PLAN)
		return err_set(e, EBADMSG, "the server has sent no plan");
	return runner_order_parse(m.body.data, m.body.size, &r->order, e);
}

static int start_live(struct runner *r, struct err *e)
{
	struct recording_plan plan = {.on_progress = on_progress,
				      .on_opened = on_opened,
				      .on_note = on_note,
				      .on_switched = on_switched,
				      .on_finished = on_finished,
				      .ctx = r};
	int result = runner_setup_make(r, &plan, e);

	if (result < 0)
		return result;
	vec_each(&r->setup.notes, note)
		runner_note(r, *note);
	if (plan.argv) {
		result = runner_output_open(r, &plan.workload, e);
		if (result < 0)
			return result;
		plan.starter_fds[plan.starter_fd_count++] = r->output.fds[0];
		plan.starter_fds[plan.starter_fd_count++] = r->output.fds[1];
	}
	plan.starter_fds[plan.starter_fd_count++] = r->channel.fd;
	result = live_start(&r->live, &plan, e);
	if (plan.argv) {
		close(plan.workload.out_fd);
		close(plan.workload.err_fd);
	}
	if (result < 0)
		return result;
	r->recording = r->live.recording;
	/* Only now: the ring collector and the workload must not inherit this. */
	setpriority(PRIO_PROCESS, 0, NICE);
	return runner_feed_start(r, r->live.data_fd, e);
}

/*
 * What a run keeps is seen by all users of the server, so files are opened with the rights of the
 * processes that name them. The names in a recording that was imported may come from anywhere. Whoever
 * imports may start programs on this server, too: as the server's user, whose rights therefore hold,
 * except root's, which may belong to the administrator alone.
 */
static int choose_rights(const struct runner *r, const struct run_rights *rights, struct err *e)
{
	const struct run_plan *plan = &r->order.plan;

	if (r->order.private)
		rights_set_rule(RIGHTS_ASKER);
	else if (r->order.import)
		rights_set_rule(geteuid() ? RIGHTS_ASKER : RIGHTS_PUBLIC);
	else
		rights_set_rule(RIGHTS_TASKS);
	/* Who may start programs as a user has his rights already. Root's programs may start others
	 * with fewer rights, and that is not known of a process that is gone. */
	if (!r->order.private && !r->order.import && plan->argv.len && !plan->system_wide)
		workload_presume_rights(plan->user);
	return run_rights_take(rights, r->order.import, e);
}

static int start(struct runner *r, struct err *e)
{
	const struct run_rights rights = {r->order.run_as, r->order.restricted};
	int result = 0;

	if (!r->order.import)
		result = run_rights_apply(&rights, &r->order.plan, e);
	if (result == 0)
		result = choose_rights(r, &rights, e);
	if (result < 0)
		return result;
	if (!r->order.import)
		return start_live(r, e);
	setpriority(PRIO_PROCESS, 0, NICE);
	return runner_feed_start(r, -1, e);
}

static void say_goodbye(struct runner *r)
{
	if (r->gone)
		return;
	if (!r->error.code && r->feed_error.code)
		r->error = r->feed_error;
	runner_send_ledger(r, true);
	runner_send_ended(r);
	channel_drain(&r->channel, GOODBYE_MS);
}

int runner_main(int channel_fd)
{
	struct runner r = {.output.fds = {-1, -1}};
	int result;

	runner_channel_init(&r, channel_fd);
	result = wait_for_order(&r, &r.error);
	if (result == 0)
		result = start(&r, &r.error);
	if (result == 0) {
		r.next_ledger_ns = clock_now_ns() + LEDGER_NS;
		while (turn(&r))
			;
		runner_feed_join(&r);
	}
	say_goodbye(&r);
	runner_output_close(&r);
	runner_setup_release(&r.setup);
	runner_order_release(&r.order);
	vec_each(&r.figures.counters, counter)
		free(counter->event);
	vec_release(&r.figures.counters);
	runner_channel_release(&r);
	return 0;
}
