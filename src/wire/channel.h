/*
 * Messages between a collector and whoever started it, over any stream socket: a header of eight
 * bytes, then the body, all numbers little-endian. What is received is not trusted: sizes are
 * bounded, bodies are read through the cursor. Sending never blocks; what does not go out at once
 * waits in memory, and what can be missed is dropped instead. One thread at a time.
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
	MESSAGE_NOTE,        /* text: what the user should know */
	MESSAGE_SWITCHED,    /* text: name of a file that is complete */
	MESSAGE_FINISHED,    /* struct record_summary */
	MESSAGE_ERROR,       /* u32 errno, text; nothing comes after it */
	MESSAGE_OPENED,      /* u64 start, u64 wall clock, u32 workload, JSON of the events */
	/* to the collector */
	MESSAGE_STOP =
		64,       /* u32 signal for the workload, 0: it has got it; flags: enum stop_flag */
	MESSAGE_SNAPSHOT, /* write what is there and go on */
};

enum stop_flag {
	STOP_NOW = 1,  /* do not wait for the workload */
	STOP_KILL = 2, /* nor ask it */
};

/* Header on the wire: u32 size of the body, u16 type, u16 flags. */
#define MESSAGE_HEADER_BYTES 8u
#define MESSAGE_BYTES_MAX    65536u /* of a body, unless the channel has another limit */
/* What may wait to be sent before messages that can be missed are dropped. */
#define CHANNEL_WAITING_MAX 65536u

struct message {
	uint16_t type, flags;
	struct cursor body; /* valid until the next channel_receive() */
};

struct channel {
	int fd;
	struct buf in, out;
	size_t in_at, out_at; /* done up to here */
	uint32_t body_max;    /* bytes of a body; both sides have the same */
	bool ended;           /* the other side is gone */
};

/* The channel owns @fd from now on, and makes it non-blocking. */
void channel_init(struct channel *c, int fd);
void channel_release(struct channel *c);

/* Numbers are added to a body by these. */
void body_u16(struct buf *body, uint16_t value);
void body_u32(struct buf *body, uint32_t value);
void body_u64(struct buf *body, uint64_t value);

/* Bytes that wait to be sent. */
size_t channel_waiting(const struct channel *c);

/* Sends or keeps for later. -EPIPE: nobody is there; -EMSGSIZE: the body is too long. */
int channel_send(struct channel *c, uint16_t type, uint16_t flags, const struct buf *body);
/* The same, but gives way when the other side does not keep up. */
int channel_send_droppable(struct channel *c, uint16_t type, const struct buf *body);
/* Goes out with the next that is sent, or by channel_flush(). */
int channel_queue(struct channel *c, uint16_t type, uint16_t flags, const struct buf *body);

/* What waits goes out as far as possible; true if nothing waits any more. */
bool channel_flush(struct channel *c);
/* Waits until all is sent, at most @ms milliseconds. */
bool channel_drain(struct channel *c, int ms);

/* 1: a message; 0: none yet; -EPIPE: end of file; -EBADMSG: what came is no message. */
int channel_receive(struct channel *c, struct message *ret);

#endif
