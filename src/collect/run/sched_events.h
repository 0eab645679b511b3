/*
 * The scheduler's tracepoints as the events that run slices are made from (derive/run_slices.h). Fields
 * come from the formats in the recording, and so do the letters of the states in which threads stop:
 * their bits differ from kernel to kernel. Formats and samples are not trusted.
 */
#ifndef TACHO_COLLECT_RUN_SCHED_EVENTS_H
#define TACHO_COLLECT_RUN_SCHED_EVENTS_H

#include "base/buf.h"
#include "derive/run_slices.h"
#include "perfdata/facts.h"

enum sched_kind {
	TRACE_OTHER,
	TRACE_SWITCH,
	TRACE_WAKING,
	TRACE_WAKEUP,
	TRACE_WAKEUP_NEW,
};

/* Which of them an event is, without a look at its format. */
enum sched_kind sched_kind_of(const struct perfdata_facts *facts, const struct stream_event *event);
/* NULL if samples of the event tell each hit with CPU, time and fields; else what is missing. */
const char *sched_event_problem(const struct stream_event *event);

struct sched_event;

/* NULL: it is none of them, or has not the fields that it should have. */
struct sched_event *sched_event_new(const struct perfdata_facts *facts,
				    const struct stream_event *event);
void sched_event_free(struct sched_event *e);
enum sched_kind sched_event_kind(const struct sched_event *e);

/*
 * Sets what the fields say: threads, priorities, and of a switch *ret_state, by which the state of the
 * previous thread is known. False if the sample has too few bytes.
 */
bool sched_event_switch(const struct sched_event *e, const void *raw, size_t raw_size,
			struct slice_switch *ret, uint64_t *ret_state);
/* *ret_interrupt: it was not the current thread that woke the other, but an interrupt. */
bool sched_event_wakeup(const struct sched_event *e, const void *raw, size_t raw_size,
			struct slice_wakeup *ret, bool *ret_interrupt);

/* Appends the state as the kernel prints it, "S" or "R+"; nothing if its format cannot be evaluated. */
void sched_event_state(const struct sched_event *e, uint64_t state, struct buf *out);
/* What the letters mean: "sleeping"…, and how the thread stopped. */
const char *sched_state_meaning(const char *letters, uint64_t state, enum slice_stop *ret);

#endif
