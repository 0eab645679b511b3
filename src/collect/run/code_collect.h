/*
 * Collects the code of the functions that were hit most before a run ends: later the program may be
 * rebuilt or gone. Hottest first, until a limit is reached; functions that are left out are
 * counted. One thread.
 */
#ifndef TACHO_COLLECT_RUN_CODE_COLLECT_H
#define TACHO_COLLECT_RUN_CODE_COLLECT_H

#include "collect/run/code_build.h"

struct code_limits {
	unsigned functions; /* for each event */
	uint64_t bytes;     /* of all functions, encoded */
	uint64_t time_ns;   /* after this no further function is begun */
};

#define CODE_LIMITS_DEFAULT                                                                        \
	(struct code_limits)                                                                       \
	{                                                                                          \
		.functions = 300, .bytes = 64u << 20, .time_ns = 3000000000ull                     \
	}

/* Gets an encoded function of at most CODE_BYTES_MAX. Returns false to stop. */
typedef bool (*code_emit)(void *ctx, function_id function, const struct buf *bytes);

struct code_report {
	unsigned taken, left; /* functions; left: those that a limit kept out */
	uint64_t bytes;
};

/* Chooses among the functions in the rows of @p. */
void code_collect(const struct profile *p, struct modules *modules, const struct code_options *o,
		  const struct code_limits *limits, code_emit emit, void *ctx,
		  struct code_report *ret);

#endif
