#include "runs/runs.h"
#include "base/clock.h"
#include "base/json.h"
#include "bus/bus.h"
#include "collect/tree.h"
#include "runs/live/live.h"
#include "runs/internal.h"
#include "runs/tidy.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

uint64_t runs_now_ns(const struct runs *r)
{
	return clock_monotonic_ns(r->host->clock);
}

/* Returns the path of tacho in the directory of our own program. */
static char *find_program(void)
{
	struct buf path = {};
	char own[4096];
	ssize_t len = readlink("/proc/self/exe", own, sizeof(own) - 1);

	buf_add_mem(&path, own, len > 0 ? (size_t)len : 0);
	while (path.len && path.s[path.len - 1] != '/')
		path.len--;
	buf_add(&path, "tacho");
	return buf_steal(&path);
}

const char *runs_program(const struct runs *r)
{
	return r->program;
}

static void runs_free(struct runs *r)
{
	writer_stop(r);
	pthread_cond_destroy(&r->writer.work);
	store_close(r->writer.store);
	store_close(r->store);
	if (r->epoll_fd >= 0)
		close(r->epoll_fd);
	if (r->wake_fd >= 0)
		close(r->wake_fd);
	vec_release(&r->queue);
	vec_release(&r->active);
	vec_release(&r->visible);
	vec_release(&r->left_alone);
	pthread_mutex_destroy(&r->lock);
	pthread_cond_destroy(&r->answered);
	free(r->program);
	free(r);
}

static int prepare(struct runs *r, struct err *e)
{
	struct store_options o = {.directory = r->host->settings.data, .busy_ms = BUSY_STORE_MS};
	int rc = store_open(&r->store, &o, e);

	if (rc == 0)
		rc = store_open(&r->writer.store, &o, e);
	if (rc < 0)
		return rc;
	r->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	r->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r->epoll_fd < 0 || r->wake_fd < 0 || loop_watch(r, r->wake_fd, NULL) < 0)
		return err_set(e, errno, "cannot wait for events: %s", strerror(errno));
	rc = files_recover(r->host, r->store, e);
	if (rc < 0)
		return rc;
	files_clean(r->host);
	lost_settle(r->host, r->store);
	return queue_load(r, e);
}

int runs_prepare(struct runs **ret, struct run_host *host, struct err *e)
{
	struct runs *r = xcalloc(1, sizeof(*r));
	int rc;

	*r = (struct runs){.host = host, .epoll_fd = -1, .wake_fd = -1};
	r->last = &r->first;
	r->program = find_program();
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->answered, NULL);
	pthread_cond_init(&r->writer.work, NULL);
	/* Adopt the processes that a killed collector leaves behind, so that none gets away. */
	tree_adopt();
	rc = prepare(r, e);
	if (rc < 0)
		runs_free(r);
	else
		*ret = r;
	return rc;
}

int runs_begin(struct runs *r, struct err *e)
{
	int code, rc = writer_begin(r, e);

	if (rc < 0)
		return rc;
	code = pthread_create(&r->thread, NULL, runs_loop, r);
	r->begun = !code;
	return code ? err_set(e, code, "cannot start a thread: %s", strerror(code)) : 0;
}

void runs_stop(struct runs *r)
{
	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->stopping = true;
	pthread_mutex_unlock(&r->lock);
	loop_wake(r);
	if (r->begun)
		pthread_join(r->thread, NULL);
	pthread_mutex_lock(&r->lock);
	while (r->burials)
		pthread_cond_wait(&r->answered, &r->lock);
	pthread_mutex_unlock(&r->lock);
	runs_free(r);
}

/* ---- asking the supervisor ---- */

static void hand_over(struct runs *r, struct request *q)
{
	*r->last = q;
	r->last = &q->next;
	loop_wake(r);
}

static int ask(struct runs *r, struct request *q, struct err *e)
{
	pthread_mutex_lock(&r->lock);
	if (r->stopping) {
		pthread_mutex_unlock(&r->lock);
		return err_set(e, EBUSY, "The server is shutting down. Try again later.");
	}
	hand_over(r, q);
	while (!q->answered)
		pthread_cond_wait(&r->answered, &r->lock);
	pthread_mutex_unlock(&r->lock);
	if (q->result < 0 && e)
		*e = q->err;
	return q->result;
}

