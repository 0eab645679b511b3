/*
 * For tests of the HTTP server: one with routes of all kinds, and clients that speak through real
 * sockets. Include it after cmocka.h.
 */
#ifndef TACHO_TESTS_HTTP_FIXTURE_H
#define TACHO_TESTS_HTTP_FIXTURE_H

#include "base/clock.h"
#include "bus/bus.h"
#include "net/http.h"
#include "support.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <zlib.h>

#define PATIENCE_MS 120000 /* after this time something hangs, on any machine */

static struct http_server *server;
static struct bus *bus;
static atomic_bool revoked;
static atomic_bool failing; /* the store */
static atomic_uint workers;

static int handle_open(void *worker, const struct http_request *r, struct http_reply *reply,
		       struct err *e)
{
	(void)worker;
	(void)e;
	buf_addf(&reply->body, "{\"user\":\"%s\"}", r->user ? r->user->name : "");
	return 0;
}

static int handle_echo(void *worker, const struct http_request *r, struct http_reply *reply,
		       struct err *e)
{
	(void)worker;
	(void)e;
	reply->type = "text/plain";
	buf_addf(&reply->body, "%s|%s|%s|%s|", r->user->name, r->args[0],
		 http_query(r, "q") ? http_query(r, "q") : "-", r->path);
	buf_add_mem(&reply->body, buf_str(&r->body), r->body.len);
	http_reply_header(reply, "X-Odd", "a\r\nSet-Cookie: b");
	return 0;
}

static int handle_fail(void *worker, const struct http_request *r, struct http_reply *reply,
		       struct err *e)
{
	(void)worker;
	(void)r;
	buf_add(&reply->body, "half an answer");
	return err_set(e, ENOENT, "There is no \"%s\".", "thing");
}

static int handle_upload(void *worker, const struct http_request *r, struct http_reply *reply,
			 struct err *e)
{
	unsigned char bytes[4096];
	uint64_t sum = 0, size = 0;
	ssize_t n;

	(void)worker;
	(void)e;
	while ((n = read(r->upload_fd, bytes, sizeof(bytes))) > 0) {
		for (ssize_t i = 0; i < n; i++)
			sum += bytes[i];
		size += (uint64_t)n;
	}
	assert_int_equal(size, r->upload_bytes);
	buf_addf(&reply->body, "%lu %lu %s", (unsigned long)size, (unsigned long)sum,
		 r->upload_name ? r->upload_name : "-");
	return 0;
}

static int handle_same(void *worker, const struct http_request *r, struct http_reply *reply,
		       struct err *e)
{
	(void)worker;
	(void)r;
	(void)e;
	reply->immutable = true;
	for (int i = 0; i < 20000; i++)
		buf_add(&reply->body, "[1,2,3]\n");
	return 0;
}

static int handle_file(void *worker, const struct http_request *r, struct http_reply *reply,
		       struct err *e)
{
	(void)worker;
	(void)r;
	(void)e;
	reply->fd = open(in_dir("given"), O_RDONLY | O_CLOEXEC);
	reply->type = "image/svg+xml";
	http_reply_file(reply, "x.svg");
	return 0;
}

static int handle_live(void *worker, const struct http_request *r, struct http_reply *reply,
		       struct err *e)
{
	(void)worker;
	(void)r;
	(void)e;
	vec_push(&reply->topics, xstrdup("run/1"));
	buf_add(&reply->body, "event: first\ndata: {}\n\n");
	return 0;
}

/* A handler that waits: for something else that writes, or because it has much to do. */
static pthread_mutex_t gate_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_changed = PTHREAD_COND_INITIALIZER;
static bool gate_closed;
static unsigned gate_waiting;

static void pass_gate(void)
{
	pthread_mutex_lock(&gate_lock);
	gate_waiting++;
	pthread_cond_broadcast(&gate_changed);
	while (gate_closed)
		pthread_cond_wait(&gate_changed, &gate_lock);
	gate_waiting--;
	pthread_mutex_unlock(&gate_lock);
}

static int handle_gate(void *worker, const struct http_request *r, struct http_reply *reply,
		       struct err *e)
{
	(void)worker;
	(void)r;
	(void)reply;
	(void)e;
	pass_gate();
	return 0;
}

static const struct http_route routes[] = {
	{"GET", "/healthz", ROLE_LOOK, .open = true, .handle = handle_open},
	{"GET", "/echo/{name}", ROLE_LOOK, .handle = handle_echo},
	{"POST", "/echo/{name}", ROLE_RUN, .handle = handle_echo},
	{"DELETE", "/echo/{name}", ROLE_ADMIN, .handle = handle_echo},
	{"GET", "/fail", ROLE_LOOK, .handle = handle_fail},
	{"POST", "/upload", ROLE_RUN, .upload = true, .handle = handle_upload},
	{"GET", "/same", ROLE_LOOK, .handle = handle_same},
	{"GET", "/file", ROLE_LOOK, .handle = handle_file},
	{"GET", "/live", ROLE_LOOK, .handle = handle_live},
	{"POST", "/gate", ROLE_RUN, .handle = handle_gate},
	{"GET", "/slow", ROLE_LOOK, .slow = true, .handle = handle_gate},
	{},
};
static const struct http_route *const tables[] = {routes, NULL};

