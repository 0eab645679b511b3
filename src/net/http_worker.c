/* Workers: threads that do what a request asks for, each with a context of its own. */
#include "net/http_internal.h"

#include "base/reserve.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#define REST_S 1

/* The server ends: nobody will look at it. */
static void turn_away(struct exchange *x, enum exchange_job job)
{
	if (job == JOB_CHECK) {
		x->checking = false;
		return;
	}
	x->phase = EXCHANGE_CLOSE;
	MHD_resume_connection(x->connection);
}

void worker_queue(struct exchange *x, enum exchange_job job)
{
	struct http_server *s = x->server;

	pthread_mutex_lock(&s->lock);
	if (s->stopping) {
		pthread_mutex_unlock(&s->lock);
		turn_away(x, job);
		return;
	}
	x->job = job;
	x->next = NULL;
	*s->end = x;
	s->end = &x->next;
	pthread_cond_signal(&s->queued);
	pthread_mutex_unlock(&s->lock);
}

static bool is_read(const struct exchange *x)
{
	return !strcmp(x->request.method, "GET") || !strcmp(x->request.method, "HEAD");
}

static enum job_kind kind_of(const struct exchange *x)
{
	if (x->job == JOB_BLOCK || (x->job == JOB_HANDLE && (!is_read(x) || x->logs_in)))
		return JOB_WRITES;
	return x->job == JOB_HANDLE && x->route && x->route->slow ? JOB_SLOW : JOB_QUICK;
}

/* Under the lock. */
static bool may_begin(const struct http_server *s, enum job_kind kind)
{
	const unsigned *busy = s->busy;

	if (kind == JOB_QUICK || s->stopping)
		return true;
	if (kind == JOB_WRITES && busy[JOB_WRITES] >= (s->worker_count + 1) / 2)
		return false;
	return s->worker_count < 2 || busy[JOB_WRITES] + busy[JOB_SLOW] + 1 < s->worker_count;
}

/* Where the first job is linked that can be done now, or NULL. Under the lock. */
static struct exchange **first_job(struct http_server *s)
{
	for (struct exchange **at = &s->first; *at; at = &(*at)->next)
		if (may_begin(s, kind_of(*at)))
			return at;
	return NULL;
}

static struct exchange *take_job(struct http_server *s, struct exchange **at)
{
	struct exchange *x = *at;

	*at = x->next;
	if (!*at)
		s->end = at;
	s->busy[kind_of(x)]++;
	return x;
}

/* For a moment there is nothing to do: what answers took is given back, once. */
static void rest(struct http_server *s)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += REST_S;
	s->worked = true;
	while (!first_job(s) && !s->stopping)
		if (pthread_cond_clockwait(&s->queued, &s->lock, CLOCK_MONOTONIC, &until))
			break;
	if (first_job(s) || s->stopping || !s->worked)
		return;
	s->worked = false;
	pthread_mutex_unlock(&s->lock);
	alloc_give_back();
	pthread_mutex_lock(&s->lock);
}

static struct exchange *next_job(struct http_server *s)
{
	struct exchange **at, *x;

	pthread_mutex_lock(&s->lock);
	if (!first_job(s) && !s->stopping)
		rest(s);
	while (!(at = first_job(s)) && !s->stopping)
		pthread_cond_wait(&s->queued, &s->lock);
	x = at ? take_job(s, at) : NULL;
	pthread_mutex_unlock(&s->lock);
	return x;
}

static void end_job(struct http_server *s, enum job_kind kind)
{
	pthread_mutex_lock(&s->lock);
	s->busy[kind]--;
	if (kind != JOB_QUICK)
		pthread_cond_signal(&s->queued); /* for one that had to wait because of us */
	pthread_mutex_unlock(&s->lock);
}

static int admit_body(struct exchange *x, void *worker, struct err *e)
{
	const char *length = http_header(&x->request, "Content-Length");
	CLEANUP(buf_release) struct buf limit = {};

	if (x->route->upload)
		return upload_open(x, worker, e);
	if (!length || strtoull(length, NULL, 10) <= x->server->o.body_bytes_max)
		return 0;
	buf_add_size(&limit, x->server->o.body_bytes_max);
	return err_set(e, EFBIG,
		       "The body of the request is larger than %s, which is the limit here.",
		       buf_str(&limit));
}