static struct request request_for(enum request_kind kind, const char *uuid)
{
	struct request q = {.kind = kind};

	memccpy(q.uuid, uuid, '\0', sizeof(q.uuid));
	q.uuid[sizeof(q.uuid) - 1] = '\0';
	return q;
}

int runs_cancel(struct runs *r, struct store *store, const char *uuid, struct err *e)
{
	struct request q = request_for(REQUEST_CANCEL, uuid);

	(void)store;
	return ask(r, &q, e);
}

int runs_move(struct runs *r, struct store *store, const char *uuid, const char *before,
	      struct err *e)
{
	struct request q = request_for(REQUEST_MOVE, uuid);

	(void)store;
	if (before)
		memcpy(q.before, request_for(REQUEST_MOVE, before).uuid, sizeof(q.before));
	return ask(r, &q, e);
}

void runs_changed(struct runs *r, const char *uuid)
{
	struct request *q = xcalloc(1, sizeof(*q));

	*q = request_for(REQUEST_CHANGED, uuid);
	pthread_mutex_lock(&r->lock);
	if (r->stopping)
		free(q);
	else
		hand_over(r, q);
	pthread_mutex_unlock(&r->lock);
}

/* ---- new runs ---- */

static char *tags_text(const struct run_plan *plan)
{
	struct buf text = {};
	struct json j = jw_to(&text);

	jw_open(&j, '[');
	if (plan)
		vec_each(&plan->tags, tag)
			jw_str(&j, *tag);
	jw_close(&j, ']');
	return buf_steal(&text);
}

static int check_limits(struct runs *r, struct store *store, struct err *e)
{
	unsigned max = r->host->settings.queue_max;
	unsigned queued;

	pthread_mutex_lock(&r->lock);
	queued = (unsigned)r->queue.len;
	pthread_mutex_unlock(&r->lock);
	if (queued >= max)
		return err_set(
			e, EBUSY,
			"The queue is full: %u runs are waiting (the limit is queue-max). Cancel "
			"some of them, or try again later.",
			queued);
	return files_check_room(r->host, store, 0, e);
}

int runs_upload_room(struct runs *r, struct store *store, uint64_t bytes, struct err *e)
{
	return files_check_room(r->host, store, bytes, e);
}

/* Adds the run to the store, then hands it to the supervisor. */
static int submit(struct runs *r, struct store *store, const struct stored_session *session,
		  struct stored_run *run, struct err *e)
{
	struct request *q = xcalloc(1, sizeof(*q));
	double expected_s = queue_expected_s(store, run->command, run->plan);
	bool stopping;
	int rc;

	run->session_id = session->id;
	memcpy(run->session_uuid, session->uuid, sizeof(run->session_uuid));
	run->state = STATE_QUEUED;
	run->created_ms = clock_wall_ms(r->host->clock);
	pthread_mutex_lock(&r->lock);
	run->position = ++r->last_position;
	stopping = r->stopping;
	pthread_mutex_unlock(&r->lock);
	/* Not under the lock: the supervisor may wait for the lock while it holds the store. */
	rc = stopping ? err_set(e, EBUSY, "The server is shutting down. Try again later.")
		      : store_run_add(store, run, e);
	if (rc < 0) {
		free(q);
		return rc;
	}
	*q = request_for(REQUEST_ADDED, run->uuid);
	q->position = run->position;
	q->exclusive = run->exclusive;
	q->expected_s = expected_s;
	pthread_mutex_lock(&r->lock);
	queue_add(r, q);
	hand_over(r, q);
	pthread_mutex_unlock(&r->lock);
	live_session_changed(r->host->live, session->uuid);
	return 0;
}

int runs_submit(struct runs *r, struct store *store, const struct stored_session *session,
		const struct run_plan *plan, const char *user, struct stored_run *ret,
		struct err *e)
{
	struct stored_run run = {.exclusive = run_plan_exclusive(plan)};
	json_t *json = run_plan_json(plan);
	int rc = check_limits(r, store, e);

