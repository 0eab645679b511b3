/* Which connections make room and which are closed for being late, by a clock that the test moves. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "net/http_internal.h"

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TIMEOUT_S 30

static struct manual_clock now;
static struct http_guard guard;

/* The kernel of the tests: one that leaves the counts of bytes in struct tcp_info at 0, or one that does not know
 * these members. */
static enum { COUNTS_BYTES, LEAVES_ZERO, IS_OLD } kernel;

/* Replaces the function of the C library. */
int getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	const size_t counts = offsetof(struct tcp_info, tcpi_bytes_acked);
	int r = (int)syscall(SYS_getsockopt, fd, level, name, value, len);

	if (r || level != IPPROTO_TCP || name != TCP_INFO || kernel == COUNTS_BYTES)
		return r;
	memset((char *)value + counts, 0, *len - counts);
	if (kernel == IS_OLD)
		*len = counts;
	return 0;
}

struct client {
	struct http_connection c;
	int fds[2]; /* the server's end and the client's */
};

/* As a pair that tells how much has arrived, which Unix sockets do not. */
static void tcp_pair(int fds[2])
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(a);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(listener, (struct sockaddr *)&a, len), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&a, &len), 0);
	fds[1] = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(fds[1], (struct sockaddr *)&a, len), 0);
	fds[0] = accept(listener, NULL, NULL);
	assert_true(fds[0] >= 0);
	close(listener);
}

static bool add(struct client *k, const char *address)
{
	struct sockaddr_in a = {.sin_family = AF_INET};
	bool first, closed;

	k->c = (struct http_connection){};
	assert_int_equal(inet_pton(AF_INET, address, &a.sin_addr), 1);
	closed = guard_add(&guard, &k->c, k->fds[0], (struct sockaddr *)&a, &first);
	manual_clock_advance(&now, NS_PER_MSEC);
	return closed;
}

static bool enter(struct client *k, const char *address)
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, k->fds), 0);
	return add(k, address);
}

static bool is_closed(const struct client *k)
{
	char byte;

	/* At the server's end, which needs no waiting. */
	return recv(k->fds[0], &byte, 1, MSG_DONTWAIT) == 0;
}

static void leave(struct client *k)
{
	guard_remove(&guard, &k->c);
	close(k->fds[0]);
	close(k->fds[1]);
}

static void set(struct client *k, enum guard_state state)
{
	bool first;

	guard_set(&guard, &k->c, state, &first);
}

/* A request with a good token comes and is answered. */
static void ask_with_token(struct client *k)
{
	set(k, GUARD_BUSY);
	guard_know(&guard, &k->c, true);
	set(k, GUARD_READS);
	set(k, GUARD_WAITS);
}

/* A client with a good token that is sent an answer. */
static void begin_to_read(struct client *k, const char *address)
{
	char byte;

	tcp_pair(k->fds);
	add(k, address);
	/* The request. */
	assert_int_equal(send(k->fds[1], "x", 1, 0), 1);
	assert_int_equal(recv(k->fds[0], &byte, 1, 0), 1);
	guard_know(&guard, &k->c, true);
	set(k, GUARD_READS);
}

/* Sends, and returns when the client's side has it. */
static void send_bytes(struct client *k, size_t size)
{
	static char bytes[64 << 10];
	size_t got = 0;

	assert_int_equal(send(k->fds[0], bytes, size, 0), size);
	while (got < size) {
		ssize_t n = recv(k->fds[1], bytes, size - got, 0);

		assert_true(n > 0);
		got += (size_t)n;
	}
	/* An answer in the other direction says that all of it has arrived. */
	assert_int_equal(send(k->fds[1], "x", 1, 0), 1);
	assert_int_equal(recv(k->fds[0], bytes, 1, 0), 1);
}

static void begin(unsigned max, unsigned per_address_max)
{
	manual_clock_init(&now, NS_PER_SEC, NS_PER_SEC);
	guard_init(&guard, &now.clock, max, per_address_max, TIMEOUT_S);
}

