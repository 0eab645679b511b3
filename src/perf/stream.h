/*
 * A stream of records, wherever it comes from: bytes go in, records come out in the order of time,
 * each with its event. A file, a pipe, the rings and a remote collector all feed the same stream.
 *
 *	struct stream s = {.visitor = &mine, .ctx = me};
 *	stream_add_event(&s, …);
 *	while ((n = read(fd, feed_room(&feed, &room), room)) > 0)
 *		feed_bytes(&s, &feed, n);
 *	stream_end(&s);
 *
 * Damage never stops the caller: what can be read is given out, the rest is noted. One thread.
 */
#ifndef TACHO_PERF_STREAM_H
#define TACHO_PERF_STREAM_H

#include "base/err.h"
#include "perf/id_map.h"
#include "perf/layout.h"
#include "perf/order.h"

struct stream_event {
	char *name; /* NULL while nothing has named it */
	char *unit;
	double scale;
	struct perf_event_attr attr;
	struct layout layout;
	uint32_t leader;  /* its group's first event; itself without a group */
	uint32_t members; /* of a leader: how many there are, with itself */
	VEC(uint64_t) ids;
};

/* A record in its turn. record_decode(&event->layout, bytes, …) gives its parts. */
struct stream_record {
	const struct perf_event_header *header; /* and its bytes behind it */
	const struct stream_event *event;       /* NULL: there is none, nothing can be decoded */
	uint32_t event_index;
	uint64_t time_ns; /* 0: it has none */
	uint64_t file_offset;
};

/* What is wrong with it, in the order of being found; only the first DAMAGES_MAX are kept. */
#define DAMAGES_MAX 32
struct damage {
	uint64_t offset;
	char text[200];
};

struct stream_visitor {
	/* False: enough, stop reading. */
	bool (*record)(void *ctx, const struct stream_record *record);
	/*
	 * A record of a tool (type ≥ RECORD_USER_START) as it comes, not ordered. Its bytes may
	 * still be in foreign order behind the header. *ret_skip: bytes that follow it and are not
	 * records. NULL: they are passed over.
	 */
	void (*user)(void *ctx, unsigned char *bytes, uint64_t file_offset, uint64_t *ret_skip);
	/* Samples as they come, without their event and time; `record` then gets all others. NULL: they
	 * are records like all. False: enough. Only with `unordered`, in our byte order. */
	bool (*sample)(void *ctx, const struct perf_event_header *header, uint64_t file_offset);
	/* The bytes that `user` had passed over, piece by piece. May be NULL. */
	void (*follow)(void *ctx, const unsigned char *bytes, size_t size);
};

/* Types below this are counted one by one, all others together. */
#define COUNTED_TYPES 128

struct stream {
	const struct stream_visitor *visitor;
	void *ctx;
	bool swap;      /* a foreign byte order */
	bool unordered; /* give records as they come */
	VEC(struct stream_event) events;
	struct id_map ids;
	uint64_t id_count; /* with those that came twice */
	struct order order;
	uint64_t last_ns;     /* the time of the last record that came in */
	struct block *copies; /* of records that were not aligned */
	size_t copies_used;
	uint64_t counts[COUNTED_TYPES + 1], bytes_by_type[COUNTED_TYPES + 1];
	uint64_t unknown_ids; /* records whose id no event has */
	uint64_t without_event;
	VEC(struct damage) damages;
	uint64_t damage_count;
	bool enough;  /* for the visitor */
	bool stopped; /* that, or the bytes cannot be read on */
};

/* More of them than this is a lie. */
#define STREAM_EVENTS_MAX 65536u
#define STREAM_NAME_MAX   1024u
#define STREAM_IDS_MAX    (2u << 20) /* of all events together */

/* The event's number, or false if there are too many. @attr is copied. */
bool stream_add_event(struct stream *s, const struct perf_event_attr *attr, uint32_t *ret_event);
bool stream_add_id(struct stream *s, uint32_t event, uint64_t id);
/* A copy of @name, cut at STREAM_NAME_MAX bytes. */
void stream_name_event(struct stream_event *event, const char *name);
struct stream_event *stream_find_id(struct stream *s, uint64_t id);

/* The event and the time of a record, in our byte order; false if nothing can be done with it. For
 * those who read records a second time. */
bool stream_locate(const struct stream *s, const struct perf_event_header *h, uint32_t *ret_event,
		   uint64_t *ret_time_ns);

void stream_damage(struct stream *s, uint64_t offset, const char *fmt, ...) PRINTF_LIKE(3, 4);
void stream_end(struct stream *s);
/* Forgets all records, but not the events. */
void stream_rewind(struct stream *s);
void stream_release(struct stream *s);

/* Bytes on their way into a stream. */
struct feed {
	struct stream *stream;
	struct block *block;
	size_t parsed, filled; /* of the block's data */
	uint64_t file_offset;  /* of what comes next; or, if `outside`, of the compressed record */
	uint64_t skip;         /* bytes to come that are not records */
	bool outside;
};

/* Where to put the next bytes, and how many: at least one. */
unsigned char *feed_room(struct feed *f, size_t *ret_room);
void feed_bytes(struct feed *f, size_t count);
/* The caller passes over @count of the bytes to be skipped, instead of bringing them. */
void feed_pass_over(struct feed *f, uint64_t count);
/* The end: what is left is the beginning of a record that is not whole. */
size_t feed_left(const struct feed *f);
void feed_release(struct feed *f);

#endif
