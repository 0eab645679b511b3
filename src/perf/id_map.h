/*
 * The kernel's ids of counters → our number of the event. Ids come from files, so where they land is
 * nobody's to choose: the hash is seeded anew for each map.
 */
#ifndef TACHO_PERF_ID_MAP_H
#define TACHO_PERF_ID_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct id_map {
	struct id_slot {
		uint64_t id; /* 0: free; the kernel never gives it */
		uint32_t event;
	} * slots;
	size_t count, mask;
	uint64_t seed;
};

void id_map_add(struct id_map *map, uint64_t id, uint32_t event);
void id_map_release(struct id_map *map);

/* A number that nobody can foresee. */
uint64_t id_map_seed(void);

static inline size_t id_map_hash(uint64_t id, uint64_t seed)
{
	uint64_t h = (id ^ seed) * 0x9e3779b97f4a7c15ull;

	return (size_t)(((h ^ h >> 32) * 0xd6e8feb86659fd93ull) >> 32);
}

static inline bool id_map_find(const struct id_map *map, uint64_t id, uint32_t *ret_event)
{
	if (!map->count || !id)
		return false;
	for (size_t i = id_map_hash(id, map->seed) & map->mask; map->slots[i].id;
	     i = (i + 1) & map->mask)
		if (map->slots[i].id == id) {
			*ret_event = map->slots[i].event;
			return true;
		}
	return false;
}

#endif