static void test_strangers_make_room(void **state)
{
	struct client known, reader, strangers[3], newcomers[4], other;

	(void)state;
	begin(1000, 5);
	assert_false(enter(&known, "127.0.0.1"));
	ask_with_token(&known);
	assert_false(enter(&reader, "127.0.0.1"));
	set(&reader, GUARD_BUSY);
	set(&reader, GUARD_READS);
	for (size_t i = 0; i < ARRAY_LEN(strangers); i++)
		assert_false(enter(&strangers[i], "127.0.0.1"));
	assert_false(enter(&other, "127.0.0.2"));
	/* In this order: strangers that wait, those that are answered, and clients with a token. */
	for (size_t i = 0; i < ARRAY_LEN(strangers); i++) {
		assert_false(is_closed(&strangers[i]));
		assert_true(enter(&newcomers[i], "127.0.0.1"));
		assert_true(is_closed(&strangers[i]));
		leave(&strangers[i]);
		ask_with_token(&newcomers[i]);
	}
	assert_false(is_closed(&reader));
	assert_true(enter(&newcomers[3], "127.0.0.1"));
	assert_true(is_closed(&reader));
	leave(&reader);
	ask_with_token(&newcomers[3]);
	assert_false(is_closed(&known));
	assert_true(enter(&strangers[0], "127.0.0.1"));
	assert_true(is_closed(&known));
	leave(&known);
	/* Nobody of another address had to go, and nobody who had come later. */
	assert_false(is_closed(&other));
	for (size_t i = 0; i < ARRAY_LEN(newcomers); i++) {
		assert_false(is_closed(&newcomers[i]));
		leave(&newcomers[i]);
	}
	leave(&strangers[0]);
	leave(&other);
	assert_null(guard.addresses);
	guard_release(&guard);
}

static void test_no_room_is_left(void **state)
{
	struct client busy[2], late, elsewhere;

	(void)state;
	begin(1000, 2);
	for (size_t i = 0; i < ARRAY_LEN(busy); i++) {
		assert_false(enter(&busy[i], "127.0.0.1"));
		set(&busy[i], GUARD_BUSY);
	}
	assert_true(enter(&late, "127.0.0.1"));
	assert_true(is_closed(&late));
	assert_false(enter(&elsewhere, "127.0.0.2"));
	assert_false(is_closed(&elsewhere));
	for (size_t i = 0; i < ARRAY_LEN(busy); i++) {
		assert_false(is_closed(&busy[i]));
		leave(&busy[i]);
	}
	leave(&late);
	leave(&elsewhere);
	guard_release(&guard);
}

static void test_late_ones_are_closed(void **state)
{
	struct client idle, known, sends, reads;
	int wait_ms;

	(void)state;
	begin(1000, 0);
	assert_int_equal(guard_expire(&guard, &wait_ms), 0);
	assert_int_equal(wait_ms, -1);
	enter(&idle, "127.0.0.1");
	enter(&known, "127.0.0.1");
	ask_with_token(&known);
	enter(&sends, "127.0.0.1");
	enter(&reads, "127.0.0.1");
	set(&reads, GUARD_READS);
	/* Half of the time is over when 16 KiB of a body have come, and then all of it. */
	manual_clock_advance(&now, TIMEOUT_S / 2 * NS_PER_SEC);
	guard_received(&guard, &sends.c, 16 << 10);
	guard_received(&guard, &idle.c, 1);
	assert_int_equal(guard_expire(&guard, &wait_ms), 0);
	assert_in_range(wait_ms, 1, (TIMEOUT_S / 2 + 1) * 1000);
	manual_clock_advance(&now, TIMEOUT_S / 2 * NS_PER_SEC);
	assert_int_equal(guard_expire(&guard, &wait_ms), 2);
	assert_true(is_closed(&idle));
	assert_true(is_closed(&known));
	assert_false(is_closed(&sends));
	manual_clock_advance(&now, TIMEOUT_S / 2 * NS_PER_SEC);
	assert_int_equal(guard_expire(&guard, &wait_ms), 1);
	assert_true(is_closed(&sends));
	assert_false(is_closed(&reads)); /* a Unix socket does not tell how much it takes */
	assert_in_range(wait_ms, 1, (TIMEOUT_S + 1) * 1000);
	leave(&idle);
	leave(&known);
	leave(&sends);
	leave(&reads);
	guard_release(&guard);
}

