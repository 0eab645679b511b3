/* Which connections make room and which are closed for being late, by a clock that the test moves. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "net/http_internal.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#define TIMEOUT_S 30

static struct manual_clock now;
static struct http_guard guard;

struct client {
	struct http_connection c;
	int fds[2]; /* the server's end and the client's */
};

static bool enter(struct client *k, const char *address)
{
	struct sockaddr_in a = {.sin_family = AF_INET};
	bool first, closed;

	*k = (struct client){};
	assert_int_equal(inet_pton(AF_INET, address, &a.sin_addr), 1);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, k->fds), 0);
	closed = guard_add(&guard, &k->c, k->fds[0], (struct sockaddr *)&a, &first);
	manual_clock_advance(&now, NS_PER_MSEC);
	return closed;
}

static bool is_closed(const struct client *k)
{
	char byte;

	return recv(k->fds[1], &byte, 1, MSG_DONTWAIT) == 0;
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
	assert_false(is_closed(&reads)); /* libmicrohttpd's to close */
	assert_int_equal(wait_ms, -1);
	leave(&idle);
	leave(&known);
	leave(&sends);
	leave(&reads);
	guard_release(&guard);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strangers_make_room),
		cmocka_unit_test(test_no_room_is_left),
		cmocka_unit_test(test_late_ones_are_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
