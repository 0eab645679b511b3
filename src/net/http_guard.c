/*
 * Room for clients that matter. Connections are kept in lists by what they do and by whether their last
 * request came with a good token. A connection that lets us wait too long is closed, and so is one that
 * takes an answer too slowly. If there are too many, in all or of one address, one of strangers makes room:
 * first one that waits, then one that reads an answer. Clients with a good token give way only when no
 * stranger is left: those that wait, then streams, whose clients come back by themselves, then those that
 * read an answer; of each kind the one first that has been there longest.
 *
 * Closing is shutdown(2): libmicrohttpd sees the end of the connection and lets it go as any other.
 */
#include "net/http_internal.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <search.h>
#include <string.h>
#include <sys/socket.h>

#define PATIENCE_BYTES (16u << 10) /* of a body or an answer, that renew a client's time */

struct http_address {
	unsigned char bytes[16];
	unsigned count;
};

void guard_init(struct http_guard *g, const struct clock *clock, unsigned max,
		unsigned per_address_max, unsigned timeout_s)
{
	*g = (struct http_guard){.clock = clock,
				 .max = max,
				 .per_address_max = per_address_max,
				 .timeout_ns = timeout_s * NS_PER_SEC};
	pthread_mutex_init(&g->lock, NULL);
}

void guard_release(struct http_guard *g)
{
	tdestroy(g->addresses, free);
	pthread_mutex_destroy(&g->lock);
}

/* ---- addresses ---- */

static int compare_addresses(const void *a, const void *b)
{
	return memcmp(((const struct http_address *)a)->bytes,
		      ((const struct http_address *)b)->bytes,
		      sizeof(((struct http_address *)0)->bytes));
}

/* False: not a network address, so it has no limit. */
static bool address_bytes(const struct sockaddr *from, struct http_address *ret)
{
	*ret = (struct http_address){};
	if (from && from->sa_family == AF_INET) {
		const struct sockaddr_in *four = (const struct sockaddr_in *)from;

		ret->bytes[10] = ret->bytes[11] = 0xff;
		memcpy(ret->bytes + 12, &four->sin_addr, 4);
		return true;
	}
	if (from && from->sa_family == AF_INET6) {
		memcpy(ret->bytes, &((const struct sockaddr_in6 *)from)->sin6_addr, 16);
		return true;
	}
	return false;
}

/* Counts one more connection of the address. NULL: it has no limit. */
static struct http_address *address_enter(struct http_guard *g, const struct sockaddr *from)
{
	struct http_address key, *address, **slot;

	if (!g->per_address_max || !address_bytes(from, &key))
		return NULL;
	slot = tfind(&key, &g->addresses, compare_addresses);
	if (!slot) {
		address = xcalloc(1, sizeof(*address));
		*address = key;
		if (!tsearch(address, &g->addresses, compare_addresses)) {
			free(address);
			return NULL;
		}
	} else {
		address = *slot;
	}
	address->count++;
	return address;
}

static void address_leave(struct http_guard *g, struct http_address *address)
{
	if (!address || --address->count)
		return;
	tdelete(address, &g->addresses, compare_addresses);
	free(address);
}

/* ---- lists ---- */

static void list_take(struct http_connection *c)
{
	struct guard_list *l = c->list;

	if (!l)
		return;
	*(c->previous ? &c->previous->next : &l->first) = c->next;
	*(c->next ? &c->next->previous : &l->last) = c->previous;
	c->next = c->previous = NULL;
	c->list = NULL;
}

/*
 * How many of the bytes that were sent the client has acknowledged. Returns false if that is not known: of Unix
 * sockets, and on kernels that do not count bytes (Linux before 4.1, gVisor). They do not count those of the request,
 * either, which is how they are told from a client that acknowledges nothing.
 */
static bool bytes_taken(int fd, uint64_t *ret)
{
	struct tcp_info info = {};
	socklen_t len = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len))
		return false;
	*ret = info.tcpi_bytes_acked;
	return info.tcpi_bytes_received > 0;
}

static void list_append(struct http_guard *g, struct guard_list *l, struct http_connection *c)
{
	c->previous = l->last;
	c->next = NULL;
	*(l->last ? &l->last->next : &l->first) = c;
	l->last = c;
	c->list = l;
	c->since_ns = clock_monotonic_ns(g->clock);
	c->received = 0;
}

static void close_one(struct http_connection *c)
{
	list_take(c);
	shutdown(c->fd, SHUT_RDWR);
}

