/* The same work on many things, by a few threads, which have ended when it returns. */
#ifndef TACHO_BASE_PARALLEL_H
#define TACHO_BASE_PARALLEL_H

#include <stddef.h>

/*
 * Calls @work for 0 … @count-1, each once, in any order, by the caller's thread and at most
 * @threads - 1 others; all have returned when it does. @thread: which of them, below @threads.
 */
void parallel_each(size_t count, unsigned threads,
		   void (*work)(void *ctx, size_t item, unsigned thread), void *ctx);

/* CPUs that this process may use, at most @max. */
unsigned parallel_cpus(unsigned max);

#endif
