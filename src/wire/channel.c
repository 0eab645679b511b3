#include "wire/channel.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_BYTES    65536
#define COMPACT_BYTES (1u << 20)

void channel_init(struct channel *c, int fd)
{
	*c = (struct channel){.fd = fd, .body_max = MESSAGE_BYTES_MAX};
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	fcntl(fd, F_SETFD, FD_CLOEXEC);
}

void channel_release(struct channel *c)
{
	if (c->fd >= 0)
		close(c->fd);
	buf_release(&c->in);
	buf_release(&c->out);
	*c = (struct channel){.fd = -1};
}

void body_u16(struct buf *body, uint16_t value)
{
	value = htole16(value);
	buf_add_mem(body, &value, sizeof(value));
}

void body_u32(struct buf *body, uint32_t value)
{
	value = htole32(value);
	buf_add_mem(body, &value, sizeof(value));
}

void body_u64(struct buf *body, uint64_t value)
{
	value = htole64(value);
	buf_add_mem(body, &value, sizeof(value));
}

bool channel_flush(struct channel *c)
{
	while (c->out_at < c->out.len && !c->ended) {
		ssize_t n = send(c->fd, c->out.s + c->out_at, c->out.len - c->out_at, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return false;
		if (n < 0)
			c->ended = true;
		else
			c->out_at += (size_t)n;
	}
	buf_clear(&c->out);
	c->out_at = 0;
	return !c->ended;
}

size_t channel_waiting(const struct channel *c)
{
	return c->out.len - c->out_at;
}

int channel_queue(struct channel *c, uint16_t type, uint16_t flags, const struct buf *body)
{
	size_t size = body ? body->len : 0;

	if (size > c->body_max)
		return -EMSGSIZE;
	if (c->ended)
		return -EPIPE;
	/* Free the sent part here: channel_flush() does so only when the queue runs empty. */
	if (c->out_at > COMPACT_BYTES && c->out_at > c->out.len / 2) {
		memmove(c->out.s, c->out.s + c->out_at, c->out.len - c->out_at);
		c->out.len -= c->out_at;
		c->out_at = 0;
	}
	body_u32(&c->out, (uint32_t)size);
	body_u16(&c->out, type);
	body_u16(&c->out, flags);
	if (size)
		buf_add_mem(&c->out, body->s, size);
	return 0;
}

int channel_send(struct channel *c, uint16_t type, uint16_t flags, const struct buf *body)
{
	int r = channel_queue(c, type, flags, body);

	if (r < 0)
		return r;
	channel_flush(c);
	return c->ended ? -EPIPE : 0;
}

int channel_send_droppable(struct channel *c, uint16_t type, const struct buf *body)
{
	channel_flush(c);
	if (channel_waiting(c) > CHANNEL_WAITING_MAX)
		return 0;
	return channel_send(c, type, 0, body);
}

bool channel_drain(struct channel *c, int ms)
{
	struct pollfd p = {.fd = c->fd, .events = POLLOUT};

	while (!channel_flush(c) && !c->ended) {
		int r = poll(&p, 1, ms);

		if (r == 0 || (r < 0 && errno != EINTR))
			return false;
	}
	return !c->ended;
}

/* Reads once. Returns 1 if bytes came, 0 if there are none yet, -EPIPE at end of file. */
static int read_more(struct channel *c)
{
	ssize_t n;
	char *room;

	if (c->in_at) {
		memmove(c->in.s, c->in.s + c->in_at, c->in.len - c->in_at);
		c->in.len -= c->in_at;
		c->in_at = 0;
	}
	room = buf_room(&c->in, READ_BYTES);
	do
		n = recv(c->fd, room, READ_BYTES, 0);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n <= 0) {
		c->ended = true;
		return -EPIPE;
	}
	buf_commit(&c->in, room + n);
	return 1;
}

/* Takes the next message if it has arrived whole: returns 1, 0 if not yet, or -EBADMSG. */
static int take(struct channel *c, struct message *ret)
{
	struct cursor all = cursor_of(c->in.s ? c->in.s + c->in_at : "", c->in.len - c->in_at);
	uint32_t size;

	all.swap = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	size = cursor_u32(&all);
	ret->type = cursor_u16(&all);
	ret->flags = cursor_u16(&all);
	if (all.failed)
		return 0;
	if (size > c->body_max)
		return -EBADMSG;
	if (size > all.size - all.at)
		return 0;
	ret->body = cursor_part(&all, MESSAGE_HEADER_BYTES, size);
	ret->body.swap = all.swap;
	c->in_at += MESSAGE_HEADER_BYTES + size;
	return 1;
}

int channel_receive(struct channel *c, struct message *ret)
{
	for (;;) {
		int r = take(c, ret);

		if (r)
			return r;
		r = read_more(c);
		if (r <= 0)
			return r;
	}
}
