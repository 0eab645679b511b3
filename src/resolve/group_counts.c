#include "resolve/group_counts.h"
#include "base/alloc.h"
#include "perf/id_map.h"

static struct group_count *slot_of(struct group_counts *c, uint64_t id)
{
	size_t slot = id_map_hash(id, c->seed) & (c->slot_count - 1);

	while (c->slots[slot].used && c->slots[slot].id != id)
		slot = (slot + 1) & (c->slot_count - 1);
	return &c->slots[slot];
}

static void grow(struct group_counts *c)
{
	struct group_counts larger = {
		.slot_count = c->slot_count ? c->slot_count * 2 : 64,
		.seed = id_map_seed(),
		.count = c->count,
	};

	larger.slots = xcalloc(larger.slot_count, sizeof(*larger.slots));
	for (size_t i = 0; i < c->slot_count; i++)
		if (c->slots[i].used)
			*slot_of(&larger, c->slots[i].id) = c->slots[i];
	free(c->slots);
	*c = larger;
}

uint64_t group_count_since(struct group_counts *c, uint64_t id, uint64_t value)
{
	struct group_count *slot;
	uint64_t before;

	if (c->count * 2 >= c->slot_count)
		grow(c);
	slot = slot_of(c, id);
	c->count += !slot->used;
	before = slot->used ? slot->value : 0;
	*slot = (struct group_count){id, value, true};
	return value - before;
}

void group_counts_release(struct group_counts *c)
{
	free(c->slots);
	*c = (struct group_counts){};
}
