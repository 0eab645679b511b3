/* Work on numbers: sorting, and matrix products with bad and with good use of the cache. */
#include "cmd/demo/work.h"

#include "base/alloc.h"

#include <string.h>

#define NUMBERS  1500000u
#define SORTED   4u /* sorts per phase */
#define SIDE     448u
#define PRODUCTS 6u

static NAMED size_t partition(uint32_t *items, size_t count)
{
	uint32_t middle = items[count / 2];
	size_t low = 0, high = count - 1;

	KEEP_FRAME();
	while (true) {
		while (items[low] < middle)
			low++;
		while (items[high] > middle)
			high--;
		if (low >= high)
			return high + 1;
		uint32_t kept = items[low];

		items[low++] = items[high];
		items[high--] = kept;
	}
}

static NAMED void insertion_sort(uint32_t *items, size_t count)
{
	KEEP_FRAME();
	for (size_t i = 1; i < count; i++) {
		uint32_t item = items[i];
		size_t at = i;

		for (; at && items[at - 1] > item; at--)
			items[at] = items[at - 1];
		items[at] = item;
	}
}

static NAMED void quick_sort(uint32_t *items, size_t count)
{
	size_t cut;

	if (count <= 24) {
		insertion_sort(items, count);
		return;
	}
	cut = partition(items, count);
	quick_sort(items, cut);
	quick_sort(items + cut, count - cut);
}

NAMED uint64_t sort_numbers(void)
{
	uint32_t *items = xcalloc(NUMBERS, sizeof(*items)), random = 7;
	uint64_t sum = 0;

	for (unsigned round = 0; round < SORTED; round++) {
		for (size_t i = 0; i < NUMBERS; i++)
			items[i] = demo_random(&random);
		quick_sort(items, NUMBERS);
		for (size_t i = 1; i < NUMBERS; i++)
			sum += items[i] >= items[i - 1];
	}
	free(items);
	return sum + SORTED;
}

/* Each step of the innermost loop touches another cache line. */
static NAMED void multiply_by_columns(const double *a, const double *b, double *out)
{
	KEEP_FRAME();
	for (size_t column = 0; column < SIDE; column++)
		for (size_t row = 0; row < SIDE; row++) {
			double sum = 0;

			for (size_t i = 0; i < SIDE; i++)
				sum += a[row * SIDE + i] * b[i * SIDE + column];
			out[row * SIDE + column] = sum;
		}
}

/* Computes the same product; the innermost loop walks along the cache lines. */
static NAMED void multiply_by_rows(const double *a, const double *b, double *out)
{
	KEEP_FRAME();
	memset(out, 0, SIDE * SIDE * sizeof(*out));
	for (size_t row = 0; row < SIDE; row++)
		for (size_t i = 0; i < SIDE; i++) {
			double factor = a[row * SIDE + i];

			for (size_t column = 0; column < SIDE; column++)
				out[row * SIDE + column] += factor * b[i * SIDE + column];
		}
}

NAMED uint64_t multiply_matrices(void)
{
	double *m = xcalloc(3 * SIDE * SIDE, sizeof(*m)), *out = m + 2 * SIDE * SIDE, sum = 0;
	uint32_t random = 3;

	/* Whole numbers, so that both orders give exactly the same sums. */
	for (size_t i = 0; i < 2 * SIDE * SIDE; i++)
		m[i] = demo_random(&random) % 10;
	for (unsigned i = 0; i < PRODUCTS; i++) {
		multiply_by_columns(m, m + SIDE * SIDE, out);
		sum += out[SIDE + i];
	}
	for (unsigned i = 0; i < PRODUCTS; i++) {
		multiply_by_rows(m, m + SIDE * SIDE, out);
		sum += out[SIDE + i];
	}
	free(m);
	return (uint64_t)sum;
}
