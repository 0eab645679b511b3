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

struct hits {
	uint64_t *slots; /* page number + 1; 0: free */
	size_t mask, count;
	uint64_t last;        /* the page that was added last */
	bool all;             /* there were too many pages: everything counts as hit */
	VEC(uint64_t) sorted; /* after hits_sort() */
};

/* Ignores kernel addresses and the context marks in call stacks. */
void hits_add(struct hits *h, uint64_t address);
/* Adds the pages of @from to @h. */
void hits_merge(struct hits *h, const struct hits *from);

/* Must be called before hits_in(), after the last page was added. */
void hits_sort(struct hits *h);
bool hits_in(const struct hits *h, uint64_t start, uint64_t length);

void hits_release(struct hits *h);

#endif
