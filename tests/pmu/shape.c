/*
 * A workload of known shape: main calls work, which calls itself three times and then seventy and
 * thirty, which execute 70 and 30 percent of the instructions. `shape N` executes about N.
 */
#include <stdint.h>
#include <stdlib.h>

#define KEEP __attribute__((noinline, noclone))

static KEEP void nothing(void)
{
	__asm__ volatile("");
}

/* The call makes it keep a frame pointer; without, arm64 would not know who called it. */
static KEEP void turns(uint64_t left)
{
	nothing();
	__asm__ volatile("1:	nop; nop; nop; nop; nop; nop; nop; nop\n"
			 "	subs	%0, %0, #1\n"
			 "	b.ne	1b\n"
			 : "+r"(left)
			 :
			 : "cc");
}

static KEEP void seventy(uint64_t part)
{
	turns(7 * part);
	__asm__ volatile("");
}

static KEEP void thirty(uint64_t part)
{
	turns(3 * part);
	__asm__ volatile("");
}

static KEEP void work(unsigned depth, uint64_t part)
{
	if (depth) {
		work(depth - 1, part);
	} else {
		seventy(part);
		thirty(part);
	}
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	uint64_t wanted = argc > 1 ? strtoull(argv[1], NULL, 0) : 100;

	work(3, wanted / 100 + 1);
	return 0;
}
