/*
 * Streams of server-sent events. libmicrohttpd would wake up, and call back, for every event and client;
 * instead one thread writes to the sockets of suspended connections. Nobody else touches a socket
 * while its connection is suspended, neither in plain nor under TLS. When the client goes, the
 * connection is resumed and closed by libmicrohttpd.
 *
 * The same thread closes connections whose clients have let us wait too long (http_guard.c).
 */
#include "net/http_internal.h"

#include "base/clock.h"
#include "base/number.h"
#include "bus/bus.h"
#include "net/http_text.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEARTBEAT_NS   (15 * NS_PER_SEC)
#define STUCK_NS       (60 * NS_PER_SEC) /* a client that reads nothing for so long is gone */
#define DELIVERY_BYTES ((size_t)256 << 10)
#define GRID_NS        (5 * NS_PER_MSEC) /* streams that are due at nearly the same time go together */
#define RETRY_MS       1000

struct stream {
	struct stream *next, *previous; /* of all */
	struct stream *next_woken;
	struct exchange *exchange;
	struct http_streams *streams;
	struct bus_watch *watch;
	int fd;
	gnutls_session_t tls; /* NULL: plain */
	struct buf pending;   /* could not be sent yet */
	size_t sent;          /* of it */
	bool blocked;         /* waits until the socket takes more */
	bool woken;           /* under the lock: is in the list of those */
	bool ready;           /* has news, or may have */
	bool gone;
	uint64_t due_ns, written_ns, checked_ns;
};

struct http_streams {
	struct http_server *server;
	pthread_t thread;
	bool running;
	int epoll_fd, wake_fd;
	pthread_mutex_t lock; /* of what follows */
	struct stream *woken, *added;
	bool stop;
	bool recheck;         /* somebody was revoked */
	struct stream *first; /* the thread's own, from here on */
	struct buf scratch;
	uint64_t swept_ns;
	atomic_uint count;
};

void streams_wake(struct http_server *s)
{
	uint64_t one = 1;
	ssize_t n;

	if (!s->streams)
		return;
	n = write(s->streams->wake_fd, &one, sizeof(one));
	(void)n; /* a full counter wakes, too */
}

void http_server_recheck(struct http_server *s)
{
	if (!s->streams)
		return;
	pthread_mutex_lock(&s->streams->lock);
	s->streams->recheck = true;
	pthread_mutex_unlock(&s->streams->lock);
	streams_wake(s);
}

/* By whoever publishes. */
static void on_news(void *ctx)
{
	struct stream *st = ctx;
	struct http_streams *all = st->streams;
	bool first;

	pthread_mutex_lock(&all->lock);
	first = !all->woken;
	if (!st->woken) {
		st->woken = true;
		st->next_woken = all->woken;
		all->woken = st;
	}
	pthread_mutex_unlock(&all->lock);
	if (first)
		streams_wake(all->server);
}

static void watch_socket(struct stream *st, int op)
{
	struct epoll_event ev = {.data.ptr = st,
				 .events = EPOLLRDHUP | (st->blocked ? (uint32_t)EPOLLOUT : 0)};

	epoll_ctl(st->streams->epoll_fd, op, st->fd, &ev);
}

/* Bytes taken; -EAGAIN; or another error: the client is gone. */
static ssize_t send_some(struct stream *st, const char *bytes, size_t len)
{
	ssize_t n;

	if (!st->tls) {
		do
			n = send(st->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);
		while (n < 0 && errno == EINTR);
		return n < 0 ? -errno : n;
	}
	/* After "again" the same bytes must be given: they are, as what is pending stays in place. */
	do
		n = gnutls_record_send(st->tls, bytes, len);
	while (n == GNUTLS_E_INTERRUPTED);
	if (n == GNUTLS_E_AGAIN)
		return -EAGAIN;
	return n < 0 ? -EPIPE : n;
}

static void block(struct stream *st, bool blocked)
{
	if (st->blocked == blocked)
		return;
	st->blocked = blocked;
	watch_socket(st, EPOLL_CTL_MOD);
}

