#include "server/live_internal.h"

#define FIRST_SLOTS 1024u
/* So many that nobody has asked for since they came, at least, are remembered: more than a collector
 * has that forgets (resolver_forget_stacks()). Twice as many take 16 MB. */
#define ADDED_MAX (512u << 10)
#define NODE_USED (1u << 31) /* it was asked for since the last time that stacks were forgotten */

static struct live_stack *slot_of(const struct live_stacks *s, uint32_t stack)
{
	size_t at = (stack * 0x9e3779b97f4a7c15ull >> 32) & s->mask;

	while (s->slots[at].stack && s->slots[at].stack != stack)
		at = (at + 1) & s->mask;
	return &s->slots[at];
}

/* With room for @count; what was not asked for goes if @forget. */
static void move(struct live_stacks *s, size_t count, bool forget)
{
	struct live_stacks to = {.added = forget ? 0 : s->added};
	size_t room = FIRST_SLOTS, before = s->slots ? s->mask + 1 : 0;

	while (room * 2 < count * 3)
		room *= 2;
	to.mask = room - 1;
	to.slots = table_alloc(room, sizeof(*to.slots));
	for (size_t i = 0; i < before; i++) {
		struct live_stack one = s->slots[i];

		if (!one.stack || (forget && !(one.node & NODE_USED)))
			continue;
		if (forget)
			one.node &= ~NODE_USED;
		*slot_of(&to, one.stack) = one;
		to.count++;
	}
	table_free(s->slots, before, sizeof(*s->slots));
	*s = to;
}

void live_stacks_add(struct live_stacks *s, uint32_t stack, uint32_t node)
{
	struct live_stack *slot;

	if (s->added >= ADDED_MAX)
		move(s, s->count, true);
	if (!s->slots || s->count * 3 >= s->mask * 2)
		move(s, 2 * s->count, false);
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
