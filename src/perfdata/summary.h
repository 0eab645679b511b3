/*
 * What is in a recording: a visitor that decodes every record and adds up. `tacho info` shows it,
 * and nothing that it says comes from anywhere but the records themselves.
 */
#ifndef TACHO_PERFDATA_SUMMARY_H
#define TACHO_PERFDATA_SUMMARY_H

#include "perfdata/reader.h"

struct event_summary {
	uint64_t samples, period, lost;
	uint64_t first_ns, last_ns;
	uint64_t frames; /* of all call chains */
};

struct summary {
	struct perfdata *file;
	VEC(struct event_summary) events; /* as those of the stream */
	uint64_t first_ns, last_ns;       /* of all records that have a time */
	uint64_t lost_records;            /* by the rings' own count */
	uint64_t lost_samples;            /* counted by event */
	uint64_t throttled, unthrottled;
	uint64_t undecodable; /* also among the stream's damages */
};

extern const struct stream_visitor summary_visitor; /* ctx: struct summary */

uint64_t summary_samples(const struct summary *s);
void summary_release(struct summary *s);

#endif