/* What is pending; false: not all of it went. */
static bool flush(struct stream *st, uint64_t now_ns)
{
	while (st->sent < st->pending.len && !st->gone) {
		ssize_t n = send_some(st, st->pending.s + st->sent, st->pending.len - st->sent);

		if (n == -EAGAIN) {
			block(st, true);
			return false;
		}
		if (n < 0) {
			st->gone = true;
			return false;
		}
		st->sent += (size_t)n;
		st->written_ns = now_ns;
		st->streams->server->bytes_sent += (uint64_t)n;
	}
	buf_release(&st->pending);
	st->sent = 0;
	block(st, false);
	return !st->gone;
}

/* Straight out of shared memory; only what the socket does not take is kept. */
static bool send_all(struct stream *st, const char *bytes, size_t len, uint64_t now_ns)
{
	ssize_t n = st->tls ? 0 : send_some(st, bytes, len);

	if (n == -EAGAIN)
		n = 0;
	if (n < 0) {
		st->gone = true;
		return false;
	}
	if (n > 0) {
		st->written_ns = now_ns;
		st->streams->server->bytes_sent += (uint64_t)n;
	}
	if ((size_t)n == len)
		return true;
	buf_add_mem(&st->pending, bytes + n, len - (size_t)n);
	return flush(st, now_ns);
}

/* What the bus has for it, as far as the socket takes it and it is due. */
static void deliver(struct stream *st, uint64_t now_ns)
{
	struct buf *scratch = &st->streams->scratch;
	uint32_t wait_ms = 0;

	if (st->blocked && !flush(st, now_ns))
		return;
	while (wait_ms == 0 && !st->gone) {
		buf_clear(scratch);
		if (bus_read(st->watch, scratch, DELIVERY_BYTES, &wait_ms) &&
		    !send_all(st, scratch->s, scratch->len, now_ns)) {
			st->due_ns = now_ns; /* when the socket takes more */
			return;
		}
	}
	st->ready = wait_ms != BUS_FOREVER;
	st->due_ns = 0;
	if (!st->ready && bus_is_over(st->watch))
		st->gone = true;
	if (st->ready) {
		st->due_ns = now_ns + wait_ms * NS_PER_MSEC;
		st->due_ns += GRID_NS - st->due_ns % GRID_NS;
	}
}

/* ---- beginning and end of a stream ---- */

static uint64_t last_id_of(const struct exchange *x)
{
	const char *text = http_header(&x->request, "Last-Event-ID");
	uint64_t id;

	if (!text)
		text = http_query(&x->request, "last");
	return text && parse_u64(text, &id) ? id : 0;
}

static void add_head(const struct exchange *x, struct buf *out)
{
	http_pairs headers = {};

	buf_add(out, "HTTP/1.1 200 OK\r\nConnection: close\r\nX-Accel-Buffering: no\r\n");
	reply_headers(x, &headers);
	vec_each(&headers, h)
		buf_addf(out, "%s: %s\r\n", h->name, h->value);
	http_pairs_release(&headers);
	buf_addf(out, "\r\nretry: %d\n\n", RETRY_MS);
	buf_add_mem(out, buf_str(&x->reply.body), x->reply.body.len);
}

static void set_socket(int fd)
{
	int on = 1, off = 0, room = 256 << 10, patience_ms = (int)(STUCK_NS / NS_PER_MSEC);

	setsockopt(fd, IPPROTO_TCP, TCP_CORK, &off, sizeof(off));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience_ms, sizeof(patience_ms));
	/* What waits in the kernel is old news: a slow client shall get a snapshot instead. */
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
}

