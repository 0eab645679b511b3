/*
 * How the records of one event are laid out: what its attr says, worked out once, so that finding
 * the id and the time of a record is a matter of adding two numbers.
 */
#ifndef TACHO_PERF_LAYOUT_H
#define TACHO_PERF_LAYOUT_H

#include "perf/abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "not there", for the positions below */
#define LAYOUT_NONE 0xff

struct layout {
	uint64_t sample_type, read_format, branch_type;
	uint64_t regs_user, regs_intr; /* masks */
	bool sample_id_all, build_ids;
	/* Of a sample, in bytes from its header's end; */
	uint8_t sample_id_at, sample_time_at;
	uint8_t fixed_bytes; /* all the parts of fixed size at its beginning */
	/* of any other record, in bytes back from its end. */
	uint8_t trailer_id_at, trailer_time_at, trailer_bytes;
};

void layout_init(struct layout *l, const struct perf_event_attr *attr);

#endif