static int identify(void *worker, const struct http_credential *c, struct identity *ret,
		    struct err *e)
{
	const char *token = c->text;

	(void)worker;
	if (failing)
		return err_set(e, EAGAIN, "'/a/path' is locked.");
	if (c->kind == CREDENTIAL_OWNER)
		*ret = (struct identity){.id = 3, .name = "owner", .role = ROLE_ADMIN};
	else if (c->kind == CREDENTIAL_COOKIE && !strcmp(token, "cookie-of-1"))
		*ret = (struct identity){.id = 1, .name = "runner", .role = ROLE_RUN};
	else if (c->kind == CREDENTIAL_COOKIE)
		return -ENOENT;
	else if (!strcmp(token, "run-token"))
		*ret = (struct identity){.id = 1, .name = "runner", .role = ROLE_RUN};
	else if (!strcmp(token, "look-token") && !revoked)
		*ret = (struct identity){.id = 2, .name = "looker", .role = ROLE_LOOK};
	else
		return -ENOENT;
	return 0;
}

static int log_in(void *worker, const struct identity *user, char ret_cookie[TOKEN_BYTES],
		  struct err *e)
{
	(void)worker;
	(void)e;
	pass_gate();
	snprintf(ret_cookie, TOKEN_BYTES, "cookie-of-%d", (int)user->id);
	return 0;
}

static void *worker_new(void *ctx)
{
	workers++;
	return ctx;
}

static void worker_free(void *worker)
{
	(void)worker;
	workers--;
}

static struct http_options options(void)
{
	return (struct http_options){
		.host = "127.0.0.1",
		.tables = tables,
		.workers = 2,
		.worker_new = worker_new,
		.worker_free = worker_free,
		.identify = identify,
		.log_in = log_in,
		.upload_dir = support_dir,
		.upload_bytes_max = 8 << 20,
		.body_bytes_max = 1 << 20,
		.connections_max = 200,
		.timeout_s = PATIENCE_MS / 1000,
		.cookie_name = "tacho_1",
		.bus = bus,
	};
}

static int start(void **state)
{
	struct http_options o;
	struct err e = {};

	if (make_support_dir(state))
		return -1;
	bus = bus_new(&system_clock);
	o = options();
	if (http_server_start(&server, &o, &e) < 0) {
		fprintf(stderr, "%s\n", e.text);
		return -1;
	}
	return 0;
}

static int stop(void **state)
{
	http_server_stop(server);
	bus_free(bus);
	assert_int_equal(workers, 0);
	return remove_support_dir(state);
}

static int dial(const struct http_server *s)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(http_server_port(s))};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

static void say(int fd, const char *bytes, size_t len)
{
	while (len) {
		ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);

		if (n <= 0)
			return; /* it has closed: what it said is read */
		bytes += n;
		len -= (size_t)n;
	}
}

/* Until @end is in it, or the server closes. */
static void hear(int fd, struct buf *reply, const char *end)
{
	char bytes[65536];

	while (!end || !memmem(buf_str(reply), reply->len, end, strlen(end))) {
		struct pollfd p = {fd, POLLIN, 0};
		ssize_t n;

		if (poll(&p, 1, PATIENCE_MS) != 1)
			fail_msg("no answer but: %s", buf_str(reply));
		n = recv(fd, bytes, sizeof(bytes), 0);
		if (n <= 0)
			return;
		buf_add_mem(reply, bytes, (size_t)n);
	}
}

/* The whole answer to one request, whose head is made of what is given. */
static void ask(struct buf *reply, const char *line, const char *headers, const char *body,
		size_t body_len)
{
	CLEANUP(buf_release) struct buf request = {};
	int fd = dial(server);

	buf_addf(&request, "%s HTTP/1.1\r\nConnection: close\r\n%s", line, headers);
	if (body)
		buf_addf(&request, "Content-Length: %zu\r\n", body_len);
	buf_add(&request, "\r\n");
	buf_clear(reply);
	say(fd, request.s, request.len);
	if (body)
		say(fd, body, body_len);
	hear(fd, reply, NULL);
	close(fd);
}

#define HOST "Host: 127.0.0.1:5000\r\n"
#define LOOK "Authorization: Bearer look-token\r\n"
#define RUN  "Authorization: Bearer run-token\r\n"

static void expect(const char *line, const char *headers, const char *body, int status,
		   const char *has)
{
	CLEANUP(buf_release) struct buf reply = {};
	char start_line[32];

	ask(&reply, line, headers, body, body ? strlen(body) : 0);
	snprintf(start_line, sizeof(start_line), "HTTP/1.1 %d ", status);
	if (strncmp(buf_str(&reply), start_line, strlen(start_line)) ||
	    !strstr(buf_str(&reply), has))
		fail_msg("%s: expected %d with '%s', got: %s", line, status, has, buf_str(&reply));
	/* Whatever was answered, it was said how a browser may use it. */
	assert_non_null(strstr(reply.s, "Content-Security-Policy: default-src '"));
	assert_non_null(strstr(reply.s, "X-Content-Type-Options: nosniff"));
	assert_non_null(strstr(reply.s, "Referrer-Policy: no-referrer"));
	assert_non_null(strstr(reply.s, "Cache-Control: no-store"));
	assert_non_null(strstr(reply.s, "Cross-Origin-Resource-Policy: same-origin"));
}

#endif
