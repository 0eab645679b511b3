/*
 * A workload whose number of instructions is known before it runs: `loop N` executes N
 * instructions in one assembler loop and prints `instructions N` with the exact number, which
 * is N rounded up to whole turns.
 *
 * What comes on top (start of the C library, this main, one printf) is a few tens of thousands,
 * so with N of some millions a counter that is more than a percent off is wrong.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Eight nops, the subtraction and the branch. */
#define TURN_INSTRUCTIONS 10

int main(int argc, char **argv)
{
	uint64_t wanted = argc > 1 ? strtoull(argv[1], NULL, 0) : 0;
	uint64_t turns = wanted / TURN_INSTRUCTIONS + (wanted % TURN_INSTRUCTIONS != 0);
	uint64_t left = turns;

	if (turns == 0) {
		fprintf(stderr, "usage: loop INSTRUCTIONS\n");
		return 2;
	}
	__asm__ volatile("1:	nop; nop; nop; nop; nop; nop; nop; nop\n"
			 "	subs	%0, %0, #1\n"
			 "	b.ne	1b\n"
			 : "+r"(left)
			 :
			 : "cc");
	printf("instructions %" PRIu64 "\n", turns * TURN_INSTRUCTIONS);
	return 0;
}
