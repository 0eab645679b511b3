#include "perf/layout.h"

/* The parts of a sample that are 8 bytes each, in their order. */
#define FIXED_PARTS                                                                                \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
	 PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |             \
	 PERF_SAMPLE_PERIOD)

#define TRAILER_PARTS                                                                              \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |             \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

static uint8_t bytes_of(uint64_t parts)
{
	return (uint8_t)(8 * __builtin_popcountll(parts));
}

static uint8_t position(uint64_t type, uint64_t part, uint64_t before)
{
	return type & part ? bytes_of(type & before) : LAYOUT_NONE;
}

void layout_init(struct layout *l, const struct perf_event_attr *attr)
{
	uint64_t type = attr->sample_type;
	uint64_t behind_id = PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;

	*l = (struct layout){
		.sample_type = type,
		.read_format = attr->read_format,
		.branch_type = attr->branch_sample_type,
		.regs_user = attr->sample_regs_user,
		.regs_intr = attr->sample_regs_intr,
		.sample_id_all = attr->sample_id_all,
		.build_ids = attr->build_id,
		.fixed_bytes = bytes_of(type & FIXED_PARTS),
		.sample_time_at =
			position(type, PERF_SAMPLE_TIME,
				 PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID),
		.trailer_id_at = LAYOUT_NONE,
		.trailer_time_at = LAYOUT_NONE,
	};
	if (type & PERF_SAMPLE_IDENTIFIER)
		l->sample_id_at = 0;
	else
		l->sample_id_at = position(type, PERF_SAMPLE_ID,
					   PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
						   PERF_SAMPLE_ADDR);
	if (!l->sample_id_all)
		return;
	l->trailer_bytes = bytes_of(type & TRAILER_PARTS);
	if (type & PERF_SAMPLE_IDENTIFIER)
		l->trailer_id_at = 8;
	else
		l->trailer_id_at = position(type, PERF_SAMPLE_ID, behind_id | PERF_SAMPLE_ID);
	l->trailer_time_at =
		position(type, PERF_SAMPLE_TIME, behind_id | PERF_SAMPLE_ID | PERF_SAMPLE_TIME);
}
