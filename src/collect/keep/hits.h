/*
 * Which code had samples: the pages of all user addresses in samples and their call stacks, whatever
 * process they were of. Two processes may use the same address for different files, so the answer can
 * be yes for a file that had none; never no for one that had some. Belongs to one thread.
 */
#ifndef TACHO_COLLECT_KEEP_HITS_H
#define TACHO_COLLECT_KEEP_HITS_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* Beyond so many pages everything counts as hit, and the memory is given back. */
#define HIT_PAGES_MAX  (1u << 18)
#define HIT_PAGE_SHIFT 12

struct hits {
	uint64_t *slots; /* page number + 1; 0: free */
	size_t mask, count;
	uint64_t last;        /* the page that was added last */
	bool all;             /* there were too many to tell */
	VEC(uint64_t) sorted; /* after hits_sort() */
};

/* Kernel addresses and the marks of call stacks are passed over. */
void hits_add(struct hits *h, uint64_t address);
/* @h gets what @from has. */
void hits_merge(struct hits *h, const struct hits *from);

/* To be called before hits_in(), when nothing more is added. */
void hits_sort(struct hits *h);
bool hits_in(const struct hits *h, uint64_t start, uint64_t length);

void hits_release(struct hits *h);

#endif
