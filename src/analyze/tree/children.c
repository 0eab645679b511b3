#include "analyze/tree/children.h"
#include "base/alloc.h"

#define FIRST_ROOM 256
/* Small indexes grow fast, because each report has many. */
#define FAST_ROOM 4096

static void resize(struct children *c, size_t room)
{
	struct children old = *c;

	c->slots = table_alloc(room, sizeof(*c->slots));
	c->mask = room - 1;
	for (size_t i = 0; old.slots && i <= old.mask; i++)
		if (old.slots[i].node)
			*children_slot(c, old.slots[i].parent, old.slots[i].key) = old.slots[i];
	table_free(old.slots, old.mask + 1, sizeof(*old.slots));
}

void children_grow(struct children *c)
{
	if (!c->slots)
		c->seed = hash_seed();
	resize(c, !c->slots ? FIRST_ROOM : (c->mask + 1) * (c->mask < FAST_ROOM ? 4 : 2));
}

void children_reserve(struct children *c, size_t count)
{
	size_t room = FIRST_ROOM;

	while (count * 3 >= (room - 1) * 2)
		room *= 2;
	if (!c->slots)
		c->seed = hash_seed();
	if (!c->slots || room > c->mask + 1)
		resize(c, room);
}

void children_release(struct children *c)
{
	table_free(c->slots, c->mask + 1, sizeof(*c->slots));
	*c = (struct children){};
}
