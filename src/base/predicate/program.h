/*
 * Internal to base/predicate: a parsed condition. Every comparison has the numbers of its successors for the
 * results true and false, so that testing a row needs neither a tree nor a stack.
 */
#ifndef TACHO_BASE_PREDICATE_PROGRAM_H
#define TACHO_BASE_PREDICATE_PROGRAM_H

#include "base/predicate/predicate.h"
#include "base/vec.h"

enum predicate_op {
	PREDICATE_EQ,
	PREDICATE_NE,
	PREDICATE_LT,
	PREDICATE_LE,
	PREDICATE_GT,
	PREDICATE_GE,
	PREDICATE_BITS,
	PREDICATE_GLOB,
};

/* Final results, in place of the number of the next comparison. */
#define PREDICATE_IS_FALSE (-1)
#define PREDICATE_IS_TRUE  (-2)

struct comparison {
	unsigned field;
	enum predicate_type type;
	enum predicate_op op;
	uint64_t number; /* encoded as in struct predicate_row */
	char *text;      /* for texts only */
	/* The next comparison if this one is false [0] or true [1]; always a later one. */
	int next[2];
};

struct predicate {
	VEC(struct comparison) comparisons;
	VEC(unsigned) fields;
};

#endif