	if (rc == 0) {
		uuid_make(run.uuid);
		run.user = user ? xstrdup(user) : NULL;
		run.command = xstrdup(plan->workload ? plan->workload : "");
		run.description = plan->description && *plan->description
					  ? xstrdup(plan->description)
					  : xstrdup(run.command);
		run.plan = json_dumps(json, JSON_COMPACT);
		run.note = plan->note ? xstrdup(plan->note) : NULL;
		run.tags = tags_text(plan);
		rc = submit(r, store, session, &run, e);
	}
	json_decref(json);
	if (rc < 0)
		stored_run_release(&run);
	else
		*ret = run;
	return rc;
}

int runs_submit_import(struct runs *r, struct store *store, const struct stored_session *session,
		       int fd, const char *name, bool keep_raw, const char *user,
		       struct stored_run *ret, struct err *e)
{
	struct stored_run run = {};
	json_t *plan = json_pack("{s:s, s:b, s:b}", "import", name, "keep_raw", (int)keep_raw,
				 "exclusive", 0);
	int rc = check_limits(r, store, e);

	if (rc == 0 && !plan)
		rc = err_set(
			e, EINVAL,
			"The name of the file is not valid UTF-8. Rename it and upload it again.");
	if (rc == 0) {
		uuid_make(run.uuid);
		rc = raw_keep(r->host, run.uuid, fd, e);
	}
	if (rc == 0) {
		run.user = user ? xstrdup(user) : NULL;
		run.description = xstrdup(name);
		run.command = xstrdup("");
		run.plan = json_dumps(plan, JSON_COMPACT);
		run.tags = tags_text(NULL);
		rc = submit(r, store, session, &run, e);
		if (rc < 0)
			raw_remove(r->host, run.uuid);
	}
	json_decref(plan);
	if (rc < 0)
		stored_run_release(&run);
	else
		*ret = run;
	return rc;
}

/* ---- deleting ---- */

static void forget(struct runs *r, const struct stored_run *run)
{
	raw_remove(r->host, run->uuid);
	tidy_kick(r->host->tidy, 0);
	live_removed(r->host->live, run->uuid, run->session_uuid);
}

int runs_delete(struct runs *r, struct store *store, const char *uuid, struct err *e)
{
	struct request q = request_for(REQUEST_RELEASE, uuid);
	struct stored_run run = {};
	int rc = store_run_get(store, uuid, &run, e);

	if (rc < 0)
		return rc;
	rc = ask(r, &q, e);
	if (rc == 0)
		rc = store_run_delete(store, run.id, e);
	if (rc == 0) {
		forget(r, &run);
		live_session_changed(r->host->live, run.session_uuid);
	}
	stored_run_release(&run);
	return rc;
}

/* Releases the queued and running runs of a session; ended runs need no release. */
static int release_all(struct runs *r, struct store *store, const stored_runs *all, struct err *e)
{
	int rc = 0;

	(void)store;
	vec_each(all, run) {
		struct request q = request_for(REQUEST_RELEASE, run->uuid);

		if (rc == 0 && (run->state == STATE_QUEUED || run->state == STATE_RUNNING))
			rc = ask(r, &q, e);
	}
	return rc;
}

#define SESSION_RUNS_MAX 1000000u

int runs_delete_session(struct runs *r, struct store *store, const char *uuid, struct err *e)
{
	CLEANUP(stored_runs_release) stored_runs all = {};
	struct stored_session session = {};
	struct page page = {.limit = SESSION_RUNS_MAX};
	int rc = store_session_get(store, uuid, &session, e);

	if (rc < 0)
		return rc;
	rc = store_runs(store, session.id, &page, &all, e);
	if (rc == 0)
		rc = release_all(r, store, &all, e);
	if (rc == 0)
		rc = store_session_delete(store, session.id, e);
	if (rc == 0) {
		vec_each(&all, run)
			forget(r, run);
		tidy_kick(r->host->tidy, 0);
		live_session_removed(r->host->live, session.uuid);
	}
	stored_session_release(&session);
	return rc;
}

void runs_counts(struct runs *r, struct runs_counts *ret)
{
	pthread_mutex_lock(&r->lock);
	*ret = r->counts;
	ret->queued = (unsigned)r->queue.len;
	ret->running = (unsigned)r->visible.len;
	pthread_mutex_unlock(&r->lock);
}
