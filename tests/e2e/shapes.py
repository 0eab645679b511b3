"""Programs of a known shape, for what is drawn and compared."""

from helpers import compiled

# 70 % in one function, 30 % in another, below a common caller; main() is each test's own.
SEVENTY_THIRTY_C = r"""
volatile unsigned long sum;
__attribute__((noinline)) void shape_seventy(void)
{
	for (int i = 0; i < 700000; i++)
		sum += i;
}
__attribute__((noinline)) void shape_thirty(void)
{
	for (int i = 0; i < 300000; i++)
		sum += i;
}
__attribute__((noinline)) void shape_both(void)
{
	shape_seventy();
	shape_thirty();
	sum++;
}
"""

# 70 of 100 parts in hot(), 30 in cold(), both through work(); a recursion; everything by frame pointer.
SHAPE_C = r"""
volatile long sink;

static inline __attribute__((always_inline)) long small(long x)
{
	for (int i = 0; i < 40; i++)
		x = x * 31 + i + sink;
	return x;
}

__attribute__((noinline)) void touch(void)
{
	sink++;
}

/* It calls somebody, so that it has a frame at any level of the compiler. */
__attribute__((noinline)) void spin(long n)
{
	for (long i = 0; i < n; i++)
		sink += small(i);
	touch();
	sink++;
}

__attribute__((noinline)) void hot(void)
{
	spin(7000);
	sink++;
}

__attribute__((noinline)) void cold(void)
{
	spin(3000);
	sink++;
}

__attribute__((noinline)) void down(int n)
{
	if (n)
		down(n - 1);
	else
		EXTRA
	sink++;
}

__attribute__((noinline)) void work(void)
{
	hot();
	cold();
	down(3);
	sink++;
}

int main(void)
{
	/* Long enough that starting the program is a few percent of it at most. */
	for (int i = 0; i < 1400; i++)
		work();
	return 0;
}
"""


def shape(name="shape", extra="sink++;", optimise="-O2"):
    """@extra runs at the end of a recursion of four."""
    return compiled(name, SHAPE_C.replace("EXTRA", extra), "-g", optimise, "-fno-omit-frame-pointer",
                    "-fno-shrink-wrap", "-fno-optimize-sibling-calls", "-fno-inline-functions", "-fno-ipa-icf")