/* 16 KiB of an answer renew the time of a client, whether it has a good token or not. */
static void test_slow_readers_are_closed(void **state)
{
	struct client slow, reads;
	int wait_ms;

	(void)state;
	begin(1000, 0);
	begin_to_read(&slow, "127.0.0.1");
	begin_to_read(&reads, "127.0.0.1");
	send_bytes(&slow, 10 << 10);
	send_bytes(&reads, 16 << 10);
	assert_int_equal(guard_expire(&guard, &wait_ms), 0);
	assert_in_range(wait_ms, 1, (TIMEOUT_S + 1) * 1000);
	manual_clock_advance(&now, TIMEOUT_S * NS_PER_SEC);
	assert_int_equal(guard_expire(&guard, &wait_ms), 1);
	assert_true(is_closed(&slow));
	assert_false(is_closed(&reads));
	/* That was for the time that is over. */
	manual_clock_advance(&now, TIMEOUT_S * NS_PER_SEC);
	assert_int_equal(guard_expire(&guard, &wait_ms), 1);
	assert_true(is_closed(&reads));
	leave(&slow);
	leave(&reads);
	guard_release(&guard);
}

/* Then nobody knows whether the client is slow. */
static void test_readers_stay_if_the_kernel_does_not_count(void **state)
{
	struct client reads;
	int wait_ms;

	(void)state;
	for (kernel = LEAVES_ZERO; kernel <= IS_OLD; kernel++) {
		begin(1000, 0);
		begin_to_read(&reads, "127.0.0.1");
		send_bytes(&reads, 64 << 10);
		manual_clock_advance(&now, TIMEOUT_S * NS_PER_SEC);
		assert_int_equal(guard_expire(&guard, &wait_ms), 0);
		assert_false(is_closed(&reads));
		leave(&reads);
		guard_release(&guard);
	}
	kernel = COUNTS_BYTES;
}

/* A client whose receive window was closed from the start acknowledges not one byte. */
static void test_readers_of_nothing_are_closed(void **state)
{
	struct client reads;
	int wait_ms;

	(void)state;
	begin(1000, 0);
	begin_to_read(&reads, "127.0.0.1");
	manual_clock_advance(&now, TIMEOUT_S * NS_PER_SEC);
	assert_int_equal(guard_expire(&guard, &wait_ms), 1);
	assert_true(is_closed(&reads));
	leave(&reads);
	guard_release(&guard);
}

/* Nobody keeps others out for ever, with whatever token: streams and readers make room, too. */
static void test_readers_and_streams_make_room(void **state)
{
	struct client reader, stream, waits, late[3];

	(void)state;
	begin(1000, 3);
	begin_to_read(&reader, "127.0.0.1");
	enter(&stream, "127.0.0.1");
	guard_know(&guard, &stream.c, true);
	set(&stream, GUARD_WATCHES);
	enter(&waits, "127.0.0.1");
	ask_with_token(&waits);
	/* In this order: what a client misses least goes first. */
	assert_true(enter(&late[0], "127.0.0.1"));
	assert_true(is_closed(&waits));
	leave(&waits);
	set(&late[0], GUARD_BUSY);
	assert_true(enter(&late[1], "127.0.0.1"));
	assert_true(is_closed(&stream));
	leave(&stream);
	set(&late[1], GUARD_BUSY);
	assert_false(is_closed(&reader));
	assert_true(enter(&late[2], "127.0.0.1"));
	assert_true(is_closed(&reader));
	leave(&reader);
	for (size_t i = 0; i < ARRAY_LEN(late); i++) {
		assert_false(is_closed(&late[i]));
		leave(&late[i]);
	}
	guard_release(&guard);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strangers_make_room),
		cmocka_unit_test(test_no_room_is_left),
		cmocka_unit_test(test_late_ones_are_closed),
		cmocka_unit_test(test_slow_readers_are_closed),
		cmocka_unit_test(test_readers_stay_if_the_kernel_does_not_count),
		cmocka_unit_test(test_readers_of_nothing_are_closed),
		cmocka_unit_test(test_readers_and_streams_make_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
