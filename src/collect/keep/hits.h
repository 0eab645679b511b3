/*
 * Which code had samples: the pages of all user addresses in samples and their call stacks, of all
 * processes together. Two processes may use the same address for different files, so hits_in() may
 * be true for a file without samples; it is never false for one with samples. Belongs to one
 * thread.
 */
#ifndef TACHO_COLLECT_KEEP_HITS_H
#define TACHO_COLLECT_KEEP_HITS_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* Beyond this many pages everything counts as hit, and the memory is freed. */
#define HIT_PAGES_MAX  (1u << 18)
#define HIT_PAGE_SHIFT 12
#define HITS_RECENT    512u

struct hits {
	uint64_t *slots; /* page number + 1; 0: free */
	size_t mask, count;
	uint64_t recent[HITS_RECENT]; /* pages added already, in the form of slots */
	bool all;                     /* there were too many pages: everything counts as hit */
	VEC(uint64_t) sorted;         /* after hits_sort() */
};

static inline uint64_t hits_hash(uint64_t key)
{
	return (key * 0x9e3779b97f4a7c15ull) >> 32;
}

/* Adds the page of which @key is the number + 1. */
void hits_add_page(struct hits *h, uint64_t key);

/* Ignores kernel addresses and the context marks in call stacks. Inline because it runs for every
 * frame of every sample, and call stacks come back to the same pages: @recent sorts those out. */
static inline void hits_add(struct hits *h, uint64_t address)
{
	uint64_t key = (address >> HIT_PAGE_SHIFT) + 1;
	uint64_t *recent = &h->recent[hits_hash(key) % HITS_RECENT];

	if (key == *recent || (int64_t)address < 0)
		return;
	*recent = key;
	hits_add_page(h, key);
}

/* Adds the pages of @from to @h. */
void hits_merge(struct hits *h, const struct hits *from);

/* Must be called before hits_in(), after the last page was added. */
void hits_sort(struct hits *h);
bool hits_in(const struct hits *h, uint64_t start, uint64_t length);

void hits_release(struct hits *h);

#endif
