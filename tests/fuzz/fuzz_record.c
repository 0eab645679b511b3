/*
 * One record of any layout: what decodes leads nowhere outside of it, and what could be turned
 * around decodes.
 *
 * Input: sample_type, read_format, branch type, two masks of registers (8 bytes each), a byte of
 * flags, and the record with its header, whose size is made right.
 */
#include "perf/record.h"
#include "../unit/record_touch.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LAYOUT_BYTES 41

static struct perf_event_attr attr_of(const uint8_t *data)
{
	struct perf_event_attr attr = {.size = sizeof(attr)};
	uint64_t words[5];

	memcpy(words, data, sizeof(words));
	attr.sample_type = words[0];
	attr.read_format = words[1];
	attr.branch_sample_type = words[2];
	attr.sample_regs_user = words[3];
	attr.sample_regs_intr = words[4];
	attr.sample_id_all = data[40] & 1;
	return attr;
}

static void decode(const struct layout *l, const struct perf_event_header *h, bool must)
{
	const char *reason = NULL;
	struct record r;

	if (record_decode(l, h, &r, &reason) < 0) {
		if (must || !reason)
			abort();
		return;
	}
	touch_record(h, l, &r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perf_event_attr attr;
	struct perf_event_header *h;
	const char *reason = NULL;
	struct layout l;

	if (size < LAYOUT_BYTES + sizeof(*h) || size - LAYOUT_BYTES > RECORD_BYTES_MAX)
		return 0;
	attr = attr_of(data);
	layout_init(&l, &attr);
	size -= LAYOUT_BYTES;
	h = malloc(size);
	if (!h)
		abort();
	memcpy(h, data + LAYOUT_BYTES, size);
	h->size = (uint16_t)size;
	decode(&l, h, false);
	if (record_swap(&l, h, &reason) == 0)
		decode(&l, h, true);
	else if (!reason)
		abort();
	free(h);
	return 0;
}
