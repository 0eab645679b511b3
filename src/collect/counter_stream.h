/*
 * Counter values as records of a recording, in the form that `perf stat record` writes: at every
 * tick a STAT record for each event, with the sum over all places where it is counted, then a
 * STAT_ROUND with the time. Values are totals: readers take differences. Belongs to one thread.
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
	uint64_t *ids;             /* ids in the STAT records, by event number */
	uint64_t start_ns, end_ns; /* end_ns: time of the last reading, 0: not yet */
	bool open;
};

int counter_stream_open(struct counter_stream *s, const struct event_list *events,
			const struct target *target, struct err *e);
/* Fails if no event can be counted; the error says why the first one cannot. */
int counter_stream_check(const struct counter_stream *s, struct err *e);
/* Describes event number @i for the file header. Name and ids belong to the stream. */
struct writer_event counter_stream_event(const struct counter_stream *s, size_t i);
size_t counter_stream_events(const struct counter_stream *s);

/* Call this before the workload runs. Adds a round without values: differences begin here. */
void counter_stream_start(struct counter_stream *s, uint64_t now_ns, uint64_t interval_ns,
			  struct buf *out);
/* Reads all counters and adds their records to @out. */
void counter_stream_tick(struct counter_stream *s, struct buf *out);
/* Stops the counters and adds their last records to @out. */
void counter_stream_finish(struct counter_stream *s, struct buf *out);
void counter_stream_close(struct counter_stream *s);

/* Adds an object for each event, as in RUN_OPENED (run_messages.h). */
void counter_stream_describe(const struct counter_stream *s, struct json *j);

#endif
