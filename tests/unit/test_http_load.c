/* The HTTP server with more clients, slower ones or slower requests than it has room for. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "net/http.h"
#include "http_fixture.h"

/* Dials and begins a request that it never finishes. */
static int dial_silently(const struct http_server *s, size_t sent)
{
	static const char start[] = "GET /echo/a HTTP/1.1\r\nHost: 127";
	int fd = dial(s);

	say(fd, start, sent % (sizeof(start) - 1));
	return fd;
}

/* While more clients are silent than there is room for, others are answered: the oldest make room. */
static void test_silent_clients_make_room(void **state)
{
	struct http_options o = options();
	struct http_server *other = NULL, *kept = server;
	int fds[100];
	CLEANUP(buf_release) struct buf reply = {};

	(void)state;
	o.connections_max = 64;
	o.timeout_s = PATIENCE_MS / 1000 * 10; /* nobody is closed for being late */
	assert_int_equal(http_server_start(&other, &o, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		fds[i] = dial_silently(other, i);
	server = other;
	expect("GET /echo/a", HOST LOOK, NULL, 200, "looker");
	server = kept;
	hear(fds[0], &reply, NULL); /* until it is closed */
	assert_int_equal(reply.len, 0);
	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		close(fds[i]);
	http_server_stop(other);
}

static void crowd_comes_beside_a_known_client(bool store_fails)
{
	static const char request[] = "GET /echo/a HTTP/1.1\r\n" HOST LOOK "\r\n";
	struct http_options o = options();
	struct http_server *other = NULL, *kept = server;
	CLEANUP(buf_release) struct buf reply = {};
	int fds[100], known;

	o.connections_per_address_max = 32;
	o.timeout_s = PATIENCE_MS / 1000 * 10; /* nobody is closed for being late */
	assert_int_equal(http_server_start(&other, &o, NULL), 0);
	known = dial(other);
	say(known, request, sizeof(request) - 1);
	hear(known, &reply, "looker|a|-|/echo/a|");
	if (store_fails) {
		buf_clear(&reply);
		failing = true;
		say(known, request, sizeof(request) - 1);
		hear(known, &reply, "}}");
		failing = false;
		assert_non_null(strstr(buf_str(&reply), "HTTP/1.1 503"));
	}
	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		fds[i] = dial_silently(other, i);
	server = other;
	expect("GET /echo/a", HOST LOOK, NULL, 200, "looker");
	server = kept;
	buf_clear(&reply);
	say(known, request, sizeof(request) - 1);
	hear(known, &reply, "looker|a|-|/echo/a|");
	assert_non_null(strstr(buf_str(&reply), "200 OK"));
	close(known);
	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		close(fds[i]);
	http_server_stop(other);
}

/* A client that has a token keeps its connection while strangers come and stay silent, and new ones of the
 * same address find room: strangers make it. */
static void test_silent_crowd_of_one_address(void **state)
{
	(void)state;
	crowd_comes_beside_a_known_client(false);
}

/* It also keeps its connection if its last token could not be looked up. */
static void test_client_stays_known_while_the_store_fails(void **state)
{
	(void)state;
	crowd_comes_beside_a_known_client(true);
}

/* Clients that go away in the middle of a body take their connections with them. */
static void test_cut_uploads_are_noticed(void **state)
{
	static char body[2 << 20];
	struct http_options o = options();
	struct http_server *other = NULL;
	struct http_counts counts;

	(void)state;
	o.timeout_s = PATIENCE_MS / 1000 * 10;
	assert_int_equal(http_server_start(&other, &o, NULL), 0);
	for (size_t i = 0; i < 200; i++) {
		static const char head[] =
			"POST /upload HTTP/1.1\r\n" HOST RUN "Content-Length: 4000000\r\n\r\n";
		int fd = dial(other);

		say(fd, head, sizeof(head) - 1);
		say(fd, body, i * 7919 % sizeof(body));
		close(fd);
	}
	http_server_counts(other, &counts);
	for (int i = 0; i < PATIENCE_MS / 10 && counts.connections; i++) {
		usleep(10000);
		http_server_counts(other, &counts);
	}
	assert_int_equal(counts.connections, 0);
	http_server_stop(other);
}

/* Sends @request on as many connections, and waits until @handled of them are in the gate. */
static void send_to_gate(int *fds, size_t count, const char *request, unsigned handled)
{
	for (size_t i = 0; i < count; i++) {
		fds[i] = dial(server);
		say(fds[i], request, strlen(request));
	}
	pthread_mutex_lock(&gate_lock);
	while (gate_waiting < handled)
		pthread_cond_wait(&gate_changed, &gate_lock);
	pthread_mutex_unlock(&gate_lock);
}

static void open_gate(int *fds, size_t count, const char *status)
{
	pthread_mutex_lock(&gate_lock);
	gate_closed = false;
	pthread_cond_broadcast(&gate_changed);
	pthread_mutex_unlock(&gate_lock);
	for (size_t i = 0; i < count; i++) {
		CLEANUP(buf_release) struct buf reply = {};

		hear(fds[i], &reply, "\r\n\r\n");
		if (!strstr(buf_str(&reply), status))
			fail_msg("expected %s, got: %s", status, buf_str(&reply));
		close(fds[i]);
	}
}

#define WRITE "POST /gate HTTP/1.1\r\n" HOST RUN "Content-Length: 0\r\n\r\n"
#define SLOW  "GET /slow HTTP/1.1\r\n" HOST LOOK "\r\n"
#define ENTER "GET /echo/a?token=run-token HTTP/1.1\r\n" HOST "Accept: text/html\r\n\r\n"

/* Whatever waits, for a lock on the store or because there is much to do: requests that are quick are
 * answered meanwhile. */
static void test_quick_requests_wait_for_nobody(void **state)
{
	static const struct {
		const char *request, *status;
	} held[] = {{WRITE, "200 OK"}, {SLOW, "200 OK"}, {ENTER, "303 See Other"}};
	int fds[8];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(held); i++) {
		gate_closed = true;
		send_to_gate(fds, ARRAY_LEN(fds), held[i].request, 1);
		for (int k = 0; k < 20; k++)
			expect("GET /echo/a", HOST LOOK, NULL, 200, "looker");
		open_gate(fds, ARRAY_LEN(fds), held[i].status);
	}
}

/* Of five workers three write, one more is slow, and the last one is left. */
static void test_shares_of_workers(void **state)
{
	struct http_options o = options();
	struct http_server *other = NULL, *kept = server;
	int writes[8], slow[8];

	(void)state;
	o.workers = 5;
	assert_int_equal(http_server_start(&other, &o, NULL), 0);
	server = other;
	gate_closed = true;
	send_to_gate(writes, ARRAY_LEN(writes), WRITE, 3);
	send_to_gate(slow, ARRAY_LEN(slow), SLOW, 4);
	for (int k = 0; k < 20; k++)
		expect("GET /echo/a", HOST LOOK, NULL, 200, "looker");
	pthread_mutex_lock(&gate_lock);
	assert_int_equal(gate_waiting, 4);
	pthread_mutex_unlock(&gate_lock);
	open_gate(writes, ARRAY_LEN(writes), "200 OK");
	open_gate(slow, ARRAY_LEN(slow), "200 OK");
	server = kept;
	http_server_stop(other);
}

/* Clients with a good token that ask for much and read nothing of it lock nobody out. */
static void test_who_reads_nothing_makes_room(void **state)
{
	static const char request[] = "GET /file HTTP/1.1\r\n" HOST LOOK "\r\n";
	struct http_options o = options();
	struct http_server *other = NULL, *kept = server;
	int fds[100];

	(void)state;
	write_text("given", "");
	assert_int_equal(truncate(in_dir("given"), 64 << 20), 0);
	o.connections_max = 64;
	o.timeout_s = PATIENCE_MS / 1000 * 10; /* nobody is closed for being slow */
	assert_int_equal(http_server_start(&other, &o, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
		struct pollfd p = {.events = POLLIN};

		p.fd = fds[i] = dial(other);
		say(p.fd, request, sizeof(request) - 1);
		if (poll(&p, 1, PATIENCE_MS) != 1)
			fail_msg("client %zu is not answered", i);
	}
	server = other;
	expect("GET /echo/a", HOST LOOK, NULL, 200, "looker");
	server = kept;
	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		close(fds[i]);
	http_server_stop(other);
	unlink(in_dir("given"));
}

/* So do clients that have all connections for streams; they may come back. */
static void test_streams_make_room(void **state)
{
	static const char request[] = "GET /live HTTP/1.1\r\n" HOST LOOK "\r\n";
	struct http_options o = options();
	struct http_server *other = NULL, *kept = server;
	CLEANUP(buf_release) struct buf reply = {};
	int fds[100];

	(void)state;
	o.connections_max = 64;
	assert_int_equal(http_server_start(&other, &o, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
		buf_clear(&reply);
		fds[i] = dial(other);
		say(fds[i], request, sizeof(request) - 1);
		hear(fds[i], &reply, "event: first");
		assert_non_null(strstr(buf_str(&reply), "event: first"));
	}
	server = other;
	expect("GET /echo/a", HOST LOOK, NULL, 200, "looker");
	server = kept;
	buf_clear(&reply);
	hear(fds[0], &reply, NULL); /* until it is closed */
	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		close(fds[i]);
	http_server_stop(other);
}

/* Clients that never finish their request are closed in the end; then others are answered. */
static void test_silent_clients_are_closed(void **state)
{
	CLEANUP(buf_release) struct buf answer = {};
	struct http_options o = options();
	struct http_server *other = NULL, *kept = server;
	int fds[40];

	(void)state;
	o.connections_max = 64;
	o.timeout_s = 1;
	assert_int_equal(http_server_start(&other, &o, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		fds[i] = dial_silently(other, i);
	for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
		CLEANUP(buf_release) struct buf reply = {};

		hear(fds[i], &reply, NULL); /* until it is closed */
		close(fds[i]);
	}
	server = other;
	/* We are silent, too, if we are held up for a second before our request is sent. */
	for (int i = 0; i < 20 && !answer.len; i++)
		ask(&answer, "GET /echo/a", HOST LOOK, NULL, 0);
	server = kept;
	assert_non_null(strstr(buf_str(&answer), "looker"));
	http_server_stop(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_silent_clients_make_room),
		cmocka_unit_test(test_silent_clients_are_closed),
		cmocka_unit_test(test_silent_crowd_of_one_address),
		cmocka_unit_test(test_client_stays_known_while_the_store_fails),
		cmocka_unit_test(test_cut_uploads_are_noticed),
		cmocka_unit_test(test_quick_requests_wait_for_nobody),
		cmocka_unit_test(test_shares_of_workers),
		cmocka_unit_test(test_who_reads_nothing_makes_room),
		cmocka_unit_test(test_streams_make_room),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
