#include "runs/internal.h"
#include "base/clock.h"
#include "base/reserve.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVENTS_MAX 64

int loop_watch(struct runs *r, int fd, void *what)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = what};

	return epoll_ctl(r->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

void loop_wake(struct runs *r)
{
	uint64_t one = 1;

	/* The write fails if the counter is full: then the loop wakes up anyway. */
	if (write(r->wake_fd, &one, sizeof(one)) < 0)
		return;
}

struct active *find_active(struct runs *r, const char *uuid)
{
	vec_each(&r->active, a)
		if (!strcmp((*a)->run.uuid, uuid))
			return *a;
	return NULL;
}

/* ---- requests ---- */

static void answer(struct runs *r, struct request *q, int result)
{
	pthread_mutex_lock(&r->lock);
	q->result = result;
	q->answered = true;
	pthread_cond_broadcast(&r->answered);
	pthread_mutex_unlock(&r->lock);
}

static int cancel(struct runs *r, struct request *q)
{
	struct active *a = find_active(r, q->uuid);

	if (!a)
		return queue_cancel(r, q->uuid, &q->err);
	if (a->over)
		return err_set(&q->err, EALREADY,
			       "This run is already %s; only queued or running runs "
			       "can be cancelled.",
			       run_state_name(a->run.state));
	/* A second request kills the workload at once. */
	collector_stop(a, a->cancelled);
	a->cancelled = true;
	return 0;
}

/* Releases a run that is to be deleted. Answers at once, or when its collector is gone. */
static void release(struct runs *r, struct request *q)
{
	struct active *a = find_active(r, q->uuid);
	int rc;

	if (a) {
		if (!a->over)
			collector_stop(a, true);
		a->cancelled = true;
		vec_push(&a->releasers, q);
		return;
	}
	rc = queue_cancel(r, q->uuid, &q->err);
	answer(r, q, rc == -EALREADY ? 0 : rc);
}

static void tell_changed(struct runs *r, const char *uuid)
{
	struct stored_run run = {};

	if (store_run_get(r->store, uuid, &run, NULL) == 0)
		live_changed(r->host->live, &run);
	stored_run_release(&run);
}

static void tell_added(struct runs *r, const char *uuid)
{
	tell_changed(r, uuid);
	live_queue_changed(r->host->live);
}

static void handle(struct runs *r, struct request *q)
{
	switch (q->kind) {
	case REQUEST_ADDED:
		tell_added(r, q->uuid);
		free(q);
		break;
	case REQUEST_CHANGED:
		tell_changed(r, q->uuid);
		free(q);
		break;
	case REQUEST_CANCEL:
		answer(r, q, cancel(r, q));
		break;
	case REQUEST_RELEASE:
		release(r, q);
		break;
	case REQUEST_MOVE:
		answer(r, q, queue_move(r, q->uuid, q->before, &q->err));
		break;
	}
}

/* Returns true if the server is stopping. */
static bool take_requests(struct runs *r)
{
	struct request *list, *next;
	bool stopping;
	uint64_t count;

	if (read(r->wake_fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return true;
	pthread_mutex_lock(&r->lock);
	list = r->first;
	r->first = NULL;
	r->last = &r->first;
	stopping = r->stopping;
	pthread_mutex_unlock(&r->lock);
	for (; list; list = next) {
		next = list->next;
		handle(r, list);
	}
	return stopping;
}

/* ---- timers ---- */

static void sooner(uint64_t *ns, uint64_t other)
{
	if (other && (!*ns || other < *ns))
		*ns = other;
}

static int wait_ms(struct runs *r)
{
	uint64_t due = r->retry_ns, now = runs_now_ns(r);
	int live_ms = live_wait_ms(r->host->live), ms = -1;

	vec_each(&r->active, p) {
		const struct active *a = *p;

		sooner(&due, a->kill_ns);
		sooner(&due, a->retry_ns);
		if (!a->exited)
			sooner(&due, a->look_ns + LOOK_MS * NS_PER_MSEC);
		if (!a->retry_ns && !a->depositing && !a->saved && a->first_arrived_ns)
			sooner(&due, a->first_arrived_ns + FLUSH_AFTER_MS * NS_PER_MSEC);
		sooner(&due, r->place_check_ns);
	}
	if (due)
		ms = due <= now ? 0 : (int)((due - now) / NS_PER_MSEC) + 1;
	return live_ms >= 0 && (ms < 0 || live_ms < ms) ? live_ms : ms;
}

static void stop_all(struct runs *r, const char *why)
{
	vec_each(&r->active, p)
		if (!(*p)->over) {
			ingest_over(*p, STATE_FAILED, why);
			collector_stop(*p, true);
		}
}

/* Stops all runs if there is no database any more, or no room, to store their data in. */
static void check_place(struct runs *r, uint64_t now)
{
	CLEANUP(free_ptr) char *why = NULL;
	struct err e = {};

	if (!r->active.len || now < r->place_check_ns)
		return;
	r->place_check_ns = now + PLACE_CHECK_MS * NS_PER_MSEC;
	if (store_check(r->store, &e) == -ESTALE)
		why = xasprintf("The run was stopped because its data cannot be stored. %s",
				e.text);
	else if (files_check_room(r->host, r->store, 0, &e) == -EDQUOT)
		why = xasprintf(
			"The run was stopped because there is no room left. %s The data measured "
			"so far is kept.",
			e.text);
	if (why)
		stop_all(r, why);
}

/* Flushes runs whose data has waited long enough, kills collectors that did not stop in time. */
static void act_on_times(struct runs *r)
{
	uint64_t now = runs_now_ns(r);

	live_tick(r->host->live);
	check_place(r, now);
	vec_each(&r->active, p) {
		struct active *a = *p;

		if (a->kill_ns && now >= a->kill_ns) {
			a->kill_ns = 0;
			kill(a->pid, SIGKILL);
		}
		collector_look(a, now);
		if (a->retry_ns
			    ? now >= a->retry_ns
			    : a->over || (a->changed && !a->first_arrived_ns) ||
				      (a->first_arrived_ns &&
				       now >= a->first_arrived_ns + FLUSH_AFTER_MS * NS_PER_MSEC))
			ingest_flush(a);
	}
}

/* Removes the runs whose process is gone and whose end is stored. */
static void remove_finished(struct runs *r)
{
	bool any = false;

	for (size_t i = 0; i < r->active.len;) {
		struct active *a = r->active.items[i];

		if (!a->exited || !a->saved) {
			i++;
			continue;
		}
		pthread_mutex_lock(&r->lock);
		for (size_t k = 0; k < r->visible.len; k++)
			if (r->visible.items[k] == a)
				r->visible.items[k--] = r->visible.items[--r->visible.len];
		pthread_mutex_unlock(&r->lock);
		r->active.items[i] = r->active.items[--r->active.len];
		vec_each(&a->releasers, q)
			answer(r, *q, 0);
		active_free(a);
		any = true;
	}
	if (any)
		live_queue_changed(r->host->live);
}

/* ---- the loop ---- */

/* The channel is readable or the process has ended: reads the channel, then reaps the process. */
static void look_at(struct active *a)
{
	siginfo_t info = {};

	ingest_channel(a);
	if (a->exited || waitid(P_PID, (id_t)a->pid, &info, WEXITED | WNOHANG | WNOWAIT) ||
	    !info.si_pid)
		return;
	epoll_ctl(a->runs->epoll_fd, EPOLL_CTL_DEL, a->pid_fd, NULL);
	a->exiting = true;
	while (a->channel_watched && !a->channel.ended) {
		size_t before = a->arrived.len;
		bool over = a->over;

		ingest_channel(a);
		if (a->arrived.len == before && a->over == over)
			break;
	}
	collector_bury(a);
}

static bool step(struct runs *r)
{
	struct epoll_event events[EVENTS_MAX];
	int n = epoll_wait(r->epoll_fd, events, EVENTS_MAX, wait_ms(r));
	bool stopping = take_requests(r);

	writer_collect(r);
	/* Both descriptors of a run may be ready: it is freed only after both were handled. */
	for (int i = 0; i < n; i++)
		if (events[i].data.ptr) {
			/* Only the run that needs too much memory is to fail for it. */
			reserve_settle();
			look_at(events[i].data.ptr);
		}
	act_on_times(r);
	remove_finished(r);
	reserve_settle();
	return stopping;
}

/* Refuses the requests that came too late. */
static void refuse_rest(struct runs *r)
{
	struct request *list, *next;

	pthread_mutex_lock(&r->lock);
	list = r->first;
	r->first = NULL;
	r->last = &r->first;
	pthread_mutex_unlock(&r->lock);
	for (; list; list = next) {
		next = list->next;
		if (list->kind == REQUEST_ADDED || list->kind == REQUEST_CHANGED)
			free(list);
		else
			answer(r, list,
			       err_set(&list->err, EBUSY,
				       "The server is shutting down. Try again later."));
	}
}

void *runs_loop(void *runs)
{
	struct runs *r = runs;
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	queue_start(r);
	while (!step(r))
		queue_start(r);
	vec_each(&r->active, a)
		if (!(*a)->over) {
			(*a)->cut = true;
			collector_stop(*a, false);
		}
	/* A failing store must not delay the end: the next start marks what is not stored. */
	for (uint64_t end = runs_now_ns(r) + (STOP_PATIENCE_MS + EXIT_PATIENCE_MS) * NS_PER_MSEC;
	     r->active.len && runs_now_ns(r) < end;)
		step(r);
	writer_stop(r);
	vec_each(&r->active, a) {
		vec_each(&(*a)->releasers, q)
			answer(r, *q,
			       err_set(&(*q)->err, EBUSY,
				       "The server is shutting down. Try again later."));
		active_free(*a);
	}
	r->active.len = r->visible.len = 0;
	refuse_rest(r);
	return NULL;
}
