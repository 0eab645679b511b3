/* The framing between a collector and its starter: whole, in pieces, too long, broken, cut off. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "collect/recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A channel, and the bare other end of its socket. */
static struct channel open_channel(int *ret_other)
{
	struct channel c;
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	channel_init(&c, fds[0]);
	*ret_other = fds[1];
	return c;
}

static void raw_header(unsigned char *to, uint32_t size, uint16_t type, uint16_t flags)
{
	const unsigned char bytes[] = {
		(unsigned char)size,         (unsigned char)(size >> 8),
		(unsigned char)(size >> 16), (unsigned char)(size >> 24),
		(unsigned char)type,         (unsigned char)(type >> 8),
		(unsigned char)flags,        (unsigned char)(flags >> 8),
	};

	memcpy(to, bytes, sizeof(bytes));
}

static void messages_arrive(void **state)
{
	CLEANUP(buf_release) struct buf body = {};
	struct channel a, b;
	struct message m;
	int other;

	(void)state;
	a = open_channel(&other);
	channel_init(&b, other);
	assert_int_equal(channel_receive(&b, &m), 0);
	body_u32(&body, 0x01020304);
	body_u64(&body, 5);
	buf_add(&body, "text");
	assert_int_equal(channel_send(&a, MESSAGE_NOTE, STOP_NOW, &body), 0);
	assert_int_equal(channel_send(&a, MESSAGE_SNAPSHOT, 0, NULL), 0);
	assert_int_equal(channel_receive(&b, &m), 1);
	assert_int_equal(m.type, MESSAGE_NOTE);
	assert_int_equal(m.flags, STOP_NOW);
	assert_int_equal(cursor_u32(&m.body), 0x01020304);
	assert_int_equal(cursor_u64(&m.body), 5);
	char *text = text_get(&m.body);
	assert_string_equal(text, "text");
	free(text);
	assert_int_equal(channel_receive(&b, &m), 1);
	assert_int_equal(m.type, MESSAGE_SNAPSHOT);
	assert_int_equal(m.body.size, 0);
	assert_int_equal(channel_receive(&b, &m), 0);
	channel_release(&a);
	assert_int_equal(channel_receive(&b, &m), -EPIPE);
	assert_int_equal(channel_send(&b, MESSAGE_STOP, 0, NULL), -EPIPE);
	channel_release(&b);
}

static void byte_by_byte(void **state)
{
	unsigned char bytes[2 * (MESSAGE_HEADER_BYTES + 3)];
	struct channel c;
	struct message m;
	int other, seen = 0;

	(void)state;
	c = open_channel(&other);
	for (int i = 0; i < 2; i++) {
		raw_header(bytes + i * 11, 3, MESSAGE_NOTE, 0);
		memcpy(bytes + i * 11 + MESSAGE_HEADER_BYTES, i ? "two" : "one", 3);
	}
	for (size_t i = 0; i < sizeof(bytes); i++) {
		assert_int_equal(write(other, &bytes[i], 1), 1);
		if (!channel_receive(&c, &m))
			continue;
		assert_int_equal(i % 11, 10);
		assert_int_equal(m.body.size, 3);
		assert_memory_equal(m.body.data, seen++ ? "two" : "one", 3);
	}
	assert_int_equal(seen, 2);
	close(other);
	channel_release(&c);
}

static void cut_off(void **state)
{
	unsigned char bytes[MESSAGE_HEADER_BYTES + 3] = {};

	(void)state;
	for (size_t len = 0; len < sizeof(bytes); len++) {
		struct channel c;
		struct message m;
		int other;

		c = open_channel(&other);
		raw_header(bytes, 3, MESSAGE_NOTE, 0);
		assert_int_equal(write(other, bytes, len), len);
		assert_int_equal(channel_receive(&c, &m), 0);
		close(other);
		assert_int_equal(channel_receive(&c, &m), -EPIPE);
		channel_release(&c);
	}
}

static void too_long(void **state)
{
	unsigned char bytes[MESSAGE_HEADER_BYTES];
	CLEANUP(buf_release) struct buf body = {};
	struct channel c;
	struct message m;
	int other;

	(void)state;
	c = open_channel(&other);
	raw_header(bytes, MESSAGE_BYTES_MAX + 1, MESSAGE_NOTE, 0);
	assert_int_equal(write(other, bytes, sizeof(bytes)), sizeof(bytes));
	assert_int_equal(channel_receive(&c, &m), -EBADMSG);
	buf_pad(&body, MESSAGE_BYTES_MAX + 1, 'x');
	assert_int_equal(channel_send(&c, MESSAGE_NOTE, 0, &body), -EMSGSIZE);
	close(other);
	channel_release(&c);
}

/* Nobody reads: what can be missed is dropped, what cannot is kept, and all arrives in the end. */
static void slow_reader(void **state)
{
	CLEANUP(buf_release) struct buf body = {};
	struct channel a, b;
	struct message m;
	int other, progress = 0, r;

	(void)state;
	a = open_channel(&other);
	channel_init(&b, other);
	buf_pad(&body, 1000, 'x');
	for (int i = 0; i < 5000; i++)
		assert_int_equal(channel_send_droppable(&a, MESSAGE_PROGRESS, &body), 0);
	assert_true(a.out.len - a.out_at <= CHANNEL_WAITING_MAX + 2 * body.len);
	assert_int_equal(channel_send(&a, MESSAGE_FINISHED, 0, &body), 0);
	do {
		channel_flush(&a);
		r = channel_receive(&b, &m);
		assert_true(r >= 0);
		progress += r && m.type == MESSAGE_PROGRESS;
	} while (!r || m.type != MESSAGE_FINISHED);
	assert_true(progress > 0 && progress < 5000);
	assert_int_equal(m.body.size, 1000);
	channel_release(&a);
	channel_release(&b);
}

static void summaries(void **state)
{
	struct record_summary in = {
		.counts = {.samples = 1, .bytes = 1ull << 40, .lost = 3, .throttled = 4},
		.has_workload = true,
		.wait_status = 139,
		.end = END_TIMEOUT,
		.end_ns = 5ull << 40};
	struct record_summary out = {};
	CLEANUP(buf_release) struct buf body = {};
	struct cursor cursor;

	(void)state;
	summary_put(&body, &in);
	cursor = cursor_of(body.s, body.len);
	assert_true(summary_get(&cursor, &out));
	assert_int_equal(out.counts.samples, 1);
	assert_true(out.counts.bytes == 1ull << 40);
	assert_int_equal(out.counts.lost, 3);
	assert_int_equal(out.counts.throttled, 4);
	assert_true(out.has_workload && !out.exec_failed);
	assert_int_equal(out.wait_status, 139);
	assert_int_equal(out.end, END_TIMEOUT);
	assert_true(out.end_ns == 5ull << 40);
	/* Cut anywhere it is refused, and nothing is touched. */
	for (size_t len = 0; len < body.len; len++) {
		out.wait_status = 7;
		cursor = cursor_of(body.s, len);
		assert_false(summary_get(&cursor, &out));
		assert_int_equal(out.wait_status, 7);
	}
	body.s[body.len - 1] = 9;
	cursor = cursor_of(body.s, body.len);
	assert_false(summary_get(&cursor, &out));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_arrive), cmocka_unit_test(byte_by_byte),
		cmocka_unit_test(cut_off),         cmocka_unit_test(too_long),
		cmocka_unit_test(slow_reader),     cmocka_unit_test(summaries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