/* By a worker. */
void streams_add(struct exchange *x)
{
	struct http_streams *all = x->server->streams;
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct stream *st = xcalloc(1, sizeof(*st));

	st->exchange = x;
	st->streams = all;
	st->fd = info ? info->connect_fd : -1;
	if (x->server->tls) {
		info = MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
		st->tls = info ? info->tls_session : NULL;
	}
	set_socket(st->fd);
	if (x->guard)
		guard_set(&x->server->guard, x->guard, GUARD_WATCHES, &(bool){false});
	x->server->requests++;
	pthread_mutex_lock(&all->lock);
	st->next_woken = all->added;
	all->added = st;
	pthread_mutex_unlock(&all->lock);
	streams_wake(x->server);
}

static void stream_begin(struct http_streams *all, struct stream *st, uint64_t now_ns)
{
	struct exchange *x = st->exchange;
	CLEANUP(buf_release) struct buf head = {};

	st->previous = NULL;
	st->next = all->first;
	if (all->first)
		all->first->previous = st;
	all->first = st;
	all->count++;
	st->written_ns = st->checked_ns = now_ns;
	watch_socket(st, EPOLL_CTL_ADD);
	st->watch = bus_watch(all->server->o.bus, &x->reply.topics, &x->reply.fresh_topics,
			      last_id_of(x), on_news, st);
	add_head(x, &head);
	buf_release(&x->reply.body);
	send_all(st, head.s, head.len, now_ns);
	st->ready = true;
	if (!strcmp(x->request.method, "HEAD"))
		st->gone = true;
}

static void stream_end(struct stream *st)
{
	struct http_streams *all = st->streams;
	struct exchange *x = st->exchange;

	bus_unwatch(st->watch);
	pthread_mutex_lock(&all->lock);
	for (struct stream **at = &all->woken; *at; at = &(*at)->next_woken)
		if (*at == st) {
			*at = st->next_woken;
			break;
		}
	pthread_mutex_unlock(&all->lock);
	epoll_ctl(all->epoll_fd, EPOLL_CTL_DEL, st->fd, NULL);
	*(st->previous ? &st->previous->next : &all->first) = st->next;
	if (st->next)
		st->next->previous = st->previous;
	all->count--;
	buf_release(&st->pending);
	free(st);
	x->phase = EXCHANGE_CLOSE;
	MHD_resume_connection(x->connection);
}

/* ---- the thread ---- */

static void take_added(struct http_streams *all, uint64_t now_ns)
{
	struct stream *added, *woken;
	bool recheck;

	pthread_mutex_lock(&all->lock);
	added = all->added;
	all->added = NULL;
	woken = all->woken;
	all->woken = NULL;
	for (struct stream *st = woken; st; st = st->next_woken) {
		st->woken = false;
		st->ready = true;
	}
	recheck = all->recheck;
	all->recheck = false;
	pthread_mutex_unlock(&all->lock);
	/* One that is just being checked is checked once more. */
	for (struct stream *st = recheck ? all->first : NULL; st; st = st->next)
		st->checked_ns = all->swept_ns = 0;
	while (added) {
		struct stream *next = added->next_woken;

		stream_begin(all, added, now_ns);
		added = next;
	}
}

/* Is it still alive, and may its user still look? */
static void keep_alive(struct stream *st, uint64_t now_ns)
{
	struct exchange *x = st->exchange;

	if (st->blocked && now_ns > st->written_ns + STUCK_NS)
		st->gone = true;
	if (!st->blocked && now_ns > st->written_ns + HEARTBEAT_NS)
		send_all(st, ":\n\n", 3, now_ns);
	if (now_ns > st->checked_ns + HEARTBEAT_NS && !x->checking) {
		st->checked_ns = now_ns;
		x->checking = true;
		worker_queue(x, JOB_CHECK);
	}
}

/* Gives when to come again. */
static uint64_t serve_streams(struct http_streams *all, uint64_t now_ns)
{
	bool sweep = now_ns > all->swept_ns + NS_PER_SEC;
	uint64_t next_ns = now_ns + NS_PER_SEC;
	struct stream *next;

	if (sweep)
		all->swept_ns = now_ns;
	for (struct stream *st = all->first; st; st = next) {
		next = st->next;
		if (st->ready && !st->blocked && st->due_ns <= now_ns)
			deliver(st, now_ns);
		if (sweep)
			keep_alive(st, now_ns);
		if ((st->gone || st->exchange->revoked) && !st->exchange->checking) {
			stream_end(st);
			continue;
		}
		if (st->ready && !st->blocked && st->due_ns < next_ns)
			next_ns = st->due_ns;
	}
	return next_ns;
}

