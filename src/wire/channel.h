/*
 * Messages between a collector and the process that started it, over any stream socket: a header of
 * eight bytes, then the body, all numbers little-endian. Received bytes are not trusted: sizes are
 * bounded, bodies are read through the cursor. Sending never blocks: unsent bytes wait in memory,
 * and messages that can be missed are dropped while too many wait. One thread at a time.
 */
#ifndef TACHO_WIRE_CHANNEL_H
#define TACHO_WIRE_CHANNEL_H

#include "base/buf.h"
#include "base/cursor.h"

#include <stdbool.h>
#include <stdint.h>

enum message_type {
	/* from the collector */
	MESSAGE_STARTED = 1, /* u32 events, u32 rings, u64 bytes of each ring */
	MESSAGE_PROGRESS,    /* struct record_counts */
	MESSAGE_NOTE,        /* text: a note for the user */
	MESSAGE_SWITCHED,    /* text: name of a file that is complete */
	MESSAGE_FINISHED,    /* struct record_summary */
	MESSAGE_ERROR,       /* u32 errno, text; MESSAGE_FINISHED still follows */
	MESSAGE_OPENED,      /* u64 start_ns, u64 wall_ns, u32 pid of workload, JSON of events */
	/* to the collector */
	MESSAGE_STOP = 64, /* u32 signal to send to the workload, 0: none; flags: enum stop_flag */
	MESSAGE_SNAPSHOT,  /* complete a file now and go on recording */
};

enum stop_flag {
	STOP_NOW = 1,  /* do not wait for the workload */
	STOP_KILL = 2, /* with STOP_NOW: end the workload by SIGKILL, without SIGTERM first */
};

/* Header on the wire: u32 size of the body, u16 type, u16 flags. */
#define MESSAGE_HEADER_BYTES 8u
#define MESSAGE_BYTES_MAX    65536u /* limit of a body, unless channel.body_max differs */
/* While more bytes than this wait, channel_send_droppable() drops its message. */
#define CHANNEL_WAITING_MAX 65536u

struct message {
	uint16_t type, flags;
	struct cursor body; /* valid until the next channel_receive() */
};

struct channel {
	int fd;
	struct buf in, out;
	size_t in_at, out_at; /* parsed and sent up to here */
	uint32_t body_max;    /* limit of a body; must be the same on both sides */
	bool ended;           /* the other side is gone */
};

/* Takes ownership of @fd and makes it non-blocking. */
void channel_init(struct channel *c, int fd);
void channel_release(struct channel *c);

/* Append a number to a body, little-endian. */
void body_u16(struct buf *body, uint16_t value);
void body_u32(struct buf *body, uint32_t value);
void body_u64(struct buf *body, uint64_t value);

/* Bytes that wait to be sent. */
size_t channel_waiting(const struct channel *c);

/* Sends, or queues what cannot be sent now. Returns -EPIPE if the other side is gone, -EMSGSIZE if
 * the body is too long. */
int channel_send(struct channel *c, uint16_t type, uint16_t flags, const struct buf *body);
/* Like channel_send(), but drops the message, returning 0, while too much waits to be sent. */
int channel_send_droppable(struct channel *c, uint16_t type, const struct buf *body);
/* Queues without sending: the next channel_send() or channel_flush() sends it. */
int channel_queue(struct channel *c, uint16_t type, uint16_t flags, const struct buf *body);

/* Sends as much of the queue as possible. Returns true if all was sent. */
bool channel_flush(struct channel *c);
/* Waits until all is sent. Returns false if nothing could be sent for @ms milliseconds. */
bool channel_drain(struct channel *c, int ms);

/* Returns 1 with a message, 0 if none is complete yet, -EPIPE if the other side is gone, -EBADMSG
 * if the next body would exceed body_max. */
int channel_receive(struct channel *c, struct message *ret);

#endif