/* Closes the connection of @address, or of any if it is NULL, that can be missed most. */
static bool make_room(struct http_guard *g, const struct http_address *address)
{
	struct guard_list *const by_worth[] = {&g->strangers, &g->readers, &g->known, &g->watchers,
					       &g->known_readers};

	for (size_t i = 0; i < ARRAY_LEN(by_worth); i++)
		for (struct http_connection *c = by_worth[i]->first; c; c = c->next)
			if (!address || c->address == address) {
				close_one(c);
				return true;
			}
	return false;
}

static void begin_reading(struct http_guard *g, struct http_connection *c)
{
	list_append(g, c->known ? &g->known_readers : &g->readers, c);
	bytes_taken(c->fd, &c->taken);
}

/* Whether the client has taken enough of its answer to get as much time again. */
static bool has_read(struct http_guard *g, struct http_connection *c)
{
	uint64_t taken;

	if (bytes_taken(c->fd, &taken) && taken - c->taken < PATIENCE_BYTES)
		return false;
	list_take(c);
	begin_reading(g, c);
	return true;
}

/* Readers need not wake the thread of streams: their time is checked when it wakes for the next waiting client. */
static bool nobody_waits(const struct http_guard *g)
{
	return !g->strangers.first && !g->known.first;
}

/* ---- what happens to connections ---- */

bool guard_add(struct http_guard *g, struct http_connection *c, int fd, const struct sockaddr *from,
	       bool *ret_first)
{
	bool closed = false, refused;

	pthread_mutex_lock(&g->lock);
	c->fd = fd;
	c->address = address_enter(g, from);
	*ret_first = nobody_waits(g);
	refused = c->address && c->address->count > g->per_address_max;
	if (refused && make_room(g, c->address)) {
		refused = false;
		closed = true;
	}
	/* Some room is kept, as libmicrohttpd takes none that it would have to turn away. */
	if (++g->count + g->max / 16 >= g->max && !closed && !refused)
		closed = make_room(g, NULL);
	list_append(g, &g->strangers, c);
	if (refused)
		close_one(c);
	pthread_mutex_unlock(&g->lock);
	return closed || refused;
}

void guard_remove(struct http_guard *g, struct http_connection *c)
{
	pthread_mutex_lock(&g->lock);
	list_take(c);
	address_leave(g, c->address);
	g->count--;
	pthread_mutex_unlock(&g->lock);
}

void guard_set(struct http_guard *g, struct http_connection *c, enum guard_state state,
	       bool *ret_first)
{
	pthread_mutex_lock(&g->lock);
	list_take(c);
	*ret_first = state == GUARD_WAITS && nobody_waits(g);
	if (state == GUARD_WAITS)
		list_append(g, c->known ? &g->known : &g->strangers, c);
	else if (state == GUARD_WATCHES)
		list_append(g, &g->watchers, c);
	else if (state == GUARD_READS)
		begin_reading(g, c);
	pthread_mutex_unlock(&g->lock);
}

void guard_know(struct http_guard *g, struct http_connection *c, bool known)
{
	pthread_mutex_lock(&g->lock);
	c->known = known;
	pthread_mutex_unlock(&g->lock);
}

void guard_received(struct http_guard *g, struct http_connection *c, size_t bytes)
{
	struct guard_list *l;

	pthread_mutex_lock(&g->lock);
	c->received += bytes;
	l = c->list;
	if (l && c->received >= PATIENCE_BYTES) {
		list_take(c);
		list_append(g, l, c);
	}
	pthread_mutex_unlock(&g->lock);
}

unsigned guard_expire(struct http_guard *g, int *ret_wait_ms)
{
	struct guard_list *const timed[] = {&g->strangers, &g->known, &g->readers,
					    &g->known_readers};
	uint64_t now_ns, first_ns = UINT64_MAX;
	unsigned closed = 0;

	*ret_wait_ms = -1;
	pthread_mutex_lock(&g->lock);
	now_ns = clock_monotonic_ns(g->clock);
	for (size_t i = 0; i < ARRAY_LEN(timed); i++) {
		bool reads = timed[i] == &g->readers || timed[i] == &g->known_readers;
		struct http_connection *c;

		while ((c = timed[i]->first) && c->since_ns + g->timeout_ns <= now_ns) {
			if (reads && has_read(g, c))
				continue;
			close_one(c);
			closed++;
		}
		if (c && c->since_ns < first_ns)
			first_ns = c->since_ns;
	}
	if (first_ns != UINT64_MAX) {
		uint64_t left_ns = first_ns + g->timeout_ns - now_ns;

		/* Not for each of them, but about once a second. */
		*ret_wait_ms = (int)(left_ns / NS_PER_MSEC) + 1000;
	}
	pthread_mutex_unlock(&g->lock);
	return closed;
}