static int wait_time(struct http_streams *all, uint64_t now_ns, uint64_t next_ns)
{
	int guard_ms, stream_ms = -1;

	all->server->refused += guard_expire(&all->server->guard, &guard_ms);
	if (all->first)
		stream_ms = next_ns > now_ns ? (int)((next_ns - now_ns) / NS_PER_MSEC) + 1 : 0;
	if (guard_ms < 0 || (stream_ms >= 0 && stream_ms < guard_ms))
		return stream_ms;
	return guard_ms;
}

static void take_events(struct http_streams *all, int wait_ms)
{
	struct epoll_event events[256];
	int n = epoll_wait(all->epoll_fd, events, ARRAY_LEN(events), wait_ms);
	uint64_t now_ns = clock_now_ns(), count;

	for (int i = 0; i < n; i++) {
		struct stream *st = events[i].data.ptr;

		if (!st) {
			ssize_t got = read(all->wake_fd, &count, sizeof(count));

			(void)got;
			continue;
		}
		if (events[i].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
			st->gone = true;
		else if (st->blocked && flush(st, now_ns))
			st->ready = true;
	}
}

static bool is_stopped(struct http_streams *all)
{
	bool stop;

	pthread_mutex_lock(&all->lock);
	stop = all->stop;
	pthread_mutex_unlock(&all->lock);
	return stop;
}

static void *streams_run(void *ctx)
{
	struct http_streams *all = ctx;

	while (!is_stopped(all)) {
		uint64_t now_ns = clock_now_ns(), next_ns;

		take_added(all, now_ns);
		next_ns = serve_streams(all, now_ns);
		take_events(all, wait_time(all, clock_now_ns(), next_ns));
	}
	take_added(all, clock_now_ns());
	/* Workers are gone: no check is under way. */
	for (struct stream *st = all->first, *next; st; st = next) {
		next = st->next;
		stream_end(st);
	}
	return NULL;
}

int streams_start(struct http_server *s, struct err *e)
{
	struct http_streams *all = xcalloc(1, sizeof(*all));
	struct epoll_event ev = {.events = EPOLLIN};
	int err;

	all->server = s;
	pthread_mutex_init(&all->lock, NULL);
	all->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	all->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	s->streams = all;
	if (all->epoll_fd < 0 || all->wake_fd < 0 ||
	    epoll_ctl(all->epoll_fd, EPOLL_CTL_ADD, all->wake_fd, &ev) < 0)
		return err_set(e, errno, "cannot wait for clients: %s", strerror(errno));
	err = pthread_create(&all->thread, NULL, streams_run, all);
	if (err)
		return err_set(e, err, "cannot start a thread: %s", strerror(err));
	all->running = true;
	return 0;
}

void streams_stop(struct http_server *s)
{
	struct http_streams *all = s->streams;

	if (!all)
		return;
	if (all->running) {
		pthread_mutex_lock(&all->lock);
		all->stop = true;
		pthread_mutex_unlock(&all->lock);
		streams_wake(s);
		pthread_join(all->thread, NULL);
	}
}

void streams_free(struct http_server *s)
{
	struct http_streams *all = s->streams;

	if (!all)
		return;
	if (all->epoll_fd >= 0)
		close(all->epoll_fd);
	if (all->wake_fd >= 0)
		close(all->wake_fd);
	pthread_mutex_destroy(&all->lock);
	buf_release(&all->scratch);
	free(all);
	s->streams = NULL;
}

unsigned streams_count(struct http_server *s)
{
	return s->streams ? s->streams->count : 0;
}
