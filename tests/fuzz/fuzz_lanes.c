/* Lanes of spans: stored levels, the parts of a summary, and levels made from any spans. */
#include "profile/lanes.h"
#include "profile/schema.h"
#include "profile/summary.h"
#include "packed_run.h"

#define ROWS 1100u /* enough for levels */

static void check_same(const struct lane_level *a, const struct lane_level *b)
{
	if (a->lane_count != b->lane_count || a->cell_count != b->cell_count ||
	    a->first != b->first || a->shift != b->shift || a->key != b->key || a->by != b->by ||
	    memcmp(a->lanes, b->lanes, a->lane_count * sizeof(*a->lanes)) ||
	    memcmp(a->begin, b->begin, (a->lane_count + 1) * sizeof(*a->begin)) ||
	    memcmp(a->cells, b->cells, a->cell_count * sizeof(*a->cells)))
		abort();
}

static void take_level(const void *bytes, size_t size)
{
	CLEANUP(buf_release) struct buf out = {};
	struct lane_level level, back;

	lane_level_peek(bytes, size, &level, NULL);
	if (lane_level_decode(bytes, size, &level, NULL))
		return;
	if (level.lane_count) {
		lane_level_encode(&level, &out);
		if (lane_level_decode(out.s, out.len, &back, NULL))
			abort();
		check_same(&level, &back);
		lane_level_release(&back);
	}
	lane_level_release(&level);
}

static void take_parts(const uint8_t *data, size_t size)
{
	CLEANUP(buf_release) struct buf summary = {};
	struct chunk_piece part;

	buf_add(&summary, PACKED_SEVERAL);
	buf_add_mem(&summary, data, size);
	for (size_t n = 0; summary_part(summary.s, summary.len, PACKED_LANES, n, &part); n++) {
		if ((const char *)part.bytes < summary.s || !part.size ||
		    (const char *)part.bytes + part.size > summary.s + summary.len)
			abort();
		take_level(part.bytes, part.size);
	}
}

/* Numbers of any size are as likely as small ones. */
static uint64_t number(const uint8_t *data, size_t size, size_t *at)
{
	uint64_t value = 0;
	unsigned shift = data[(*at)++ % size] & 63;

	for (int i = 0; i < 3; i++)
		value = value << 8 | data[(*at)++ % size];
	return value << shift >> (shift > 40 ? data[*at % size] & 31 : 0);
}

static void check_levels(const struct chunk_columns *c, enum lanes_by by)
{
	struct lane_level levels[LANES_LEVELS_MAX];
	size_t count = lane_levels_make(c, by, levels);

	for (size_t n = 0; n < count; n++) {
		CLEANUP(buf_release) struct buf out = {};
		uint64_t covered_ns = 0, first_covered_ns = 0;
		struct lane_level back;
		uint64_t starts = 0;

		for (size_t i = 0; i < levels[n].cell_count; i++) {
			starts += levels[n].cells[i].starts;
			covered_ns = lane_add_ns(covered_ns, levels[n].cells[i].covered_ns);
		}
		for (size_t i = 0; i < levels[0].cell_count; i++)
			first_covered_ns =
				lane_add_ns(first_covered_ns, levels[0].cells[i].covered_ns);
		if (starts != c->rows || covered_ns != first_covered_ns)
			abort();
		lane_level_encode(&levels[n], &out);
		if (lane_level_decode(out.s, out.len, &back, NULL))
			abort();
		check_same(&levels[n], &back);
		lane_level_release(&back);
	}
	for (size_t n = 0; n < count; n++)
		lane_level_release(&levels[n]);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void take_spans(const uint8_t *data, size_t size)
{
	static const uint32_t tags[] = {TAG_TIME, TAG_END, TAG_CPU, TAG_THREAD, TAG_KEY};
	struct chunk_columns *c = xcalloc(1, sizeof(*c));
	size_t at = 0;

	if (size < 16)
		goto out;
	c->rows = ROWS;
	for (; c->count < 4u + data[0] % 2; c->count++) {
		uint64_t *values = xcalloc(ROWS, sizeof(*values));

		for (size_t i = 0; i < ROWS; i++)
			values[i] = number(data, size, &at);
		c->columns[c->count] = (struct chunk_column){tags[c->count], values};
	}
	/* As they are decoded: starts ascend, ends may lie anywhere. */
	qsort(c->columns[0].values, ROWS, sizeof(uint64_t), by_value);
	check_levels(c, LANES_CPU);
	check_levels(c, LANES_THREAD);
out:
	chunk_columns_release(c);
	free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	packed_run(PACKED_LANES, 28, data, size, take_level);
	take_parts(data, size);
	take_spans(data, size);
	return 0;
}
