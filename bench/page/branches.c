/* Calls that branch as if at random, thirty deep, along always the same 2,500 paths: a few seconds of
 * samples make a call tree of more than a hundred thousand nodes. usage: branches SECONDS (of CPU time) */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define DEPTH 30
#define PATHS 2500

static uint32_t seed = 1;
static volatile uint32_t sink;

static uint32_t next(void)
{
	seed = seed * 1664525 + 1013904223;
	return seed >> 16;
}

static void branch(int depth);

#define FUNCTION(name)                                                                             \
	__attribute__((noinline)) static void name(int depth)                                      \
	{                                                                                          \
		branch(depth + 1);                                                                 \
		sink++;                                                                            \
	}

FUNCTION(parse)
FUNCTION(lookup)
FUNCTION(compare)
FUNCTION(insert)
FUNCTION(balance)
FUNCTION(hash)
FUNCTION(decode)
FUNCTION(emit)

static void (*const functions[])(int) = {parse,   lookup, compare, insert,
					 balance, hash,   decode,  emit};

static void branch(int depth)
{
	if (depth < DEPTH) {
		functions[next() % (sizeof(functions) / sizeof(*functions))](depth);
		return;
	}
	for (int i = 0; i < 20000; i++)
		sink++;
}

int main(int argc, char **argv)
{
	clock_t end = CLOCKS_PER_SEC * (argc > 1 ? atoi(argv[1]) : 3);

	for (uint32_t path = 0; clock() < end; path = (path + 1) % PATHS) {
		seed = path * 2654435761u;
		branch(0);
	}
	return 0;
}