static void do_admit(struct exchange *x, void *worker)
{
	struct err e = {};
	int err;

	if (!exchange_admit(x, worker)) {
		exchange_refuse_early(x);
		return;
	}
	err = admit_body(x, worker, &e);
	x->phase = EXCHANGE_BODY;
	if (err) {
		http_reply_error(&x->reply, http_status_of(err), e.text);
		exchange_refuse_early(x);
	}
}

static void do_block(struct exchange *x, void *worker)
{
	struct err e = {};
	int err = upload_write(x, worker, &e);

	x->phase = EXCHANGE_BODY;
	if (err) {
		http_reply_error(&x->reply, http_status_of(err), e.text);
		x->swallow = true;
		buf_release(&x->block);
	}
}

static void do_handle(struct exchange *x, void *worker)
{
	struct err e = {};
	int err = 0;

	if (x->swallow ||
	    !(x->admitted ? exchange_readmit(x, worker) : exchange_admit(x, worker))) {
		exchange_answer(x);
		return;
	}
	if (x->route->upload && x->request.upload_fd < 0)
		err = upload_open(x, worker, &e); /* a body of no bytes */
	if (!err && x->route->upload)
		err = upload_finish(x, worker, &e);
	if (!err)
		err = x->route->handle(worker, &x->request, &x->reply, &e);
	if (err < 0)
		http_reply_error(&x->reply, http_status_of(err),
				 e.text[0] ? e.text : strerror(-err));
	/* What the request has brought is not needed any more while the answer is sent. */
	buf_release(&x->request.body);
	if (x->reply.topics.len)
		x->reply.type = "text/event-stream";
	if (x->reply.topics.len && x->server->o.bus && strcmp(x->request.method, "HEAD") != 0)
		x->phase = EXCHANGE_STREAM;
	else
		exchange_answer(x);
}

static void do_check(struct exchange *x, void *worker)
{
	struct http_server *s = x->server;
	struct identity identity;

	/* Also ends the stream if the lookup fails: the token may have been revoked. */
	if (s->o.identify && !x->route->open &&
	    s->o.identify(worker, &x->credential, &identity, NULL) < 0)
		x->revoked = true;
	x->checking = false; /* from here on it may be gone */
	streams_wake(s);
}

static void do_job(struct exchange *x, void *worker)
{
	struct MHD_Connection *connection = x->connection;

	switch (x->job) {
	case JOB_ADMIT:
		do_admit(x, worker);
		break;
	case JOB_BLOCK:
		do_block(x, worker);
		break;
	case JOB_HANDLE:
		do_handle(x, worker);
		break;
	case JOB_CHECK:
		do_check(x, worker);
		return;
	}
	if (x->phase == EXCHANGE_STREAM)
		streams_add(x);
	else
		MHD_resume_connection(connection);
}

static void *worker_run(void *ctx)
{
	struct http_server *s = ctx;
	void *worker = s->o.worker_new ? s->o.worker_new(s->o.ctx) : s->o.ctx;
	struct exchange *x;

	while ((x = next_job(s))) {
		enum job_kind kind = kind_of(x);

		do_job(x, worker); /* from here on @x may be gone */
		end_job(s, kind);
		reserve_settle();
	}
	if (s->o.worker_free)
		s->o.worker_free(worker);
	return NULL;
}

int workers_start(struct http_server *s, struct err *e)
{
	unsigned count = s->o.workers ? s->o.workers : 2;

	s->worker_count = count;
	s->threads = xcalloc(count, sizeof(*s->threads));
	while (s->thread_count < count) {
		int err = pthread_create(&s->threads[s->thread_count], NULL, worker_run, s);

		if (err)
			return err_set(e, err, "cannot start a thread: %s", strerror(err));
		s->thread_count++;
	}
	return 0;
}

void workers_stop(struct http_server *s)
{
	pthread_mutex_lock(&s->lock);
	s->stopping = true;
	pthread_cond_broadcast(&s->queued);
	pthread_mutex_unlock(&s->lock);
	for (unsigned i = 0; i < s->thread_count; i++)
		pthread_join(s->threads[i], NULL);
	s->thread_count = 0;
	free(s->threads);
}
