/*
 * How much memory the contents of files may take: sections, decoded debug information, names. Each module
 * has a budget in proportion to the size of its files, and all modules share one, because files are not
 * trusted: a small one can claim to have gigabytes in it. Any thread.
 */
#ifndef TACHO_SYMBOL_BUDGET_H
#define TACHO_SYMBOL_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory_budget {
	struct memory_budget *total; /* what is taken counts there, too; NULL: none */
	_Atomic uint64_t max, held;
	atomic_bool refused; /* something did not fit */
};

/* Counts @bytes as held. Returns false, and counts nothing, if that is too much. @b NULL: no limit. */
static inline bool budget_take(struct memory_budget *b, uint64_t bytes)
{
	if (!b)
		return true;
	if (bytes <= b->max && atomic_fetch_add(&b->held, bytes) + bytes <= b->max) {
		if (budget_take(b->total, bytes))
			return true;
		atomic_fetch_sub(&b->held, bytes);
	} else if (bytes <= b->max) {
		atomic_fetch_sub(&b->held, bytes);
	}
	b->refused = true;
	return false;
}

/* Whether budget_take() would succeed: for memory that is only needed for a moment. */
static inline bool budget_fits(struct memory_budget *b, uint64_t bytes)
{
	for (struct memory_budget *at = b; at; at = at->total)
		if (bytes > at->max || at->held > at->max - bytes) {
			b->refused = true;
			return false;
		}
	return true;
}

static inline void budget_give(struct memory_budget *b, uint64_t bytes)
{
	for (; b; b = b->total)
		atomic_fetch_sub(&b->held, bytes);
}

#endif
