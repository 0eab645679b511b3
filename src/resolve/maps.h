/*
 * What was mapped where, at any time. A set of mappings is never changed: adding one gives a new set
 * that shares all but a few nodes with the old one, so that every moment of a process's life can be
 * asked, a fork costs nothing, and threads can look while nobody adds.
 *
 * A set is known by its root, a number; 0 is the empty set. Mappings of a set do not overlap: a new
 * one cuts away what it covers. Sets are balanced by chance (treaps); the dice are seeded, because
 * what is mapped comes from files.
 */
#ifndef TACHO_RESOLVE_MAPS_H
#define TACHO_RESOLVE_MAPS_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* Nodes of all sets together, 32 bytes each. Beyond it nothing is added, and counted. */
#define MAP_NODES_MAX (16u << 20)

struct map_node {
	uint64_t start, end; /* runtime addresses */
	uint32_t mapping;    /* the caller's number for it */
	uint32_t left, right;
	uint32_t dice;
};

struct maps {
	VEC(struct map_node) nodes; /* [0] is unused */
	uint64_t dice;
	uint64_t refused;
};

void maps_init(struct maps *m);
void maps_release(struct maps *m);

/* The set @root with [start, end) → @mapping over it. */
uint32_t maps_add(struct maps *m, uint32_t root, uint64_t start, uint64_t end, uint32_t mapping);

/*
 * Only sets with these roots stay, under other numbers: @roots are changed to these. Mappings that are
 * in one of them are marked in @used, by the caller's number.
 */
void maps_keep(struct maps *m, uint32_t **roots, size_t count, bool *used);

/* False: nothing there. Also how far to both sides the answer holds: start ≤ address < end. */
static inline bool maps_find_range(const struct maps *m, uint32_t root, uint64_t address,
				   uint64_t *ret_start, uint64_t *ret_end, uint32_t *ret_mapping)
{
	*ret_start = 0;
	*ret_end = UINT64_MAX;
	while (root) {
		const struct map_node *n = &m->nodes.items[root];

		if (address < n->start) {
			*ret_end = n->start;
			root = n->left;
		} else if (address < n->end) {
			*ret_start = n->start;
			*ret_end = n->end;
			*ret_mapping = n->mapping;
			return true;
		} else {
			*ret_start = n->end;
			root = n->right;
		}
	}
	return false;
}

static inline bool maps_find(const struct maps *m, uint32_t root, uint64_t address,
			     uint32_t *ret_mapping)
{
	uint64_t start, end;

	return maps_find_range(m, root, address, &start, &end, ret_mapping);
}

#endif
