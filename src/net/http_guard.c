/*
 * Connections that wait for their client: too long, and they are closed; when there are too many, the
 * one that has waited longest makes room. Closing is shutdown(2): libmicrohttpd sees the end of the
 * connection and lets it go as any other.
 */
#include "net/http_internal.h"

#include "base/clock.h"

#include <sys/socket.h>

#define PATIENCE_BYTES (16u << 10) /* of a body, that renew a client's time */

void guard_init(struct http_guard *g, unsigned max, unsigned timeout_s)
{
	*g = (struct http_guard){.max = max, .timeout_ns = timeout_s * NS_PER_SEC};
	pthread_mutex_init(&g->lock, NULL);
}

void guard_release(struct http_guard *g)
{
	pthread_mutex_destroy(&g->lock);
}

static void list_take(struct http_guard *g, struct http_connection *c)
{
	if (!c->waits)
		return;
	*(c->previous ? &c->previous->next : &g->first) = c->next;
	*(c->next ? &c->next->previous : &g->last) = c->previous;
	c->next = c->previous = NULL;
	c->waits = false;
}

static void list_append(struct http_guard *g, struct http_connection *c)
{
	c->previous = g->last;
	c->next = NULL;
	*(g->last ? &g->last->next : &g->first) = c;
	g->last = c;
	c->waits = true;
	c->since_ns = clock_now_ns();
	c->received = 0;
}

static void close_first(struct http_guard *g)
{
	struct http_connection *c = g->first;

	list_take(g, c);
	shutdown(c->fd, SHUT_RDWR);
}

bool guard_add(struct http_guard *g, struct http_connection *c, int fd, bool *ret_first)
{
	bool closed = false;

	pthread_mutex_lock(&g->lock);
	c->fd = fd;
	*ret_first = !g->first;
	/* Some room is kept, as libmicrohttpd takes none that it would have to turn away. */
	if (++g->count + g->max / 16 >= g->max && g->first) {
		close_first(g);
		closed = true;
	}
	list_append(g, c);
	pthread_mutex_unlock(&g->lock);
	return closed;
}

void guard_remove(struct http_guard *g, struct http_connection *c)
{
	pthread_mutex_lock(&g->lock);
	list_take(g, c);
	g->count--;
	pthread_mutex_unlock(&g->lock);
}

void guard_waits(struct http_guard *g, struct http_connection *c, bool waits, bool *ret_first)
{
	pthread_mutex_lock(&g->lock);
	list_take(g, c);
	*ret_first = waits && !g->first;
	if (waits)
		list_append(g, c);
	pthread_mutex_unlock(&g->lock);
}

void guard_received(struct http_guard *g, struct http_connection *c, size_t bytes)
{
	pthread_mutex_lock(&g->lock);
	c->received += bytes;
	if (c->waits && c->received >= PATIENCE_BYTES) {
		list_take(g, c);
		list_append(g, c);
	}
	pthread_mutex_unlock(&g->lock);
}

unsigned guard_expire(struct http_guard *g, uint64_t now_ns, int *ret_wait_ms)
{
	unsigned closed = 0;

	*ret_wait_ms = -1;
	pthread_mutex_lock(&g->lock);
	while (g->first && g->first->since_ns + g->timeout_ns <= now_ns) {
		close_first(g);
		closed++;
	}
	if (g->first) {
		uint64_t left_ns = g->first->since_ns + g->timeout_ns - now_ns;

		/* Not for each of them, but about once a second. */
		*ret_wait_ms = (int)(left_ns / NS_PER_MSEC) + 1000;
	}
	pthread_mutex_unlock(&g->lock);
	return closed;
}
