#include "analyze/annotate/annotate.h"

#include <string.h>

struct jump {
	uint32_t source, target;
};

static int by_target(const void *x, const void *y)
{
	const struct jump *a = x, *b = y;

	if (a->target != b->target)
		return a->target < b->target ? -1 : 1;
	return (a->source > b->source) - (a->source < b->source);
}

static int by_length(const void *x, const void *y)
{
	const struct arrow *a = x, *b = y;
	uint32_t la = a->to - a->from, lb = b->to - b->from;

	if (la != lb)
		return la < lb ? -1 : 1;
	return (a->from > b->from) - (a->from < b->from);
}

static int by_begin(const void *x, const void *y)
{
	const struct arrow *a = x, *b = y;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->lane > b->lane) - (a->lane < b->lane);
}

static void reach(struct arrow *arrow, uint32_t instruction)
{
	if (instruction < arrow->from)
		arrow->from = instruction;
	if (instruction > arrow->to)
		arrow->to = instruction;
}

/* Makes one arrow for all jumps to the same target, without jumps longer than ARROW_LENGTH. */
static void collect(const struct annotation *a, arrow_list *ret)
{
	VEC(struct jump) jumps = {};

	for (uint32_t n = 0; n < a->instructions.len; n++) {
		uint32_t to = a->instructions.items[n].jumps_to;
		uint32_t length = to - 1 > n ? to - 1 - n : n - (to - 1);

		if (to && length && length <= ARROW_LENGTH)
			vec_push(&jumps, (struct jump){n, to - 1});
	}
	if (jumps.len)
		qsort(jumps.items, jumps.len, sizeof(*jumps.items), by_target);
	for (size_t i = 0; i < jumps.len;) {
		uint32_t target = jumps.items[i].target;
		struct arrow arrow = {.from = target, .to = target, .target = target};

		for (; i < jumps.len && jumps.items[i].target == target; i++)
			reach(&arrow, jumps.items[i].source);
		vec_push(ret, arrow);
	}
	vec_release(&jumps);
}

unsigned annotation_arrows(const struct annotation *a, arrow_list *ret)
{
	/* A byte for each instruction, a bit for each lane. Arrows are short, so scans are too. */
	unsigned char *taken = xcalloc(a->instructions.len + 1, 1);
	unsigned lanes = 0;
	size_t kept = 0;

	_Static_assert(ARROW_LANES <= 8, "a bit for each");
	collect(a, ret);
	if (ret->len)
		qsort(ret->items, ret->len, sizeof(*ret->items), by_length);
	for (size_t n = 0; n < ret->len; n++) {
		struct arrow arrow = ret->items[n];
		unsigned used = 0;

		for (uint32_t i = arrow.from; i <= arrow.to; i++)
			used |= taken[i];
		while (arrow.lane < ARROW_LANES && (used >> arrow.lane & 1))
			arrow.lane++;
		if (arrow.lane == ARROW_LANES)
			continue;
		for (uint32_t i = arrow.from; i <= arrow.to; i++)
			taken[i] |= (unsigned char)(1u << arrow.lane);
		lanes = arrow.lane + 1 > lanes ? arrow.lane + 1 : lanes;
		ret->items[kept++] = arrow;
	}
	ret->len = kept;
	free(taken);
	if (ret->len)
		qsort(ret->items, ret->len, sizeof(*ret->items), by_begin);
	return lanes;
}
