/* What shape.cc loads while it runs. */
static volatile unsigned long result;

/* As there: who calls nobody has no frame. */
__attribute__((noinline)) static void note(unsigned long x)
{
	result = x;
}

__attribute__((noinline)) static unsigned long plugin_inner(long steps)
{
	unsigned long x = 1;

	for (; steps; steps--) {
		x = x * 6364136223846793005ul + 1442695040888963407ul;
		__asm__ volatile("" : "+r"(x));
	}
	note(x);
	return result;
}

unsigned long plugin_work(long steps)
{
	return plugin_inner(steps) + 1;
}
