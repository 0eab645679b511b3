/* Messages to the server, from both threads. */
#include "collect/run/runner.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* The feed waits while more than this is queued. */
#define WAITING_MAX ((size_t)4 << 20)
/* Messages of a round are sent together up to this size, so that watchers get them at the same
 * time. */
#define TOGETHER_BYTES ((size_t)128 << 10)

void runner_channel_init(struct runner *r, int fd)
{
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->changed, NULL);
	r->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	channel_init(&r->channel, fd);
	r->channel.body_max = RUN_MESSAGE_BYTES_MAX;
}

void runner_channel_release(struct runner *r)
{
	channel_release(&r->channel);
	if (r->wake_fd >= 0)
		close(r->wake_fd);
	pthread_cond_destroy(&r->changed);
	pthread_mutex_destroy(&r->lock);
}

void runner_wake(struct runner *r)
{
	uint64_t one = 1;
	ssize_t n = write(r->wake_fd, &one, sizeof(one));

	(void)n; /* if the write fails, it is awake already */
}

void runner_send(struct runner *r, uint16_t type, const struct buf *body)
{
	pthread_mutex_lock(&r->lock);
	channel_send(&r->channel, type, 0, body);
	pthread_mutex_unlock(&r->lock);
}

void runner_send_first(struct runner *r, const struct buf *body)
{
	pthread_mutex_lock(&r->lock);
	channel_send(&r->channel, RUN_OPENED, 0, body);
	r->opened = true;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
}

/* Called by the feed, which must hold the lock. */
static void send_queued(struct runner *r)
{
	if (!channel_flush(&r->channel))
		runner_wake(r);
	while (channel_waiting(&r->channel) > WAITING_MAX && !r->gone)
		pthread_cond_wait(&r->changed, &r->lock);
}

bool runner_send_patiently(struct runner *r, uint16_t type, const struct buf *body)
{
	bool there;

	pthread_mutex_lock(&r->lock);
	/* Wait for RUN_OPENED: without it chunks would have no clock. */
	while (!r->opened && !r->never_opened && !r->gone)
		pthread_cond_wait(&r->changed, &r->lock);
	if (!r->gone && r->opened)
		channel_queue(&r->channel, type, 0, body);
	if (channel_waiting(&r->channel) > TOGETHER_BYTES)
		send_queued(r);
	there = !r->gone && !r->channel.ended;
	pthread_mutex_unlock(&r->lock);
	return there;
}

void runner_send_queued(struct runner *r)
{
	pthread_mutex_lock(&r->lock);
	send_queued(r);
	pthread_mutex_unlock(&r->lock);
}

void runner_flush(struct runner *r)
{
	pthread_mutex_lock(&r->lock);
	channel_flush(&r->channel);
	r->gone |= r->channel.ended;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
}

void runner_note(struct runner *r, const char *text)
{
	CLEANUP(buf_release) struct buf body = {};

	buf_add(&body, text);
	runner_send(r, RUN_NOTE, &body);
}
