#include "perf/id_map.h"
#include "base/alloc.h"
#include "base/clock.h"

#include <sys/random.h>

#define SLOTS_FIRST 64

static void put(struct id_map *map, uint64_t id, uint32_t event)
{
	size_t i = id_map_hash(id, map->seed) & map->mask;

	while (map->slots[i].id && map->slots[i].id != id)
		i = (i + 1) & map->mask;
	map->count += !map->slots[i].id;
	map->slots[i] = (struct id_slot){id, event};
}

uint64_t id_map_seed(void)
{
	uint64_t seed;

	/* Early at boot there may be no random numbers yet; then the clock must do. */
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != (ssize_t)sizeof(seed))
		seed = clock_now_ns() * 0x9e3779b97f4a7c15ull;
	return seed;
}

static void grow(struct id_map *map)
{
	struct id_map bigger = {
		.mask = map->slots ? 2 * map->mask + 1 : SLOTS_FIRST - 1,
		.seed = id_map_seed(),
	};

	bigger.slots = xcalloc(bigger.mask + 1, sizeof(*bigger.slots));
	for (size_t i = 0; map->slots && i <= map->mask; i++)
		if (map->slots[i].id)
			put(&bigger, map->slots[i].id, map->slots[i].event);
	free(map->slots);
	*map = bigger;
}

void id_map_add(struct id_map *map, uint64_t id, uint32_t event)
{
	if (!id)
		return;
	if (!map->slots || 2 * map->count > map->mask)
		grow(map);
	put(map, id, event);
}

void id_map_release(struct id_map *map)
{
	free(map->slots);
	*map = (struct id_map){};
}
