/*
 * Counters that travel among the records of a recording, as `perf stat record` writes them: at every
 * tick a STAT record for each event with the sum over all its places, then a STAT_ROUND with the time.
 * Whoever reads the stream takes differences. Belongs to one thread.
 */
#ifndef TACHO_COLLECT_COUNTER_STREAM_H
#define TACHO_COLLECT_COUNTER_STREAM_H

#include "base/buf.h"
#include "base/json.h"
#include "collect/ticker.h"
#include "perf/counter.h"
#include "perfdata/writer.h"

struct counter_stream {
	struct counters counters;
	struct ticker ticker;
	uint64_t *ids;             /* that its records have, by number of event */
	uint64_t start_ns, end_ns; /* of the last reading, 0: not yet */
	bool open;
};

int counter_stream_open(struct counter_stream *s, const struct event_list *events,
			const struct target *target, struct err *e);
/* Fails if not a single one of them counts: says why of the first. */
int counter_stream_check(const struct counter_stream *s, struct err *e);
/* Of its event number @i, for the header. Names and ids stay with the stream. */
struct writer_event counter_stream_event(const struct counter_stream *s, size_t i);
size_t counter_stream_events(const struct counter_stream *s);

/* Before the workload's first step. Adds a round without values: differences begin here. */
void counter_stream_start(struct counter_stream *s, uint64_t now_ns, uint64_t interval_ns,
			  struct buf *out);
/* Reads all and adds records to @out. */
void counter_stream_tick(struct counter_stream *s, struct buf *out);
/* The last reading; nothing is counted afterwards. */
void counter_stream_finish(struct counter_stream *s, struct buf *out);
void counter_stream_close(struct counter_stream *s);

/* Objects for RUN_OPENED (run_messages.h). */
void counter_stream_describe(const struct counter_stream *s, struct json *j);

#endif
