#include "runs/live/internal.h"

#include "base/open_table.h"

/* Keeps at least this many stacks that were never looked up again: more than a collector that
 * forgets stacks has (resolver_forget_stacks()). Twice as many take 16 MB. */
#define ADDED_MAX (512u << 10)
#define NODE_USED (1u << 31) /* added or looked up since stacks were last forgotten */

static uint64_t hash_of(uint32_t stack)
{
	return stack * 0x9e3779b97f4a7c15ull >> 32;
}

static bool stack_home(const void *slot, uint64_t seed, uint64_t *ret_hash)
{
	const struct live_stack *known = slot;

	(void)seed;
	*ret_hash = hash_of(known->stack);
	return known->stack;
}

static struct live_stack *slot_of(const struct live_stacks *s, uint32_t stack)
{
	size_t at = hash_of(stack) & s->mask;

	while (s->slots[at].stack && s->slots[at].stack != stack)
		at = (at + 1) & s->mask;
	return &s->slots[at];
}

static void grow(struct live_stacks *s)
{
	s->slots = open_table_grow(s->slots, &s->mask, sizeof(*s->slots), stack_home, 0);
}

static void forget(struct live_stacks *s)
{
	struct live_stacks kept = {};

	for (size_t i = 0; i <= s->mask; i++) {
		struct live_stack one = s->slots[i];

		if (!(one.node & NODE_USED))
			continue;
		if (!kept.slots || kept.count * 3 >= kept.mask * 2)
			grow(&kept);
		one.node &= ~NODE_USED;
		*slot_of(&kept, one.stack) = one;
		kept.count++;
	}
	live_stacks_release(s);
	*s = kept;
}

void live_stacks_add(struct live_stacks *s, uint32_t stack, uint32_t node)
{
	struct live_stack *slot;

	if (s->added >= ADDED_MAX)
		forget(s);
	if (!s->slots || s->count * 3 >= s->mask * 2)
		grow(s);
	slot = slot_of(s, stack);
	s->count += !slot->stack;
	s->added++;
	*slot = (struct live_stack){stack, node | NODE_USED};
}

bool live_stacks_find(struct live_stacks *s, uint32_t stack, uint32_t *ret_node)
{
	struct live_stack *slot;

	*ret_node = 0;
	if (!stack || !s->slots)
		return !stack;
	slot = slot_of(s, stack);
	if (!slot->stack)
		return false;
	slot->node |= NODE_USED;
	*ret_node = slot->node & ~NODE_USED;
	return true;
}

void live_stacks_release(struct live_stacks *s)
{
	table_free(s->slots, s->mask + 1, sizeof(*s->slots));
	*s = (struct live_stacks){};
}
